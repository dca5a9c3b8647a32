/// Figures of a study (report.hpp), one function a kind. Each gives a figure, or why there is none.
#pragma once

#include "study_axes.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {

struct Omission {
    std::string why;
};
using Drawn = std::variant<Figure, Omission>;

/// Of the points at one place: several only where there are seeds.
struct Sample {
    double sum = 0;
    double least = 0;
    double greatest = 0;
    std::size_t count = 0;

    void add(double value);
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
};
using Samples = std::map<std::vector<std::size_t>, Sample>;

/// A value of a result; none where the result does not have it.
using Metric = std::function<std::optional<double>(const StoredResult&)>;
[[nodiscard]] Samples samples_of(const StudyAxes& axes, const Metric& metric);
[[nodiscard]] std::optional<double> mean_iteration_time(const StoredResult& result);

/// A value of a dimension with which others are compared.
struct Baseline {
    std::size_t dimension;
    std::size_t value;
};
/// `name` as `--baseline` has it; nothing where there is no such value. Empty: the first of the series.
[[nodiscard]] std::optional<Baseline> find_baseline(const StudyAxes& axes, const std::string& name);

[[nodiscard]] Drawn iteration_time_figure(const StudyAxes& axes);
[[nodiscard]] Drawn speed_up_figure(const StudyAxes& axes, const std::optional<Baseline>& baseline);
[[nodiscard]] Drawn above_bound_figure(const StudyAxes& axes);
[[nodiscard]] Drawn utilization_figure(const StudyAxes& axes);
[[nodiscard]] Drawn curves_figure(const StudyAxes& axes);
[[nodiscard]] Drawn heatmap_figure(const StudyAxes& axes);
/// Percentile 99 of the slowdown of flows, over a dimension of numbers: of a load.
[[nodiscard]] Drawn flow_slowdown_figure(const StudyAxes& axes);
[[nodiscard]] Drawn breakdown_figure(const StudyAxes& axes);
[[nodiscard]] Drawn traffic_figure(const StudyAxes& axes);
/// Counts, sizes and shares of collectives, by kind.
[[nodiscard]] Drawn collectives_figure(const StudyAxes& axes);

/// US dollars of the network of a resolved experiment, or why it has no cost.
using CostOf = std::function<std::variant<double, std::string>(const std::string& resolved)>;
/// With the prices that are built in. Networks are built once, however many points have them.
[[nodiscard]] CostOf network_costs(const experiment::Components& components);
[[nodiscard]] Drawn pareto_figure(const StudyAxes& axes, const CostOf& cost);
/// Least time among the networks that cost at most so much. O(offers²).
[[nodiscard]] Drawn equal_cost_figure(const StudyAxes& axes, const CostOf& cost);

/// Details of a run of a kind, by key of the result; empty where none were kept.
using DetailOf = std::function<std::string(const std::string& key)>;
[[nodiscard]] Drawn ranks_figure(const StudyAxes& axes, const DetailOf& details);
[[nodiscard]] Drawn links_figure(const StudyAxes& axes, const DetailOf& details);
[[nodiscard]] Drawn tasks_figure(const StudyAxes& axes, const DetailOf& details);
[[nodiscard]] Drawn gantt_figure(const StudyAxes& axes, const DetailOf& details);
/// Bytes of all-to-alls by rank.
[[nodiscard]] Drawn exchanges_figure(const StudyAxes& axes, const DetailOf& details);

}  // namespace astrolabe::study
