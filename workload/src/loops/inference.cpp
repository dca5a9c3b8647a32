#include "program_writer.hpp"
#include "training_loop.hpp"

#include <utility>

namespace astrolabe::workload {

system::Program inference_loop(const TrainingPlan& plan) {
    ProgramWriter writer(plan);
    for (int iteration = 0; iteration < plan.iterations; ++iteration) {
        writer.begin_iteration();
        for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
            writer.compute(layer, Pass::kForward);
            writer.wait_for(writer.communicate(layer, Pass::kForward, system::Priority::kDefault));
        }
    }
    return std::move(writer).finish();
}

}  // namespace astrolabe::workload
