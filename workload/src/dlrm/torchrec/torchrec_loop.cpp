#include "torchrec_loop.hpp"

#include "launches.hpp"
#include "stream_writer.hpp"

#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload::torchrec {
namespace {

using system::CollectiveKind;
using system::OperationId;

system::Program empty_program(const TorchrecPlan& plan) {
    system::Program program;
    program.ranks = plan.ranks;
    program.iterations = plan.iterations;
    program.partitions = plan.partitions;
    return program;
}

Label label(const std::string& layer, std::string_view what, int batch) {
    return {.name = fmt::format("{}.{}", layer, what), .layer = layer, .iteration = batch};
}

class Loop {
public:
    Loop(const TorchrecPlan& plan, const Device& device)
        : plan_(plan),
          costs_(device.host.value_or(HostCosts{})),
          program_(empty_program(plan)),
          writer_(program_, device),
          batches_(static_cast<std::size_t>(plan.iterations)) {}

    [[nodiscard]] system::Program run(TorchrecPipeline pipeline) && {
        fill(pipeline);
        for (int batch = 0; batch < plan_.iterations; ++batch) {
            next_bucket_ = 0;
            gradients_.clear();
            reductions_.clear();
            step(pipeline, batch);
        }
        writer_.finish(label("Host", "end", plan_.iterations - 1));
        program_.check();
        return std::move(program_);
    }

private:
    /// What was issued for a batch.
    struct Batch {
        std::optional<OperationId> copy;
        std::vector<OperationId> splits;
        std::vector<OperationId> received;  // by group: the last collective of the indices
        std::vector<OperationId> permuted;  // by group
        std::vector<OperationId> pooled;    // by group
    };

    [[nodiscard]] bool exists(int batch) const { return batch < plan_.iterations; }
    [[nodiscard]] Batch& at(int batch) { return batches_[static_cast<std::size_t>(batch)]; }

    // Pipelines.

    void fill(TorchrecPipeline pipeline) {
        load(0);
        switch (pipeline) {
            case TorchrecPipeline::kBase:
            case TorchrecPipeline::kSparseDistLite:
                return;
            case TorchrecPipeline::kSparseDist:
            case TorchrecPipeline::kSparseDist2023:
            case TorchrecPipeline::kFusedSparseDist:
                distribute(0);
                load(1);
                return;
            case TorchrecPipeline::kSemiSync:
                distribute(0);
                permute(0, Stream::kDataDist);
                look_up(0, Stream::kCompute);
                load(1);
                distribute(1);
                load(2);
                return;
            case TorchrecPipeline::kPrefetch:
                distribute(0);
                fetch(0);
                load(1);
                start_input(1, Stream::kDataDist);
                return;
        }
    }

    void step(TorchrecPipeline pipeline, int batch) {
        switch (pipeline) {
            case TorchrecPipeline::kBase:
                spend_on_batch(batch + 1);
                writer_.spend(costs_.iteration);
                bottom_forward(batch);
                start_inputs_singly(batch);
                finish_input(batch, Stream::kCompute);
                permute(batch, Stream::kCompute);
                look_up(batch, Stream::kCompute);
                rest_of_forward(batch);
                backward(batch);
                copy(batch + 1);
                optimise(batch);
                return;
            case TorchrecPipeline::kSparseDistLite:
                writer_.spend(costs_.iteration);
                start_input(batch, Stream::kDataDist);
                load(batch + 1);
                finish_input(batch, Stream::kDataDist);
                forward(batch);
                backward(batch);
                optimise(batch);
                return;
            case TorchrecPipeline::kSparseDist:
                writer_.spend(costs_.iteration);
                start_input(batch + 1, Stream::kDataDist);
                load(batch + 2);
                forward(batch);
                finish_input(batch + 1, Stream::kDataDist);
                backward(batch);
                optimise(batch);
                return;
            case TorchrecPipeline::kSparseDist2023:
                writer_.spend(costs_.iteration);
                load(batch + 2);
                forward(batch);
                distribute(batch + 1);
                backward(batch);
                optimise(batch);
                return;
            case TorchrecPipeline::kFusedSparseDist:
                permute(batch, Stream::kDataDist);
                if (tables_updated_) {
                    writer_.wait(Stream::kDataDist, *tables_updated_);
                }
                look_up(batch, Stream::kDataDist);
                writer_.spend(costs_.iteration);
                start_input(batch + 1, Stream::kDataDist);
                load(batch + 2);
                bottom_forward(batch);
                rest_of_forward(batch);
                finish_input(batch + 1, Stream::kDataDist);
                backward(batch);
                optimise(batch);
                return;
            case TorchrecPipeline::kSemiSync:
                start_input(batch + 2, Stream::kDataDist);
                bottom_forward(batch);
                rest_of_forward(batch);
                load(batch + 3);
                permute(batch + 1, Stream::kDataDist);
                look_up(batch + 1, Stream::kCompute);
                finish_input(batch + 2, Stream::kDataDist);
                stale_backward(batch);
                optimise(batch);
                writer_.spend(costs_.iteration);
                return;
            case TorchrecPipeline::kPrefetch:
                writer_.spend(costs_.iteration);
                load(batch + 2);
                finish_input(batch + 1, Stream::kDataDist);
                bottom_forward(batch);
                look_up(batch, Stream::kCompute);
                rest_of_forward(batch);
                fetch(batch + 1);
                backward(batch);
                optimise(batch);
                start_input(batch + 2, Stream::kDataDist);
                return;
        }
    }

    // Input.

    void spend_on_batch(int batch) {
        if (exists(batch)) {
            writer_.spend(costs_.batch);
        }
    }

    void copy(int batch) {
        if (exists(batch)) {
            at(batch).copy = writer_.copy(label("Input", "copy", batch), plan_.copy);
        }
    }

    void load(int batch) {
        spend_on_batch(batch);
        copy(batch);
    }

    void distribute(int batch) {
        start_input(batch, Stream::kDataDist);
        finish_input(batch, Stream::kDataDist);
    }

    void permute_before(int batch, const Group& group, Stream stream) {
        writer_.launch(stream, label(group.layer.name, "permute_indices", batch), group.input_launches,
                       group.permute_before);
    }

    /// 8 bytes to each rank for each tensor of these groups, and for the samples of a batch.
    void issue_splits(int batch, Stream stream, std::span<const Group> groups, std::string stage) {
        constexpr Bytes kNumber(8);
        std::int64_t numbers = 0;
        for (const Group& group : groups) {
            numbers += static_cast<std::int64_t>(group.tensors.size()) + 1;
        }
        writer_.launch(stream, label("Input", stage + "_stack", batch), kSplits, Time(0));
        at(batch).splits.push_back(
            writer_.issue(stream, label("Input", "indices", batch),
                          {.kind = CollectiveKind::kAllToAll,
                           .size = static_cast<std::int64_t>(plan_.ranks) * numbers * kNumber,
                           .partition = plan_.world,
                           .stage = std::move(stage)}));
    }

    /// The splits of all groups in one exchange.
    void start_input(int batch, Stream stream) {
        if (!exists(batch) || plan_.groups.empty()) {
            return;
        }
        writer_.enter(Phase::kInput);
        writer_.wait(stream, at(batch).copy.value());
        for (const Group& group : plan_.groups) {
            permute_before(batch, group, stream);
        }
        issue_splits(batch, stream, plan_.groups, "splits");
    }

    /// The splits of each group by themselves, on the stream of the forward pass.
    void start_inputs_singly(int batch) {
        writer_.enter(Phase::kInput);
        for (const Group& group : plan_.groups) {
            permute_before(batch, group, Stream::kCompute);
            issue_splits(batch, Stream::kCompute, {&group, 1}, group.name + ".splits");
        }
    }

    void finish_input(int batch, Stream stream) {
        if (!exists(batch) || plan_.groups.empty()) {
            return;
        }
        writer_.enter(Phase::kInput);
        for (std::size_t i = 0; i < at(batch).splits.size(); ++i) {
            writer_.block(label("Input", fmt::format("splits_{}", i), batch), at(batch).splits[i]);
        }
        for (const Group& group : plan_.groups) {
            OperationId last;
            for (const IndexTensor& tensor : group.tensors) {
                last = writer_.issue(stream, label("Input", "indices", batch),
                                     {.kind = CollectiveKind::kAllToAll,
                                      .size = tensor.sizes.largest_held(),
                                      .partition = plan_.world,
                                      .pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(
                                          std::size_t{1}, tensor.sizes),
                                      .stage = fmt::format("{}.{}", group.name, tensor.name)});
            }
            at(batch).received.push_back(last);
        }
    }

    /// What arrived, from the order of ranks into that of features.
    void permute(int batch, Stream stream) {
        if (!exists(batch)) {
            return;
        }
        writer_.enter(Phase::kForward);
        for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
            const Group& group = plan_.groups[i];
            writer_.wait_for_collective(stream, at(batch).received[i]);
            at(batch).permuted.push_back(writer_.launch(stream,
                                                        label(group.layer.name, "permute_received", batch),
                                                        kInputAfter, group.permute_after));
        }
    }

    void fetch(int batch) {
        if (!exists(batch)) {
            return;
        }
        permute(batch, Stream::kPrefetch);
        fetched_ahead_ = true;
        for (const Group& group : plan_.groups) {
            if (group.layer.fetch) {
                writer_.launch(Stream::kPrefetch, label(group.layer.name, "fetch", batch), kFetch,
                               *group.layer.fetch);
            }
        }
        if (const auto last = writer_.last(Stream::kPrefetch); last && !plan_.groups.empty()) {
            at(batch).permuted.assign(plan_.groups.size(), *last);
        }
    }

    // Forward.

    void forward(int batch) {
        bottom_forward(batch);
        permute(batch, Stream::kDataDist);
        look_up(batch, Stream::kCompute);
        rest_of_forward(batch);
    }

    void dense_forward(const std::vector<DenseLayer>& layers, int batch) {
        for (const DenseLayer& dense : layers) {
            writer_.launch(Stream::kCompute, label(dense.layer.name, "forward", batch),
                           dense.forward_launches, dense.layer.forward);
        }
    }

    void bottom_forward(int batch) {
        writer_.enter(Phase::kForward);
        writer_.wait(Stream::kCompute, at(batch).copy.value());
        dense_forward(plan_.bottom, batch);
    }

    void look_up(int batch, Stream stream) {
        if (!exists(batch)) {
            return;
        }
        writer_.enter(Phase::kForward);
        for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
            const Group& group = plan_.groups[i];
            writer_.wait(stream, at(batch).permuted[i]);
            writer_.launch(stream, label(group.layer.name, "forward", batch), kLookup,
                           fetched_ahead_ ? group.lookup_without_fetch : group.layer.forward);
            at(batch).pooled.push_back(
                send(stream, label(group.layer.name, "forward", batch), *group.layer.forward_communication));
        }
    }

    /// Encodes what is to be sent, and issues its collective.
    OperationId send(Stream stream, const Label& name, const LayerCommunication& communication) {
        if (communication.encode) {
            Label encode = name;
            encode.name += ".encode";
            writer_.launch(stream, encode, kConversion, *communication.encode);
        }
        return writer_.issue(stream, name, communication);
    }

    void receive(const Label& name, const LayerCommunication& communication, OperationId collective) {
        writer_.wait_for_collective(Stream::kCompute, collective);
        if (communication.decode) {
            Label decode = name;
            decode.name += ".decode";
            writer_.launch(Stream::kCompute, decode, kConversion, *communication.decode);
        }
    }

    void rest_of_forward(int batch) {
        writer_.enter(Phase::kForward);
        if (plan_.replicas) {
            writer_.launch(Stream::kCompute, label(plan_.replicas->name, "forward", batch), kReplicaLookup,
                           plan_.replicas->forward);
        }
        for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
            const Group& group = plan_.groups[i];
            receive(label(group.layer.name, "forward", batch), *group.layer.forward_communication,
                    at(batch).pooled[i]);
            writer_.launch(Stream::kCompute, label(group.layer.name, "concatenate", batch), kConcatenation,
                           group.concatenate);
        }
        writer_.launch(Stream::kCompute, label("Embedding", "concatenate", batch), kConcatenation,
                       plan_.concatenate_groups);
        interact("forward", forward_launches(plan_.interaction_kind), plan_.interaction.forward, batch);
        dense_forward(plan_.top, batch);
        writer_.launch(Stream::kCompute, label("Loss", "forward", batch), kLossForward, Time(0));
        at(batch) = {.copy = at(batch).copy, .splits = {}, .received = {}, .permuted = {}, .pooled = {}};
    }

    /// Between its two parts, where it copies, the host waits for the device.
    void interact(const std::string& pass, const InteractionLaunches& launches,
                  const system::PerRank<Time>& work, int batch) {
        if (launches.blocking_copies == 0) {
            writer_.launch(Stream::kCompute, label(plan_.interaction.name, pass, batch), launches.after,
                           work);
            return;
        }
        writer_.launch(Stream::kCompute, label(plan_.interaction.name, pass + "_start", batch),
                       launches.before, Time(0));
        writer_.synchronise(label(plan_.interaction.name, pass + "_copy", batch), Stream::kCompute);
        writer_.spend(launches.blocking_copies * costs_.blocking_copy);
        writer_.launch(Stream::kCompute, label(plan_.interaction.name, pass, batch), launches.after, work);
    }

    // Backward.

    void backward(int batch) {
        start_backward(batch);
        send_gradients(batch);
        replicas_backward(batch);
        update_tables(batch);
        dense_backward(plan_.bottom, 0, batch);
    }

    void stale_backward(int batch) {
        start_backward(batch);
        replicas_backward(batch);
        dense_backward(plan_.bottom, 0, batch);
        send_gradients(batch);
        update_tables(batch);
    }

    void start_backward(int batch) {
        writer_.enter(Phase::kBackward);
        writer_.launch(Stream::kCompute, label("Loss", "backward", batch), kLossBackward, Time(0));
        dense_backward(plan_.top, plan_.bottom.size(), batch);
        interact("input_gradient", backward_launches(plan_.interaction_kind),
                 plan_.interaction.input_gradient.value(), batch);
    }

    /// `first`: number of the first of the layers among all dense ones.
    void dense_backward(const std::vector<DenseLayer>& layers, std::size_t first, int batch) {
        for (std::size_t i = layers.size(); i-- > 0;) {
            const DenseLayer& dense = layers[i];
            if (dense.layer.input_gradient) {
                writer_.launch(Stream::kCompute, label(dense.layer.name, "input_gradient", batch),
                               dense.input_gradient_launches, *dense.layer.input_gradient);
            }
            writer_.launch(Stream::kCompute, label(dense.layer.name, "weight_gradient", batch),
                           dense.weight_gradient_launches, dense.layer.weight_gradient.value());
            for (; next_bucket_ < plan_.buckets.size() && plan_.buckets[next_bucket_].last_layer >= first + i;
                 ++next_bucket_) {
                const Bucket& bucket = plan_.buckets[next_bucket_];
                reduce(label(bucket.name, "weight_gradient", batch), bucket.communication);
            }
        }
    }

    void reduce(const Label& name, const LayerCommunication& communication) {
        reductions_.push_back({name, &communication, send(Stream::kCompute, name, communication)});
    }

    void send_gradients(int batch) {
        for (std::size_t i = plan_.groups.size(); i-- > 0;) {
            const Group& group = plan_.groups[i];
            const LayerCommunication& communication = *group.layer.input_gradient_communication;
            writer_.launch(Stream::kCompute, label(group.layer.name, "split_gradients", batch),
                           splitting_launches(plan_.partitions[communication.partition].groups[0].size()),
                           group.split);
            gradients_.push_back(
                send(Stream::kCompute, label(group.layer.name, "input_gradient", batch), communication));
        }
    }

    void replicas_backward(int batch) {
        if (!plan_.replicas) {
            return;
        }
        writer_.launch(Stream::kCompute, label(plan_.replicas->name, "weight_gradient", batch),
                       kReplicaGradient + static_cast<std::int64_t>(plan_.replica_buckets.size()),
                       plan_.replicas->weight_gradient.value());
        for (std::size_t i = 0; i < plan_.replica_buckets.size(); ++i) {
            reduce(label(fmt::format("Bucket_replicas_{}", i), "weight_gradient", batch),
                   plan_.replica_buckets[i]);
        }
    }

    void update_tables(int batch) {
        for (std::size_t i = plan_.groups.size(); i-- > 0;) {
            const Group& group = plan_.groups[i];
            receive(label(group.layer.name, "input_gradient", batch),
                    *group.layer.input_gradient_communication, gradients_[plan_.groups.size() - 1 - i]);
            writer_.launch(Stream::kCompute, label(group.layer.name, "divide_gradients", batch), kDivision,
                           group.divide);
            tables_updated_ = writer_.launch(Stream::kCompute, label(group.layer.name, "update", batch),
                                             kUpdate, group.layer.weight_gradient.value());
        }
    }

    // Optimizer.

    void optimise(int batch) {
        for (const Reduction& reduction : reductions_) {
            receive(reduction.name, *reduction.communication, reduction.collective);
        }
        writer_.enter(Phase::kOptimizer);
        for (const auto* layers : {&plan_.bottom, &plan_.top}) {
            for (const DenseLayer& dense : *layers) {
                if (dense.optimizer_launches > 0) {
                    writer_.launch(Stream::kCompute, label(dense.layer.name, "optimizer_step", batch),
                                   dense.optimizer_launches, dense.layer.optimizer_step.value());
                }
            }
        }
        if (plan_.replica_optimizer_launches > 0) {
            writer_.launch(Stream::kCompute, label(plan_.replicas->name, "optimizer_step", batch),
                           plan_.replica_optimizer_launches, plan_.replicas->update_delay);
        }
        writer_.finish_waits(Stream::kCompute, label("Gradients", "wait", batch));
    }

    struct Reduction {
        Label name;
        const LayerCommunication* communication;
        OperationId collective;
    };

    const TorchrecPlan& plan_;
    const HostCosts costs_;
    system::Program program_;
    StreamWriter writer_;
    std::vector<Batch> batches_;
    std::vector<OperationId> gradients_;  // of this iteration, last group first
    std::vector<Reduction> reductions_;   // of this iteration
    std::size_t next_bucket_ = 0;
    std::optional<OperationId> tables_updated_;
    bool fetched_ahead_ = false;
};

}  // namespace

system::Program torchrec_loop(const TorchrecPlan& plan, TorchrecPipeline pipeline, const Device& device) {
    return Loop(plan, device).run(pipeline);
}

}  // namespace astrolabe::workload::torchrec
