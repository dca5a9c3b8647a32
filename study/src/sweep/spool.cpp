#include "../process/text_file.hpp"
#include "point_runner.hpp"
#include "result_json.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/study/sweep/spool.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSpoolName = "spool";
constexpr const char* kSuffix = ".json";
constexpr std::size_t kAtOnce = 256;                         // results in one change of the store
constexpr std::size_t kMostOfAResult = limits::kTotalBytes;  // bytes

/// Or why it is none.
std::variant<StoredResult, std::string> result_of(const std::string& text) {
    Json json = parse_json<Json>(text);
    if (json.is_discarded()) {
        return fmt::format("it is no JSON, or has more than {} lists and objects inside each other",
                           limits::kNesting);
    }
    return result_in(json);
}

/// Files of results, sorted, so that merging them has one order.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code failure;
    std::filesystem::directory_iterator entries(folder / kSpoolName, failure);
    while (!failure && entries != std::filesystem::directory_iterator()) {
        const std::string name = entries->path().filename().string();
        if (name.front() != '.' && name.ends_with(kSuffix)) {  // a dot begins the name of an unfinished one
            files.push_back(entries->path());
        }
        entries.increment(failure);
    }
    std::sort(files.begin(), files.end());
    return files;
}

Diagnostic no_result(const std::filesystem::path& file, const std::string& reason, const char* hint) {
    return {"store.spool", {}, fmt::format("'{}' {}", file.string(), reason), hint, {}};
}

/// Merges some files; what is wrong with some is added to `errors`.
class Merger {
public:
    Merger(ResultStore& store, Diagnostics& errors)
        : store_(store),
          errors_(errors) {}

    void add(const std::filesystem::path& file) {
        const std::optional<std::string> text = text_of_file(file, kMostOfAResult);
        std::error_code gone;
        if (!text && !std::filesystem::exists(file, gone)) {
            return;  // another process merged it
        }
        if (!text) {
            errors_.push_back(
                no_result(file, why_not_read(file, kMostOfAResult),
                          "let this user read it, or delete it: its point is computed again then"));
            return;
        }
        std::variant<StoredResult, std::string> read = result_of(*text);
        if (auto* result = std::get_if<StoredResult>(&read)) {
            files_.push_back(file);
            results_.push_back(std::move(*result));
        } else {
            errors_.push_back(no_result(file, "holds no result: " + std::get<std::string>(read),
                                        "delete it: its point is computed again then"));
        }
        if (results_.size() == kAtOnce) {
            flush();
        }
    }

    void flush() {
        if (results_.empty()) {
            return;
        }
        if (std::optional<Diagnostic> error = store_.put(results_)) {
            errors_.push_back(*std::move(error));
        } else {
            merged_ += results_.size();
            for (const std::filesystem::path& file : files_) {
                std::error_code ignored;  // it stays and is merged again, into the same row
                std::filesystem::remove(file, ignored);
            }
        }
        results_.clear();
        files_.clear();
    }

    [[nodiscard]] std::size_t merged() const { return merged_; }

private:
    ResultStore& store_;
    Diagnostics& errors_;
    std::vector<StoredResult> results_;
    std::vector<std::filesystem::path> files_;
    std::size_t merged_ = 0;
};

}  // namespace

Spool::Spool(std::filesystem::path folder, experiment::OutputFolder files, std::string writer)
    : folder_(std::move(folder)),
      files_(std::move(files)),
      writer_(std::move(writer)) {}

Result<Spool> Spool::open(const std::filesystem::path& folder, std::string writer) {
    const std::filesystem::path path = folder / kSpoolName;
    Result<experiment::OutputFolder> files = experiment::OutputFolder::open(path);
    if (!files) {
        return files.error();
    }
    return Spool(path, *std::move(files), std::move(writer));
}

std::string Spool::name_of(const std::string& key) const {
    return fmt::format("{}-{}{}", writer_, key, kSuffix);
}

std::optional<Diagnostic> Spool::put(const StoredResult& result) const {
    const auto text_of = [](const StoredResult& one) {
        return result_json(one).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    };
    std::string text = text_of(result);
    if (text.size() > kMostOfAResult) {  // could not be read back
        text = text_of(failed_result(result.key, fmt::format("its result has {} bytes, expected at most {}",
                                                             text.size(), kMostOfAResult)));
    }
    return files_.write(name_of(result.key), text);
}

PointStatus Spool::status(const std::string& key) const {
    const std::optional<std::string> text = text_of_file(folder_ / name_of(key), kMostOfAResult);
    if (!text) {
        return PointStatus::kMissing;
    }
    const std::variant<StoredResult, std::string> read = result_of(*text);
    const auto* result = std::get_if<StoredResult>(&read);
    return result != nullptr ? result->status : PointStatus::kMissing;
}

std::size_t spooled_results(const std::filesystem::path& folder) {
    return files_of(folder).size();
}

Result<std::size_t> merge_spool(const std::filesystem::path& folder, ResultStore& store) {
    std::error_code failure;
    if (!std::filesystem::is_directory(folder / kSpoolName, failure)) {
        return std::size_t{0};
    }
    // A network file system lists what others made a moment ago once something was made in the folder here.
    static_cast<void>(experiment::OutputFolder::open(folder / kSpoolName));
    Diagnostics errors;
    Merger merger(store, errors);
    for (const std::filesystem::path& file : files_of(folder)) {
        merger.add(file);
    }
    merger.flush();
    return errors.empty() ? Result<std::size_t>(merger.merged()) : Result<std::size_t>(std::move(errors));
}

}  // namespace astrolabe::study
