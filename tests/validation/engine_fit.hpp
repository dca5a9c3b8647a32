/// Random small experiments on fluid, packets and TCP: what the engines' times differ by, and what is said of
/// it before any of them runs (experiment/explain/engine_fit.hpp).
#pragma once

#include <string>
#include <vector>

#include <astrolabe/experiment/explain/engine_fit.hpp>

namespace astrolabe::testing {

/// Two engines on one experiment.
struct EnginePair {
    std::string name;  ///< of the experiment
    std::string own;
    std::string other;
    double ratio = 1;                           ///< time on the other over time on the own
    double estimated = 1;                       ///< of all terms
    bool loses = false;                         ///< the other, packets
    std::vector<experiment::EngineTerm> terms;  ///< all, largest first
    std::vector<experiment::EngineTerm> told;   ///< of the other engine, to who runs on the own

    [[nodiscard]] bool differs() const { return ratio > 1.1 || ratio < 1 / 1.1; }
    [[nodiscard]] bool agrees() const { return ratio < 1.03 && ratio > 1 / 1.03; }
    /// Losses: packets were lost. A term without estimate: it may. Else what was told accounts for a third to
    /// three times of the measured difference, and nothing was lost.
    [[nodiscard]] bool names_the_cause() const;
    [[nodiscard]] std::string text() const;
};

/// How often what was said is right.
struct Fit {
    int differing = 0;  ///< by more than 10 %
    int named = 0;      ///< of them, with a word that names the cause
    int agreeing = 0;   ///< within 3 %
    int quiet = 0;      ///< of them, without a word
};

/// What is asked of a run: docs/models/engine-fit.md, "How well", has what is measured.
inline constexpr double kNamed = 0.85;
inline constexpr double kQuiet = 0.9;

/// Counts, and prints every pair that is missed or a false alarm with its terms.
[[nodiscard]] Fit judge(const std::vector<EnginePair>& pairs);

/// Draws `count` experiments, runs each on fluid, packet and, where it can, tcp. The same ones for the same
/// seed.
[[nodiscard]] std::vector<EnginePair> compare_engines(unsigned seed, int count);

}  // namespace astrolabe::testing
