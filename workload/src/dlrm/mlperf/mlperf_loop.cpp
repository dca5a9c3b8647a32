#include "mlperf_loop.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::workload::mlperf {
namespace {

using system::OperationId;
using system::PerRank;

enum Stream : std::uint32_t { kCompute, kSide, kHost, kCopy };

class LoopWriter {
public:
    LoopWriter(const MlperfPlan& plan, Time launch)
        : plan_(plan),
          launch_(launch) {
        program_.ranks = plan.ranks;
        program_.iterations = plan.iterations;
        program_.streams = {"compute", "side", "host", "copy"};
        program_.partitions = plan.partitions;
    }

    [[nodiscard]] system::Program write() && {
        for (iteration_ = 0; iteration_ < plan_.iterations; ++iteration_) {
            forward();
            backward();
            keys_ = std::exchange(next_keys_, std::nullopt);
        }
        program_.check();
        return std::move(program_);
    }

private:
    OperationId compute(Stream stream, std::string layer, std::string_view what,
                        const PerRank<Time>& duration, std::vector<OperationId> dependencies = {},
                        int ahead = 0) {
        std::string name = fmt::format("{}.{}", layer, what);
        return program_.operations.push_back(
            {.name = std::move(name),
             .layer = std::move(layer),
             .iteration = iteration_ + ahead,
             .work = system::ComputeOperation{.duration = duration, .stream = stream},
             .dependencies = std::move(dependencies)});
    }

    OperationId communicate(std::string layer, std::string_view what, const LayerCommunication& communication,
                            std::vector<OperationId> dependencies, int ahead = 0) {
        std::string name = fmt::format("{}.{}{}{}{}{}", layer, what, what.empty() ? "" : ".",
                                       system::to_string(communication.kind),
                                       communication.stage.empty() ? "" : ".", communication.stage);
        return program_.operations.push_back(
            {.name = std::move(name),
             .layer = std::move(layer),
             .iteration = iteration_ + ahead,
             .work = system::CollectiveOperation{.kind = communication.kind,
                                                 .partition = communication.partition,
                                                 .size = communication.size,
                                                 .pair_sizes = communication.pair_sizes},
             .dependencies = std::move(dependencies)});
    }

    OperationId exchange(std::string_view what, const Exchange& exchange, OperationId data) {
        const std::string layer(kEmbeddingLayer);
        const OperationId first = communicate(layer, what, exchange.first, {data});
        if (!exchange.second) {
            return first;
        }
        const OperationId between =
            compute(kSide, layer, fmt::format("{}.between_stages", what), exchange.between, {first});
        return communicate(layer, what, *exchange.second, {between});
    }

    /// Of the batch of this iteration, or of the next, behind `before`.
    [[nodiscard]] std::optional<OperationId> input(int ahead, const std::vector<OperationId>& before) {
        std::vector<OperationId> ready = before;
        if (plan_.copy > Time(0)) {
            ready.push_back(compute(kCopy, "Input", "copy", plan_.copy, {*launched_}, ahead));
        }
        if (!plan_.keys) {
            return plan_.copy > Time(0) ? std::optional(ready.back()) : std::nullopt;
        }
        return communicate("Input", "keys", *plan_.keys, ready, ahead);
    }

    void forward() {
        launched_ = compute(kHost, "Graph", "launch", launch_);
        if (iteration_ == 0) {
            keys_ = input(0, {});
        }
        std::vector<OperationId> ready{*launched_};
        if (keys_) {
            ready.push_back(*keys_);
        }
        const std::string embedding(kEmbeddingLayer);
        const OperationId looked_up = compute(kCompute, embedding, "forward", plan_.lookup, ready);
        std::optional<OperationId> pooled;
        if (plan_.pooled) {
            pooled = exchange("forward", *plan_.pooled, looked_up);
        }
        if (!plan_.sharding.replicated.empty()) {
            compute(kCompute, std::string(kReplicatedEmbeddingLayer), "forward", plan_.replica_lookup);
        }
        for (const DenseLayer& layer : plan_.bottom) {
            compute(kCompute, layer.name, "forward", layer.forward);
        }
        std::vector<OperationId> before_next;
        if (pooled) {
            before_next.push_back(compute(kCompute, embedding, "forward.collect", plan_.collect, {*pooled}));
        }
        if (iteration_ + 1 < plan_.iterations) {
            next_keys_ = input(1, before_next);
        }
        for (const DenseLayer& layer : plan_.top) {
            compute(kCompute, layer.name, "forward", layer.forward);
        }
    }

    void backward() {
        const std::string embedding(kEmbeddingLayer);
        for (std::size_t layer = plan_.top.size(); layer-- > 0;) {
            compute(kCompute, plan_.top[layer].name, "input_gradient", plan_.top[layer].input_gradient);
        }
        std::optional<OperationId> gradients;
        if (plan_.gradients) {
            gradients = exchange("input_gradient", *plan_.gradients,
                                 compute(kCompute, embedding, "input_gradient.spread", plan_.spread));
        }
        OperationId last;
        for (std::size_t layer = plan_.top.size(); layer-- > 0;) {
            last =
                compute(kCompute, plan_.top[layer].name, "weight_gradient", plan_.top[layer].weight_gradient);
        }
        for (std::size_t layer = plan_.bottom.size(); layer-- > 0;) {
            last = compute(kCompute, plan_.bottom[layer].name, "weight_gradient",
                           plan_.bottom[layer].weight_gradient);
            if (layer > 0) {
                last = compute(kCompute, plan_.bottom[layer].name, "input_gradient",
                               plan_.bottom[layer].input_gradient);
            }
        }
        if (!plan_.sharding.replicated.empty()) {
            last = compute(kCompute, std::string(kReplicatedEmbeddingLayer), "weight_gradient",
                           plan_.replica_gradient);
        }
        const OperationId reduced = communicate("Gradients", "", plan_.all_reduce, {last});
        if (gradients) {
            compute(kCompute, embedding, "update", plan_.update, {*gradients});
        }
        compute(kCompute, "Optimizer", "step", plan_.optimizer, {reduced});
    }

    const MlperfPlan& plan_;
    const Time launch_;
    system::Program program_;
    int iteration_ = 0;
    std::optional<OperationId> launched_;
    std::optional<OperationId> keys_;
    std::optional<OperationId> next_keys_;
};

}  // namespace

system::Program mlperf_loop(const MlperfPlan& plan, Time launch) {
    return LoopWriter(plan, launch).write();
}

}  // namespace astrolabe::workload::mlperf
