#include "run_details.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/experiment/spool.hpp>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSpoolName = "spool";
constexpr const char* kSuffix = ".json";
constexpr std::size_t kAtOnce = 256;  // results in one change of the store

Json json_of(const StoredResult& result) {
    return {{"key", result.key},
            {"status", to_string(result.status)},
            {"error", result.error},
            {"fingerprint", result.fingerprint},
            {"summary", result.summary},
            {"resolved", result.resolved},
            {"wall_s", result.wall_seconds ? Json(*result.wall_seconds) : Json()},
            {"peak_rss_bytes", result.peak_rss_bytes},
            {"details", details_json(result.details)}};
}

/// Nothing if it is no result. Throws what nlohmann::json does for values of other kinds.
std::optional<StoredResult> result_of(const Json& json) {
    StoredResult result;
    result.key = json.at("key");
    const std::string status = json.at("status");
    result.status = status == to_string(PointStatus::kDone) ? PointStatus::kDone : PointStatus::kFailed;
    result.error = json.at("error");
    result.fingerprint = json.at("fingerprint");
    result.summary = json.at("summary");
    result.resolved = json.at("resolved");
    if (!json.at("wall_s").is_null()) {
        result.wall_seconds = json.at("wall_s").get<double>();
    }
    result.peak_rss_bytes = json.at("peak_rss_bytes");
    result.details = details_in(json.at("details"));
    const bool is_whole = status == to_string(result.status) && !result.key.empty() &&
                          (result.status == PointStatus::kFailed || result.summary.is_object());
    return is_whole ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<StoredResult> read_result(const std::string& text) {
    try {
        return result_of(Json::parse(text));
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
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

Diagnostic no_result(const std::filesystem::path& file, bool is_open) {
    return {"store.spool",
            {},
            fmt::format("'{}' {}", file.string(), is_open ? "holds no result" : "cannot be read"),
            is_open ? "delete it: its point is computed again then" : "let it be read by this user",
            {}};
}

/// Merges some files; what is wrong with some is added to `errors`.
class Merger {
public:
    Merger(ResultStore& store, Diagnostics& errors)
        : store_(store),
          errors_(errors) {}

    void add(const std::filesystem::path& file) {
        std::ifstream stream(file, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        std::error_code gone;
        if (!stream.is_open() && !std::filesystem::exists(file, gone)) {
            return;  // somebody else merged it
        }
        if (std::optional<StoredResult> result = read_result(text)) {
            files_.push_back(file);
            results_.push_back(*std::move(result));
        } else {
            errors_.push_back(no_result(file, stream.is_open()));
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

Spool::Spool(std::filesystem::path folder, OutputFolder files, std::string writer)
    : folder_(std::move(folder)),
      files_(std::move(files)),
      writer_(std::move(writer)) {}

Result<Spool> Spool::open(const std::filesystem::path& folder, std::string writer) {
    const std::filesystem::path path = folder / kSpoolName;
    Result<OutputFolder> files = OutputFolder::open(path);
    if (!files) {
        return files.error();
    }
    return Spool(path, *std::move(files), std::move(writer));
}

std::string Spool::name_of(const std::string& key) const {
    return fmt::format("{}-{}{}", writer_, key, kSuffix);
}

std::optional<Diagnostic> Spool::put(const StoredResult& result) const {
    return files_.write(name_of(result.key),
                        json_of(result).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool Spool::has(const std::string& key) const {
    std::error_code failure;
    return std::filesystem::exists(folder_ / name_of(key), failure);
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
    static_cast<void>(OutputFolder::open(folder / kSpoolName));
    Diagnostics errors;
    Merger merger(store, errors);
    for (const std::filesystem::path& file : files_of(folder)) {
        merger.add(file);
    }
    merger.flush();
    return errors.empty() ? Result<std::size_t>(merger.merged()) : Result<std::size_t>(std::move(errors));
}

}  // namespace astrolabe::experiment
