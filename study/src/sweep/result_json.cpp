#include "result_json.hpp"

#include <string>
#include <utility>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

/// Throws what nlohmann::json does for values of other kinds.
std::optional<StoredResult> read_result(const Json& json) {
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
    result.details = json.at("details").get<RunDetails>();
    const bool is_whole = status == to_string(result.status) && !result.key.empty() &&
                          (result.status == PointStatus::kFailed || result.summary.is_object());
    return is_whole ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

Json result_json(const StoredResult& result) {
    return {{"key", result.key},
            {"status", to_string(result.status)},
            {"error", result.error},
            {"fingerprint", result.fingerprint},
            {"summary", result.summary},
            {"resolved", result.resolved},
            {"wall_s", result.wall_seconds ? Json(*result.wall_seconds) : Json()},
            {"peak_rss_bytes", result.peak_rss_bytes},
            {"details", result.details}};
}

std::optional<StoredResult> result_in(const Json& json) {
    try {
        return read_result(json);
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace astrolabe::study
