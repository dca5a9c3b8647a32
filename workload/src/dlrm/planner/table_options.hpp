/// The ways to shard a table that the full search compares, and what each gives the ranks to do and to hold.
///
/// N ranks, m samples a rank, B = N·m; h ranks a host; a table of R rows of D values, P lookups a sample; i
/// bytes an index, l a length, a_f and a_b the bytes of a pooled value and of its gradient on the wire.
///
/// Time of a piece of w columns, of an iteration:
///
///     input      X(m·l + m·P·i / sharers) received, where the exchange of indices is modelled; sharers are N
///     of
///                row_wise, h of table_row_wise and grid, else 1
///     lookup,    as DlrmCost has them: of B samples; of row_wise m, of table_row_wise and grid B/h; of
///     update     data_parallel m, and the update by all ranks' gradients
///     pooled,    exchanges of pooled values (a = a_f) and of their gradients (a = a_b). X(s) is the time of
///     s gradients  bytes to every other rank: (N - 1)·s / rate, or, with rates of their own inside and
///     across
///                hosts, max((h - 1)·s / inside, (N - h)·s / across), as the two go at the same time
///                  table_wise, column_wise, table_column_wise, row_wise   X(m·w·a)
///                  table_row_wise, grid    (h - 1)·(B/h)·w·a / inside + (N/h - 1)·m·w·a / across
///                  data_parallel, dense    gradients X(2·R·D·e / N): a reduction and a gathering
///                  data_parallel, sparse   gradients X(min(m·P, R)·(D·e + 8))
///
/// Forward, before every rank has the pooled values of its samples, come input, lookup and pooled; backward
/// gradients and update. The estimate of TorchRec's planner is one sum and counts as forward.
///
/// Memory of a piece of r rows, in bytes: r·w·e weights, the optimiser's state of r rows of w columns, pooled
/// values and gradients 2·B·w·a (of data_parallel 2·m·D·a), and b·(B·l + B·P·i / sharers) of indices, b being
/// 2 where those of the next iteration arrive ahead. What every plan needs alike is left to the caller:
/// memory_use.hpp.
///
/// Cuts in columns: with `min_partition` every multiple of 4 that divides D and is at least that; otherwise
/// 2, 3, 4, 6, 8, 12, … pieces of at least 4 columns. table_column_wise where h divides D. Never more pieces
/// than ranks, or hosts.
///
/// Limits: ports receive as fast as they send, and what is received by a rank that sends little is not
/// counted; collectives have no start-up time, and their overlap with other layers is not counted; conversion
/// to wire formats is not counted.
#pragma once

#include "../../device/wire_format.hpp"
#include "../optimizers.hpp"
#include "search.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload::planner {

/// What the training asks for beside the sharding.
struct TrainingCosts {
    std::size_t ranks = 1;
    std::int64_t samples = 1;  ///< m
    ShardTime lookup = {};
    ShardTime update = {};
    /// Of a copy: gradients of m samples, and the update by all ranks'.
    std::function<Time(std::size_t table)> replica_update = {};
    std::optional<EmbeddingOptimizer> optimizer = std::nullopt;  ///< of the tables; none: no state
    Bytes element_size;
    Bytes activation_size;
    std::optional<Bytes> memory =
        std::nullopt;  ///< of a rank, for tables; counts where the sharding has none
    WireFormats formats = {};
    bool has_dense_gradients = false;  ///< of data_parallel tables
};

/// Of a piece, for each of its ranks.
struct PieceTimes {
    Time input = Time(0);  ///< indices
    Time lookup = Time(0);
    Time pooled = Time(0);     ///< exchange of pooled values
    Time gradients = Time(0);  ///< and of their gradients
    Time update = Time(0);

    [[nodiscard]] Time forward() const { return input + lookup + pooled; }
    [[nodiscard]] Time backward() const { return gradients + update; }
};

struct TableOption {
    TableSharding kind = TableSharding::kTableWise;
    std::int64_t shards = 1;
    std::vector<PieceTimes> times = {};  ///< by piece
    Option option = {};
};

/// Of one table: the one of its rule, or without a rule those of the kinds that the sharding allows; `table`
/// is its number. May be empty.
[[nodiscard]] std::vector<TableOption> table_options(const Sharding& sharding, const TrainingCosts& costs,
                                                     const EqualTables& description, std::size_t table,
                                                     const TableRule* rule);
/// Whether the full search may shard tables in that way.
[[nodiscard]] bool is_allowed(const Sharding& sharding, TableSharding kind);

/// Memory of a rank that has a piece of `columns` columns of a table that is sharded in this way.
struct PieceMemory {
    Bytes weights = Bytes(0);
    Bytes state = Bytes(0);
    Bytes activations = Bytes(0);
    Bytes indices = Bytes(0);

    [[nodiscard]] Bytes total() const { return weights + state + activations + indices; }
    PieceMemory& operator+=(const PieceMemory& other);
};
[[nodiscard]] PieceMemory piece_memory(const Sharding& sharding, const TrainingCosts& costs,
                                       const EqualTables& description, TableSharding kind,
                                       std::int64_t columns);

}  // namespace astrolabe::workload::planner
