/// Training a DLRM: model + parallelism + batch + device → the layers of a training loop → a Program.
///
/// N ranks train on a global batch of B samples, m = B/N to a rank. e: bytes of an element, a: of an
/// activation (in the formulas of exchanges and traffic e means it unless it is of weights), g: of an
/// MLP gradient, ΣTD: values of the pooled embeddings of a sample, ΣTPD: values looked up. All sizes are per
/// rank, as system::CollectiveKind defines them. (Sources: docs/theory/training-loops.md, "Sizes of
/// collectives"; docs/theory/hoti20-study.md, "Model".)
///
/// hybrid, the usual way: embeddings spread over the ranks, MLPs on every rank.
///     Embedding          lookup m·ΣTPD values, all-to-all m·ΣTD·e; backward all-to-all the same, update
///     Bottom_i, Top_i    2·m·k·n FLOP a pass; all-reduce k·n·g
/// data: everything on every rank.
///     Embedding          lookup m·ΣTPD; backward writes the gradients of as many values and exchanges
///                          sparse  all-gather Σ tables · min(m·pooling, rows) · (dimension·e + 8)
///                          dense   all-reduce Σ tables · rows · dimension · e
///                        (8 bytes are a row's index), then applies the gradients of all ranks as
///                        `update_delay`: it does not occupy the compute engine
///     Bottom_i, Top_i    as hybrid
/// model: everything spread over the ranks, an MLP layer by its output columns; a rank works on all B
/// samples.
///     Embedding          lookup m·ΣTPD; all-to-all m·ΣTD·e from tables to samples, blocking; update
///     Bottom_i, Top_i    2·B·k·n/N FLOP a pass; all-gather m·n·e of the output; reduce-scatter B·k·e of the
///                        input gradient, which for the dense features is not exchanged. The last bottom
///                        layer's output goes by all-to-all m·n·e instead, from columns to samples
///     Interaction        of a rank's m samples: all-gather m·width·e of its output; backward all-to-all
///                        m·(ΣTD + bottom output)·e, from samples back to tables and columns
///
/// Embeddings of hybrid training are sharded as in sharding.hpp. The balanced plan is above: every rank
/// holds the same share of the lookups. Every other plan makes a layer of each way of sharding that it uses,
/// Embedding (table- and column-wise), Embedding_hosts (table_row_wise), Embedding_grid (grid),
/// Embedding_rows (row_wise) and Embedding_replicas (data_parallel), with the lookups, exchanges and updates
/// of each rank's own shards.
///
/// MLPs of hybrid and data training:
///     gradient_buckets  the all-reduces of consecutive layers are one, packed from the last layer on
///                       (reverse) or from the first; a bucket is full when it holds at least `size`
///     fsdp              a rank keeps 1/N of a layer's parameters, padded: s = ceil(k·n / N). All-gather s·e
///                       of them before the forward and before the backward pass, reduce-scatter N·s·g of the
///                       gradients
///
/// Wire formats (wire_format.hpp) apply to the sizes above, a and g being e of a conversion.
///
/// Embedding time: with E values looked up
///     bandwidth  E·e / memory bandwidth        flops  E / peak        fixed  as given
/// or by what each kernel moves (fbgemm, docs/models/embedding-cost.md). Of the first three
/// the update of as many values takes twice that (rows are read and written). A shard has the share of its
/// values in all that a rank looks up on average. Measured by table: the table's time × samples / samples
/// measured × columns / D.
///
/// Left out: the loss, duplicate rows in a batch where the embedding time is not fbgemm's (they make the
/// sparse exchange smaller), loading of data.
#pragma once

#include "../device/wire_format.hpp"
#include "../loops/training_loop.hpp"
#include "framework.hpp"
#include "optimizers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/placement.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload {

enum class Parallelism : std::uint8_t { kData, kModel, kHybrid };

enum class MlpTime : std::uint8_t {
    kFlops,     ///< the study's: FLOP only
    kRoofline,  ///< also the memory traffic of the three matrices
    kGemm       ///< products as the device's GemmRates say, and the memory traffic of what is between them
};

enum class EmbeddingTime : std::uint8_t {
    kBandwidth,
    kFlops,
    kFixed,
    kFbgemm  ///< kernel by kernel: embedding/embedding_kernels.hpp
};

enum class EmbeddingGradients : std::uint8_t { kSparse, kDense };

enum class BucketOrder : std::uint8_t { kReverse, kForward };

struct GradientBuckets {
    std::optional<Bytes> first = std::nullopt;  ///< of the first bucket; `size`
    Bytes size = Bytes(25'000'000);
    BucketOrder order = BucketOrder::kReverse;
};

enum class DenseSharding : std::uint8_t { kReplicated, kFsdp };

struct DlrmTraining {
    Parallelism parallelism = Parallelism::kHybrid;
    /// TorchRec's loop is torchrec/torchrec_loop.hpp, with DDP's buckets and placed tables; none: those of
    /// training_loop.hpp.
    Framework framework = {};
    std::optional<std::int64_t> global_batch = std::nullopt;  ///< exactly one of the two is given
    std::optional<std::int64_t> local_batch = std::nullopt;   ///< samples per rank
    int iterations = 1;

    MlpTime mlp_time = MlpTime::kFlops;
    std::optional<Precision> precision = std::nullopt;  ///< of matrix products; fp32
    /// State of the tables' optimiser, in memory and in updates; none: it is not counted.
    std::optional<EmbeddingOptimizer> embedding_optimizer = std::nullopt;
    /// Of dense layers, as a step of its own after the backward pass; none: it is not counted.
    std::optional<DenseOptimizer> dense_optimizer = std::nullopt;
    EmbeddingTime embedding_time = EmbeddingTime::kBandwidth;
    Time fixed_embedding_time = Time(0);  ///< of the lookup; kFixed only
    /// Counts the interaction's FLOP (and, with kRoofline, bytes), backward as much as forward.
    bool interaction_time = false;
    /// The reference loop computes the gradient of the dense features although nothing uses it.
    bool dense_feature_gradient = false;
    EmbeddingUpdate embedding_update = EmbeddingUpdate::kAfterGradients;   ///< hybrid only
    /// Of stale updates: iterations whose gradients a lookup may lack; none: nothing waits for them.
    std::optional<int> staleness = std::nullopt;
    EmbeddingGradients embedding_gradients = EmbeddingGradients::kSparse;  ///< data, and data_parallel tables
    Sharding sharding = {};                                          ///< other than balanced: hybrid only
    std::optional<GradientBuckets> gradient_buckets = std::nullopt;  ///< none: every layer by itself
    DenseSharding dense_sharding = DenseSharding::kReplicated;
    std::optional<int> parameter_prefetch = std::nullopt;  ///< of FSDP: layers gathered ahead; 1
    WireFormats wire_formats = {};
    /// By layer name: explicit priority of its collectives.
    std::map<std::string, std::int64_t, std::less<>> priorities = {};
};

/// Errors of the training of a model (itself without validation errors) on `ranks` >= 1 ranks.
/// Keys: "batch", "iterations", "embedding_time", "sharding.memory", "wire_formats.all_reduce", ….
[[nodiscard]] ValidationErrors validation_errors(const DlrmTraining& training, const DlrmModel& model,
                                                 std::size_t ranks);
/// What the device lacks for it. Keys: "peak", "memory_bandwidth", "layers.<name>", "layers.<name>.<pass>",
/// "tables.<pass>".
[[nodiscard]] ValidationErrors validation_errors(const Device& device, const DlrmTraining& training,
                                                 const DlrmModel& model);

/// Errors that follow from arguments without validation errors: the tables must fit the ranks' memory,
/// the samples of a rank must be within measured rows, and all iterations together compute for at most half
/// of Time::max(), 53 days, so that the network has as much. Keys: "sharding.memory", "batch"; "": none
/// alone.
[[nodiscard]] ValidationErrors validation_errors(const DlrmModel& model, const DlrmTraining& training,
                                                 const Device& device, std::size_t ranks);

// The rest requires arguments without validation errors.

[[nodiscard]] Precision precision(const DlrmTraining& training);
[[nodiscard]] inline const TorchrecTraining* torchrec_of(const DlrmTraining& training) {
    return std::get_if<TorchrecTraining>(&training.framework);
}
[[nodiscard]] inline const MlperfTraining* mlperf_of(const DlrmTraining& training) {
    return std::get_if<MlperfTraining>(&training.framework);
}
/// m, samples per rank.
[[nodiscard]] std::int64_t local_batch(const DlrmTraining& training, std::size_t ranks);

/// Where every table is; nothing where the training is not hybrid or its sharding is balanced.
[[nodiscard]] std::optional<std::vector<TablePlace>> table_places(const DlrmModel& model,
                                                                  const DlrmTraining& training,
                                                                  const Device& device, std::size_t ranks);

/// Nothing where the sharding is balanced.
[[nodiscard]] std::optional<ShardingPlan> sharding_plan(const DlrmModel& model, const DlrmTraining& training,
                                                        const Device& device, std::size_t ranks);

[[nodiscard]] TrainingPlan dlrm_training_plan(const DlrmModel& model, const DlrmTraining& training,
                                              const Device& device, std::size_t ranks);
[[nodiscard]] system::Program build_dlrm_program(const DlrmModel& model, const DlrmTraining& training,
                                                 const Device& device, std::size_t ranks);

/// How a quantity differs between ranks: its maximum over its mean, 1 if it does not.
struct Imbalance {
    double compute = 1;  ///< lookups and updates
    double bytes = 1;    ///< of the all-to-all of table- and column-wise shards
    double memory = 1;   ///< of tables
};

/// What an iteration amounts to, for `validate`.
struct DlrmSummary {
    std::int64_t global_batch = 0;
    std::int64_t local_batch = 0;
    std::int64_t mlp_parameters = 0;
    std::int64_t embedding_parameters = 0;
    Bytes embedding_size;  ///< all tables, once
    std::array<Bytes, system::kCollectiveKinds>
        traffic;             ///< S per rank and iteration, summed by CollectiveKind
    Time mlp_compute;        ///< per rank and iteration, all passes
    Time embedding_compute;  ///< of the rank that computes longest, without update delays
    Time interaction_compute;
    Time conversion_compute;  ///< to and from wire formats, of the rank that converts longest
    Imbalance imbalance;
    Bytes largest_memory;    ///< of tables on one rank
    std::size_t shards = 0;  ///< table- and column-wise; 0 where the plan is balanced
    std::optional<Placement> placement = std::nullopt;   ///< the planner's
    std::optional<PlannerReport> report = std::nullopt;  ///< of the full search
    /// What the rank that holds most holds; empty where the device's memory is not known and nothing counted
    /// it.
    std::string fullest_rank;
};
[[nodiscard]] DlrmSummary summarise(const DlrmModel& model, const DlrmTraining& training,
                                    const Device& device, std::size_t ranks);

}  // namespace astrolabe::workload
