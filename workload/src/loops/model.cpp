#include "training_loop.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

system::Program model_loop(const TrainingPlan& plan) {
    for (const TrainingLayer& layer : plan.layers) {
        ASTROLABE_ASSERT(!layer.weight_gradient_communication,
                         "model-parallel layers keep their weight gradients to themselves");
    }
    // Without weight-gradient collectives there is nothing left in which the two loops differ.
    return hybrid_loop(plan);
}

}  // namespace astrolabe::workload
