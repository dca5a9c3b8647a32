#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/study/what_if/what_if.hpp>

namespace astrolabe::study {
namespace {

using Cells = std::array<std::string, 6>;

nlohmann::ordered_json number_or_null(const std::optional<double>& number) {
    return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

std::string percent_text(double share) {
    // Not -0.0 %.
    const double percent = std::abs(share) < 5e-4 ? 0.0 : 100 * share;
    return fmt::format("{:.1f} %", percent);
}

Cells cells_of(const WhatIf& result, const ChangedRun& run) {
    const std::optional<double> elasticity = result.elasticity(run);
    const std::optional<double> dollars = result.dollars_per_percent(run);
    return {run.change.name,
            experiment::readable_seconds(run.seconds),
            fmt::format("{}{}{}", run.change.is_unlimited && result.saved(run) >= 0 ? "at most " : "",
                        percent_text(result.saved(run)), run.change.samples != 1 ? " a sample" : ""),
            elasticity ? fmt::format("{:+.2f}", std::abs(*elasticity) < 0.005 ? 0.0 : *elasticity) : "-",
            run.extra_dollars ? fmt::format("{:+.0f}", *run.extra_dollars) : "-",
            dollars ? fmt::format("{:.0f}", *dollars) : "-"};
}

std::string outcome_of(const ChangedRun& run) {
    return run.finished()         ? "done"
           : run.is_slower        ? "slower"
           : run.is_unsupported() ? "unsupported"
                                  : "failed";
}

template <class Meant>
std::vector<std::string> names_of(const WhatIf& result, const Meant& is_meant) {
    std::vector<std::string> names;
    for (const ChangedRun& run : result.runs) {
        if (is_meant(run)) {
            names.push_back(run.change.name);
        }
    }
    return names;
}

/// "  cannot all_reduce halving_doubling, all_reduce recursive_doubling: over 3 ranks: …"
std::string line_of(const char* verb, const std::vector<std::string>& names, const std::string& reason) {
    return names.empty() ? "" : fmt::format("  {} {}: {}\n", verb, fmt::join(names, ", "), reason);
}

std::string table_of(const std::vector<Cells>& rows) {
    std::array<std::size_t, 6> widths{};
    for (const Cells& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const Cells& row : rows) {
        text += fmt::format("  {:<{}}", row[0], widths[0]);
        for (std::size_t i = 1; i < row.size(); ++i) {
            text += fmt::format("  {:>{}}", row[i], widths[i]);
        }
        text += '\n';
    }
    return text;
}

}  // namespace

nlohmann::ordered_json what_if_json(const WhatIf& result) {
    auto changes = nlohmann::ordered_json::array();
    for (const ChangedRun& run : result.runs) {
        nlohmann::ordered_json row{{"change", run.change.name},
                                   {"group", run.change.group.empty() ? "own" : run.change.group},
                                   {"set", run.change.overrides},
                                   {"outcome", outcome_of(run)}};
        if (run.is_slower) {
            row["iteration_s"] = nullptr;
        } else if (!run.finished()) {
            row["reason"] = run.reason;
        } else {
            row["iteration_s"] = run.seconds;
            row["samples"] = run.change.samples;
            row["saved_share"] = result.saved(run);
            row["at_most"] = run.change.is_unlimited;
            row["elasticity"] = number_or_null(result.elasticity(run));
            row["extra_usd"] = number_or_null(run.extra_dollars);
            row["usd_per_percent"] = number_or_null(result.dollars_per_percent(run));
            row["fingerprint"] = run.fingerprint;
        }
        changes.push_back(std::move(row));
    }
    return {{"schema", experiment::kSchemaName},
            {"name", result.name},
            {"iteration_s", result.seconds},
            {"fingerprint", result.fingerprint},
            {"network_usd", number_or_null(result.dollars)},
            {"changes", std::move(changes)}};
}

std::string what_if_text(const WhatIf& result) {
    std::vector<Cells> rows{{"change", "iteration", "saved", "elasticity", "extra $", "$ for 1 %"}};
    for (const ChangedRun& run : result.runs) {
        if (run.finished()) {
            rows.push_back(cells_of(result, run));
        }
    }
    std::string others =
        line_of("slower", names_of(result, [](const ChangedRun& run) { return run.is_slower; }),
                fmt::format("more than {} times the time", kMostTimes));
    std::vector<std::string> reported;
    for (const ChangedRun& run : result.runs) {
        const std::string reason = outcome_of(run) + run.reason;
        if (run.finished() || run.is_slower ||
            std::find(reported.begin(), reported.end(), reason) != reported.end()) {
            continue;
        }
        reported.push_back(reason);
        const auto is_alike = [&](const ChangedRun& other) {
            return outcome_of(other) + other.reason == reason;
        };
        others += line_of(run.is_unsupported() ? "cannot" : "failed", names_of(result, is_alike), run.reason);
    }
    std::string text = fmt::format(
        "{}: an iteration takes {}{}\n", result.name, experiment::readable_seconds(result.seconds),
        result.dollars ? fmt::format(", the network costs ${:.0f}", *result.dollars) : std::string());
    return text + table_of(rows) + others;
}

}  // namespace astrolabe::study
