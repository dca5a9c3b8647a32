#include "program_writer.hpp"
#include "training_loop.hpp"

#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

system::Program data_loop(const TrainingPlan& plan) {
    for (const TrainingLayer& layer : plan.layers) {
        ASTROLABE_ASSERT(!layer.forward_communication && !layer.input_gradient_communication,
                         "data-parallel layers exchange weight gradients only");
    }
    ProgramWriter writer(plan);
    for (int iteration = 0; iteration < plan.iterations; ++iteration) {
        writer.begin_iteration();
        for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
            writer.wait_for_weights(layer);
            writer.compute(layer, Pass::kForward);
        }
        for (std::size_t layer = plan.layers.size(); layer-- > 0;) {
            writer.compute(layer, Pass::kWeightGradient);
            writer.communicate(layer, Pass::kWeightGradient, system::Priority::kDefault);
            if (layer > 0) {
                writer.compute(layer, Pass::kInputGradient);
            }
        }
    }
    return std::move(writer).finish();
}

}  // namespace astrolabe::workload
