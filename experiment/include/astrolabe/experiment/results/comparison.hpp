/// The same question on several files or backends, side by side.
///
/// Ratios are to the first run that finished, r_i = q_i / q_first, and left out where q_first is 0. Runs that
/// failed keep their place, with the reason.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/experiment/explain/engine_fit.hpp>

namespace astrolabe::experiment {

/// How a run differs from the first of the same file and change that finished on an engine of another kind.
struct EngineDifference {
    std::string against;            ///< label of that one
    std::vector<EngineTerm> terms;  ///< what that engine leaves out, estimated (engine_fit.hpp)
};

struct ComparedRun {
    std::string label;               ///< heads its column, names its folder: unique
    std::string file;                ///< as it was given
    std::string backend;             ///< as it was given, a kind or the file of one; empty: what the file says
    std::string change;              ///< as it was given; empty: as the file is
    int exit_code = 0;               ///< of the run (docs/results.md, "Exit codes")
    std::string error;               ///< what it said on standard error
    nlohmann::ordered_json summary;  ///< summary.json; null unless it finished
    std::optional<EngineDifference> difference;

    [[nodiscard]] bool finished() const { return !summary.is_null(); }
};

/// One run for every file and backend (no backends: that of the file), files first, and behind each one for
/// every change of it. A backend is a kind ("packet"), or a file with the section ("inputs/backends/hpcc.yaml"),
/// so that one engine may take part with several settings. Labels are made of what distinguishes runs: the
/// stems of the files, the kinds of the backends or the stems of their files, the changes, or several of these.
[[nodiscard]] std::vector<ComparedRun> runs_to_compare(std::span<const std::string> files,
                                                       std::span<const std::string> backends,
                                                       std::span<const std::string> changes = {});

/// The run that another is to be explained against; null where there is none.
[[nodiscard]] const ComparedRun* other_engine(std::span<const ComparedRun> runs, const ComparedRun& run);

/// {schema, reference, runs: [{label, file, exit_code, error, ratios, difference, summary}]}; `reference` is
/// the label that ratios refer to, or null.
[[nodiscard]] nlohmann::ordered_json comparison_json(std::span<const ComparedRun> runs);

/// A table with a column for each run, then what the reader should know to read it: why runs failed, where
/// they did not do the same work, and what counts differently between backends.
[[nodiscard]] std::string comparison_text(std::span<const ComparedRun> runs);

}  // namespace astrolabe::experiment
