#include "schedule.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {
namespace {

std::size_t warm_up(const PipelineSize& size, std::size_t stage) {
    const std::size_t behind = size.stages - 1 - stage;
    const std::size_t total = size.micro_batches * size.parts_per_stage;
    switch (size.schedule) {
        case PipelineSchedule::kGpipe:
            return total;
        case PipelineSchedule::kOneForwardOneBackward:
            return std::min(behind, total);
        case PipelineSchedule::kInterleaved:
            return std::min(2 * behind + (size.parts_per_stage - 1) * size.stages, total);
    }
    invariant_failed("schedule is known", "every schedule has a warm-up");
}

/// The n-th pass of a direction: p micro-batches through a part, then the same through the next.
PipelineStep step_of(const PipelineSize& size, std::size_t stage, bool is_forward, std::size_t n) {
    const std::size_t round = size.parts();
    const std::size_t place = n % round / size.stages;
    const std::size_t own = is_forward ? place : size.parts_per_stage - 1 - place;
    // Of one part: micro-batches in order, in whole rounds or not.
    const std::size_t micro_batch = size.parts_per_stage == 1 ? n : n / round * size.stages + n % size.stages;
    return {is_forward, own * size.stages + stage, micro_batch};
}

}  // namespace

std::vector<PipelineStep> steps_of_stage(const PipelineSize& size, std::size_t stage) {
    ASTROLABE_ASSERT(stage < size.stages && size.micro_batches > 0, "a stage has something to do");
    ASTROLABE_ASSERT(size.schedule == PipelineSchedule::kInterleaved ? size.micro_batches % size.stages == 0
                                                                     : size.parts_per_stage == 1,
                     "parts go with the interleaved schedule, and that with whole rounds");
    const std::size_t total = size.micro_batches * size.parts_per_stage;
    const std::size_t ahead = warm_up(size, stage);
    std::vector<PipelineStep> steps;
    for (std::size_t n = 0; n < ahead; ++n) {
        steps.push_back(step_of(size, stage, true, n));
    }
    for (std::size_t n = 0; n < total; ++n) {
        if (ahead + n < total) {
            steps.push_back(step_of(size, stage, true, ahead + n));
        }
        steps.push_back(step_of(size, stage, false, n));
    }
    return steps;
}

std::vector<PipelineStep> steps_in_order(const PipelineSize& size) {
    std::vector<std::vector<PipelineStep>> steps;
    for (std::size_t stage = 0; stage < size.stages; ++stage) {
        steps.push_back(steps_of_stage(size, stage));
    }
    // Passes of a part go through it in the order of micro-batches, so counts say which are there.
    std::vector<std::size_t> forward(size.parts());
    std::vector<std::size_t> backward(size.parts());
    const auto is_possible = [&](const PipelineStep& step) {
        if (step.is_forward) {
            return step.part == 0 || forward[step.part - 1] > step.micro_batch;
        }
        return step.part + 1 == size.parts() ? forward[step.part] > step.micro_batch
                                             : backward[step.part + 1] > step.micro_batch;
    };
    std::vector<std::size_t> next(size.stages);
    std::vector<PipelineStep> order;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::size_t stage = 0; stage < size.stages; ++stage) {
            if (next[stage] == steps[stage].size() || !is_possible(steps[stage][next[stage]])) {
                continue;
            }
            const PipelineStep& step = steps[stage][next[stage]++];
            ++(step.is_forward ? forward : backward)[step.part];
            order.push_back(step);
            goes_on = true;
        }
    }
    ASTROLABE_ASSERT(order.size() == 2 * size.micro_batches * size.parts(),
                     "the stages of a schedule do not wait for one another in a circle");
    return order;
}

std::size_t most_in_flight(const std::vector<PipelineStep>& steps_of_a_stage) {
    std::size_t in_flight = 0;
    std::size_t most = 0;
    for (const PipelineStep& step : steps_of_a_stage) {
        in_flight = step.is_forward ? in_flight + 1 : in_flight - 1;
        most = std::max(most, in_flight);
    }
    return most;
}

}  // namespace astrolabe::workload
