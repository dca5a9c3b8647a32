/// Training a DLRM: model + parallelism + batch + device → the layers of a training loop → a Program.
///
/// N ranks train on a global batch of B samples, m = B/N to a rank. e: bytes of an element, g: of an MLP
/// gradient, ΣTD: values of the pooled embeddings of a sample, ΣTPD: values looked up. All sizes are per
/// rank, as system::CollectiveKind defines them. (Sources: three-layers 2.3, dlrm-ns3-study section 4.)
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
///                        input gradient, which for the dense features nobody exchanges. The last bottom
///                        layer's output goes by all-to-all m·n·e instead, from columns to samples
///     Interaction        of a rank's m samples: all-gather m·width·e of its output; backward all-to-all
///                        m·(ΣTD + bottom output)·e, from samples back to tables and columns
///
/// Balance: every rank holds the same share of the lookups, as column-wise sharding gives it whatever the
/// number of tables. Sizes of all-to-alls do not depend on how the tables are placed as long as they are
/// balanced (study, section 4.1).
///
/// Embedding time: with E values looked up
///     bandwidth  E·e / memory bandwidth        flops  E / peak        fixed  as given
/// the update of as many values takes twice that (rows are read and written).
///
/// Left out: loss and optimiser of the MLPs, biases, index exchange before the lookup, duplicate rows in a
/// batch (they make the sparse exchange smaller), loading of data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/parameter_problem.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program.hpp>
#include <astrolabe/workload/device.hpp>
#include <astrolabe/workload/dlrm_model.hpp>
#include <astrolabe/workload/training_loop.hpp>

namespace astrolabe::workload {

enum class Parallelism : std::uint8_t { kData, kModel, kHybrid };

enum class MlpTime : std::uint8_t {
    kFlops,    ///< the study's: FLOP only
    kRoofline  ///< also the memory traffic of the three matrices
};

enum class EmbeddingTime : std::uint8_t { kBandwidth, kFlops, kFixed };

enum class EmbeddingGradients : std::uint8_t { kSparse, kDense };

struct DlrmTraining {
    Parallelism parallelism = Parallelism::kHybrid;
    std::optional<std::int64_t> global_batch = std::nullopt;  ///< exactly one of the two is given
    std::optional<std::int64_t> local_batch = std::nullopt;   ///< samples per rank
    int iterations = 1;

    MlpTime mlp_time = MlpTime::kFlops;
    EmbeddingTime embedding_time = EmbeddingTime::kBandwidth;
    Time fixed_embedding_time = Time(0);  ///< of the lookup; kFixed only
    /// Counts the interaction's FLOP (and, with kRoofline, bytes), backward as much as forward.
    bool interaction_time = false;
    /// The reference loop computes the gradient of the dense features although nobody needs it.
    bool dense_feature_gradient = true;
    EmbeddingUpdate embedding_update = EmbeddingUpdate::kAfterGradients;   ///< hybrid only
    EmbeddingGradients embedding_gradients = EmbeddingGradients::kSparse;  ///< data only
};

/// What is wrong with the training of a model (itself without problems) on `ranks` >= 1 ranks.
/// Keys: "batch", "iterations", "embedding_time".
[[nodiscard]] std::vector<ParameterProblem> problems(const DlrmTraining& training, const DlrmModel& model,
                                                     std::size_t ranks);
/// What the device lacks for it. Keys: "peak", "memory_bandwidth", "layers.<name>", "layers.<name>.<pass>".
[[nodiscard]] std::vector<ParameterProblem> problems(const Device& device, const DlrmTraining& training,
                                                     const DlrmModel& model);

/// What is wrong with the times that follow from arguments without problems: all iterations together must
/// compute for at most half of Time::max(), 53 days, so that the network has as much. Key "": none alone.
[[nodiscard]] std::vector<ParameterProblem> problems(const DlrmModel& model, const DlrmTraining& training,
                                                     const Device& device, std::size_t ranks);

// The rest requires arguments without problems.

/// m, samples per rank.
[[nodiscard]] std::int64_t local_batch(const DlrmTraining& training, std::size_t ranks);

[[nodiscard]] TrainingPlan dlrm_training_plan(const DlrmModel& model, const DlrmTraining& training,
                                              const Device& device, std::size_t ranks);
[[nodiscard]] system::Program build_dlrm_program(const DlrmModel& model, const DlrmTraining& training,
                                                 const Device& device, std::size_t ranks);

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
    Time embedding_compute;  ///< per rank and iteration, without update delays
    Time interaction_compute;
};
[[nodiscard]] DlrmSummary summarise(const DlrmModel& model, const DlrmTraining& training,
                                    const Device& device, std::size_t ranks);

/// Time of the iteration's all-reduces over that of its MLP compute, when each byte crosses a port of `rate`
/// twice (2·S/rate: the double binary tree's bound, and every algorithm's for many ranks; study, section 5).
/// More than 1 cannot be hidden.
[[nodiscard]] double all_reduce_to_compute_ratio(const DlrmSummary& summary, Bandwidth rate);

}  // namespace astrolabe::workload
