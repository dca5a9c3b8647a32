/// What an iteration of TorchRec computes and exchanges, before it is put on streams.
///
/// Tables of one way of sharding, weighted or not, are a *group* (TorchRec, distributed/embeddingbag.py): they are looked up
/// by one table-batched kernel, and have an input and an output distribution of their own. Sizes and times
/// are those of dlrm_training.hpp, sharding.hpp and input_distribution.hpp, group by group. Replicated tables
/// are no group: their indices stay, and DistributedDataParallel reduces their dense gradients in buckets of
/// their own.
///
/// What only moves data (permutations of indices, concatenation and splitting of pooled embeddings, division
/// of gradients) reads and writes it once: 2·bytes / memory bandwidth; no time where the device has no
/// memory bandwidth. The copy of a batch to the device takes its bytes / host link, where that is known:
///
///     m · (4·dense features + 4 + Σ tables (P·i + l))
///
/// i and l bytes of an index and a length, 4 of a dense feature and of the label.
#pragma once

#include "../../loops/training_loop.hpp"
#include "../dlrm_training.hpp"
#include "../input_distribution.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace astrolabe::workload::torchrec {

/// What is sent of the indices of a group in one exchange.
struct IndexTensor {
    std::string name;  ///< "lengths", "values", "weights"
    system::PairSizes sizes;
};

struct Group {
    std::string name;     ///< "table_wise"
    TrainingLayer layer;  ///< lookup, update, pooled embeddings and their gradients
    std::vector<IndexTensor> tensors;
    system::PerRank<Time> lookup_without_fetch;  ///< where the rows of caches were fetched before
    std::int64_t input_launches = 0;
    system::PerRank<Time> permute_before = {};
    system::PerRank<Time> permute_after = {};
    system::PerRank<Time> concatenate = {};  ///< the blocks received
    system::PerRank<Time> split = {};        ///< the gradients to be sent
    system::PerRank<Time> divide = {};       ///< the gradients received
};

/// Gradients that are all-reduced together.
struct Bucket {
    std::string name;
    std::size_t last_layer = 0;  ///< into TorchrecPlan::dense, that completes it
    LayerCommunication communication;
};

/// A layer of the dense part, with what is launched for it.
struct DenseLayer {
    TrainingLayer layer;
    std::int64_t forward_launches = 0;
    std::int64_t input_gradient_launches = 0;
    std::int64_t weight_gradient_launches = 0;
    std::int64_t optimizer_launches = 0;  ///< 0: the optimizer is not counted
};

struct TorchrecPlan {
    std::size_t ranks = 0;
    int iterations = 1;
    IndexedVector<system::PartitionId, system::Partition> partitions;
    system::PartitionId world;
    Interaction interaction_kind = Interaction::kDot;

    std::vector<Group> groups;  ///< in the order of TableSharding
    std::optional<TrainingLayer> replicas = std::nullopt;
    std::int64_t replicated_tables = 0;
    std::int64_t replica_optimizer_launches = 0;
    std::vector<LayerCommunication> replica_buckets = {};

    std::vector<DenseLayer> bottom;
    std::vector<DenseLayer> top;  ///< cross layers first
    TrainingLayer interaction;
    std::vector<Bucket> buckets;  ///< of bottom and top; `last_layer` counts the bottom first
    system::PerRank<Time> concatenate_groups;
    Time copy;  ///< of a batch to the device
};

/// Requires arguments without validation errors and a sharding that is not balanced. `lookups`, where given,
/// are those that the input distribution exchanges, instead of the model's.
[[nodiscard]] TorchrecPlan torchrec_plan(const DlrmModel& model, const DlrmTraining& training,
                                         const Device& device, std::size_t ranks,
                                         const LookupCount& lookups = {});

/// Bytes that each rank holds for a collective before it, and receives by it, itself included.
[[nodiscard]] std::vector<Bytes> held_by_rank(const LayerCommunication& communication,
                                              const system::Partition& partition);
[[nodiscard]] std::vector<Bytes> received_by_rank(const LayerCommunication& communication,
                                                  const system::Partition& partition);

}  // namespace astrolabe::workload::torchrec
