/// Choosing and gathering the figures of a report.
#include "../file/figure_names.hpp"
#include "../sweep/run_details.hpp"
#include "answer.hpp"
#include "network_kinds.hpp"
#include "page_data.hpp"
#include "picture_files.hpp"
#include "run_folder.hpp"
#include "study_figures.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <astrolabe/study/sweep/stored_point.hpp>

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
    std::string repeat;  ///< as StudyReport has it
};

/// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
    if (!text.empty() &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./:=+,@%") == std::string::npos) {
        return text;
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

/// The command that starts this program from here.
std::string program_word() {
    std::error_code ignored;
    return std::filesystem::is_regular_file("astrolabe", ignored) ? "./astrolabe" : "astrolabe";
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
    std::string repeat = program_word() + " run " + shell_word(folder.string());
    if (store->studies().size() > 1) {
        repeat += " --study " + shell_word(*study);
    }
    return Source{
        *study, store->report_of(*study), store->rows(*study),
        [store](const std::string& key, const std::string& kind) { return store->detail(key, kind); },
        repeat + " --point {}"};
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
                      {"breakdown", "collectives", "links", "tasks", "gantt"},
                      {std::move(run->row)},
                      [details](const std::string&, const std::string& kind) { return (*details)[kind]; },
                      program_word() + " run " + shell_word((folder / "resolved.yaml").string())};
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

constexpr std::size_t kDefaultFigures = 6;

std::vector<std::string> default_figures(const StudyAxes& axes) {
    const bool is_of_flows = std::any_of(axes.places.begin(), axes.places.end(), [](const Place& place) {
        return place.row->result.summary.contains("flows");
    });
    if (is_of_flows) {
        return {"flow_slowdown", "utilization"};
    }
    const auto has_many_values = [](const Dimension& dimension) {
        return dimension.is_numeric() && dimension.values.size() >= 3;
    };
    const bool has_networks =
        std::any_of(axes.dimensions.begin(), axes.dimensions.end(),
                    [](const Dimension& dimension) { return is_of_network(dimension.name); });
    const bool has_map = std::count_if(axes.dimensions.begin(), axes.dimensions.end(), has_many_values) >= 2;
    // By what they answer, the most asked first.
    std::vector<std::string> names{"iteration_time"};
    for (const auto& [name, is_of_use] :
         {std::pair("speed_up", axes.series.has_value()), std::pair("breakdown", true),
          std::pair("pareto", has_networks), std::pair("heatmap", has_map), std::pair("above_bound", true),
          std::pair("utilization", true), std::pair("collectives", true)}) {
        if (is_of_use && names.size() < kDefaultFigures) {
            names.emplace_back(name);
        }
    }
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
        case FigureName::kCollectives:
            return collectives_figure(axes);
        case FigureName::kExchanges:
            return exchanges_figure(axes, details("exchanges"));
        case FigureName::kEqualCost:
            return equal_cost_figure(axes, cost);
    }
    invariant_failed("a figure has a name", "every figure is drawn");
}

Json dimensions_json(const StudyAxes& axes, const experiment::Components& components) {
    Json json = Json::array();
    for (std::size_t i = 0; i < axes.dimensions.size(); ++i) {
        const Dimension& dimension = axes.dimensions[i];
        Json kinds = Json::array();
        for (const std::optional<std::size_t>& kind : network_kinds(axes, i, components)) {
            kinds.push_back(kind ? Json(*kind) : Json());
        }
        json.push_back({{"name", dimension.name},
                        {"label", dimension.label},
                        {"unit", dimension.unit},
                        {"values", dimension.values},
                        {"numbers", dimension.is_numeric() ? Json(dimension.numbers) : Json()},
                        {"kinds", kinds.empty() ? Json() : std::move(kinds)}});
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

/// A host, once for each experiment.
PriceOf price_of(const CostOf& cost) {
    const auto known = std::make_shared<std::map<std::string, std::optional<double>>>();
    return [known, cost](const StudyRow& row) {
        const auto [price, is_new] = known->try_emplace(row.result.key);
        const double hosts = row.result.summary.value("hosts", 0.0);
        if (is_new && hosts > 0) {
            if (const auto total = cost(row.result.resolved); std::holds_alternative<double>(total)) {
                price->second = std::get<double>(total) / hosts;
            }
        }
        return price->second;
    };
}

std::optional<Diagnostic> no_such_contest(const StudyAxes& axes, const std::string& wanted) {
    const std::vector<std::string> names = axes.names();
    if (wanted.empty() || std::find(names.begin(), names.end(), wanted) != names.end()) {
        return std::nullopt;
    }
    return report_error("contest", fmt::format("no parameter '{}' varies in the study", wanted),
                        names.empty() ? "nothing varies in it" : suggest(wanted, names));
}

void add_answer(StudyReport& report, const StudyAxes& axes, const std::string& contested,
                const CostOf& cost) {
    const std::vector<std::string> names = axes.names();
    const auto wanted = std::find(names.begin(), names.end(), contested);
    const Contest contest = contest_of(
        axes, wanted == names.end() ? std::nullopt
                                    : std::optional(static_cast<std::size_t>(wanted - names.begin())));
    const PriceOf price = price_of(cost);
    for (const StudyRow& row : report.rows) {
        report.usd_per_host.push_back(row.result.status == PointStatus::kDone ? price(row) : std::nullopt);
    }
    report.answer = answer_of(axes, contest, price, report.rows);
    if (report.answer.is_null()) {
        return;
    }
    Drawn drawn = winner_figure(axes, contest, price);
    if (auto* figure = std::get_if<Figure>(&drawn)) {
        figure->name = "winner";
        report.winner = std::move(*figure);
    }
}

Result<StudyReport> gather(const std::filesystem::path& folder, const ReportOptions& options,
                           const experiment::Components& components) {
    Result<Source> source = read_source(folder, options.study);
    if (!source) {
        return source.error();
    }
    if (std::optional<Diagnostic> empty = no_points(*source); empty && !options.is_running) {
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
    if (std::optional<Diagnostic> none = no_such_contest(axes, options.contest)) {
        return *std::move(none);
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
        if (options.is_running && !wanted_details({name}).empty()) {
            report.omitted.emplace_back(name, "it is drawn when the sweep has ended");
            continue;
        }
        Drawn drawn = axes.places.empty() ? Drawn(Omission{"no point has finished"})
                                          : draw(std::get<FigureName>(known), axes, baseline, cost, *source);
        if (auto* figure = std::get_if<Figure>(&drawn)) {
            figure->name = name;
            report.figures.push_back(std::move(*figure));
        } else {
            report.omitted.emplace_back(name, std::get<Omission>(drawn).why);
        }
    }
    report.pictures = options.pictures;
    if (options.pictures.pdf != PdfPictures::kNone && !report.figures.empty()) {
        if (const std::string why = no_pdf(); !why.empty()) {
            report.pictures.pdf = PdfPictures::kNone;
            report.omitted.emplace_back("PDF pictures", why);
        }
    }
    report.study = source->study;
    report.dimensions = dimensions_json(axes, components);
    report.repeat = source->repeat;
    report.rows = std::move(source->rows);      // where the axes point stays where it is
    static_cast<void>(runs_json(report.rows));  // what the page could not show is an error here
    add_answer(report, axes, options.contest, cost);
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
    } catch (const StoreDamage& damage) {
        return damage.diagnostic();
    } catch (const Json::exception& damage) {
        return report_error(
            "results", fmt::format("the results in '{}' are damaged: {}", folder.string(), damage.what()),
            "another folder, and the same command, computes them anew");
    }
}

}  // namespace astrolabe::study
