#include "result_json.hpp"

#include "run_details.hpp"
#include "sqlite_database.hpp"

#include <cstdint>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/core/limits.hpp>
#include <astrolabe/experiment/choice/choice.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

/// "multi_ring, 4 chunks".
void check_method(const Json& method) {
    static_cast<void>(whole_in<std::uint32_t>(method.at("chunks")));
    static_cast<void>(experiment::method_text(method));
}

/// What tables read of it (sweep_table.cpp). Throws what nlohmann::json and whole_in do.
void check_summary(const Json& summary) {
    if (!summary.is_object()) {
        throw std::out_of_range("its summary is none");
    }
    if (const auto flows = summary.find("flows"); flows != summary.end()) {
        static_cast<void>(flows->at("started"));
        static_cast<void>(flows->at("delivered"));
        for (const char* quantity : {"time_s", "slowdown"}) {
            for (const char* value : {"mean", "p50", "p99"}) {
                static_cast<void>(flows->at("all").at(quantity).at(value).get<double>());
            }
        }
    } else if (const Json& mean = summary.at("mean_iteration_time_s"); !mean.is_null()) {
        static_cast<void>(mean.get<double>());
    }
    for (const Json& slow : summary.value("slow_methods", Json::array())) {
        static_cast<void>(slow.at("collective").get<std::string>());
        check_method(slow.at("named"));
        check_method(slow.at("better"));
        static_cast<void>(slow.at("factor").get<double>());
    }
}

/// Throws the same.
StoredResult read_result(const Json& json) {
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
    result.peak_rss_bytes = whole_in<std::uint64_t>(json.at("peak_rss_bytes"));
    if (result.peak_rss_bytes > kLargestCount) {
        throw std::out_of_range(
            fmt::format("peak_rss_bytes is {}, expected at most {}", result.peak_rss_bytes, kLargestCount));
    }
    result.details = json.at("details").get<RunDetails>();
    for (const auto& [kind, content] : result.details) {
        if (wanted_details({kind}).empty()) {
            throw std::out_of_range(fmt::format("'{}' is no kind of details", kind));
        }
        if (!parse_json<Json>(content).is_object()) {
            throw std::out_of_range(fmt::format(
                "details '{}' are no JSON object with at most {} inside each other", kind, limits::kNesting));
        }
    }
    if (result.key.empty()) {
        throw std::out_of_range("its key is empty");
    }
    if (status != to_string(result.status)) {
        throw std::out_of_range(fmt::format("its status is '{}', expected done or failed", status));
    }
    if (result.status == PointStatus::kDone) {
        check_summary(result.summary);
    }
    return result;
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

std::variant<StoredResult, std::string> result_in(const Json& json) {
    try {
        return read_result(json);
    } catch (const nlohmann::json::exception& wrong) {
        return wrong.what();
    } catch (const std::out_of_range& wrong) {
        return wrong.what();
    }
}

std::string summary_defect(const Json& summary) {
    try {
        check_summary(summary);
        return "";
    } catch (const nlohmann::json::exception& wrong) {
        return wrong.what();
    } catch (const std::out_of_range& wrong) {
        return wrong.what();
    }
}

}  // namespace astrolabe::study
