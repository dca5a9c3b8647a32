/// Figures of what a point's time and traffic are made of: stacked bars.
#include "study_figures.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

/// Causes of waiting that a figure distinguishes by name; more of them go by kind of collective.
constexpr std::size_t kMostCauses = 6;

/// What a result is made of, by name of the part.
using Parts = std::map<std::string, double>;
using PartsOf = std::function<Parts(const Json& summary)>;

/// Means over seeds, by place.
std::map<std::vector<std::size_t>, Parts> mean_parts(const StudyAxes& axes, const PartsOf& parts_of) {
    std::map<std::vector<std::size_t>, Parts> sums;
    std::map<std::vector<std::size_t>, double> counts;
    for (const Place& place : axes.places) {
        for (const auto& [part, value] : parts_of(place.row->result.summary)) {
            sums[place.at][part] += value;
        }
        counts[place.at] += 1;
    }
    for (auto& [at, parts] : sums) {
        for (auto& [part, value] : parts) {
            value /= counts[at];
        }
    }
    return sums;
}

double sum_of(const Json& object) {
    double sum = 0;
    for (const auto& [unused, value] : object.items()) {
        sum += value.is_number() ? value.get<double>() : 0;
    }
    return sum;
}

Parts exposed_by_cause(const Json& summary) {
    Parts parts;
    for (const auto& [cause, seconds] : summary.at("exposed_s").items()) {
        parts[cause] += seconds.get<double>();
    }
    return parts;
}

Parts exposed_by_kind(const Json& summary) {
    Parts parts;
    for (const Json& collective : summary.at("collectives")) {
        parts[collective.at("kind").get<std::string>()] += collective.at("exposed_s").get<double>();
    }
    return parts;
}

bool has_breakdown(const Json& summary) {
    return summary.is_object() && summary.contains("exposed_s") && summary.contains("compute_s") &&
           summary.contains("drain_s") && summary.contains("iteration_time_s") &&
           !summary.at("iteration_time_s").empty();
}

/// Columns of the dimensions `kept`, then of the parts in this order.
Figure stack(const StudyAxes& axes, const std::map<std::vector<std::size_t>, Parts>& rows,
             const std::vector<std::pair<std::string, std::string>>& parts) {
    Figure figure;
    figure.columns = axes.names();
    figure.chart = {{"form", "stack"}, {"parts", Json::array()}};
    for (const auto& [part, column] : parts) {
        figure.chart["parts"].push_back({{"column", figure.columns.size()}, {"name", part}});
        figure.columns.push_back(column);
    }
    std::vector<std::size_t> bar;
    for (const std::optional<std::size_t>& dimension : {axes.scale, axes.series}) {
        if (dimension) {
            bar.push_back(*dimension);
        }
    }
    figure.chart["bar"] = bar;
    figure.chart["panels"] = axes.without({axes.scale, axes.series});
    for (const auto& [at, values] : rows) {
        std::vector<Json> row = axes.labels(at);
        for (const auto& [part, unused] : parts) {
            const auto value = values.find(part);
            row.emplace_back(value == values.end() ? 0.0 : value->second);
        }
        figure.rows.push_back(std::move(row));
    }
    return figure;
}

bool are_near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

/// Whether points that differ in this dimension alone have the same parts.
bool is_idle(const std::map<std::vector<std::size_t>, Parts>& rows, std::size_t dimension) {
    std::map<std::vector<std::size_t>, const Parts*> seen;
    for (const auto& [at, parts] : rows) {
        std::vector<std::size_t> rest = at;
        rest[dimension] = 0;
        const Parts& first = *seen.try_emplace(rest, &parts).first->second;
        const auto same = [](const auto& a, const auto& b) {
            return a.first == b.first && are_near(a.second, b.second);
        };
        if (!std::equal(first.begin(), first.end(), parts.begin(), parts.end(), same)) {
            return false;
        }
    }
    return true;
}

void erase_place(std::optional<std::size_t>& place, std::size_t dimension) {
    if (place == dimension) {
        place.reset();
    } else if (place && *place > dimension) {
        --*place;
    }
}

/// Without a dimension that makes no difference.
void drop_dimension(StudyAxes& axes, std::map<std::vector<std::size_t>, Parts>& rows, std::size_t dimension) {
    const auto offset = static_cast<std::ptrdiff_t>(dimension);
    axes.dimensions.erase(axes.dimensions.begin() + offset);
    erase_place(axes.series, dimension);
    erase_place(axes.scale, dimension);
    std::map<std::vector<std::size_t>, Parts> kept;
    for (const auto& [at, parts] : rows) {
        std::vector<std::size_t> rest = at;
        rest.erase(rest.begin() + offset);
        kept.try_emplace(std::move(rest), parts);
    }
    rows = std::move(kept);
}

/// Drops all of them, and says which, in words.
std::vector<std::string> drop_idle(StudyAxes& axes, std::map<std::vector<std::size_t>, Parts>& rows) {
    std::vector<std::string> idle;
    for (std::size_t i = axes.dimensions.size(); i-- > 0;) {
        if (is_idle(rows, i)) {
            idle.insert(idle.begin(), axes.dimensions[i].label);
            drop_dimension(axes, rows, i);
        }
    }
    return idle;
}

std::string idle_note(const std::vector<std::string>& idle) {
    return idle.empty() ? "" : fmt::format(" It is the same whatever these are: {}.", fmt::join(idle, ", "));
}

/// Bars are distinguished by these, and panels should be few: whatever is left becomes the bar's.
void place_bars(StudyAxes& axes) {
    for (std::size_t i = 0; i < axes.dimensions.size() && (!axes.scale || !axes.series); ++i) {
        if (axes.scale != i && axes.series != i) {
            (axes.scale ? axes.series : axes.scale) = i;
        }
    }
}

}  // namespace

Drawn breakdown_figure(const StudyAxes& axes) {
    std::set<std::string> causes;
    for (const Place& place : axes.places) {
        if (!has_breakdown(place.row->result.summary)) {
            return Omission{"a result has no breakdown"};
        }
        for (const auto& [cause, unused] : exposed_by_cause(place.row->result.summary)) {
            causes.insert(cause);
        }
    }
    const bool by_cause = causes.size() <= kMostCauses;
    const auto rows = mean_parts(axes, [&](const Json& summary) {
        const auto iterations = static_cast<double>(summary.at("iteration_time_s").size());
        Parts parts{{"compute", summary.at("compute_s").get<double>() / iterations},
                    {"drain", summary.at("drain_s").get<double>() / iterations}};
        for (const auto& [cause, seconds] : by_cause ? exposed_by_cause(summary) : exposed_by_kind(summary)) {
            parts["wait: " + cause] = seconds / iterations;
        }
        return parts;
    });
    std::set<std::string> waits;
    for (const auto& [unused, parts] : rows) {
        for (const auto& [part, seconds] : parts) {
            if (part.starts_with("wait: ") && seconds > 0) {
                waits.insert(part);
            }
        }
    }
    std::vector<std::pair<std::string, std::string>> parts{{"compute", "compute_s"}};
    for (const std::string& wait : waits) {
        parts.emplace_back(wait, fmt::format("exposed_s.{}", wait.substr(wait.find(' ') + 1)));
    }
    parts.emplace_back("drain", "drain_s");
    Figure figure = stack(axes, rows, parts);
    figure.title = "Where does the time of an iteration go?";
    figure.note = fmt::format(
        "Of an iteration, mean over ranks: computing; computing that waits, by {}; and draining, after "
        "a rank's last computation.{}",
        by_cause ? "the collective it waits for" : "kind of the collective it waits for",
        axes.has_seeds ? " Means over seeds." : "");
    figure.chart["axis"] = {{"title", "time of an iteration"}, {"unit", "s"}};
    return figure;
}

Drawn traffic_figure(const StudyAxes& all) {
    StudyAxes axes = all;
    auto rows = mean_parts(axes, [](const Json& summary) {
        Parts parts;
        if (summary.is_object() && summary.contains("traffic_bytes") &&
            sum_of(summary.at("traffic_bytes")) > 0) {
            const auto iterations = static_cast<double>(summary.at("iteration_time_s").size());
            for (const auto& [kind, bytes] : summary.at("traffic_bytes").items()) {
                parts[kind] = bytes.get<double>() / iterations;
            }
        }
        return parts;
    });
    std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
    if (rows.empty()) {
        return Omission{"no finished point sends anything"};
    }
    const std::vector<std::string> idle = drop_idle(axes, rows);
    place_bars(axes);
    std::set<std::string> kinds;
    for (const auto& [unused, parts] : rows) {
        for (const auto& [kind, bytes] : parts) {
            if (bytes > 0) {
                kinds.insert(kind);
            }
        }
    }
    std::vector<std::pair<std::string, std::string>> parts;
    for (const std::string& kind : kinds) {
        parts.emplace_back(kind, kind + "_bytes");
    }
    Figure figure = stack(axes, rows, parts);
    figure.title = "What do the ranks send?";
    figure.note =
        "Share of the payload that all ranks send in an iteration; the sum is at the end of each bar." +
        idle_note(idle);
    figure.chart["axis"] = {{"title", "share of payload"}, {"unit", "B"}};
    figure.chart["share"] = true;
    return figure;
}

namespace {

/// Of the collectives of a kind, in an iteration.
constexpr std::array<const char*, 2> kCollectiveValues{"count", "bytes"};

/// By kind and value: "all_reduce count". Of jobs that share a network there are none.
Parts collective_parts(const Json& summary) {
    Parts parts;
    if (!summary.is_object() || !summary.contains("collectives") || !summary.contains("iteration_time_s")) {
        return parts;
    }
    const auto iterations = static_cast<double>(summary.at("iteration_time_s").size());
    for (const Json& collective : summary.at("collectives")) {
        for (const char* value : kCollectiveValues) {
            parts[collective.at("kind").get<std::string>() + " " + value] =
                collective.at(value).get<double>() / iterations;
        }
    }
    return parts;
}

}  // namespace

Drawn collectives_figure(const StudyAxes& all) {
    StudyAxes axes = all;
    auto rows = mean_parts(axes, collective_parts);
    std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
    if (rows.empty()) {
        return Omission{"no finished point has collectives of one job"};
    }
    const std::vector<std::string> idle = drop_idle(axes, rows);
    Figure figure;
    figure.title = "Which collectives are there, and how large?";
    figure.note =
        "In an iteration: how many operations of a kind there are, the payload that all ranks send for one "
        "of "
        "them on average, and the share of a kind in the whole payload." +
        idle_note(idle);
    figure.columns = axes.names();
    const std::size_t first = figure.columns.size();
    figure.columns.insert(figure.columns.end(), {"kind", "count", "bytes", "bytes_of_one", "share"});
    std::vector<std::size_t> bar(first);
    std::iota(bar.begin(), bar.end(), 0);
    figure.chart = {{"form", "collectives"}, {"bar", bar},        {"kind", first},     {"count", first + 1},
                    {"bytes", first + 2},    {"size", first + 3}, {"share", first + 4}};
    for (const auto& [at, parts] : rows) {
        double sum = 0;
        for (const auto& [part, value] : parts) {
            sum += part.ends_with(" bytes") ? value : 0;
        }
        for (const auto& [part, bytes] : parts) {
            const std::string kind = part.substr(0, part.find(' '));
            if (part != kind + " bytes") {
                continue;
            }
            const double count = parts.at(kind + " count");
            std::vector<Json> row = axes.labels(at);
            row.insert(row.end(), {kind, count, bytes, count > 0 ? Json(bytes / count) : Json(),
                                   sum > 0 ? Json(bytes / sum) : Json()});
            figure.rows.push_back(std::move(row));
        }
    }
    return figure;
}

}  // namespace astrolabe::study
