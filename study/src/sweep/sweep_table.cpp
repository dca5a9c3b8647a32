#include "../file/study_points.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/study/sweep/sweep.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& number) {
    return number ? Json(*number) : Json();
}

std::string seconds_text(const StudyRow& row) {
    if (row.result.status != PointStatus::kDone) {
        return std::string(to_string(row.result.status));
    }
    const Json& mean = row.result.summary.at("mean_iteration_time_s");
    return mean.is_number() ? fmt::format("{:.6g} s", mean.get<double>()) : std::string();
}

bool is_of_flows(const StudyRow& row) {
    return row.result.status == PointStatus::kDone && row.result.summary.contains("flows");
}

/// Of all flows of a point.
Json flows_of(const StudyRow& row) {
    const Json& flows = row.result.summary.at("flows");
    const Json& all = flows.at("all");
    Json json{{"started", flows.at("started")}, {"delivered", flows.at("delivered")}};
    for (const char* quantity : {"time_s", "slowdown"}) {
        for (const char* value : {"mean", "p50", "p99"}) {
            json[quantity][value] = all.at(quantity).at(value);
        }
    }
    return json;
}

/// What a point of a study of flows has in place of an iteration: cells of kFlowHeadings.
std::vector<std::string> flow_cells(const StudyRow& row) {
    if (!is_of_flows(row)) {
        return {std::string(to_string(row.result.status)), "", "", ""};
    }
    const Json flows = flows_of(row);
    return {fmt::format("{:.6g} s", flows.at("time_s").at("mean").get<double>()),
            fmt::format("{:.6g} s", flows.at("time_s").at("p99").get<double>()),
            fmt::format("{:.4g}", flows.at("slowdown").at("mean").get<double>()),
            fmt::format("{:.4g}", flows.at("slowdown").at("p99").get<double>())};
}
const std::vector<std::string> kFlowHeadings{"mean completion", "p99", "mean slowdown", "p99"};

/// Of characters as a terminal shows them, near enough: bytes that begin one.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Columns as wide as they need to be, the last one ragged.
std::string table(const std::vector<std::vector<std::string>>& lines) {
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& line : lines) {
        widths.resize(std::max(widths.size(), line.size()));
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(line[i]));
        }
    }
    std::string text;
    for (const std::vector<std::string>& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            const std::size_t blanks = i + 1 < line.size() ? widths[i] + 2 - width_of(line[i]) : 0;
            text += line[i] + std::string(blanks, ' ');
        }
        text += "\n";
    }
    return text;
}

/// One line, and not all of a long one.
std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = 48;
    const std::string line = text.substr(0, text.find('\n'));
    std::size_t end = std::min(kMost, line.size());
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) {
        --end;  // not within a character
    }
    return end < line.size() ? line.substr(0, end) + "…" : line;
}

/// A line for each point, with its parameters and what `cells` says; their first line is a heading.
std::string table_of_points(const std::vector<Json>& parameters,
                            const std::vector<std::vector<std::string>>& cells) {
    std::vector<std::string> names;
    for (const Json& point : parameters) {
        for (const auto& [name, unused] : point.items()) {
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                names.push_back(name);
            }
        }
    }
    std::vector<std::vector<std::string>> lines;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        std::vector<std::string> line{i == 0 ? "point" : std::to_string(i)};
        for (const std::string& name : names) {
            line.push_back(shortened(i == 0                             ? name
                                     : parameters[i - 1].contains(name) ? value_text(parameters[i - 1][name])
                                                                        : ""));
        }
        line.insert(line.end(), cells[i].begin(), cells[i].end());
        lines.push_back(std::move(line));
    }
    return table(lines);
}

/// Points that are the same experiment differ in their seeds alone, which it does not depend on.
std::string repeats_text(const std::map<std::string, std::size_t>& points_by_key) {
    std::size_t experiments = 0;
    std::size_t points = 0;
    for (const auto& [key, count] : points_by_key) {
        if (!key.empty() && count > 1) {
            ++experiments;
            points += count;
        }
    }
    return points == 0
               ? std::string()
               : fmt::format(
                     "deterministic: nothing is random in {} points that differ in their "
                     "seed alone, so {} {} computed once\n",
                     points, experiments, experiments == 1 ? "experiment was" : "experiments were each");
}

/// A line for each algorithm that is named and slow, whatever the sizes.
std::string slow_methods_text(const std::vector<StudyRow>& rows) {
    struct Slow {
        std::size_t points = 0;
        double most = 0;
    };
    std::map<std::tuple<std::string, std::string, std::string>, Slow> methods;
    for (const StudyRow& row : rows) {
        if (!row.result.summary.contains("slow_methods")) {
            continue;
        }
        for (const Json& one : row.result.summary["slow_methods"]) {
            Slow& slow = methods[{one.at("collective"), experiment::method_text(one.at("named")),
                                  experiment::method_text(one.at("better"))}];
            ++slow.points;
            slow.most = std::max(slow.most, one.at("factor").get<double>());
        }
    }
    std::string text;
    for (const auto& [method, slow] : methods) {
        const auto& [collective, named, better] = method;
        text +=
            fmt::format("slow: the largest {} alone by {} takes up to {:.1f} times as long as by {}, in {}\n",
                        collective, named, slow.most, better, points_text(slow.points));
    }
    return text;
}

std::string memory_text(double bytes) {
    return readable(Bytes(static_cast<std::int64_t>(bytes)));
}

}  // namespace

std::size_t count_points(const std::vector<StudyRow>& rows, PointStatus status) {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const StudyRow& row) { return row.result.status == status; }));
}

std::string points_text(std::size_t count) {
    return fmt::format("{} point{}", count, count == 1 ? "" : "s");
}

Json study_json(const std::string& study, const std::vector<StudyRow>& rows) {
    Json points = Json::array();
    for (const StudyRow& row : rows) {
        Json point{{"point", row.point.number},
                   {"parameters", row.point.parameters},
                   {"key", row.point.key},
                   {"status", to_string(row.result.status)}};
        if (row.result.status == PointStatus::kFailed) {
            point["error"] = row.result.error;
        }
        point.update(scalar_keys(row.result.summary));
        if (is_of_flows(row)) {
            point["flows"] = flows_of(row);
        }
        point["engine"] = {{"predicted_wall_s", or_null(row.point.predicted_wall_seconds)},
                           {"predicted_memory_bytes", or_null(row.point.predicted_memory_bytes)},
                           {"wall_s", or_null(row.result.wall_seconds)},
                           {"peak_rss_bytes", row.result.peak_rss_bytes}};
        points.push_back(std::move(point));
    }
    return {{"schema", experiment::kSchemaName},
            {"study", study},
            {"version", experiment::program_version()},
            {"done", count_points(rows, PointStatus::kDone)},
            {"failed", count_points(rows, PointStatus::kFailed)},
            {"missing", count_points(rows, PointStatus::kMissing)},
            {"points", std::move(points)}};
}

std::string study_text(const std::string& study, const std::vector<StudyRow>& rows) {
    const bool has_flows = std::any_of(rows.begin(), rows.end(), is_of_flows);
    std::vector<std::vector<std::string>> results{has_flows ? kFlowHeadings
                                                            : std::vector<std::string>{"mean iteration"}};
    results.front().emplace_back("fingerprint");
    std::vector<Json> parameters;
    double predicted = 0;
    std::string errors;
    std::map<std::string, std::size_t> repeats;  // by key
    for (const StudyRow& row : rows) {
        parameters.push_back(row.point.parameters);
        results.push_back(has_flows ? flow_cells(row) : std::vector<std::string>{seconds_text(row)});
        results.back().push_back(row.result.fingerprint);
        ++repeats[row.point.key];
        if (row.result.status == PointStatus::kMissing) {
            predicted += row.point.predicted_wall_seconds.value_or(0);
        } else if (row.result.status == PointStatus::kFailed) {
            errors += fmt::format("point {} failed: {}\n", row.point.number, row.result.error);
        }
    }
    return table_of_points(parameters, results) + errors + repeats_text(repeats) + slow_methods_text(rows) +
           fmt::format("{}: {}, {} done, {} failed, {} missing{}\n", study, points_text(rows.size()),
                       count_points(rows, PointStatus::kDone), count_points(rows, PointStatus::kFailed),
                       count_points(rows, PointStatus::kMissing),
                       predicted > 0 ? fmt::format(", {:.3g} s of a processor as predicted", predicted) : "");
}

Json plan_json(const Study& study, const StudyPlan& plan) {
    Json points = Json::array();
    double wall = 0;
    double memory = 0;
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        const Resolution& point = plan.points[i];
        wall += point.predicted_wall_seconds.value_or(0);
        memory = std::max(memory, point.predicted_memory_bytes.value_or(0));
        points.push_back({{"point", study.points[i].number},
                          {"parameters", study.points[i].parameters},
                          {"key", point.key},
                          {"prediction",
                           {{"wall_s", or_null(point.predicted_wall_seconds)},
                            {"peak_rss_bytes", or_null(point.predicted_memory_bytes)}}}});
    }
    return {{"study", study.name},
            {"points", std::move(points)},
            {"prediction", {{"wall_s", wall}, {"largest_peak_rss_bytes", memory}}}};
}

std::string plan_text(const Study& study, const StudyPlan& plan) {
    std::vector<std::vector<std::string>> costs{{"wall time", "memory"}};
    std::vector<Json> parameters;
    double wall = 0;
    double memory = 0;
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        const double seconds = plan.points[i].predicted_wall_seconds.value_or(0);
        const double bytes = plan.points[i].predicted_memory_bytes.value_or(0);
        wall += seconds;
        memory = std::max(memory, bytes);
        parameters.push_back(study.points[i].parameters);
        costs.push_back({fmt::format("{:.3g} s", seconds), memory_text(bytes)});
    }
    return table_of_points(parameters, costs) +
           fmt::format("{}: {}, {:.3g} s of a processor as predicted, at most {} of memory each\n",
                       study.name, points_text(plan.points.size()), wall, memory_text(memory));
}

}  // namespace astrolabe::study
