#include "torchrec.hpp"

#include "plan.hpp"
#include "torchrec_loop.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace astrolabe::workload::torchrec {

void check(ValidationErrors& found, const DlrmTraining& training) {
    require(found, training.parallelism == Parallelism::kHybrid, "training",
            "TorchRec shards tables and replicates the rest", "set parallelism to hybrid");
    require(found, !training.sharding.is_balanced(), "training",
            "TorchRec places every table or shard, and a balanced plan places none",
            "set sharding.plan to planner, round_robin or explicit");
    require(found, training.dense_sharding == DenseSharding::kReplicated, "dense_sharding",
            "TorchRec's loop reduces dense gradients with DistributedDataParallel", "leave it out");
    require(found, training.priorities.empty(), "priorities",
            "the collectives of a process group run in the order of issue", "leave them out");
    require(found, training.embedding_update == EmbeddingUpdate::kAfterGradients, "embedding_update",
            "the update is part of the lookup's backward pass", "leave it out");
    require(found, !training.gradient_buckets || training.gradient_buckets->order == BucketOrder::kReverse,
            "gradient_buckets.order", "DistributedDataParallel fills its buckets from the last layer on",
            "leave it out");
    require(found, !training.sharding.input_distribution || training.sharding.input_distribution->ahead,
            "sharding.input_distribution.ahead", "the pipeline says when the input is distributed",
            "leave it out, and set training.pipeline to base");
    const WireFormats& formats = training.wire_formats;
    for (const auto& [name, format] : {std::pair("forward_all_to_all", formats.forward_all_to_all),
                                       std::pair("backward_all_to_all", formats.backward_all_to_all),
                                       std::pair("forward_reduce_scatter", formats.forward_reduce_scatter),
                                       std::pair("backward_all_gather", formats.backward_all_gather)}) {
        require(found, format != WireFormat::kInt8, fmt::format("wire_formats.{}", name),
                "TorchRec's codec packs 32 values, not rows, in 8 bits", "write int8_blocks");
    }
    require(found, !formats.all_reduce || element_size(*formats.all_reduce) >= Bytes(2),
            "wire_formats.all_reduce", "DistributedDataParallel's hooks compress gradients to 16 bits",
            "write fp16 or bf16");
}

void check(ValidationErrors& found, const Device& device, const DlrmTraining& training,
           const DlrmModel& model) {
    const TableCounts counts = count_tables(training.sharding, model);
    std::int64_t kinds = 0;
    for (const TableSharding kind :
         {TableSharding::kTableWise, TableSharding::kColumnWise, TableSharding::kTableColumnWise}) {
        kinds += counts[static_cast<std::size_t>(kind)] > 0 ? 1 : 0;
    }
    require(
        found, kinds < 2 || !device.measured.contains(kEmbeddingLayer),
        fmt::format("layers.{}", kEmbeddingLayer),
        fmt::format("TorchRec looks up {} kinds of sharding by themselves, and one time was measured", kinds),
        "give times by table");
}

detail::Int128 longest_launches(const DlrmModel& model, const Device& device, std::size_t ranks) {
    const HostCosts costs = device.host.value_or(HostCosts{});
    const Time longest = std::max({costs.forward_launch, costs.backward_launch, costs.optimizer_launch,
                                   costs.input_launch, costs.collective, costs.wait, costs.iteration,
                                   costs.batch, costs.blocking_copy, device.kernel.value_or(Time(0))});
    // More than launches.hpp counts: of a dense layer, of a group, of the rest.
    constexpr detail::Int128 kOfLayer = 64;
    constexpr detail::Int128 kOfGroup = 128;
    constexpr detail::Int128 kGroups = 8;
    constexpr detail::Int128 kRest = 128;
    const auto layers = static_cast<detail::Int128>(dense_layers(model).size());
    const auto tables = static_cast<detail::Int128>(table_count(model));
    return longest.count() * (kOfLayer * layers + kGroups * (kOfGroup + static_cast<detail::Int128>(ranks)) +
                              kOfLayer * tables + kRest);
}

system::Program build_program(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                              std::size_t ranks) {
    return torchrec_loop(torchrec_plan(model, training, device, ranks), torchrec_of(training)->pipeline,
                         device);
}

Operations operations_of(const system::Program& program) {
    Operations operations;
    for (const system::Operation& operation : program.operations) {
        if (operation.iteration == 0 && operation.is_collective()) {
            const system::CollectiveOperation& collective = operation.collective();
            operations.collectives.emplace_back(operation.name, collective.size);
            operations.traffic[static_cast<std::size_t>(collective.kind)] += collective.size;
        }
    }
    return operations;
}

}  // namespace astrolabe::workload::torchrec
