/// Evaluates plans of a study by running them, and remembers what it found.
///
/// A plan costs, in this order and only as far as needed: a look-up of the plan; reading it as an experiment;
/// a look-up of the experiment as it is written out, since plans may amount to the same; its lower bound
/// (lower_bound.hpp); a run, which is given up where the plan surely takes more (limited_run.hpp).
#pragma once

#include <string>
#include <unordered_map>

#include <astrolabe/study/search/plan_search.hpp>
#include <astrolabe/study/search/search_study.hpp>

namespace astrolabe::study {

/// What an iteration takes of a run of that time.
[[nodiscard]] double iteration_seconds(const experiment::Experiment& experiment, Time run);
/// Lower bound of an iteration in seconds: compute and ports.
[[nodiscard]] double bound_seconds(const experiment::Experiment& experiment);

class PlanEvaluator {
public:
    /// The references must outlive the object.
    PlanEvaluator(const SearchStudy& study, const experiment::Components& components, Fidelity fidelity)
        : study_(study),
          components_(components),
          fidelity_(fidelity) {}

    [[nodiscard]] Evaluation evaluate(const Plan& plan, double most);
    /// Of an experiment that is no plan of the space: the base.
    [[nodiscard]] Evaluation evaluate(const experiment::Experiment& experiment, double most);

private:
    /// As far as it is known; the caller knows which are remembered.
    [[nodiscard]] Evaluation examine(const Plan& plan, double most);

    const SearchStudy& study_;
    const experiment::Components& components_;
    Fidelity fidelity_;
    std::unordered_map<std::string, Evaluation> plans_;        // by key
    std::unordered_map<std::string, Evaluation> experiments_;  // by resolved text
};

}  // namespace astrolabe::study
