#include "plan_evaluator.hpp"

#include "figures.hpp"

#include <utility>

#include <astrolabe/experiment/lower_bound.hpp>
#include <astrolabe/experiment/run.hpp>

namespace astrolabe::experiment {
namespace {

/// What is known of a plan that nobody needs to look at again for a time up to `most`.
bool suffices(const Evaluation& known, double most) {
    return known.outcome != Outcome::kRejectedByBound || known.bound > most;
}

Evaluation remembered(Evaluation known) {
    if (known.outcome == Outcome::kSimulated) {
        known.outcome = Outcome::kRemembered;
    }
    return known;
}

}  // namespace

double bound_seconds(const Experiment& experiment) {
    const Bound bound = lower_bound(experiment.program, experiment.cluster.options, *experiment.fabric);
    return to_seconds(bound.value()) / static_cast<double>(experiment.program.iterations);
}

Evaluation PlanEvaluator::evaluate(const Plan& plan, double most) {
    Evaluation& known =
        plans_.try_emplace(plan.key(), Evaluation{.outcome = Outcome::kRejectedByBound, .bound = -1})
            .first->second;
    if (suffices(known, most)) {
        return remembered(known);
    }
    known = examine(plan, most);
    return known;
}

Evaluation PlanEvaluator::examine(const Plan& plan, double most) {
    const Result<Experiment> experiment = experiment_of(study_, plan, components_);
    return experiment ? evaluate(*experiment, most) : Evaluation{};
}

Evaluation PlanEvaluator::evaluate(const Experiment& experiment, double most) {
    const auto [place, is_new] = experiments_.try_emplace(to_yaml(experiment.resolved));
    Evaluation& known = place->second;
    if (!is_new && suffices(known, most)) {
        return remembered(known);
    }
    known.bound = bound_seconds(experiment);
    if (known.bound > most) {
        known.outcome = Outcome::kRejectedByBound;
        return known;
    }
    const Run run = run_experiment(experiment, {});
    known.outcome = run.execution.finished ? Outcome::kSimulated : Outcome::kInfeasible;
    if (run.execution.finished) {
        known.seconds = mean_iteration_seconds(run);
    }
    return known;
}

}  // namespace astrolabe::experiment
