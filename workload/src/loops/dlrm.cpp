#include "program_writer.hpp"
#include "training_loop.hpp"

#include <deque>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

void require_dlrm(const TrainingPlan& plan, std::size_t last_bottom_layer, std::size_t embedding_layers) {
    ASTROLABE_ASSERT(embedding_layers >= 1 && embedding_layers <= last_bottom_layer + 1,
                     "embeddings come before the bottom MLP");
    ASTROLABE_ASSERT(last_bottom_layer + 1 < plan.layers.size(), "something follows the bottom MLP");
    for (std::size_t layer = embedding_layers; layer < plan.layers.size(); ++layer) {
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

using Collectives = std::vector<std::optional<system::OperationId>>;

Collectives exchange_gradients(ProgramWriter& writer, std::size_t embedding_layers) {
    Collectives gradients;
    for (std::size_t layer = 0; layer < embedding_layers; ++layer) {
        gradients.push_back(writer.communicate(layer, Pass::kInputGradient, system::Priority::kHighest));
    }
    return gradients;
}

void update_embeddings(ProgramWriter& writer, EmbeddingUpdate order, const Collectives& gradients) {
    for (std::size_t layer = 0; layer < gradients.size(); ++layer) {
        if (order == EmbeddingUpdate::kAfterGradients) {
            writer.wait_for(gradients[layer]);
        }
        writer.update(layer);
        if (order == EmbeddingUpdate::kBeforeGradients) {
            writer.wait_for(gradients[layer]);
        }
    }
}

/// Gradients that tables are yet to be updated with, those of the oldest iteration first.
class LateUpdates {
public:
    explicit LateUpdates(std::size_t staleness)
        : staleness_(staleness) {}

    void end_iteration(ProgramWriter& writer, Collectives gradients) {
        for (std::size_t layer = 0; layer < gradients.size(); ++layer) {
            if (!gradients[layer]) {
                writer.update(layer);
            }
        }
        waiting_.push_back(std::move(gradients));
        if (waiting_.size() > staleness_) {
            update_with_oldest(writer, 0);
        }
    }
    void end(ProgramWriter& writer) {
        while (!waiting_.empty()) {
            update_with_oldest(writer, waiting_.size());
        }
    }

private:
    void update_with_oldest(ProgramWriter& writer, std::size_t late) {
        for (std::size_t layer = 0; layer < waiting_.front().size(); ++layer) {
            if (waiting_.front()[layer]) {
                writer.wait_for(waiting_.front()[layer]);
                writer.update(layer, late);
            }
        }
        waiting_.pop_front();
    }

    std::size_t staleness_;
    std::deque<Collectives> waiting_;
};

}  // namespace

system::Program dlrm_loop(const TrainingPlan& plan, std::size_t last_bottom_layer,
                          EmbeddingUpdate embedding_update, std::size_t embedding_layers,
                          std::optional<int> staleness) {
    ASTROLABE_ASSERT(!staleness || (embedding_update == EmbeddingUpdate::kStale && *staleness >= 0),
                     "a bound is of stale updates");
    require_dlrm(plan, last_bottom_layer, embedding_layers);
    const std::size_t first_top = last_bottom_layer + 1;
    ProgramWriter writer(plan);
    LateUpdates late(static_cast<std::size_t>(staleness.value_or(0)));
    std::optional<system::OperationId> input;
    for (int iteration = 0; iteration < plan.iterations; ++iteration) {
        writer.begin_iteration();
        if (plan.input && !input) {
            input = writer.issue_input(iteration);
        }
        writer.wait_for(std::exchange(input, std::nullopt));
        Collectives pooled;
        for (std::size_t layer = 0; layer < embedding_layers; ++layer) {
            forward(writer, layer, layer + 1);
            pooled.push_back(writer.communicate(layer, Pass::kForward, system::Priority::kHighest));
        }
        forward(writer, embedding_layers, first_top);
        for (const std::optional<system::OperationId> collective : pooled) {
            writer.wait_for(collective);
        }
        forward(writer, first_top, plan.layers.size());
        if (plan.input_ahead && iteration + 1 < plan.iterations) {
            input = writer.issue_input(iteration + 1);
        }
        backward(writer, first_top, plan.layers.size());
        Collectives gradients = exchange_gradients(writer, embedding_layers);
        backward(writer, embedding_layers, first_top);
        if (staleness) {
            late.end_iteration(writer, std::move(gradients));
        } else {
            update_embeddings(writer, embedding_update, gradients);
        }
    }
    late.end(writer);
    return std::move(writer).finish();
}

}  // namespace astrolabe::workload
