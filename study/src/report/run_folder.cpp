#include "run_folder.hpp"

#include "../process/text_file.hpp"
#include "../sweep/detail_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/json_text.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/experiment/results/run_files.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSummary = "summary.json";

/// Calls `use` with each field of the line that begins at `at`, as RFC 4180 has them, until it gives false.
/// Where the next line begins; nothing where the text ends first.
template <class Use>
std::optional<std::size_t> for_each_field(std::string_view text, std::size_t at, const Use& use) {
    std::string field;
    bool is_quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') {
            if (is_quoted && at + 1 < text.size() && text[at + 1] == '"') {
                field += text[at++];
            } else {
                is_quoted = !is_quoted;
            }
        } else if ((c == ',' || c == '\n') && !is_quoted) {
            const bool is_last = c == '\n';
            if (!use(field) || is_last) {
                return is_last ? std::optional(at + 1) : std::nullopt;
            }
            field.clear();
        } else {
            field += c;
        }
    }
    return std::nullopt;
}

/// A file of rows with named columns; empty where there is none. It keeps the text and where rows begin, and
/// a row is read anew for each of its values.
class CsvTable {
public:
    explicit CsvTable(std::string text)
        : text_(std::move(text)) {
        std::optional<std::size_t> next = for_each_field(text_, 0, [this](const std::string& field) {
            if (columns_.size() < kMostColumns) {
                columns_.push_back(field);
            }
            return true;
        });
        while (next && rows_.size() <= limits::kTableRows) {
            const std::size_t row = *next;
            next = for_each_field(text_, row, [](const std::string&) { return true; });
            if (next) {
                rows_.push_back(row);
            }
        }
    }

    /// One more than limits::kTableRows stands for any more.
    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    /// Empty where there is no such column.
    [[nodiscard]] std::string text(std::size_t row, const char* column) const {
        const auto found = std::find(columns_.begin(), columns_.end(), column);
        if (found == columns_.end()) {
            return "";
        }
        std::string value;
        auto before = found - columns_.begin();
        static_cast<void>(for_each_field(text_, rows_[row], [&](const std::string& field) {
            if (before == 0) {
                value = experiment::text_of_csv(field);
            }
            return before-- > 0;
        }));
        return value;
    }
    [[nodiscard]] double number(std::size_t row, const char* column) const {
        return std::strtod(text(row, column).c_str(), nullptr);
    }
    /// 0 where there is no number that counts something.
    [[nodiscard]] std::size_t count(std::size_t row, const char* column) const {
        constexpr double kMost = 0x1p53;  // what a double counts
        const double value = number(row, column);
        return value >= 0 && value <= kMost ? static_cast<std::size_t>(value) : 0;
    }

private:
    static constexpr std::size_t kMostColumns = 256;  // the first ones; tables of runs have some 16

    std::string text_;
    std::vector<std::string> columns_;
    std::vector<std::size_t> rows_;
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
        by_iteration[operations.count(i, "iteration")].push_back(i);
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

Diagnostic no_table(const std::filesystem::path& file, const std::string& reason) {
    return {"report.table",
            {},
            fmt::format("'{}' {}", file.string(), reason),
            "name a folder that `astrolabe run --out` wrote",
            {}};
}

Diagnostic no_summary(const std::filesystem::path& folder, const std::string& reason) {
    return {"report.summary",
            {},
            fmt::format("'{}' {}", (folder / kSummary).string(), reason),
            "name a folder that `astrolabe run --out` wrote",
            {}};
}

}  // namespace

bool is_run_folder(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder / kSummary, ignored);
}

Result<RunFolder> read_run_folder(const std::filesystem::path& folder) {
    RunFolder run;
    StoredResult& result = run.row.result;
    const std::optional<std::string> summary = text_of_file(folder / kSummary, limits::kTotalBytes);
    if (!summary) {
        return no_summary(folder, why_not_read(folder / kSummary, limits::kTotalBytes));
    }
    if (place_of_deep_nesting(*summary)) {
        return no_summary(
            folder, fmt::format("has more than {} lists and objects inside each other", limits::kNesting));
    }
    result.summary = parse_json<Json>(*summary);
    for (const char* key : {"name", "version", "fingerprint", "mean_iteration_time_s", "total_time_s",
                            "iteration_time_s", "exposed_s", "collectives", "traffic_bytes", "network"}) {
        if (!result.summary.is_object() || !result.summary.contains(key)) {
            return no_summary(folder, fmt::format("is no summary of a run: it has no '{}'", key));
        }
    }
    run.name = result.summary["name"];
    run.row.point.number = 1;
    run.row.point.key = result.summary["fingerprint"];
    result.key = run.row.point.key;
    result.status = PointStatus::kDone;
    result.fingerprint = run.row.point.key;
    Diagnostics errors;
    const auto content_of = [&](const char* name, std::size_t most) {
        std::optional<std::string> content = text_of_file(folder / name, most);
        std::error_code ignored;
        if (!content && std::filesystem::exists(folder / name, ignored)) {
            errors.push_back(no_table(folder / name, why_not_read(folder / name, most)));
        } else if (std::optional<Diagnostic> error =
                       experiment::not_of_run(result.summary, folder, name, content)) {
            errors.push_back(*std::move(error));
        }
        return std::move(content).value_or("");
    };
    const auto table_of = [&](const char* name) {
        CsvTable table(content_of(name, limits::kTableBytes));
        if (table.size() > limits::kTableRows) {
            errors.push_back(
                no_table(folder / name, fmt::format("has more than {} rows", limits::kTableRows)));
        }
        return table;
    };
    result.resolved = content_of("resolved.yaml", limits::kFileBytes);
    const CsvTable operations = table_of("operations.csv");
    const CsvTable links = table_of("links.csv");
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
