/// The exchange of indices before the lookup, which TorchRec calls input distribution.
///
/// Model (TorchRec, distributed embeddings). A rank reads its m samples with the features of all tables, and
/// sends to every rank what that one looks up. Tables of one kind of sharding travel together; data-parallel
/// ones need nothing. With P lookups a sample, i bytes an index and l bytes a length:
///
///     splits     to every rank 8 bytes for each of three numbers of each kind, what is to come: one
///                all-to-all for all kinds
///     lengths    kind by kind, m·l for each table and for each rank that holds some of it
///     values     kind by kind, the indices that the rank looks up:
///                  table_wise            m·P·i to the table's rank
///                  column_wise           m·P·i to each rank that holds columns: the same indices, k times
///                  table_column_wise     the same to the ranks of a host
///                  row_wise              m·P·i in all, to the ranks that hold the rows
///                  table_row_wise        likewise to the ranks of a host
///                  grid                  likewise to the ranks of each of its hosts: the same indices k
///                  times
///
/// Shards of a table that lie on one rank get the indices once each. Rows are cut in blocks of ceil(R/k), the
/// last ones shorter or empty, and indices fall evenly on rows: of n lookups, floor(n·r/R) before row r.
///
/// The collectives follow one another, as on one stream of a GPU library. `ahead` false: they begin an
/// iteration, and the lookup waits for them. True: an iteration's are issued at the end of the forward pass
/// of the one before, so that its backward pass hides them; the first iteration waits.
///
/// Limits: every sample has exactly P lookups, so what is sent differs by destination alone; no weights of
/// lookups; the host does not block for the splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload {

/// What one kind of sharding exchanges, in bytes from each rank for each.
struct IndexExchange {
    TableSharding kind = TableSharding::kTableWise;
    system::PairSizes lengths;
    system::PairSizes values;
};

/// Lookups of a rank's samples in block `block` of `blocks` of the rows of a table.
using LookupCount =
    std::function<std::int64_t(std::size_t rank, std::size_t table, std::int64_t block, std::int64_t blocks)>;
/// The same on all ranks: what the model looks up. `tables` must outlive what is given back.
[[nodiscard]] LookupCount even_lookups(const std::vector<EqualTables>& tables, std::int64_t samples);

/// The rows of a block: [begin, end).
struct RowBlock {
    std::int64_t begin;
    std::int64_t end;
};
[[nodiscard]] RowBlock row_block(std::int64_t rows, std::int64_t block, std::int64_t blocks);

/// By kind, in the order of TableSharding; kinds without tables are left out. `places` is where the plan's
/// tables are (places_of). O(kinds · ranks² + shards · ranks).
[[nodiscard]] std::vector<IndexExchange> index_exchanges(const ShardingPlan& plan,
                                                         const std::vector<TablePlace>& places,
                                                         std::int64_t samples, const InputDistribution& input,
                                                         const LookupCount& lookups);
/// From each rank for each, of so many kinds.
[[nodiscard]] Bytes split_bytes(std::size_t kinds);

}  // namespace astrolabe::workload
