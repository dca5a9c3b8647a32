#include "report_page.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/study/report/live_report.hpp>
#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kShareOfSweep = 0.02;
constexpr Seconds kLeastInterval{2};
constexpr Seconds kHeartbeat{10};
/// A page with more data than this is packed by node.
constexpr std::size_t kMostPlain = 1'000'000;

/// The time of day, as the page's script counts it.
double now_in_seconds() {
    return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Replaces a file in one step. Other than results it need not survive a loss of power: no wait for the disk.
std::optional<Diagnostic> replace_file(const std::filesystem::path& path, const std::string& content) {
    // Several processes may keep one page: each writes a file of its own, on whatever machine it runs.
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::filesystem::path partial =
        path.parent_path() /
        fmt::format(".{}-{}-{}.partial", path.filename().string(), host.data(), ::getpid());
    ::unlink(partial.c_str());  // of an earlier process of this number, which was killed here
    const int file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool is_whole = file >= 0;
    for (std::string_view rest = content; is_whole && !rest.empty();) {
        const ssize_t count = ::write(file, rest.data(), rest.size());
        is_whole = count >= 0 || errno == EINTR;
        rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    is_whole = is_whole && std::rename(partial.c_str(), path.c_str()) == 0;
    const std::string reason = is_whole ? "" : std::strerror(errno);
    if (file >= 0) {
        ::close(file);
    }
    if (!is_whole) {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
        return Diagnostic{"output.write",
                          {},
                          fmt::format("cannot write '{}': {}", path.string(), reason),
                          "is there room, and is the folder yours? `astrolabe report` draws the page again",
                          {}};
    }
    return std::nullopt;
}

}  // namespace

LiveReport::LiveReport(std::filesystem::path results, std::filesystem::path out, std::string study,
                       std::string shell, const experiment::Components& components)
    : results_(std::move(results)),
      out_(std::move(out)),
      study_(std::move(study)),
      shell_(std::move(shell)),
      components_(&components) {}

Result<LiveReport> LiveReport::open(std::filesystem::path results, std::filesystem::path out,
                                    std::string study, const experiment::Components& components) {
    const Result<experiment::OutputFolder> folder = experiment::OutputFolder::open(out);
    if (!folder) {
        return folder.error();
    }
    Result<std::string> shell = page_shell(study);
    if (!shell) {
        return shell.error();
    }
    return LiveReport(std::move(results), std::move(out), std::move(study), *std::move(shell), components);
}

std::filesystem::path LiveReport::page() const {
    return out_ / kPageName;
}

void LiveReport::write(const SweepProgress& progress, const std::string& state) {
    const Clock::time_point start = Clock::now();
    const Result<StudyReport> report =
        read_report(results_, {.study = study_, .baseline = {}, .is_running = true}, *components_);
    if (!report) {
        failure_ = report.error().front();
        return;
    }
    nlohmann::ordered_json data = page_json(*report);
    const double every = std::max(interval_, kLeastInterval).count();
    data["progress"] = {{"state", state},
                        {"running", progress.running},
                        {"left_s", progress.left_seconds},
                        {"written", now_in_seconds()},
                        {"every_s", every},
                        {"late_s", 3 * std::max(every, kHeartbeat.count())}};
    std::string text = page_from_shell(shell_, data);
    if (text.size() - shell_.size() > kMostPlain) {
        Result<std::string> packed = packed_page(data);
        if (!packed) {
            failure_ = packed.error().front();
            return;
        }
        text = *std::move(packed);
    }
    failure_ = replace_file(page(), text);
    last_ = Clock::now();
    is_written_ = true;
    written_points_ = progress.done + progress.failed;
    interval_ = std::max(kLeastInterval, Seconds(last_ - start) / kShareOfSweep);
}

void LiveReport::update(const SweepProgress& progress) {
    if (failure_) {
        return;
    }
    const Seconds gone = Clock::now() - last_;
    const bool has_news = progress.done + progress.failed != written_points_;
    if (!is_written_ || gone >= (has_news ? interval_ : std::max(interval_, kHeartbeat))) {
        write(progress, "running");
    }
}

void LiveReport::stop(const SweepProgress& progress, const std::string& why) {
    if (!failure_) {
        write(progress, why);
    }
}

}  // namespace astrolabe::study
