/// Sharding of embedding tables: which rank holds what of which table.
///
/// N ranks, m samples a rank, B = N·m; h ranks a host, N/h hosts of consecutive ranks. Table t has R rows of
/// D values and P lookups a sample; e bytes are an element of a table, a one of a pooled embedding. Kinds
/// (TorchRec; Mudigere et al., "Software-hardware co-design for fast and scalable training of deep learning
/// recommendation models", ISCA 2022), with what one table asks of the ranks it concerns:
///
///     kind               held by                        memory of a rank  lookups of a rank  of values
///     table_wise         one rank                       R·D·e             B·P                D
///     column_wise(k)     k ranks, D/k columns each      R·(D/k)·e each    B·P each           D/k
///     table_column_wise  as column_wise(h) on one host  R·(D/h)·e each    B·P each           D/h
///     row_wise           all ranks, R/N rows each       ceil(R/N)·D·e     m·P                D
///     table_row_wise     the ranks of one host          ceil(R/h)·D·e     (B/h)·P            D
///     grid(k)            the ranks of k hosts, D/k      ceil(R/h)·(D/k)·e (B/h)·P            D/k
///                        columns a host
///     data_parallel      all ranks, a copy each         R·D·e             m·P                D
///
/// Where k does not divide D, the first D mod k shards are one column wider. Indices fall evenly on the rows.
/// `min_partition` cuts as TorchRec does: shards of w columns, the smallest divisor of D that is a multiple
/// of 4 and at least `min_partition`; D where there is none.
///
/// Exchanges, forward and backward, per rank, C_r being the columns of its table- and column-wise shards:
///     table_wise, column_wise    all-to-all m·C_r·a to everyone; backward m·C_r·a from everyone
///     row_wise                   reduce-scatter B·ΣD·a of partial sums; all-gather m·ΣD·a of the gradients
///     table_row_wise             reduce-scatter B·ΣD·a of partial sums within the host, then all-to-all
///                                m·ΣD·a to the ranks with the same place on every host; backward the
///                                all-to-all, then all-gather (B/h)·ΣD·a. Where ΣD differs by host, pieces of
///                                the same sizes go by all-to-all within it
///     grid                       as table_row_wise, with the columns that a host has, in exchanges of its
///     own data_parallel              gradients only: see EmbeddingGradients
/// The sizes of these exchanges differ by rank as far as C_r and the hosts' ΣD do.
///
/// Lookup of a shard of w values: (w·e + index_size) bytes a lookup; its update reads and writes, 2·w·e +
/// index_size. Each column-wise shard reads every index again: that is what splitting costs, besides rows
/// that get too short for the memory to stream (not modelled).
///
/// Plans:
///     balanced     no table is placed: every rank has 1/N of all lookups, reads no indices and holds 1/N of
///                  the bytes. What perfect column-wise sharding would give
///     round_robin  shard i, counted over the tables in order, on rank i mod N; the i-th table of those that
///                  are placed on a host on host i mod N/h
///     planner      by cost, see placement.hpp; with search full as docs/models/sharding-planner.md says:
///     time of the shard's lookup and update and, where `link_rate`
///                  is given, of the values it sends forward and receives backward, and of the lengths and
///                  indices that it receives. Tables that are placed on
///                  a host are placed first, by falling cost, on the host whose busiest rank then has the
///                  smallest load. Each column shard of a grid is placed on its own, as table_row_wise is
///     explicit     as given in `tables` for every table that is not on all ranks
///
/// Limits: memory counts weights only, no optimiser state, but for the full search; tables are at most 65,536
/// and hold at most 2^20 shards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/system/ids.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/placement.hpp>

namespace astrolabe::workload {

enum class TableSharding : std::uint8_t {
    kTableWise,
    kColumnWise,
    kTableColumnWise,
    kRowWise,
    kTableRowWise,
    kGrid,
    kDataParallel
};

/// What the planner's full search makes small: the times of this model (docs/models/sharding-planner.md), or
/// what TorchRec's own planner expects, to compare.
enum class PlannerObjective : std::uint8_t { kTimes, kTorchRec };

/// At which the planner counts communication: one rate, or one between the ranks of a host besides.
struct LinkRate {
    LinkRate() = default;
    LinkRate(Bandwidth same)  // NOLINT(google-explicit-constructor): reads as the rate itself
        : across(same) {}
    LinkRate(Bandwidth inside_hosts, Bandwidth across_hosts)
        : across(across_hosts),
          inside(inside_hosts) {}

    Bandwidth across = Bandwidth(1);
    std::optional<Bandwidth> inside = std::nullopt;  ///< of ports of their own; none: there is one port
};

enum class ShardingMethod : std::uint8_t { kBalanced, kRoundRobin, kPlanner, kExplicit };

/// How `count` tables from number `first` on are sharded, and optionally where they are.
struct TableRule {
    std::int64_t first = 0;
    std::int64_t count = 1;
    TableSharding sharding = TableSharding::kTableWise;
    /// Of kColumnWise and kGrid only; needed there unless Sharding::min_partition says how tables are cut.
    std::optional<std::int64_t> shards = std::nullopt;
    std::vector<std::int64_t> ranks = {};  ///< of kTableWise and kColumnWise: one a shard, tables in order
    /// Of kTableColumnWise and kTableRowWise: one a table; of kGrid: one a column shard, tables in order.
    std::vector<std::int64_t> hosts = {};
};

/// A table of a plan that was read from a file.
struct ImportedTable {
    std::string name = {};
    std::string where = {};    ///< file, line and column
    std::int64_t rows = 0;     ///< that the plan's shards cover; 0: it does not say
    std::int64_t columns = 0;  ///< likewise
    std::int64_t ranks = 0;    ///< that a row_wise table lies on; 0: others
    TableRule rule = {};
};

/// The exchange of indices before the lookups, each rank's samples for all tables of all others:
/// workload/src/dlrm/input_distribution.hpp.
struct InputDistribution {
    Bytes index = Bytes(8);
    Bytes length = Bytes(4);  ///< of how many indices a sample has in a table
    bool ahead = true;        ///< issued in the iteration before
};

struct Sharding {
    ShardingMethod plan = ShardingMethod::kBalanced;
    std::optional<PlacementSearch> search = std::nullopt;      ///< kPlanner only; greedy
    std::optional<LinkRate> link_rate = std::nullopt;          ///< kPlanner only; kFull needs it
    std::optional<PlannerObjective> objective = std::nullopt;  ///< kFull only; kTimes
    std::vector<TableSharding> kinds = {};                     ///< kFull only: that it may choose; none: all
    std::optional<std::int64_t> widest_shard = std::nullopt;   ///< wider tables become column-wise
    /// Instead of widest_shard: tables wider than w, above, become column-wise.
    std::optional<std::int64_t> min_partition = std::nullopt;
    std::optional<Bytes> data_parallel_up_to = std::nullopt;    ///< smaller tables become data-parallel
    std::optional<Bytes> row_wise_from = std::nullopt;          ///< larger tables become row-wise
    std::optional<std::int64_t> ranks_per_host = std::nullopt;  ///< h; needed by table_…_wise, grid
    std::optional<Bytes> memory = std::nullopt;                 ///< that a rank has for tables
    std::optional<Bytes> index_size = std::nullopt;             ///< read a lookup; 8 bytes
    std::optional<InputDistribution> input_distribution = std::nullopt;  ///< none: indices are where they are
    std::string plan_file = {};                ///< that `imported` was read from; absolute
    std::vector<ImportedTable> imported = {};  ///< kExplicit only: rules before those of `tables`
    std::vector<TableRule> tables = {};        ///< where several name a table, the last one holds

    [[nodiscard]] bool is_balanced() const { return plan == ShardingMethod::kBalanced; }
    [[nodiscard]] bool is_searched_fully() const {
        return plan == ShardingMethod::kPlanner && search == PlacementSearch::kFull;
    }
    [[nodiscard]] Bytes bytes_per_index() const { return index_size.value_or(Bytes(8)); }
};

/// Errors of the sharding of a model without validation errors on `ranks` ranks. Keys: "sharding.memory",
/// "sharding.tables.0.ranks", ….
[[nodiscard]] ValidationErrors validation_errors(const Sharding& sharding, const DlrmModel& model,
                                                 std::size_t ranks);

/// Number of tables of each kind, by TableSharding; none in a balanced sharding. Of the full search those
/// that may become of a kind.
using TableCounts = std::array<std::int64_t, 7>;
[[nodiscard]] TableCounts count_tables(const Sharding& sharding, const DlrmModel& model);

/// All columns, or some, of a table on one rank.
struct Shard {
    std::size_t table = 0;
    std::int64_t columns = 0;
    system::RankId rank{};
};

/// All columns of a table, or some, whose rows are spread over the ranks of one host.
struct HostTable {
    std::size_t table = 0;
    std::int64_t columns = 0;
    std::size_t host = 0;
    TableSharding kind = TableSharding::kTableRowWise;  ///< or kGrid
};

/// What the full search found.
struct PlannerReport {
    Time makespan;     ///< of the ranks that are busiest forward and backward, of an iteration
    Time lower_bound;  ///< no plan of the kinds allowed has less
    bool proven = false;
    std::int64_t nodes = 0;  ///< places tried by branch and bound; 0: it was not needed, or too large
    struct Phase {
        system::RankId rank{};    ///< the busiest
        Time input = Time(0);     ///< of it: exchange of indices,
        Time compute = Time(0);   ///< lookups or updates,
        Time exchange = Time(0);  ///< pooled values or gradients
        std::size_t table = 0;    ///< that it has most to do for
        Time table_time = Time(0);
    };
    Phase forward;
    Phase backward;
    struct Baseline {
        std::string name;
        Time makespan;
        bool fits = true;  ///< in the memory
    };
    std::vector<Baseline> baselines = {};  ///< plans that one would write by hand, by the same measure
};

struct ShardingPlan {
    std::size_t ranks = 0;
    std::size_t ranks_per_host = 1;
    std::vector<EqualTables> tables;   ///< all of the model, one each
    std::vector<TableSharding> kinds;  ///< of each
    std::vector<Shard> shards;
    std::vector<HostTable> host_tables;
    std::vector<std::size_t> row_wise;
    std::vector<std::size_t> data_parallel;
    std::optional<Placement> placement = std::nullopt;   ///< the planner's, of the shards
    std::optional<PlannerReport> report = std::nullopt;  ///< of the full search
};

/// Time that the lookup of `columns` values of a table, and their update, take a rank that has one of
/// `blocks` blocks of its rows and the lookups of as many samples.
using ShardTime =
    std::function<Time(std::size_t table, std::int64_t columns, std::int64_t samples, std::int64_t blocks)>;

struct ShardingResult {
    ShardingPlan plan;
    ValidationErrors validation_errors;  ///< the memory is not enough; then there is no plan
};

/// Requires a sharding without validation errors that is neither balanced nor searched fully.
[[nodiscard]] ShardingResult plan_sharding(const Sharding& sharding, const DlrmModel& model,
                                           std::size_t ranks, std::int64_t local_batch,
                                           const ShardTime& time);

/// Where one table is.
struct TablePlace {
    TableSharding sharding = TableSharding::kTableWise;
    std::vector<std::int64_t> ranks = {};  ///< of kTableWise and kColumnWise: one a shard
    std::vector<std::int64_t> hosts =
        {};  ///< one of kTableColumnWise and kTableRowWise; of kGrid: one a shard

    bool operator==(const TablePlace&) const = default;
};

/// The places of all tables in order: the rules that make the plan explicit. O(tables + shards).
[[nodiscard]] std::vector<TablePlace> places_of(const ShardingPlan& plan);

/// Bytes of tables on each rank.
[[nodiscard]] std::vector<Bytes> memory_of(const ShardingPlan& plan, Bytes element_size);
/// C, the columns of each rank's table- and column-wise shards.
[[nodiscard]] std::vector<std::int64_t> columns_of(const ShardingPlan& plan);

}  // namespace astrolabe::workload
