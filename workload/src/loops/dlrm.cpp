#include "program_writer.hpp"

#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/training_loop.hpp>

namespace astrolabe::workload {

namespace {

constexpr std::size_t kEmbedding = 0;

void require_dlrm(const TrainingPlan& plan, std::size_t last_bottom_layer) {
    ASTROLABE_ASSERT(last_bottom_layer + 1 < plan.layers.size(), "something follows the bottom MLP");
    for (std::size_t layer = kEmbedding + 1; layer < plan.layers.size(); ++layer) {
        ASTROLABE_ASSERT(
            !plan.layers[layer].forward_communication && !plan.layers[layer].input_gradient_communication,
            "data-parallel layers exchange weight gradients only");
    }
}

void forward(ProgramWriter& writer, std::size_t first, std::size_t end) {
    for (std::size_t layer = first; layer < end; ++layer) {
        writer.wait_for_weights(layer);
        writer.compute(layer, Pass::kForward);
    }
}

void backward(ProgramWriter& writer, std::size_t first, std::size_t end) {
    for (std::size_t layer = end; layer-- > first;) {
        writer.compute(layer, Pass::kWeightGradient);
        writer.communicate(layer, Pass::kWeightGradient, system::Priority::kDefault);
        writer.compute(layer, Pass::kInputGradient);
    }
}

void update_embeddings(ProgramWriter& writer, EmbeddingUpdate order,
                       std::optional<system::OperationId> gradients) {
    if (order == EmbeddingUpdate::kAfterGradients) {
        writer.wait_for(gradients);
    }
    writer.update(kEmbedding);
    writer.communicate(kEmbedding, Pass::kWeightGradient, system::Priority::kDefault);
    if (order == EmbeddingUpdate::kBeforeGradients) {
        writer.wait_for(gradients);
    }
}

}  // namespace

system::Program dlrm_loop(const TrainingPlan& plan, std::size_t last_bottom_layer,
                          EmbeddingUpdate embedding_update) {
    require_dlrm(plan, last_bottom_layer);
    const std::size_t first_bottom = kEmbedding + 1;
    const std::size_t first_top = last_bottom_layer + 1;
    ProgramWriter writer(plan);
    for (int iteration = 0; iteration < plan.iterations; ++iteration) {
        writer.begin_iteration();
        forward(writer, kEmbedding, first_bottom);
        const auto pooled = writer.communicate(kEmbedding, Pass::kForward, system::Priority::kHighest);
        forward(writer, first_bottom, first_top);
        writer.wait_for(pooled);
        forward(writer, first_top, plan.layers.size());
        backward(writer, first_top, plan.layers.size());
        const auto gradients =
            writer.communicate(kEmbedding, Pass::kInputGradient, system::Priority::kHighest);
        backward(writer, first_bottom, first_top);
        update_embeddings(writer, embedding_update, gradients);
    }
    return std::move(writer).finish();
}

}  // namespace astrolabe::workload
