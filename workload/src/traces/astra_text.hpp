/// Text workloads of ASTRA-sim 1.0: a file of layers becomes a Program.
///
/// Format (docs/theory/traces.md, "Text workload of ASTRA-sim 1.0"): line 1 a keyword with its extra tokens,
/// line 2 the number of layers, then a line a layer of 12 columns, 13 with HYBRID_CUSTOMIZED. Spaces and tabs
/// separate, empty lines do not count, lines may end in CR LF. Numbers are non-negative integers, also
/// written "12.0"; the dependency column may hold any integer and means nothing.
///
///     time of a pass        cycles · 1 ns · compute_scale     rounded up to a picosecond
///     update delay          cycles · 1 ns                     not scaled
///     size of a collective  bytes · comm_scale                rounded up; 0 bytes: no collective
///
/// Sizes are those of system::CollectiveKind: both have the shard for an all-gather. Passes of zero
/// cycles other than forward are not computed. The loops are those of training_loop.hpp; the input gradient
/// of layer 0 is computed only by the transformer loops.
///
/// Groups (docs/theory/traces.md, "Dimensions a collective spans"): ranks have coordinates in logical
/// dimensions n_0 … n_(D-1), dimension 0 fastest.
///
///     keyword                             forward, input gradient    weight gradient
///     DATA, MICRO                         –                          all
///     MODEL, DISTRIBUTED_INFERENCE        all                        –
///     HYBRID_DATA_MODEL                   dimension 0                dimensions 1 …
///     HYBRID_MODEL_DATA                   dimensions 1 …             dimension 0
///     HYBRID_TRANSFORMER… (g)             leading ones, product g    the rest
///     HYBRID_DLRM…, layer 0               all                        all
///     HYBRID_DLRM…, other layers          –                          all
///     HYBRID_CUSTOMIZED                   as the layer's policy: DATA, MODEL, HYBRID_DATA_MODEL or
///                                         HYBRID_MODEL_DATA
///
/// SimAI's dialect is known by `ep:` after the model-parallel group of HYBRID_TRANSFORMER…: sizes of the
/// expert-parallel groups and of the pipeline, `vpp:`, `ga:` and `all_gpus:`, and at the end of line 1
/// `pp_comm`, bytes between stages. Ranks have coordinates in g × ep × (all_gpus / (g · pp · ep)) × pp, the
/// first fastest:
///
///     collective               forward, input gradient    weight gradient
///     ALLREDUCE, …             g                          ep and the next: data parallel
///     ALLREDUCE_EP, …          ep                         ep
///     ALLREDUCE_DP, …          data parallel              data parallel
///     ALLREDUCE_DP_EP, …       the third dimension        the third dimension
///
/// Its size of an all-gather is the result's; a rank's share is rounded up. Cycles are ns as they are. The
/// layers are those of every stage: vpp and ga are read and change nothing, and what stages would send each
/// other (pp_comm, where pp > 1) is refused.
///
/// Where g falls inside a dimension, that dimension is split in two. Stricter than the original: it takes an
/// unknown collective for NONE and leaves out silently what a keyword does not exchange; here both are
/// errors.
///
/// Limits: the fused ALLREDUCEALLTOALL is refused. A file has 64 MiB at most, and at most 50 errors of it are
/// reported. Complexity: linear in the file.
#pragma once

#include "../loops/training_loop.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

enum class AstraKeyword : std::uint8_t {
    kData,
    kModel,
    kHybridDataModel,
    kHybridModelData,
    kMicro,
    kDistributedInference,
    kHybridDlrm,
    kHybridDlrmEnhanced,
    kHybridTransformer,
    kHybridTransformerFwdInBckwd,
    kHybridCustomized
};

/// Of a collective: as the keyword says, or a group of SimAI's dialect.
enum class AstraGroup : std::uint8_t { kOfKeyword, kTensor, kExpert, kData, kDataOfExperts };

struct AstraCollective {
    system::CollectiveKind kind = system::CollectiveKind::kAllReduce;
    Bytes size;  ///< > 0
    AstraGroup group = AstraGroup::kOfKeyword;
};

/// Line 1 of SimAI's dialect.
struct SimaiHeader {
    std::int64_t expert_group = 1;
    std::int64_t stages = 1;
    std::int64_t virtual_stages = 1;
    std::int64_t micro_batches = 1;
    std::int64_t ranks = 1;
    std::int64_t between_stages = 0;  ///< bytes; pp_comm
};

struct AstraPass {
    std::int64_t cycles = 0;
    std::optional<AstraCollective> collective = std::nullopt;
};

struct AstraLayer {
    std::string name;  ///< as in the file: names may repeat
    AstraPass forward;
    AstraPass input_gradient;
    AstraPass weight_gradient;
    std::int64_t update_delay = 0;              ///< cycles
    AstraKeyword policy = AstraKeyword::kData;  ///< the layer's own, else that of the file
};

struct AstraText {
    AstraKeyword keyword = AstraKeyword::kData;
    std::size_t last_bottom_layer = 0;  ///< HYBRID_DLRM…
    std::int64_t tensor_group = 1;      ///< HYBRID_TRANSFORMER…: g
    Checkpoints checkpoints;            ///< HYBRID_TRANSFORMER_FWD_IN_BCKWD
    std::optional<SimaiHeader> simai;
    std::vector<AstraLayer> layers;
};

/// `name` is that of the file in diagnostics. Reports every defect of the text.
[[nodiscard]] Result<AstraText> read_astra_text(std::string text, std::string name);

struct AstraOptions {
    std::vector<std::int64_t> dimensions = {};  ///< n_0 …; empty: one dimension of all ranks
    int passes = 1;
    double compute_scale = 1;
    double comm_scale = 1;
    /// HYBRID_DLRM… only. Unset: after its gradients, HYBRID_DLRM_ENHANCED stale.
    std::optional<EmbeddingUpdate> embedding_update = std::nullopt;
};

/// What is wrong with running the text on that many ranks. Keys: "dimensions", "embedding_update", "trace".
[[nodiscard]] ValidationErrors validation_errors(const AstraText& text, const AstraOptions& options,
                                                 std::size_t ranks);

// The rest requires arguments without validation errors.

[[nodiscard]] TrainingPlan astra_training_plan(const AstraText& text, const AstraOptions& options,
                                               std::size_t ranks);
[[nodiscard]] system::Program build_astra_program(const AstraText& text, const AstraOptions& options,
                                                  std::size_t ranks);

}  // namespace astrolabe::workload
