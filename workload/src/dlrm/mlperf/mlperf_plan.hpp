/// What an iteration of an MLPerf submission with HugeCTR computes and exchanges, before it is put on
/// streams.
///
/// N ranks, h to a host, m samples a rank, B = N·m; of table t R_t rows of D_t values of which a sample looks
/// up P_t, in k_t shards (mlperf_sharding.hpp); a bytes of an activation, g of a gradient, i of an index (4).
/// A shard of rows has 1/k_t of the lookups, 1/(k_t·h) where a bucket is a host, and yields a partial sum for
/// every sample. With W_b = Σ D_t over the shards of a bucket:
///
///     keys        all-to-all of the next batch's indices, m·P_t·i/k from a rank to each owner of 1/k of the
///                 rows. Every sample has the same number of lookups, so that no lengths are sent and sizes
///                 are known
///     pooled      one host: all-to-all, m·W_r·a from rank r to every rank. Several: all-to-all within hosts,
///                 (B/h)·W_b·a from every rank of host b to each, added up there, then all-to-all
///                 across hosts among ranks of the same place, m·W_b·a from those of host b to each
///     gradients   the same backward
///     all_reduce  of all dense parameters and all rows of replicated tables together, g bytes each
///
/// `collect` adds up the partial sums that a rank received and puts them side by side, `between` two stages
/// is the same within hosts, `spread` copies the gradients the other way: bytes read and written over the
/// memory bandwidth. The optimiser is one pass over parameter, state and gradient: g + a + 8·(1 + s) bytes, s
/// values of state a parameter (fp32 masters and state, and the copy in the precision of the products). The
/// copy of a batch to the device takes m·(4·(dense features + 1) + i·Σ P_t) bytes over `host_link`.
///
/// Source: mlcommons/training_results_v3.1, NVIDIA/benchmarks/dlrm_dcnv2/implementations/hugectr.
#pragma once

#include "../../loops/training_loop.hpp"
#include "../dlrm_training.hpp"
#include "mlperf_sharding.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload::mlperf {

struct DenseLayer {
    std::string name;
    Time forward;
    Time input_gradient;
    Time weight_gradient;
};

/// An exchange, and what is computed between its stages where it has two.
struct Exchange {
    LayerCommunication first;
    std::optional<LayerCommunication> second = std::nullopt;
    system::PerRank<Time> between{};
};

struct MlperfPlan {
    std::size_t ranks = 0;
    int iterations = 1;
    IndexedVector<system::PartitionId, system::Partition> partitions;
    MlperfSharding sharding;

    system::PerRank<Time> lookup;
    system::PerRank<Time> update;
    Time replica_lookup;
    Time replica_gradient;
    Time collect;
    Time spread;
    std::optional<LayerCommunication> keys = std::nullopt;  ///< none of these where all tables are replicated
    std::optional<Exchange> pooled = std::nullopt;
    std::optional<Exchange> gradients = std::nullopt;
    std::int64_t reduced_values = 0;
    LayerCommunication all_reduce;

    std::vector<DenseLayer> bottom;
    std::vector<DenseLayer> top;  ///< interaction and cross layers first
    Time optimizer;
    Time copy;
};

/// Where the tables go; nothing where there is no room. Requires a training without validation errors.
[[nodiscard]] std::optional<MlperfSharding> mlperf_sharding(const DlrmModel& model,
                                                            const DlrmTraining& training, std::size_t ranks);
/// Requires that there is room.
[[nodiscard]] MlperfPlan mlperf_plan(const DlrmModel& model, const DlrmTraining& training,
                                     const Device& device, std::size_t ranks);

}  // namespace astrolabe::workload::mlperf
