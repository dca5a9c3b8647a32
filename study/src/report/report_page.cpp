/// Writing a report: tables here, the page and the pictures by node.
#include "../process/exit_code.hpp"
#include "../process/tool.hpp"
#include "chart_library.hpp"
#include "report_assets.hpp"
#include "study_axes.hpp"

#include <array>

#include <fmt/format.h>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPage = "index.html";

/// Values of a summary that the table of points has, and their columns.
constexpr std::array<std::pair<const char*, const char*>, 11> kValues{
    {{"mean_iteration_time_s", "/mean_iteration_time_s"},
     {"lower_bound_s", "/lower_bound_s"},
     {"compute_s", "/compute_s"},
     {"drain_s", "/drain_s"},
     {"all_reduce_share", "/all_reduce_share"},
     {"mean_link_utilization", "/network/mean_link_utilization"},
     {"max_link_utilization", "/network/max_link_utilization"},
     {"ranks", "/ranks"},
     {"hosts", "/hosts"},
     {"network_kind", "/network_kind"},
     {"backend_kind", "/backend_kind"}}};

struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<Json>> rows;
};

Table table_of_points(const std::vector<StudyRow>& points) {
    const std::vector<std::string> parameters = parameters_of(points);
    Table table{{"point", "status"}, {}};
    table.columns.insert(table.columns.end(), parameters.begin(), parameters.end());
    for (const auto& [column, unused] : kValues) {
        table.columns.emplace_back(column);
    }
    table.columns.insert(table.columns.end(), {"fingerprint", "error"});
    for (const StudyRow& point : points) {
        std::vector<Json> row{point.point.number, to_string(point.result.status)};
        for (const std::string& name : parameters) {
            row.push_back(point.point.parameters.value(name, Json()));
        }
        for (const auto& [unused, place] : kValues) {
            const Json::json_pointer pointer(place);
            row.push_back(point.result.summary.is_object() && point.result.summary.contains(pointer)
                              ? point.result.summary[pointer]
                              : Json());
        }
        row.emplace_back(point.result.fingerprint);
        row.emplace_back(point.result.error);
        table.rows.push_back(std::move(row));
    }
    return table;
}

Json figure_json(const Figure& figure) {
    return {{"name", figure.name},   {"title", figure.title},     {"note", figure.note},
            {"chart", figure.chart}, {"columns", figure.columns}, {"rows", figure.rows}};
}

Json report_json(const StudyReport& report, const Table& points) {
    Json figures = Json::array();
    for (const Figure& figure : report.figures) {
        figures.push_back(figure_json(figure));
    }
    Json omitted = Json::array();
    for (const auto& [name, why] : report.omitted) {
        omitted.push_back({{"name", name}, {"why", why}});
    }
    return {
        {"study", report.study},           {"version", experiment::program_version()},
        {"dimensions", report.dimensions}, {"figures", std::move(figures)},
        {"omitted", std::move(omitted)},   {"points", {{"columns", points.columns}, {"rows", points.rows}}}};
}

Diagnostic page_error(const ToolOutcome& node) {
    return {"report.page",
            {},
            fmt::format("node could not draw the figures, it {}: {}", end_text(node.exit_code),
                        node.err.substr(0, 2000)),
            "node 18 or later draws them: what does `node --version` say?",
            {}};
}

/// The page and the pictures, by file name.
Result<Json> draw_files(const StudyReport& report, const Table& points,
                        const std::filesystem::path& library) {
    const Json job{{"library", library.string()},   {"html", assets::kPageHtml},
                   {"css", assets::kPageCss},       {"js", assets::kPageJs},
                   {"sheet", assets::kSheetJs},     {"charts", assets::kChartsJs},
                   {"details", assets::kDetailsJs}, {"report", report_json(report, points)}};
    const ToolOutcome node = run_tool({"node", "-e", std::string(assets::kRenderJs)},
                                      job.dump(-1, ' ', false, Json::error_handler_t::replace));
    Json files = node.exit_code == 0 ? Json::parse(node.out, nullptr, false) : Json();
    if (!files.is_object() || !files.contains(kPage)) {
        return page_error(node);
    }
    return files;
}

}  // namespace

Diagnostics write_report(const StudyReport& report, const std::filesystem::path& folder) {
    const Result<experiment::OutputFolder> output = experiment::OutputFolder::open(folder);
    if (!output) {
        return output.error();
    }
    const Result<std::filesystem::path> library = chart_library();
    if (!library) {
        return library.error();
    }
    const Table points = table_of_points(report.rows);
    const Result<Json> drawn = draw_files(report, points, *library);
    if (!drawn) {
        return drawn.error();
    }
    std::vector<std::pair<std::string, std::string>> files{
        {"points.csv", to_csv(points.columns, points.rows)}};
    for (const Figure& figure : report.figures) {
        files.emplace_back(figure.name + ".csv", to_csv(figure.columns, figure.rows));
    }
    for (const auto& [name, content] : drawn->items()) {
        if (name != kPage) {
            files.emplace_back(name, content.get<std::string>());
        }
    }
    files.emplace_back(kPage, (*drawn)[kPage].get<std::string>());
    for (const auto& [name, content] : files) {
        if (std::optional<Diagnostic> error = output->write(name, content)) {
            return {*std::move(error)};
        }
    }
    return {};
}

}  // namespace astrolabe::study
