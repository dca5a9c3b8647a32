/// A search study: an experiment, what may be different in it, and how long to look for the best.
///
///     schema: astrolabe/1
///     name: …
///     base: ../quickstart/experiment.yaml     # or the experiment itself, which may `include` one
///     optimize:
///       choices:                              # dotted paths of the experiment: what may stand there
///         cluster.collectives.all_reduce.algorithm: [ring, double_binary_tree]
///       tables: {kinds: [table_wise, column_wise], shards: [2, 4]}
///       budget: {evaluations: 1000, time: 10min}
///
/// The base is the reference. A search starts from it, with those alternatives that are written as the base
/// has them, else the first. Each alternative is read in the base by itself before anything runs: one that
/// could not stand in any experiment (an unknown key, a wrong unit) is an error; one that only this base
/// refuses makes the plans that hold it infeasible.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/study/search/search_space.hpp>

namespace astrolabe::study {

enum class SearchMethod : std::uint8_t { kAuto, kAnnealing, kEnumeration };

struct SearchBudget {
    std::int64_t evaluations = 1000;          ///< over all chains
    std::optional<Time> time = std::nullopt;  ///< of the wall
};

struct SearchOptions {
    SearchMethod method = SearchMethod::kAuto;  ///< of a study that was read never auto
    SearchBudget budget;
    std::int64_t chains = 1;
    std::int64_t restarts = 0;
    std::optional<double> temperature = std::nullopt;
    std::uint64_t seed = 1;
};

struct SearchStudy {
    std::string name;
    ConfigNode base;                   ///< with its files resolved
    std::vector<std::string> set;      ///< paths of it that were set on the command line
    experiment::Experiment reference;  ///< the base as it is
    SearchSpace space;
    SearchOptions options;
};

/// Overrides are of the study: "optimize.budget.evaluations=100", "base.cluster.ranks=16". The seed is that
/// of the search.
[[nodiscard]] Result<SearchStudy> load_search_study(const std::filesystem::path& path,
                                                    const experiment::LoadOptions& options,
                                                    const experiment::Components& components);

/// The experiment that a plan is, or why it is none.
[[nodiscard]] Result<experiment::Experiment> experiment_of(const SearchStudy& study, const Plan& plan,
                                                           const experiment::Components& components);

/// Keys of `optimize`, for `describe`.
[[nodiscard]] ComponentDescription optimize_description();

}  // namespace astrolabe::study
