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
            fmt::format("{}{}{}", run.change.is_unlimited ? "at most " : "", percent_text(result.saved(run)),
                        run.change.samples != 1 ? " a sample" : ""),
            elasticity ? fmt::format("{:+.2f}", std::abs(*elasticity) < 0.005 ? 0.0 : *elasticity) : "-",
            run.extra_dollars ? fmt::format("{:+.0f}", *run.extra_dollars) : "-",
            dollars ? fmt::format("{:.0f}", *dollars) : "-"};
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
                                   {"outcome", run.finished()         ? "done"
                                               : run.is_unsupported() ? "unsupported"
                                                                      : "failed"}};
        if (!run.finished()) {
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
    std::string others;
    for (const ChangedRun& run : result.runs) {
        if (run.finished()) {
            rows.push_back(cells_of(result, run));
        } else {
            others += fmt::format("  {} {}: {}\n", run.is_unsupported() ? "cannot" : "failed",
                                  run.change.name, run.reason);
        }
    }
    std::string text = fmt::format("{}: an iteration takes {}{}\n", result.name,
                                   experiment::readable_seconds(result.seconds),
                                   result.dollars ? fmt::format(", the network costs ${:.0f}", *result.dollars)
                                                  : std::string());
    return text + table_of(rows) + others;
}

}  // namespace astrolabe::study
