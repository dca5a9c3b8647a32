/// Figures with one number a point, in panels: dots, bars, curves and heat maps.
#include "study_figures.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

Json place_or_null(const std::optional<std::size_t>& dimension) {
    return dimension ? Json(*dimension) : Json();
}

/// Whether a figure shows what the values of several seeds range over.
enum class SeedRange : std::uint8_t { kShown, kHidden };

/// Columns of the dimensions, then the value and, of several seeds, their range.
Figure table_of(const StudyAxes& axes, const Samples& samples, const std::string& column,
                SeedRange range = SeedRange::kShown) {
    const bool has_range = axes.has_seeds && range == SeedRange::kShown;
    Figure figure;
    figure.columns = axes.names();
    figure.columns.push_back(column);
    figure.chart["value"] = axes.dimensions.size();
    if (has_range) {
        for (const char* more : {"least", "greatest"}) {
            figure.columns.push_back(fmt::format("{}_{}", column, more));
        }
        figure.columns.emplace_back("seeds");
        figure.chart["least"] = axes.dimensions.size() + 1;
        figure.chart["greatest"] = axes.dimensions.size() + 2;
    }
    for (const auto& [at, sample] : samples) {
        std::vector<Json> row = axes.labels(at);
        row.emplace_back(sample.mean());
        if (has_range) {
            row.insert(row.end(), {sample.least, sample.greatest, sample.count});
        }
        figure.rows.push_back(std::move(row));
    }
    return figure;
}

void place_columns(Figure& figure, const StudyAxes& axes, const std::optional<std::size_t>& x,
                   const std::optional<std::size_t>& series) {
    figure.chart["x"] = place_or_null(x);
    figure.chart["series"] = place_or_null(series);
    figure.chart["panels"] = axes.without({x, series});
}

std::string seeds_note(const StudyAxes& axes) {
    if (!axes.has_seeds) {
        return "";
    }
    // Summaries list what was drawn at random.
    const auto fixed = std::count_if(axes.places.begin(), axes.places.end(), [](const Place& place) {
        const Json& summary = place.row->result.summary;
        return summary.contains("randomness") && summary["randomness"].empty();
    });
    const auto all = static_cast<std::ptrdiff_t>(axes.places.size());
    if (fixed == all) {
        return " Deterministic: nothing is random, so that all seeds give the same.";
    }
    return " Means over seeds; error bars go from the least to the greatest." +
           (fixed == 0
                ? std::string()
                : fmt::format(" Deterministic in {} of {} points, where nothing is random.", fixed, all));
}

/// Bars are for what is compared with zero, dots for what is compared in ratios.
Figure marks(const char* form, const StudyAxes& axes, const Samples& samples, const std::string& column,
             SeedRange range = SeedRange::kShown) {
    Figure figure = table_of(axes, samples, column, range);
    figure.chart["form"] = form;
    place_columns(figure, axes, axes.scale, axes.series);
    return figure;
}

/// Dots, and lines from one to the next where the scale is one of numbers.
Figure marks_along(const StudyAxes& axes, const Samples& samples, const std::string& column) {
    const bool has_numbers = axes.scale && axes.dimensions[*axes.scale].is_numeric();
    return marks(has_numbers ? "lines" : "dots", axes, samples, column);
}

/// "network", or "point" where nothing is told apart.
std::string series_label(const StudyAxes& axes) {
    return axes.series ? axes.dimensions[*axes.series].label : "point";
}

/// Points that make a curve.
constexpr std::size_t kCurve = 3;

constexpr const char* kNoPoints = "no finished point has the numbers for it";

std::optional<double> number_at(const Json& summary, const Json::json_pointer& place) {
    if (!summary.contains(place) || !summary[place].is_number()) {
        return std::nullopt;
    }
    return summary[place].get<double>();
}

/// The dimension of numbers with the most values, but not one of these.
std::optional<std::size_t> numeric_dimension(const StudyAxes& axes, std::optional<std::size_t> but) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
        if (axes.dimensions[i].is_numeric() && i != but &&
            (!best || axes.dimensions[i].values.size() > axes.dimensions[*best].values.size())) {
            best = i;
        }
    }
    return best;
}

/// What curves go along, and what tells them apart.
struct CurveAxes {
    std::size_t x;
    std::optional<std::size_t> series;
};

/// Nothing where no parameter of numbers varies.
std::optional<CurveAxes> curve_axes(const StudyAxes& axes) {
    const auto values = [&](std::size_t dimension) { return axes.dimensions[dimension].values.size(); };
    std::optional<std::size_t> x = numeric_dimension(axes, {});
    if (axes.scale && axes.dimensions[*axes.scale].is_numeric() &&
        values(*axes.scale) >= std::min(values(*x), kCurve)) {
        x = axes.scale;
    }
    if (!x) {
        return std::nullopt;
    }
    return CurveAxes{*x, axes.series != x ? axes.series : axes.scale != x ? axes.scale : std::nullopt};
}

}  // namespace

void Sample::add(double value) {
    least = count == 0 ? value : std::min(least, value);
    greatest = count == 0 ? value : std::max(greatest, value);
    sum += value;
    ++count;
}

Samples samples_of(const StudyAxes& axes, const Metric& metric) {
    Samples samples;
    for (const Place& place : axes.places) {
        if (const std::optional<double> value = metric(place.row->result)) {
            samples[place.at].add(*value);
        }
    }
    return samples;
}

std::optional<double> mean_iteration_time(const StoredResult& result) {
    return number_at(result.summary, Json::json_pointer("/mean_iteration_time_s"));
}

std::optional<Baseline> find_baseline(const StudyAxes& axes, const std::string& name) {
    if (name.empty()) {
        return axes.series ? std::optional(Baseline{*axes.series, 0}) : std::nullopt;
    }
    std::vector<std::size_t> order = axes.without({axes.series});
    if (axes.series) {
        order.insert(order.begin(), *axes.series);
    }
    for (const std::size_t i : order) {
        const Dimension& dimension = axes.dimensions[i];
        for (std::size_t v = 0; v < dimension.values.size(); ++v) {
            if (name == dimension.values[v] || name == dimension.name + "=" + dimension.values[v]) {
                return Baseline{i, v};
            }
        }
    }
    return std::nullopt;
}

Drawn iteration_time_figure(const StudyAxes& axes) {
    const Samples samples = samples_of(axes, mean_iteration_time);
    if (samples.empty()) {
        return Omission{kNoPoints};
    }
    Figure figure = marks_along(axes, samples, "iteration_time_s");
    figure.title = axes.series ? fmt::format("How long does an iteration take by {}?", series_label(axes))
                               : "How long does an iteration take?";
    figure.note = "Mean time of an iteration. The axis is logarithmic: equal distances are equal ratios." +
                  seeds_note(axes);
    figure.chart["axis"] = {{"title", "iteration time"}, {"unit", "s"}, {"log", true}};
    return figure;
}

Drawn speed_up_figure(const StudyAxes& axes, const std::optional<Baseline>& baseline) {
    if (!baseline) {
        return Omission{"nothing varies that points could be compared by"};
    }
    const Samples times = samples_of(axes, mean_iteration_time);
    Samples ratios;
    for (const auto& [at, time] : times) {
        std::vector<std::size_t> other = at;
        other[baseline->dimension] = baseline->value;
        const auto reference = times.find(other);
        if (reference != times.end() && time.mean() > 0) {
            ratios[at].add(reference->second.mean() / time.mean());
        }
    }
    const Dimension& dimension = axes.dimensions[baseline->dimension];
    const std::string name = dimension.name + "=" + dimension.values[baseline->value];
    if (ratios.empty()) {
        return Omission{"no point of the baseline, " + name + ", has finished"};
    }
    Figure figure = marks("bars", axes, ratios, "speed_up", SeedRange::kHidden);  // a ratio of means has none
    figure.title = fmt::format("How much faster than {} is it?", dimension.values[baseline->value]);
    figure.note = fmt::format(
        "Iteration time with {} over that of the point, all else equal: above 1 is faster. Points whose "
        "baseline has no result are left out.",
        name);
    figure.chart["axis"] = {{"title", "speed-up"}, {"unit", "x"}, {"log", false}};
    figure.chart["line"] = 1;
    return figure;
}

Drawn above_bound_figure(const StudyAxes& axes) {
    const Samples samples = samples_of(axes, [](const StoredResult& result) -> std::optional<double> {
        const auto time = mean_iteration_time(result);
        const auto bound = number_at(result.summary, Json::json_pointer("/lower_bound_s"));
        return time && bound && *bound > 0 ? std::optional(*time / *bound) : std::nullopt;
    });
    if (samples.empty()) {
        return Omission{"no finished point has a lower bound above zero"};
    }
    Figure figure = marks_along(axes, samples, "time_over_bound");
    figure.title = "How far is it from the least possible time?";
    figure.note =
        "1 is the least time that computation, ports, links and dependencies allow; what is above it "
        "may be won by other schedules, routes or transports." +
        seeds_note(axes);
    figure.chart["axis"] = {{"title", "time over lower bound"}, {"unit", "x"}, {"log", true}};
    figure.chart["line"] = 1;
    return figure;
}

Drawn utilization_figure(const StudyAxes& axes) {
    const auto of = [](const char* key) {
        return [place = Json::json_pointer(std::string("/network/") + key)](const StoredResult& result) {
            return number_at(result.summary, place);
        };
    };
    const Samples means = samples_of(axes, of("mean_link_utilization"));
    const Samples busiest = samples_of(axes, of("max_link_utilization"));
    if (means.empty() || busiest.empty()) {
        return Omission{kNoPoints};
    }
    Figure figure = marks("dots", axes, means, "mean_link_utilization", SeedRange::kHidden);
    figure.columns.emplace_back("max_link_utilization");
    for (std::size_t i = 0; const auto& [at, unused] : means) {
        const auto most = busiest.find(at);
        figure.rows[i++].emplace_back(most == busiest.end() ? Json() : Json(most->second.mean()));
    }
    figure.title = "How busy are the links?";
    figure.note =
        "Bytes carried over rate times the time of the run: of all links the mean, and the busiest link.";
    if (axes.has_seeds) {
        figure.note += " Both are means over seeds.";
    }
    figure.chart["second"] = figure.columns.size() - 1;
    figure.chart["marks"] = {"mean of all links", "busiest link"};
    figure.chart["axis"] = {{"title", "link utilisation"}, {"unit", "%"}, {"log", false}};
    return figure;
}

Drawn curves_figure(const StudyAxes& axes) {
    const std::optional<CurveAxes> curves = curve_axes(axes);
    if (!curves) {
        return Omission{"no parameter of numbers varies"};
    }
    const Samples samples = samples_of(axes, mean_iteration_time);
    if (samples.empty()) {
        return Omission{kNoPoints};
    }
    Figure figure = table_of(axes, samples, "iteration_time_s");
    figure.chart["form"] = "lines";
    place_columns(figure, axes, curves->x, curves->series);
    figure.title = fmt::format("How does the time grow with {}?", axes.dimensions[curves->x].label);
    figure.note = "Mean time of an iteration; an axis is logarithmic where it spans a factor of 8 or more." +
                  seeds_note(axes);
    figure.chart["axis"] = {{"title", "iteration time"}, {"unit", "s"}, {"log", false}};
    return figure;
}

Drawn flow_slowdown_figure(const StudyAxes& axes) {
    const Samples samples = samples_of(axes, [](const StoredResult& result) {
        // Of no flows it is 0, which no slowdown is.
        const auto slowdown = number_at(result.summary, Json::json_pointer("/flows/all/slowdown/p99"));
        return slowdown && *slowdown > 0 ? slowdown : std::nullopt;
    });
    if (samples.empty()) {
        return Omission{"no finished point has flows that arrived"};
    }
    const std::optional<CurveAxes> curves = curve_axes(axes);
    Figure figure =
        curves ? table_of(axes, samples, "slowdown_p99") : marks("dots", axes, samples, "slowdown_p99");
    if (curves) {
        figure.chart["form"] = "lines";
        place_columns(figure, axes, curves->x, curves->series);
    }
    figure.title = "How much are flows slowed down?";
    figure.note =
        "Time of a flow over what it takes alone, of which 99 of 100 flows have no more. Flows that a time "
        "limit cut off do not count." +
        seeds_note(axes);
    figure.chart["axis"] = {{"title", "slowdown, 99th percentile"}, {"unit", "x"}, {"log", !curves}};
    return figure;
}

Drawn heatmap_figure(const StudyAxes& axes) {
    const std::optional<std::size_t> x = axes.scale;
    std::optional<std::size_t> y = numeric_dimension(axes, x);
    if (!y) {
        y = axes.series;
    }
    if (!x || !y) {
        return Omission{"fewer than two parameters vary"};
    }
    const Samples samples = samples_of(axes, mean_iteration_time);
    if (samples.empty()) {
        return Omission{kNoPoints};
    }
    Figure figure = table_of(axes, samples, "iteration_time_s");
    figure.chart["form"] = "heat";
    place_columns(figure, axes, x, std::nullopt);
    figure.chart["y"] = *y;
    figure.chart["panels"] = axes.without({x, y});
    figure.title = fmt::format("How long does it take by {} and {}?", axes.dimensions[*x].label,
                               axes.dimensions[*y].label);
    figure.note = "Mean time of an iteration; shades are logarithmic and the same in all panels." +
                  std::string(axes.has_seeds ? " Means over seeds." : "");
    figure.chart["axis"] = {{"title", "iteration time"}, {"unit", "s"}, {"log", true}};
    return figure;
}

}  // namespace astrolabe::study
