/// What holds of every run, and how runs of related experiments are related: see docs/validation.md, "Random
/// experiments".
#pragma once

#include "random_experiment.hpp"

#include <map>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::testing {

struct Violation {
    std::string invariant;
    std::string what;
};

struct Checked {
    std::string refusal;  ///< of the reader; empty: the experiment is valid
    std::vector<Violation> violations;
    std::map<std::string, double> figures;  ///< measured ratios, for the distances that are documented
    std::vector<std::string> tried;         ///< invariants that concern the experiment
};

/// Runs the experiment and its relatives; `seed` draws which.
[[nodiscard]] Checked check_invariants(const experiment::Components& components, const Tree& experiment,
                                       std::uint64_t seed);

/// The same in a process of its own: a crash is a violation of "finishes".
[[nodiscard]] Checked check_isolated(const experiment::Components& components, const Tree& experiment,
                                     std::uint64_t seed);

/// The smallest experiment found that violates the same invariant: keys are taken out and numbers made
/// smaller, one at a time, as long as it does. At most `tries` runs.
[[nodiscard]] Tree shrunk(const experiment::Components& components, Tree experiment, std::uint64_t seed,
                          const std::string& invariant, int tries);

}  // namespace astrolabe::testing
