#include "run_folder.hpp"

#include "../process/text_file.hpp"
#include "../sweep/detail_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/experiment/results/run_files.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSummary = "summary.json";

/// Lines of fields, as RFC 4180 has them.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> line{""};
    bool is_quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            if (is_quoted && i + 1 < text.size() && text[i + 1] == '"') {
                line.back() += text[i++];
            } else {
                is_quoted = !is_quoted;
            }
        } else if (c == ',' && !is_quoted) {
            line.emplace_back();
        } else if (c == '\n' && !is_quoted) {
            lines.push_back(std::move(line));
            line = {""};
        } else {
            line.back() += c;
        }
    }
    return lines;
}

/// A file of rows with named columns; empty where there is none.
class CsvTable {
public:
    explicit CsvTable(const std::string& text)
        : lines_(parse_csv(text)) {}

    [[nodiscard]] std::size_t size() const { return lines_.empty() ? 0 : lines_.size() - 1; }
    /// Empty where there is no such column.
    [[nodiscard]] std::string text(std::size_t row, const char* column) const {
        const auto found = std::find(lines_[0].begin(), lines_[0].end(), column);
        const auto place = static_cast<std::size_t>(found - lines_[0].begin());
        return place < lines_[row + 1].size() ? experiment::text_of_csv(lines_[row + 1][place]) : "";
    }
    [[nodiscard]] double number(std::size_t row, const char* column) const {
        return std::strtod(text(row, column).c_str(), nullptr);
    }

private:
    std::vector<std::vector<std::string>> lines_;
};

std::string tasks_text(const CsvTable& operations) {
    const std::size_t step = step_of(operations.size(), kMostOperations);
    Json json = object_of(operations.size(), step);
    Json names = Json::array();
    Names kinds;
    for (std::size_t i = 0; i < operations.size(); i += step) {
        json["rows"].push_back({i, operations.number(i, "iteration"), operations.number(i, "issue_s"),
                                operations.number(i, "start_s"), operations.number(i, "finish_s"),
                                kinds.place_of(operations.text(i, "kind"))});
        names.push_back(operations.text(i, "operation"));
    }
    json["kinds"] = kinds.list();
    json["names"] = std::move(names);
    return text_of(json);
}

/// All ranks as one: from the first start to the last finish.
std::string gantt_text(const CsvTable& operations) {
    std::map<std::size_t, std::vector<std::size_t>> by_iteration;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        by_iteration[static_cast<std::size_t>(operations.number(i, "iteration"))].push_back(i);
    }
    std::vector<std::size_t> counts;
    std::vector<std::size_t> iterations;
    for (const auto& [iteration, list] : by_iteration) {
        iterations.push_back(iteration);
        counts.push_back(list.size());
    }
    const std::vector<bool> chosen = chosen_iterations(counts);
    std::vector<std::size_t> kept;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < iterations.size(); ++i) {
        if (chosen[i]) {
            kept.push_back(iterations[i]);
            const std::vector<std::size_t>& list = by_iteration[iterations[i]];
            rows.insert(rows.end(), list.begin(), list.end());
        }
    }
    const std::size_t step = step_of(rows.size(), kMostOperations);
    Json json = object_of(rows.size(), step);
    for (const char* count : {"ranks", "simulated", "drawn"}) {
        json[count] = 0;
    }
    json["rank_step"] = 1;
    json["iterations"] = iterations.empty() ? 0 : iterations.back() + 1;
    json["kept"] = kept;
    Json names = Json::array();
    Json kinds = Json::array();
    Json of = Json::array();
    for (std::size_t i = 0; i < rows.size(); i += step) {
        json["rows"].push_back({"all", names.size(), operations.number(rows[i], "start_s"),
                                operations.number(rows[i], "finish_s")});
        names.push_back(operations.text(rows[i], "operation"));
        kinds.push_back(operations.text(rows[i], "kind"));
        of.push_back(operations.number(rows[i], "iteration"));
    }
    json["names"] = std::move(names);
    json["kinds"] = std::move(kinds);
    json["of"] = std::move(of);
    return text_of(json);
}

std::string links_of(const CsvTable& links) {
    std::vector<double> used;
    for (std::size_t i = 0; i < links.size(); ++i) {
        used.push_back(links.number(i, "utilization"));
    }
    return links_text(used, [&](std::size_t link) {
        return std::pair(links.text(link, "source"), links.text(link, "destination"));
    });
}

}  // namespace

bool is_run_folder(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder / kSummary, ignored);
}

Result<RunFolder> read_run_folder(const std::filesystem::path& folder) {
    RunFolder run;
    StoredResult& result = run.row.result;
    result.summary = parse_json<Json>(text_of_file(folder / kSummary).value_or(""));
    for (const char* key : {"name", "version", "fingerprint", "mean_iteration_time_s", "total_time_s",
                            "iteration_time_s", "exposed_s", "collectives", "traffic_bytes", "network"}) {
        if (!result.summary.is_object() || !result.summary.contains(key)) {
            return Diagnostic{
                "report.summary",
                {},
                fmt::format("'{}' is no summary of a run: it has no '{}'", (folder / kSummary).string(), key),
                "name a folder that `astrolabe run --out` wrote",
                {}};
        }
    }
    run.name = result.summary["name"];
    run.row.point.number = 1;
    run.row.point.key = result.summary["fingerprint"];
    result.key = run.row.point.key;
    result.status = PointStatus::kDone;
    result.fingerprint = run.row.point.key;
    Diagnostics errors;
    const auto content_of = [&](const char* name) {
        const std::optional<std::string> content = text_of_file(folder / name);
        if (std::optional<Diagnostic> error = experiment::not_of_run(result.summary, folder, name, content)) {
            errors.push_back(*std::move(error));
        }
        return content.value_or("");
    };
    result.resolved = content_of("resolved.yaml");
    const CsvTable operations(content_of("operations.csv"));
    const CsvTable links(content_of("links.csv"));
    if (!errors.empty()) {
        return errors;
    }
    if (operations.size() > 0) {
        run.details["tasks"] = tasks_text(operations);
        run.details["gantt"] = gantt_text(operations);
    }
    if (links.size() > 0) {
        run.details["links"] = links_of(links);
    }
    return run;
}

}  // namespace astrolabe::study
