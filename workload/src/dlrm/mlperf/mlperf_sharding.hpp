/// Where the MLPerf submissions with HugeCTR put the tables of a DLRM.
///
/// Model (mlcommons/training_results_v3.1, NVIDIA/benchmarks/dlrm_dcnv2/implementations/hugectr). Tables
/// whose weights and optimiser state stay below a threshold are replicated. The others are cut in 1, 2, 4, …
/// shards of rows and dealt out to *buckets*: ranks where there is one host, hosts where there are several. A
/// bucket that is a host spreads each of its shards over its ranks, by rows again. With the lookups P_t of a
/// sample in table t, cut in k_t shards, and s shards in a bucket,
///
///     cost of a bucket = Σ P_t / k_t + s·c,   c = bandwidth ratio / 4
///
/// where the ratio is that of the rates of memory and exchange (7 on one host, 67 on several). A *round*
/// deals out the shards, those with most lookups first, of several the table with the highest number, each to
/// the bucket of least cost (of several the first) that has room for it and no shard of its table. Before the
/// next of at most 20 rounds the number of shards is doubled of the table whose shards have most lookups and
/// that may be cut further, or, of a round that found no room, of the table that had none. No table is cut in
/// more shards than there are buckets. The plan of least maximum cost is taken, the first of several; every
/// table cut over all buckets is one of them.
///
/// The published plans come out: which tables are replicated, in how many shards the others are, and for
/// eight hosts where each is. On one host of eight ranks two tables of equal lookups change places: which of
/// equal ones goes first is not specified by the sort that the submissions use.
///
/// Limits: a replicated table takes the memory of every rank. Complexity: O(rounds · shards · buckets).
#pragma once

#include "options.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload::mlperf {

/// A table as the plan sees it.
struct PlannedTable {
    std::int64_t pooling = 1;
    Bytes size{};  ///< weights and state
};

struct MlperfSharding {
    std::size_t buckets = 1;
    std::vector<std::size_t> replicated;             ///< tables
    std::vector<std::int64_t> shards;                ///< by table; 0 of replicated ones
    std::vector<std::vector<std::size_t>> placed{};  ///< by bucket, tables of which it has a shard
    double cost = 0;                                 ///< of the bucket that has most
};

/// Where tables are put: `count` buckets of `ranks` ranks, each with room for `memory`.
struct Buckets {
    std::size_t count = 1;
    std::int64_t ranks = 1;
    Bytes memory{};
};

/// `shard_cost` is c. Nothing where there is no room for the tables.
[[nodiscard]] std::optional<MlperfSharding> plan_shards(const std::vector<PlannedTable>& tables,
                                                        const Buckets& buckets, Bytes replicate_below,
                                                        double shard_cost);

}  // namespace astrolabe::workload::mlperf
