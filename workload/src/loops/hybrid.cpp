#include "program_writer.hpp"
#include "training_loop.hpp"

#include <utility>

namespace astrolabe::workload {

system::Program hybrid_loop(const TrainingPlan& plan) {
    ProgramWriter writer(plan);
    for (int iteration = 0; iteration < plan.iterations; ++iteration) {
        writer.begin_iteration();
        for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
            writer.wait_for_weights(layer);
            writer.compute(layer, Pass::kForward);
            writer.wait_for(writer.communicate(layer, Pass::kForward, system::Priority::kDefault));
        }
        for (std::size_t layer = plan.layers.size(); layer-- > 0;) {
            std::optional<system::OperationId> exchange;
            if (layer > 0) {
                writer.compute(layer, Pass::kInputGradient);
                exchange = writer.communicate(layer, Pass::kInputGradient, system::Priority::kLifo);
            }
            writer.compute(layer, Pass::kWeightGradient);
            writer.communicate(layer, Pass::kWeightGradient, system::Priority::kFifo);
            writer.wait_for(exchange);
        }
    }
    return std::move(writer).finish();
}

}  // namespace astrolabe::workload
