#include "report_page.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

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
/// Bytes in which a page has its title, of at most 200 letters.
constexpr std::size_t kMostHead = 8192;
/// For the last page of a sweep. Others are left out where somebody draws there: the next one comes soon.
constexpr std::chrono::seconds kPatienceOfLast{1};

/// The time of day, as the page's script counts it.
double now_in_seconds() {
    return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// What a page has as its title; nothing of another file, or of none.
std::string title_of(std::string_view page) {
    constexpr std::string_view kBegin = "<title>";
    const std::size_t begin = page.find(kBegin);
    const std::size_t end = page.find("</title>", begin == std::string_view::npos ? page.size() : begin);
    return end == std::string_view::npos
               ? ""
               : std::string(page.substr(begin + kBegin.size(), end - begin - kBegin.size()));
}

/// As far as a page has its title. Nothing: there is no such file.
std::optional<std::string> begin_of(const std::filesystem::path& page) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(page, failed)) {
        return std::nullopt;
    }
    std::string begin(kMostHead, '\0');
    std::ifstream stream(page, std::ios::binary);
    stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(stream.gcount()));
    return begin;
}

}  // namespace

Result<bool> replace_page(const std::filesystem::path& folder, const std::string& page,
                          std::chrono::milliseconds patience) {
    const Result<experiment::OutputFolder> owned =
        experiment::OutputFolder::open_beside_run(folder, patience);
    if (!owned) {
        return owned.error().front().code == "output.in-use" ? Result<bool>(false) : owned.error();
    }
    const std::string title = title_of(page);
    const std::optional<std::string> there = begin_of(folder / kPageName);
    if (there && title_of(*there) != title) {
        return Diagnostic{"report.other-study",
                          {},
                          fmt::format("'{}' is not a page of '{}', but of '{}'",
                                      (folder / kPageName).string(), title, title_of(*there)),
                          "the report at the end of the sweep replaces it; with a folder of its own, --out "
                          "DIR, a study has a page that follows it",
                          {}};
    }
    if (std::optional<Diagnostic> error = owned->write(kPageName, page)) {
        return *std::move(error);
    }
    return true;
}

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

void LiveReport::write(const SweepProgress& progress, const std::string& state,
                       std::chrono::milliseconds patience) {
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
    const Result<bool> replaced = replace_page(out_, text, patience);
    if (!replaced) {
        failure_ = replaced.error().front();
        return;
    }
    last_ = Clock::now();
    is_tried_ = true;
    if (*replaced) {
        written_points_ = progress.done + progress.failed;
    }
    interval_ = std::max(kLeastInterval, Seconds(last_ - start) / kShareOfSweep);
}

void LiveReport::update(const SweepProgress& progress) {
    if (failure_) {
        return;
    }
    const Seconds gone = Clock::now() - last_;
    const bool has_news = progress.done + progress.failed != written_points_;
    if (!is_tried_ || gone >= (has_news ? interval_ : std::max(interval_, kHeartbeat))) {
        write(progress, "running", std::chrono::milliseconds(0));
    }
}

void LiveReport::stop(const SweepProgress& progress, const std::string& why) {
    if (!failure_) {
        write(progress, why, kPatienceOfLast);
    }
}

}  // namespace astrolabe::study
