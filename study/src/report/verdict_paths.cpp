/// Why one contender is ahead of another: their critical paths, resource by resource.
#include "verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace astrolabe::study {

std::map<std::string, double> path_times(const StudyRow& row) {
    const nlohmann::ordered_json& summary = row.result.summary;
    const auto path = summary.find("critical_path");
    const std::optional<double> time = mean_iteration_time(row.result);
    std::map<std::string, double> times;
    if (path == summary.end() || !path->value("follows_causes", false) || !time) {
        return times;
    }
    for (const nlohmann::ordered_json& one : path->at("by_resource")) {
        times[one.at("resource").get<std::string>()] += one.at("share").get<double>() * *time;
    }
    return times;
}

std::optional<Turn> catches_up(const Setting& setting) {
    if (setting.contenders.size() < 2) {
        return std::nullopt;
    }
    const StudyRow& loser = *setting.contenders[1].row;
    const double behind = setting.contenders[1].time.mean() - setting.winner().time.mean();
    std::optional<Turn> least;
    for (const auto& [resource, time] : path_times(loser)) {
        // Faster computation would help the winner too.
        if (resource != "compute" && time > behind) {
            const double factor = time / (time - behind);
            if (!least || factor < least->factor) {
                least = Turn{resource, factor};
            }
        }
    }
    return least;
}

std::optional<Turn> falls_behind(const Setting& setting) {
    if (setting.contenders.size() < 2) {
        return std::nullopt;
    }
    const double ahead = setting.contenders[1].time.mean() - setting.winner().time.mean();
    std::optional<Turn> least;
    for (const auto& [resource, time] : path_times(*setting.winner().row)) {
        const double factor = time > 0 ? 1 + ahead / time : std::numeric_limits<double>::infinity();
        if (resource != "compute" && (!least || factor < least->factor)) {
            least = Turn{resource, factor};
        }
    }
    return least;
}

TimeParts parts_of(const StudyRow& row) {
    TimeParts parts{path_times(row), true};
    if (!parts.seconds.empty()) {
        return parts;
    }
    parts.is_of_path = false;
    const nlohmann::ordered_json& summary = row.result.summary;
    for (const char* key : {"iteration_time_s", "compute_s", "drain_s", "collectives"}) {
        if (!summary.contains(key)) {
            return parts;
        }
    }
    const auto iterations = static_cast<double>(summary["iteration_time_s"].size());
    if (iterations == 0) {
        return parts;
    }
    parts.seconds["computing"] = summary["compute_s"].get<double>() / iterations;
    parts.seconds["draining"] = summary["drain_s"].get<double>() / iterations;
    for (const nlohmann::ordered_json& collective : summary["collectives"]) {
        parts.seconds["waiting for " + collective.at("kind").get<std::string>()] +=
            collective.at("exposed_s").get<double>() / iterations;
    }
    return parts;
}

std::optional<TimeShare> bound_of(const StudyRow& row) {
    const TimeParts parts = parts_of(row);
    const auto most = std::max_element(parts.seconds.begin(), parts.seconds.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == parts.seconds.end()) {
        return std::nullopt;
    }
    return TimeShare{most->first, most->second / *mean_iteration_time(row.result), parts.is_of_path};
}

std::vector<TimeDifference> losses_of(const Setting& setting) {
    if (setting.contenders.size() < 2) {
        return {};
    }
    TimeParts parts = parts_of(*setting.contenders[1].row);
    const TimeParts own = parts_of(*setting.winner().row);
    if (parts.seconds.empty() || own.seconds.empty() || parts.is_of_path != own.is_of_path) {
        return {};
    }
    for (const auto& [part, time] : own.seconds) {
        parts.seconds[part] -= time;
    }
    std::vector<TimeDifference> losses;
    for (const auto& [part, seconds] : parts.seconds) {
        losses.push_back({part, seconds});
    }
    std::stable_sort(losses.begin(), losses.end(),
                     [](const TimeDifference& a, const TimeDifference& b) { return a.seconds > b.seconds; });
    return losses;
}

}  // namespace astrolabe::study
