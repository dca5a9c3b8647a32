#include "program_writer.hpp"
#include "training_loop.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

bool contains(const std::vector<std::size_t>& layers, std::size_t layer) {
    return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

std::size_t nearest_kept_below(const Checkpoints& checkpoints, std::size_t layer) {
    while (layer-- > 0) {
        if (contains(checkpoints.kept, layer)) {
            return layer;
        }
    }
    invariant_failed("layer is kept", "recomputation starts at a kept layer");
}

}  // namespace

system::Program transformer_loop(const TrainingPlan& plan, const Checkpoints& checkpoints) {
    ProgramWriter writer(plan);
    for (int iteration = 0; iteration < plan.iterations; ++iteration) {
        writer.begin_iteration();
        for (std::size_t layer = 0; layer < plan.layers.size(); ++layer) {
            writer.wait_for_weights(layer);
            writer.compute(layer, Pass::kForward);
            writer.wait_for(writer.communicate(layer, Pass::kForward, system::Priority::kDefault));
        }
        for (std::size_t layer = plan.layers.size(); layer-- > 0;) {
            if (contains(checkpoints.initiates, layer)) {
                for (std::size_t again = nearest_kept_below(checkpoints, layer); again < layer; ++again) {
                    writer.recompute(again, layer);
                }
            }
            writer.compute(layer, Pass::kInputGradient);
            const auto exchange = writer.communicate(layer, Pass::kInputGradient, system::Priority::kLifo);
            writer.compute(layer, Pass::kWeightGradient);
            writer.communicate(layer, Pass::kWeightGradient, system::Priority::kFifo);
            writer.wait_for(exchange);
        }
    }
    return std::move(writer).finish();
}

}  // namespace astrolabe::workload
