/// Training loops: a list of layers becomes a Program.
///
/// Model (docs/theory/training-loops.md, "Loops"; the loops of ASTRA-sim, Rashidi et al., ISPASS 2020). A
/// rank computes one thing at a time. A pass over the batch goes forward through layers 0 … L-1, then
/// backward from L-1 to 0 computing weight gradients (WG) and input gradients (IG). Communication of a pass
/// follows its compute. "Blocking" means that the next compute operation waits for it; all other
/// communication runs beside the compute until an operation waits for it:
///
///     W-wait(i): layer i's forward compute waits for its weight-gradient collective of the iteration before,
///                and for the step of its optimiser after it, where that is counted
///
/// loop     forward of layer i                 backward of layer i, from L-1 down to 0
/// data     W-wait(i), compute                 WG compute, WG collective (default);
///                                             IG compute if i > 0
/// model    compute, collective (blocking)     if i > 0: IG compute, IG collective (LIFO);
///                                             WG compute; wait for the IG collective
/// hybrid   W-wait(i), compute,                as model, with the WG collective (FIFO)
///          collective (blocking)              issued after WG compute
/// dlrm, transformer, inference, micro: see their functions
///
/// A collective of a layer counts as done `update_delay` after it. Waits are dependencies of the next compute
/// operation, so the executor attributes exposed time to the collective waited for (embedding all-to-all
/// first, then the layer's W-wait). At the end of an iteration what still must be waited for is a compute
/// operation of zero duration, named "<collective>.wait". After the last iteration the ranks drain.
///
/// Names: "<layer>.forward", "<layer>.input_gradient", "<layer>.weight_gradient", "<layer>.update",
/// "<layer>.optimizer_step", "<layer>.recompute_for_<layer>"; collectives "<layer>.<pass>.<kind>", for
/// example "Top_0.weight_gradient.all_reduce"; "<layer>.<pass>.encode", "<layer>.<pass>.decode",
/// "<layer>.forward_parameters.all_gather", "<layer>.backward_parameters.all_gather". A collective of several
/// stages appends theirs: "<layer>.forward.all_to_all.across_hosts".
///
/// Gradient buckets (Li et al., "PyTorch Distributed: experiences on accelerating data parallel training",
/// VLDB 2020, sections 3.2.2 and 3.2.3): the layers of a bucket share one weight-gradient collective, issued
/// when the last of them has computed its weight gradient; the W-wait of each is for it.
///
/// Sharded parameters (Zhao et al., "PyTorch FSDP: experiences on scaling fully sharded data parallel", VLDB
/// 2023, section 3.3): a layer with `parameter_gather` gathers its parameters before its forward and before
/// its backward compute, which wait for it. Visit v of an iteration, in the order of computing, issues the
/// gather of visit v + prefetch; the first `prefetch` ones are issued when the iteration starts. A forward
/// gather follows the layer's weight-gradient collective of the iteration before.
///
/// Wire formats: `encode` is compute between the data and its collective, `decode` compute of the first that
/// waits for it. A collective that nothing waits for is not decoded: the last iteration's weight gradients.
///
/// Layer 0 computes no input gradient and any collective on it is left out, except by `dlrm_loop`, where it
/// is the exchange of embedding gradients, and by `transformer_loop`. A collective on a pass for which the
/// table has none is a broken invariant.
///
/// Differences from ASTRA-sim 1.0: state transitions take no time, and `dlrm_loop` updates embeddings from
/// gradients that have arrived. Complexity: O(layers · iterations) operations, whatever the number of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

struct LayerCommunication {
    system::CollectiveKind kind = system::CollectiveKind::kAllReduce;
    Bytes size{};  ///< per rank, meaning as in CollectiveKind
    system::PartitionId partition{};
    std::shared_ptr<const std::vector<system::PairSizes>> pair_sizes = nullptr;  ///< of an uneven all_to_all
    std::optional<system::PerRank<Time>> encode = std::nullopt;
    std::optional<system::PerRank<Time>> decode = std::nullopt;
    std::string stage = {};                     ///< its name where there are several
    std::vector<LayerCommunication> then = {};  ///< further stages, one after the other; nothing to encode
};

struct TrainingLayer {
    std::string name;
    system::PerRank<Time> forward;
    std::optional<system::PerRank<Time>> input_gradient = std::nullopt;  ///< none: not used
    std::optional<system::PerRank<Time>> weight_gradient =
        std::nullopt;  ///< none: the layer has nothing to learn
    std::optional<LayerCommunication> forward_communication = std::nullopt;
    std::optional<LayerCommunication> input_gradient_communication = std::nullopt;
    std::optional<LayerCommunication> weight_gradient_communication = std::nullopt;
    Time update_delay = Time(0);
    std::optional<system::PerRank<Time>> fetch =
        std::nullopt;  ///< of `forward`: rows that a cache lacks, which a loop may fetch ahead
    std::optional<system::PerRank<Time>> optimizer_step =
        std::nullopt;  ///< compute after the wait for its weights; none: not counted
    std::optional<std::size_t> bucket = std::nullopt;  ///< that has its weight-gradient collective instead
    std::optional<LayerCommunication> parameter_gather = std::nullopt;
    std::optional<std::int64_t> priority = std::nullopt;  ///< of its collectives, instead of the loop's
};

struct GradientBucket {
    std::string name;
    std::vector<std::size_t> layers;  ///< at least one; of no other bucket
    LayerCommunication communication;
    std::optional<std::int64_t> priority = std::nullopt;
};

struct TrainingPlan {
    std::size_t ranks = 0;
    int iterations = 1;  ///< >= 1
    IndexedVector<system::PartitionId, system::Partition> partitions;
    std::vector<TrainingLayer> layers;  ///< at least one; names differ
    std::vector<GradientBucket> buckets = {};
    int prefetch = 1;  ///< >= 0; of parameter gathers
    /// What an iteration of `dlrm_loop` reads before its lookups; ahead: issued at the end of the forward
    /// pass of the iteration before.
    std::optional<LayerCommunication> input = std::nullopt;
    bool input_ahead = false;
};

/// When the embedding update runs, relative to the all-to-all that brings its gradients.
enum class EmbeddingUpdate : std::uint8_t {
    kAfterGradients,   ///< all-to-all, then update
    kBeforeGradients,  ///< ASTRA-sim 1.0, HYBRID_DLRM: update, then wait for the all-to-all
    kStale             ///< ASTRA-sim 1.0, HYBRID_DLRM_ENHANCED: update, and nothing waits
};

[[nodiscard]] system::Program data_loop(const TrainingPlan& plan);
[[nodiscard]] system::Program model_loop(const TrainingPlan& plan);
/// HYBRID_DATA_MODEL, HYBRID_MODEL_DATA and HYBRID_CUSTOMIZED: which group a collective spans is in the
/// plan's partitions.
[[nodiscard]] system::Program hybrid_loop(const TrainingPlan& plan);

/// HYBRID_DLRM. Layer 0 is the embeddings, 1 … b = last_bottom_layer the bottom MLP, the rest (at least one
/// layer) the interaction, where it is modelled, and the top MLP. A2A is layer 0's collective, priority
/// HIGHEST.
///
/// Embeddings that are sharded in several ways are as many layers, 0 … `embedding_layers` - 1, and each is
/// treated as layer 0 here, one after the other. A weight-gradient collective of theirs follows their
/// update.
///
///     W-wait(0), embedding lookup, A2A forward (not blocking)
///     bottom MLP forward, each layer after its W-wait
///     wait for A2A forward;  top MLP forward, each layer after its W-wait
///     top MLP backward, from L-1 to b+1: WG compute, WG collective (default), IG compute
///     A2A backward (not blocking)
///     bottom MLP backward, from b to 1: as the top
///     wait for A2A backward, embedding update (layer 0's weight-gradient time, named "<layer>.update")
///
/// The input of an iteration, where the plan has one, is issued first and the lookups wait for it, or it is
/// issued ahead, behind the top MLP's forward pass of the iteration before. "Input.indices.<kind>.<stage>".
///
/// kBeforeGradients exchanges the two parts of the last step; kStale leaves its wait out: the next iteration
/// may read rows that lack this iteration's gradients. With `staleness` K >= 0 kStale is bounded: the last step
/// of iteration i waits for the A2A backward of iteration i - K and updates with its gradients (none while
/// i < K), so a lookup lacks the gradients of K iterations at most; those of the last K iterations follow one
/// after another when the last iteration is done, as "<layer>.update_late_<K>", …, "<layer>.update_late_1".
/// K = 0 waits as kAfterGradients does.
[[nodiscard]] system::Program dlrm_loop(const TrainingPlan& plan, std::size_t last_bottom_layer,
                                        EmbeddingUpdate embedding_update = EmbeddingUpdate::kAfterGradients,
                                        std::size_t embedding_layers = 1,
                                        std::optional<int> staleness = std::nullopt);

/// Layers whose input is kept, and layers before whose backward pass what was not kept is computed again.
struct Checkpoints {
    std::vector<std::size_t> kept;
    std::vector<std::size_t> initiates;  ///< each has a kept layer below it
};

/// HYBRID_TRANSFORMER: as hybrid, and layer 0 also computes and exchanges its input gradient. With
/// checkpoints HYBRID_TRANSFORMER_FWD_IN_BCKWD: before the backward pass of a layer i that initiates, the
/// forward passes of layers c … i-1, with their collectives (blocking), run again; c is the nearest kept
/// layer below i.
[[nodiscard]] system::Program transformer_loop(const TrainingPlan& plan, const Checkpoints& checkpoints = {});

/// DISTRIBUTED_INFERENCE: forward passes only, each collective blocking.
[[nodiscard]] system::Program inference_loop(const TrainingPlan& plan);

/// MICRO: the weight-gradient collective of layer 0, once for each iteration, all issued at once at time 0;
/// nothing is computed. The collective must be there.
[[nodiscard]] system::Program micro_loop(const TrainingPlan& plan);

}  // namespace astrolabe::workload
