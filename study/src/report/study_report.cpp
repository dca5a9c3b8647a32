/// Choosing and gathering the figures of a report.
#include "../file/figure_names.hpp"
#include "run_folder.hpp"
#include "study_figures.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

Diagnostic report_error(std::string what, std::string message, std::string hint) {
    return {"report." + std::move(what), {}, std::move(message), std::move(hint), {}};
}

/// Where results come from.
struct Source {
    std::string study;
    std::vector<std::string> wanted;  ///< figures; none: the default ones
    std::vector<StudyRow> rows;
    std::function<std::string(const std::string& key, const std::string& kind)> detail;
};

std::string quoted_list(const std::vector<std::string>& names) {
    return names.empty() ? "" : fmt::format("'{}'", fmt::join(names, "', '"));
}

/// The study that is meant, of those in a store.
Result<std::string> choose_study(const std::vector<std::string>& studies, const std::string& wanted,
                                 const std::filesystem::path& folder) {
    if (studies.empty()) {
        return report_error("folder", fmt::format("the store in '{}' has no study", folder.string()),
                            "astrolabe sweep STUDY.yaml --out " + folder.string());
    }
    if (wanted.empty() && studies.size() > 1) {
        return report_error(
            "study", fmt::format("'{}' has several studies: {}", folder.string(), quoted_list(studies)),
            "choose one: --study '" + studies.front() + "'");
    }
    if (!wanted.empty() && std::find(studies.begin(), studies.end(), wanted) == studies.end()) {
        return report_error("study", fmt::format("'{}' has no study '{}'", folder.string(), wanted),
                            suggest(wanted, studies));
    }
    return wanted.empty() ? studies.front() : wanted;
}

Result<Source> read_store(const std::filesystem::path& folder, const std::string& wanted) {
    Result<ResultStore> opened = ResultStore::open_to_read(folder);
    if (!opened) {
        return opened.error();
    }
    const auto store = std::make_shared<ResultStore>(*std::move(opened));
    const Result<std::string> study = choose_study(store->studies(), wanted, folder);
    if (!study) {
        return study.error();
    }
    return Source{
        *study, store->report_of(*study), store->rows(*study),
        [store](const std::string& key, const std::string& kind) { return store->detail(key, kind); }};
}

Result<Source> read_source(const std::filesystem::path& folder, const std::string& study) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        return report_error("folder", fmt::format("there is no folder '{}'", folder.string()),
                            "name the folder that `astrolabe sweep` or `astrolabe run --out` wrote");
    }
    if (!std::filesystem::exists(folder / kStoreName, ignored) && is_run_folder(folder)) {
        Result<RunFolder> run = read_run_folder(folder);
        if (!run) {
            return run.error();
        }
        const auto details = std::make_shared<RunDetails>(std::move(run->details));
        return Source{run->name,
                      {"breakdown", "traffic", "links", "tasks", "gantt"},
                      {std::move(run->row)},
                      [details](const std::string&, const std::string& kind) { return (*details)[kind]; }};
    }
    if (!std::filesystem::exists(folder / kStoreName, ignored)) {
        return report_error("folder",
                            fmt::format("'{}' has neither {} nor summary.json", folder.string(), kStoreName),
                            "name the folder that `astrolabe sweep` or `astrolabe run --out` wrote");
    }
    return read_store(folder, study);
}

std::optional<Diagnostic> no_points(const Source& source) {
    const auto count = [&](PointStatus status) {
        return std::count_if(source.rows.begin(), source.rows.end(),
                             [&](const StudyRow& row) { return row.result.status == status; });
    };
    if (count(PointStatus::kDone) > 0) {
        return std::nullopt;
    }
    std::string message = fmt::format("no point of '{}' has finished: {} failed, {} missing", source.study,
                                      count(PointStatus::kFailed), count(PointStatus::kMissing));
    for (const StudyRow& row : source.rows) {
        if (row.result.status == PointStatus::kFailed) {
            message += fmt::format("; point {}: {}", row.point.number,
                                   row.result.error.substr(0, row.result.error.find('\n')));
            break;
        }
    }
    return report_error("empty", std::move(message),
                        "astrolabe sweep computes what is missing, and with --resume what failed");
}

std::vector<std::string> default_figures(const StudyAxes& axes) {
    const bool is_of_flows = std::any_of(axes.places.begin(), axes.places.end(), [](const Place& place) {
        return place.row->result.summary.contains("flows");
    });
    if (is_of_flows) {
        return {"flow_slowdown", "utilization"};
    }
    std::vector<std::string> names{"iteration_time"};
    if (axes.series) {
        names.emplace_back("speed_up");
    }
    names.insert(names.end(), {"breakdown", "traffic"});
    const auto varies_much = [](const Dimension& dimension) {
        return dimension.is_numeric() && dimension.values.size() >= 3;
    };
    if (std::any_of(axes.dimensions.begin(), axes.dimensions.end(), varies_much)) {
        names.emplace_back("curves");
    }
    if (std::count_if(axes.dimensions.begin(), axes.dimensions.end(), varies_much) >= 2) {
        names.emplace_back("heatmap");
    }
    if (std::any_of(axes.dimensions.begin(), axes.dimensions.end(),
                    [](const Dimension& dimension) { return is_of_network(dimension.name); })) {
        names.emplace_back("pareto");
    }
    names.insert(names.end(), {"above_bound", "utilization"});
    return names;
}

Drawn draw(FigureName name, const StudyAxes& axes, const std::optional<Baseline>& baseline,
           const CostOf& cost, const Source& source) {
    const auto details = [&source](const char* kind) {
        return [&source, kind](const std::string& key) { return source.detail(key, kind); };
    };
    switch (name) {
        case FigureName::kIterationTime:
            return iteration_time_figure(axes);
        case FigureName::kSpeedUp:
            return speed_up_figure(axes, baseline);
        case FigureName::kBreakdown:
            return breakdown_figure(axes);
        case FigureName::kTraffic:
            return traffic_figure(axes);
        case FigureName::kCurves:
            return curves_figure(axes);
        case FigureName::kHeatmap:
            return heatmap_figure(axes);
        case FigureName::kPareto:
            return pareto_figure(axes, cost);
        case FigureName::kAboveBound:
            return above_bound_figure(axes);
        case FigureName::kUtilization:
            return utilization_figure(axes);
        case FigureName::kRanks:
            return ranks_figure(axes, details("ranks"));
        case FigureName::kLinks:
            return links_figure(axes, details("links"));
        case FigureName::kTasks:
            return tasks_figure(axes, details("tasks"));
        case FigureName::kGantt:
            return gantt_figure(axes, details("gantt"));
        case FigureName::kFlowSlowdown:
            return flow_slowdown_figure(axes);
    }
    invariant_failed("a figure has a name", "every figure is drawn");
}

Json dimensions_json(const StudyAxes& axes) {
    Json json = Json::array();
    for (const Dimension& dimension : axes.dimensions) {
        json.push_back({{"name", dimension.name},
                        {"values", dimension.values},
                        {"numbers", dimension.is_numeric() ? Json(dimension.numbers) : Json()}});
    }
    return json;
}

std::vector<std::string> values_of(const StudyAxes& axes) {
    std::vector<std::string> values;
    for (const Dimension& dimension : axes.dimensions) {
        values.insert(values.end(), dimension.values.begin(), dimension.values.end());
    }
    return values;
}

Result<StudyReport> gather(const std::filesystem::path& folder, const ReportOptions& options,
                           const experiment::Components& components) {
    Result<Source> source = read_source(folder, options.study);
    if (!source) {
        return source.error();
    }
    if (std::optional<Diagnostic> empty = no_points(*source)) {
        return *std::move(empty);
    }
    StudyReport report;
    const StudyAxes axes = study_axes(source->rows);
    const std::optional<Baseline> baseline = find_baseline(axes, options.baseline);
    if (!baseline && !options.baseline.empty()) {
        const std::vector<std::string> values = values_of(axes);
        return report_error("baseline",
                            fmt::format("no parameter of the study has the value '{}'", options.baseline),
                            values.empty() ? "nothing varies in it" : suggest(options.baseline, values));
    }
    std::vector<std::string> names = source->wanted.empty() ? default_figures(axes) : source->wanted;
    if (!options.baseline.empty() && std::find(names.begin(), names.end(), "speed_up") == names.end()) {
        names.emplace_back("speed_up");
    }
    const CostOf cost = network_costs(components);
    for (const std::string& name : names) {
        const Parsed<FigureName> known = ValueTraits<FigureName>::parse(name);
        if (!std::holds_alternative<FigureName>(known)) {
            report.omitted.emplace_back(name, "this version of astrolabe does not have it");
            continue;
        }
        Drawn drawn = draw(std::get<FigureName>(known), axes, baseline, cost, *source);
        if (auto* figure = std::get_if<Figure>(&drawn)) {
            figure->name = name;
            report.figures.push_back(std::move(*figure));
        } else {
            report.omitted.emplace_back(name, std::get<Omission>(drawn).why);
        }
    }
    report.study = source->study;
    report.dimensions = dimensions_json(axes);
    report.rows = std::move(source->rows);
    return report;
}

}  // namespace

std::vector<std::string_view> figure_names() {
    std::vector<std::string_view> names;
    for (const auto& [name, unused] : EnumNames<FigureName>::kNames) {
        names.push_back(name);
    }
    return names;
}

Result<StudyReport> read_report(const std::filesystem::path& folder, const ReportOptions& options,
                                const experiment::Components& components) {
    try {
        return gather(folder, options, components);
    } catch (const Json::exception& damage) {
        return report_error(
            "results", fmt::format("the results in '{}' are damaged: {}", folder.string(), damage.what()),
            "another folder, and the same command, computes them anew");
    }
}

}  // namespace astrolabe::study
