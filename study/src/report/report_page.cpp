/// Writing a report: tables here, the page and the pictures by node.
#include "report_page.hpp"

#include "../process/exit_code.hpp"
#include "../process/tool.hpp"
#include "chart_library.hpp"
#include "page_data.hpp"
#include "picture_files.hpp"
#include "report_assets.hpp"
#include "study_axes.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

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

Table table_of_points(const StudyReport& report) {
    const std::vector<StudyRow>& points = report.rows;
    const std::vector<std::string> parameters = parameters_of(points);
    Table table{{"point", "status"}, {}};
    table.columns.insert(table.columns.end(), parameters.begin(), parameters.end());
    for (const auto& [column, unused] : kValues) {
        table.columns.emplace_back(column);
    }
    table.columns.insert(table.columns.end(), {"network_usd_per_host", "fingerprint", "error"});
    for (std::size_t i = 0; i < points.size(); ++i) {
        const StudyRow& point = points[i];
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
        row.push_back(report.usd_per_host[i] ? Json(*report.usd_per_host[i]) : Json());
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

/// The answer without what is too long to be read on a page: answer.json has it.
Json answer_for_page(Json answer) {
    constexpr std::size_t kMostRows = 100;
    if (answer.is_null()) {
        return answer;
    }
    for (Json& verdict : answer["verdicts"]) {
        for (const char* list : {"settings", "crossovers"}) {
            const std::size_t all = verdict[list].size();
            verdict[std::string("all_") + list] = all;
            Json& rows = verdict[list];
            if (all > kMostRows) {
                rows.erase(rows.begin() + kMostRows, rows.end());
            }
        }
    }
    return answer;
}

Diagnostic page_error(const ToolOutcome& node) {
    return {"report.page",
            {},
            fmt::format("node could not draw the figures, it {}: {}", end_text(node.exit_code),
                        node.err.substr(0, 2000)),
            "node 18 or later draws them: what does `node --version` say?",
            {}};
}

/// What node is told: the files that make a page, and what is to be drawn.
Json page_job(const std::filesystem::path& library, Json report, int columns) {
    std::string program;
    for (const std::string_view script : {assets::kFiltersJs, assets::kTableJs, assets::kPointJs,
                                          assets::kLiveJs, assets::kAnswerJs, assets::kPageJs}) {
        program += script;
        program += '\n';
    }
    return {{"library", library.string()},     {"html", assets::kPageHtml}, {"css", assets::kPageCss},
            {"unpack", assets::kUnpackJs},     {"js", std::move(program)},  {"drawing", assets::drawing()},
            {"assemble", assets::kAssembleJs}, {"columns", columns},        {"report", std::move(report)}};
}

/// What node makes of a job: contents by file name.
Result<Json> draw_files(const Json& job) {
    const ToolOutcome node = run_tool({"node", "-e", std::string(assets::kRenderJs)},
                                      job.dump(-1, ' ', false, Json::error_handler_t::replace));
    Json files = node.exit_code == 0 ? Json::parse(node.out, nullptr, false) : Json();
    if (!files.is_object() || !files.contains(kPageName)) {
        return page_error(node);
    }
    return files;
}

/// The page alone.
Result<std::string> draw_page(Json report, const char* what) {
    const Result<std::filesystem::path> library = chart_library();
    if (!library) {
        return library.error();
    }
    Json job = page_job(*library, std::move(report), 0);
    job["only"] = what;
    Result<Json> drawn = draw_files(job);
    if (!drawn) {
        return drawn.error();
    }
    return (*drawn)[kPageName].get<std::string>();
}

/// Where a shell's data go.
constexpr std::string_view kDataMark = "{{data}}";

/// Text that ends no script element, whatever is in it.
std::string in_script(const std::string& text) {
    std::string escaped;
    escaped.reserve(text.size());
    for (const char c : text) {
        if (c == '<') {
            escaped += "\\u003c";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

}  // namespace

Json page_json(const StudyReport& report) {
    const Table points = table_of_points(report);
    Json figures = Json::array();
    for (const Figure& figure : report.figures) {
        figures.push_back(figure_json(figure));
    }
    Json omitted = Json::array();
    for (const auto& [name, why] : report.omitted) {
        omitted.push_back({{"name", name}, {"why", why}});
    }
    return {{"study", report.study},
            {"version", experiment::program_version()},
            {"answer", answer_for_page(report.answer)},
            {"winner", report.winner ? figure_json(*report.winner) : Json()},
            {"dimensions", report.dimensions},
            {"figures", std::move(figures)},
            {"omitted", std::move(omitted)},
            {"repeat", report.repeat},
            {"pdf", static_cast<int>(report.pictures.pdf)},
            {"parameters", parameters_json(report.rows)},
            {"points", {{"columns", points.columns}, {"rows", points.rows}}},
            {"runs", runs_json(report.rows)}};
}

Result<std::string> page_shell(const std::string& study) {
    return draw_page({{"study", study}}, "shell");
}

Result<std::string> packed_page(const Json& data) {
    return draw_page(data, "page");
}

std::string page_from_shell(const std::string& shell, const Json& data) {
    const Json plain{{"report", data}, {"files", Json::object()}};
    const std::size_t mark = shell.find(kDataMark);
    return shell.substr(0, mark) + in_script(plain.dump(-1, ' ', false, Json::error_handler_t::replace)) +
           shell.substr(mark + kDataMark.size());
}

Diagnostics write_report(const StudyReport& report, const std::filesystem::path& folder) {
    constexpr std::chrono::minutes kPatience{1};  // another process may be drawing there
    const Result<experiment::OutputFolder> output =
        experiment::OutputFolder::open_beside_run(folder, kPatience);
    if (!output) {
        return output.error();
    }
    output->begin_set("report");
    const Result<std::filesystem::path> library = chart_library();
    if (!library) {
        return library.error();
    }
    const Table points = table_of_points(report);
    const Result<Json> drawn = draw_files(page_job(*library, page_json(report), report.pictures.columns));
    if (!drawn) {
        return drawn.error();
    }
    std::vector<std::pair<std::string, std::string>> files{
        {"points.csv", to_csv(points.columns, points.rows)}};
    for (const Figure& figure : report.figures) {
        files.emplace_back(figure.name + ".csv", to_csv(figure.columns, figure.rows));
    }
    if (report.winner) {
        files.emplace_back("winner.csv", to_csv(report.winner->columns, report.winner->rows));
    }
    if (!report.answer.is_null()) {
        files.emplace_back("answer.json",
                           report.answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    for (const auto& [name, content] : drawn->items()) {
        if (name != kPageName) {
            files.emplace_back(name, content.get<std::string>());
        }
    }
    const auto pdf = pdf_files(report, files);
    if (!pdf) {
        return pdf.error();
    }
    files.insert(files.end(), pdf->begin(), pdf->end());
    files.emplace_back(kPageName, (*drawn)[kPageName].get<std::string>());
    std::vector<std::string> names;
    std::transform(files.begin(), files.end(), std::back_inserter(names),
                   [](const auto& file) { return file.first; });
    if (std::optional<Diagnostic> refused = output->check_names(names)) {
        return {*std::move(refused)};
    }
    for (const auto& [name, content] : files) {
        if (std::optional<Diagnostic> error = output->write(name, content)) {
            return {*std::move(error)};
        }
    }
    // The page shows none of what an earlier report had besides.
    if (std::optional<Diagnostic> error = output->end_set()) {
        return {*std::move(error)};
    }
    output->mark_whole();
    return {};
}

}  // namespace astrolabe::study
