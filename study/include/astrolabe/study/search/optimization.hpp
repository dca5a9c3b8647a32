/// The search for the plan of a study with the shortest iteration, and what it reports.
///
/// Chains run in processes of their own, each with a part of the budget and a random stream of its own; none
/// waits for another, so the best plan is the same for any number of processes at a time. Where the budget
/// limits time, a chain has as much of it as lets all chains end in time.
///
/// Where the network is a choice every network has an answer of its own: the best plan on it, what the base
/// takes there, and its price at the prices that the program has built in.
///
/// The lower bound is of all plans (space_bound.hpp), or the best time itself where every plan was looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/results/output_folder.hpp>
#include <astrolabe/study/search/plan_search.hpp>
#include <astrolabe/study/search/search_study.hpp>

namespace astrolabe::study {

struct SearchProgress {
    std::uint64_t evaluations = 0;
    std::uint64_t all_evaluations = 0;  ///< at most
    double best_seconds = 0;
    double base_seconds = 0;
    double wall_seconds = 0;
};

struct OptimizeOptions {
    std::size_t jobs = 1;  ///< processes at a time
    std::function<void(const SearchProgress&)> observer = {};
    std::function<void()> begun = [] {};  ///< called when the base has run: from here on there is a best plan
    std::function<bool()> stop = [] { return false; };  ///< asked ten times a second
};

/// What was found for one of the networks that a study lets choose from.
struct NetworkAnswer {
    NetworkChoice network;                                          ///< by choice of `network_choices`
    double best_seconds = std::numeric_limits<double>::infinity();  ///< infinite: nothing ran on it
    std::optional<Plan> plan;                                       ///< the best
    /// The base's alternatives of all other choices on this network; infinite: it refuses them.
    double baseline_seconds = std::numeric_limits<double>::infinity();
    std::optional<double> dollars;  ///< price of the network that the best plan has
    std::string unpriced;           ///< why there is none
    bool is_on_front = false;       ///< no other costs no more, is no slower, and is better in one
    std::uint64_t evaluations = 0;
    std::uint64_t infeasible = 0;
};

/// Places of the choices of a space that say what the network is.
[[nodiscard]] std::vector<std::size_t> network_choices(const SearchSpace& space);

/// A plan that was the best, or among them, by coarse values.
struct ConfirmedPlan {
    Plan plan;
    double coarse_seconds = 0;
    double seconds = 0;  ///< as it is; infinite: it does not finish
};

struct Optimization {
    double temperature = 0;                     ///< of annealing
    std::optional<double> coarse_base_seconds;  ///< of the base by coarse values, which `steps` have
    std::vector<ConfirmedPlan> confirmed;       ///< best by coarse values first; none where there are no such
    double base_seconds = 0;                    ///< mean iteration of the base …
    /// … and of the best: the base where no plan is faster. By coarse values if the search was interrupted
    /// before a plan was confirmed.
    double best_seconds = 0;
    std::optional<Plan> plan;                    ///< the best; nothing: the base
    std::optional<experiment::Experiment> best;  ///< the same
    std::vector<SearchStep> steps;               ///< by chain
    std::vector<NetworkAnswer> networks;         ///< in the order of the study; none: there is no choice
    std::vector<std::string> failures;           ///< of chains that did not end as they should
    bool interrupted = false;
    bool is_optimum = false;   ///< every plan was looked at
    double bound_seconds = 0;  ///< of all plans; 0: not known, for the reason in `omission`
    std::string omission;
    double wall_seconds = 0;

    [[nodiscard]] std::uint64_t count(Outcome outcome) const;
};

/// Errors: the base does not finish. What it refuses is not found here but when the study is read.
[[nodiscard]] Result<Optimization> optimize(const SearchStudy& study,
                                            const experiment::Components& components,
                                            const OptimizeOptions& options);

/// summary.json of a search (docs/models/optimize.md).
[[nodiscard]] nlohmann::ordered_json optimization_json(const SearchStudy& study, const Optimization& found);
/// How much faster, how close to the bound, what the best plan is.
[[nodiscard]] std::string optimization_text(const SearchStudy& study, const Optimization& found);
/// best.yaml, trace.csv and summary.json.
[[nodiscard]] Diagnostics write_optimization(const experiment::OutputFolder& folder, const SearchStudy& study,
                                             const Optimization& found);

}  // namespace astrolabe::study
