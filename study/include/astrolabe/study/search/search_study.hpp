/// A search study: an experiment, what may be different in it, and how long to look for the best.
///
///     schema: astrolabe/1
///     name: …
///     base: ../quickstart/experiment.yaml     # or the experiment itself, which may `include` one
///     optimize:
///       choices:                              # dotted paths of the experiment: what may stand there
///         cluster.collectives.all_reduce.algorithm: [ring, double_binary_tree]
///       tables: {kinds: [table_wise, column_wise], shards: [2, 4]}
///       coarse: {backend.rate_slack: 0.01}    # how plans are compared; the best are simulated as they are
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

/// A value that experiments have where they are compared, not as they are.
struct CoarseValue {
    std::string path;  ///< dotted, in the experiment
    ConfigNode value;
};

/// How a plan becomes an experiment: as it is, or as plans are compared.
enum class Fidelity : std::uint8_t { kExact, kCoarse };

struct SearchOptions {
    SearchMethod method = SearchMethod::kAuto;  ///< of a study that was read never auto
    SearchBudget budget;
    std::vector<CoarseValue> coarse = {};  ///< none: plans are compared as they are
    std::int64_t confirmed = 5;  ///< of the best by coarse values, how many are simulated as they are
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

/// The experiment that a plan is, or why it is none. Coarse values come last, over those of the plan.
[[nodiscard]] Result<experiment::Experiment> experiment_of(const SearchStudy& study, const Plan& plan,
                                                           const experiment::Components& components,
                                                           Fidelity fidelity = Fidelity::kExact);
/// The base likewise.
[[nodiscard]] Result<experiment::Experiment> base_of(const SearchStudy& study,
                                                     const experiment::Components& components,
                                                     Fidelity fidelity);

/// Keys of `optimize`, for `describe`.
[[nodiscard]] ComponentDescription optimize_description();

}  // namespace astrolabe::study
