#include "page_data.hpp"

#include "../file/study_points.hpp"
#include "study_axes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostIterations = 64;
constexpr std::size_t kMostWaits = 10;
constexpr std::size_t kMostOperationsOfPath = 6;

/// A value of a summary; null where it has none.
Json value_at(const Json& summary, const char* pointer) {
    const Json::json_pointer place(pointer);
    return summary.contains(place) ? summary[place] : Json();
}

void put_iterations(const Json& times, Json& run) {
    if (!times.is_array() || times.empty()) {
        return;
    }
    const std::size_t step = (times.size() + kMostIterations - 1) / kMostIterations;
    Json kept = Json::array();
    for (std::size_t i = 0; i < times.size(); i += step) {
        kept.push_back(times[i]);
    }
    run["n"] = times.size();
    run["k"] = step;
    run["i"] = std::move(kept);
}

void put_waits(const Json& exposed, Json& run) {
    if (!exposed.is_object()) {
        return;
    }
    std::vector<std::pair<double, std::string>> causes;
    for (const auto& [cause, seconds] : exposed.items()) {
        causes.emplace_back(seconds.get<double>(), cause);
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Json longest = Json::array();
    double others = 0;
    for (std::size_t i = 0; i < causes.size(); ++i) {
        if (i < kMostWaits) {
            longest.push_back({causes[i].second, causes[i].first});
        } else {
            others += causes[i].first;
        }
    }
    run["w"] = std::move(longest);
    run["r"] = others;
}

void put_path(const Json& path, Json& run) {
    if (!path.is_object()) {
        return;
    }
    Json resources = Json::array();
    for (const Json& one : path.value("by_resource", Json::array())) {
        resources.push_back({one.at("resource"), one.at("share")});
    }
    Json operations = Json::array();
    for (const Json& one : path.value("by_operation", Json::array())) {
        if (operations.size() < kMostOperationsOfPath) {
            operations.push_back({one.at("operation"), one.value("resource", Json()), one.at("share")});
        }
    }
    run["p"] = std::move(resources);
    run["o"] = std::move(operations);
    run["f"] = path.value("follows_causes", false);
}

/// What flows took, in place of iterations.
Json flows_json(const Json& flows) {
    const Json& all = flows.at("all");
    return {flows.at("started"),        flows.at("delivered"),         all.at("time_s").at("mean"),
            all.at("time_s").at("p99"), all.at("slowdown").at("mean"), all.at("slowdown").at("p99")};
}

Json link_json(const Json& link) {
    return {link.at("source"), link.at("destination"), link.at("utilization")};
}

Json run_json(const Json& summary) {
    Json run = Json::object();
    if (const Json link = value_at(summary, "/busiest_link"); link.is_object()) {
        run["l"] = link_json(link);
    }
    if (const Json flows = value_at(summary, "/flows"); flows.is_object()) {
        run["s"] = flows_json(flows);
        return run;
    }
    put_iterations(value_at(summary, "/iteration_time_s"), run);
    for (const auto& [name, place] : {std::pair("t", "/total_time_s"), std::pair("c", "/compute_s"),
                                      std::pair("d", "/drain_s"), std::pair("b", "/bounds/binding")}) {
        if (Json value = value_at(summary, place); !value.is_null()) {
            run[name] = std::move(value);
        }
    }
    put_waits(value_at(summary, "/exposed_s"), run);
    put_path(value_at(summary, "/critical_path"), run);
    return run;
}

}  // namespace

Json parameters_json(const std::vector<StudyRow>& rows) {
    Json all = Json::array();
    for (const std::string& name : parameters_of(rows)) {
        std::map<std::string, std::size_t> places;
        Json values = Json::array();
        Json at = Json::array();
        for (const StudyRow& row : rows) {
            const auto value = row.point.parameters.find(name);
            if (value == row.point.parameters.end()) {
                at.push_back(-1);
                continue;
            }
            const auto [place, is_new] = places.try_emplace(value_text(*value), places.size());
            if (is_new) {
                values.push_back(place->first);
            }
            at.push_back(place->second);
        }
        all.push_back({{"name", name}, {"values", std::move(values)}, {"at", std::move(at)}});
    }
    return all;
}

Json runs_json(const std::vector<StudyRow>& rows) {
    Json runs = Json::array();
    for (const StudyRow& row : rows) {
        runs.push_back(row.result.status == PointStatus::kDone && row.result.summary.is_object()
                           ? run_json(row.result.summary)
                           : Json());
    }
    return runs;
}

}  // namespace astrolabe::study
