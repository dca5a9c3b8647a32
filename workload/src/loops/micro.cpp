#include "program_writer.hpp"
#include "training_loop.hpp"

#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

system::Program micro_loop(const TrainingPlan& plan) {
    ProgramWriter writer(plan);
    for (int iteration = 0; iteration < plan.iterations; ++iteration) {
        writer.begin_iteration();
        const auto issued = writer.issue_at_start(0, Pass::kWeightGradient, system::Priority::kDefault);
        ASTROLABE_ASSERT(issued, "a collective to measure");
    }
    return std::move(writer).finish();
}

}  // namespace astrolabe::workload
