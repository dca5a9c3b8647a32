#include "steady_section.hpp"

#include <limits>

#include <fmt/format.h>

namespace astrolabe::experiment {

namespace {

constexpr Percentage kMaxTolerance{10.0};
constexpr int kMaxWindow = 1000;

}  // namespace

Schema<SteadyState> steady_state_schema() {
    Schema<SteadyState> schema("steady_state", "iterations that repeat, which are not simulated again");
    schema
        .optional(
            "tolerance", &SteadyState::tolerance,
            "by how much the longest of some iterations may be longer than the shortest for the others to "
            "be taken for alike; 0 %: only what repeats exactly is left out",
            Range<Percentage>{Percentage{0.0}, kMaxTolerance})
        .optional("window", &SteadyState::window, "how many iterations these are, one after another",
                  {2, kMaxWindow});
    return schema;
}

void check_steady_state(const Experiment& experiment, const ConfigNode& section, ReadContext& context) {
    if (experiment.flows != nullptr) {
        context.error("config.steady-state", section.where,
                      "'steady_state' is about iterations, and a workload of flows has none",
                      "leave out steady_state");
    } else if (experiment.background != nullptr) {
        context.error(
            "config.steady-state", section.where,
            "'steady_state' goes with a job alone, and 'background' has flows beside it that do not "
            "repeat with its iterations",
            "leave out steady_state or background");
    } else if (!experiment.failures.empty()) {
        context.error("config.steady-state", section.where,
                      "'steady_state' goes with iterations that are alike, and 'failures' makes some differ",
                      "leave out steady_state or failures");
    }
}

}  // namespace astrolabe::experiment
