#include "run_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace astrolabe::experiment {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSummary = "summary.json";
constexpr std::size_t kMostRows = 3000;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

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
class Table {
public:
    explicit Table(const std::filesystem::path& path)
        : lines_(parse_csv(text_of(path))) {}

    [[nodiscard]] std::size_t size() const { return lines_.empty() ? 0 : lines_.size() - 1; }
    /// Empty where there is no such column.
    [[nodiscard]] std::string text(std::size_t row, const char* column) const {
        const auto found = std::find(lines_[0].begin(), lines_[0].end(), column);
        const auto place = static_cast<std::size_t>(found - lines_[0].begin());
        return place < lines_[row + 1].size() ? lines_[row + 1][place] : "";
    }
    [[nodiscard]] double number(std::size_t row, const char* column) const {
        return std::strtod(text(row, column).c_str(), nullptr);
    }

private:
    std::vector<std::vector<std::string>> lines_;
};

std::size_t step_of(std::size_t all) {
    return std::max<std::size_t>(1, (all + kMostRows - 1) / kMostRows);
}

std::size_t place_in(Json& list, const std::string& name) {
    const auto found = std::find(list.begin(), list.end(), name);
    if (found != list.end()) {
        return static_cast<std::size_t>(found - list.begin());
    }
    list.push_back(name);
    return list.size() - 1;
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string tasks_text(const Table& operations) {
    const std::size_t step = step_of(operations.size());
    Json json{{"all", operations.size()}, {"step", step}, {"rows", Json::array()}, {"names", Json::array()}};
    Json kinds = Json::array();
    for (std::size_t i = 0; i < operations.size(); i += step) {
        json["rows"].push_back({i, operations.number(i, "iteration"), operations.number(i, "issue_s"),
                                operations.number(i, "start_s"), operations.number(i, "finish_s"),
                                place_in(kinds, operations.text(i, "kind"))});
        json["names"].push_back(operations.text(i, "operation"));
    }
    json["kinds"] = std::move(kinds);
    return dump(json);
}

/// All ranks as one: from the first start to the last finish.
std::string gantt_text(const Table& operations) {
    double last = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        last = std::max(last, operations.number(i, "iteration"));
    }
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (operations.number(i, "iteration") == last) {
            chosen.push_back(i);
        }
    }
    const std::size_t step = step_of(chosen.size());
    Json json{{"all", chosen.size()},
              {"step", step},
              {"ranks", 0},
              {"simulated", 0},
              {"drawn", 0},
              {"rank_step", 1},
              {"rows", Json::array()},
              {"names", Json::array()},
              {"kinds", Json::array()}};
    for (std::size_t i = 0; i < chosen.size(); i += step) {
        json["rows"].push_back({"all", json["names"].size(), operations.number(chosen[i], "start_s"),
                                operations.number(chosen[i], "finish_s")});
        json["names"].push_back(operations.text(chosen[i], "operation"));
        json["kinds"].push_back(operations.text(chosen[i], "kind"));
    }
    return dump(json);
}

std::string links_text(const Table& links) {
    const std::size_t step = step_of(links.size());
    Json json{{"all", links.size()}, {"step", step}, {"busiest", 0}, {"rows", Json::array()}};
    std::map<std::string, std::size_t> places;
    Json nodes = Json::array();
    const auto place_of = [&](const std::string& name) {
        const auto [found, is_new] = places.try_emplace(name, places.size());
        if (is_new) {
            nodes.push_back(name);
        }
        return found->second;
    };
    for (std::size_t i = 0; i < links.size(); i += step) {
        const std::size_t source = place_of(links.text(i, "source"));
        const std::size_t target = place_of(links.text(i, "destination"));
        json["rows"].push_back({links.number(i, "link"), source, target, links.number(i, "utilization")});
    }
    json["nodes"] = std::move(nodes);
    return dump(json);
}

}  // namespace

bool is_run_folder(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder / kSummary, ignored);
}

Result<RunFolder> read_run_folder(const std::filesystem::path& folder) {
    RunFolder run;
    StoredResult& result = run.row.result;
    result.summary = Json::parse(text_of(folder / kSummary), nullptr, false);
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
    result.resolved = text_of(folder / "resolved.yaml");
    if (const Table operations(folder / "operations.csv"); operations.size() > 0) {
        run.details["tasks"] = tasks_text(operations);
        run.details["gantt"] = gantt_text(operations);
    }
    if (const Table links(folder / "links.csv"); links.size() > 0) {
        run.details["links"] = links_text(links);
    }
    return run;
}

}  // namespace astrolabe::experiment
