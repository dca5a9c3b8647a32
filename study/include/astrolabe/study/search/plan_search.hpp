/// Search of a space of plans: simulated annealing, or all of them.
///
/// Annealing (Metropolis et al., "Equation of state calculations by fast computing machines", J. Chemical
/// Physics 21, 1953; Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 220,
/// 1983). From a plan of time t a neighbour of time t' is accepted with probability
///
///     min(1, exp(-(t'/t - 1) / T))        T: temperature, a relative change of the time
///
/// The random number u in (0, 1] is drawn first, so acceptance is t' <= t·(1 - T·ln u): a plan whose lower
/// bound is above that need not be simulated to be rejected, and a simulation ends where the plan is sure to
/// take more. Both change the cost of a search, never its steps.
///
/// A chain takes E evaluations in `restarts` + 1 parts of equal length. Each begins at the best plan of the
/// chain so far, and T falls geometrically from `temperature` to a hundredth of it. A plan that cannot be
/// run, or does not finish, has infinite time.
///
/// All plans: chain c of C takes plans c, c + C, …; those whose bound is above the best time so far are not
/// simulated. Of plans with the best time the lowest number wins.
///
/// The same seed gives the same chain. A limit of wall time is the one exception: it ends a chain where it
/// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <astrolabe/study/search/search_space.hpp>

namespace astrolabe::study {

enum class Outcome : std::uint8_t {
    kSimulated,
    kRemembered,       ///< simulated before, as this or a plan that amounts to the same experiment
    kRejectedByBound,  ///< not simulated: it takes at least `bound`, more than would have been accepted
    kGivenUp,          ///< simulated until it was sure to take at least `bound`, more than would be accepted
    kInfeasible        ///< refused by the experiment, or did not finish
};

struct Evaluation {
    Outcome outcome = Outcome::kInfeasible;
    double seconds = std::numeric_limits<double>::infinity();  ///< an iteration; infinity: not known or none
    double bound = 0;                                          ///< no plan of this evaluation takes less
};

/// Evaluates a plan; one that surely takes more than `most` seconds need not be simulated.
using Evaluate = std::function<Evaluation(const Plan& plan, double most)>;

struct SearchStep {
    std::size_t chain = 0;
    std::uint64_t evaluation = 0;  ///< of the chain, from 1
    std::string move;              ///< empty: the plan that a chain starts from
    Evaluation result;
    bool accepted = false;
    double best = 0;                  ///< seconds, of the chain so far
    bool is_best = false;             ///< the step found it
    bool is_best_of_network = false;  ///< of the chain so far, among plans of the same network
};
/// Alternatives of the choices that are of the network.
using NetworkChoice = std::vector<std::uint32_t>;
using StepObserver = std::function<void(const SearchStep&, const Plan&)>;

struct ChainOptions {
    std::size_t chain = 0;
    std::size_t chains = 1;         ///< all, where they share the plans of a space
    std::uint64_t evaluations = 1;  ///< E, of this chain
    std::uint64_t restarts = 0;
    double temperature = 0.01;
    std::uint64_t seed = 1;
    double known = std::numeric_limits<double>::infinity();  ///< seconds: plans are best below it
    std::function<bool()> is_over = [] { return false; };    ///< asked before each evaluation
    /// Which of the networks a plan is for; null: all are for the same. An enumeration finds the best plan of
    /// each, whatever others take; `known` is of none of them.
    std::function<NetworkChoice(const Plan&)> network_of = nullptr;
};

/// Anneals from the space's first plan, which is the first evaluation.
void anneal(const SearchSpace& space, const ChainOptions& options, const Evaluate& evaluate,
            const StepObserver& observe);

/// Takes the chain's part of all plans, at most `evaluations`.
void enumerate(const SearchSpace& space, const ChainOptions& options, const Evaluate& evaluate,
               const StepObserver& observe);

}  // namespace astrolabe::study
