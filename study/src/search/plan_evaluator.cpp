#include "plan_evaluator.hpp"

#include <utility>
#include <variant>

#include <astrolabe/experiment/explain/lower_bound.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/run/limited_run.hpp>

namespace astrolabe::study {
namespace {

/// A time of the whole run above which an iteration takes more than `seconds`, whatever is rounded.
Time longest_run(const experiment::Experiment& experiment, double seconds) {
    constexpr double kRounding = 1 + 1e-12;
    const double picoseconds = seconds * static_cast<double>(experiment.program.iterations) * kRounding *
                                   static_cast<double>(kPicosecondsPerSecond) +
                               1;
    return picoseconds < static_cast<double>(Time::max().count())
               ? Time(static_cast<std::int64_t>(picoseconds))
               : Time::max();
}

/// What is known of a plan that need not be evaluated again for a time up to `most`.
bool suffices(const Evaluation& known, double most) {
    const bool is_rejected = known.outcome == Outcome::kRejectedByBound || known.outcome == Outcome::kGivenUp;
    return !is_rejected || known.bound > most;
}

Evaluation remembered(Evaluation known) {
    if (known.outcome == Outcome::kSimulated) {
        known.outcome = Outcome::kRemembered;
    } else if (known.outcome == Outcome::kGivenUp) {
        known.outcome = Outcome::kRejectedByBound;
    }
    return known;
}

}  // namespace

double iteration_seconds(const experiment::Experiment& experiment, Time run) {
    return to_seconds(run) / static_cast<double>(experiment.program.iterations);
}

double bound_seconds(const experiment::Experiment& experiment) {
    const experiment::Bound bound = experiment::lower_bound(experiment.program, experiment.cluster.options,
                                                            *experiment.fabric, experiment.placement);
    return iteration_seconds(experiment, bound.value());
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
    const Result<experiment::Experiment> experiment = experiment_of(study_, plan, components_, fidelity_);
    return experiment ? evaluate(*experiment, most) : Evaluation{};
}

Evaluation PlanEvaluator::evaluate(const experiment::Experiment& experiment, double most) {
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
    const std::variant<experiment::Run, Time> result =
        experiment::run_within(experiment, longest_run(experiment, most));
    if (const Time* least = std::get_if<Time>(&result)) {
        known.outcome = Outcome::kGivenUp;
        known.bound = iteration_seconds(experiment, *least);
        return known;
    }
    const experiment::Run& run = std::get<experiment::Run>(result);
    known.outcome = run.execution.finished ? Outcome::kSimulated : Outcome::kInfeasible;
    if (run.execution.finished) {
        known.seconds = experiment::mean_iteration_seconds(run);
    }
    return known;
}

}  // namespace astrolabe::study
