#include "../integer_division.hpp"
#include "sharding_decisions.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
    return std::min(a, Time::max().count() / 2) + std::min(b, Time::max().count() / 2);
}

/// Load of the ranks while tables are placed.
struct Load {
    std::vector<std::int64_t> cost;
    std::vector<Bytes> memory;

    void add(std::size_t rank, const PlacementItem& item) {
        cost[rank] += item.cost;
        memory[rank] += item.memory;
    }
};

class Planner {
public:
    Planner(const Sharding& sharding, const DlrmModel& model, std::size_t ranks, std::int64_t local_batch,
            const ShardTime& time)
        : sharding_(sharding),
          element_size_(model.element_size),
          activation_size_(activation_element_size(model)),
          ranks_(static_cast<std::int64_t>(ranks)),
          host_size_(sharding.ranks_per_host.value_or(1)),
          samples_(local_batch),
          time_(time),
          load_{.cost = std::vector<std::int64_t>(ranks, 0), .memory = std::vector<Bytes>(ranks)} {
        plan_.ranks = ranks;
        plan_.ranks_per_host = static_cast<std::size_t>(host_size_);
        plan_.tables = single_tables(model);
        decisions_ = decide(sharding, plan_.tables, element_size_);
        for (const Decision& decision : decisions_) {
            plan_.kinds.push_back(decision.kind);
        }
    }

    [[nodiscard]] ShardingResult plan() && {
        if (!costs_fit()) {
            refuse("sharding.plan", "the lookups take too long to be planned",
                   "check the units of the device's rates and times");
            return {.plan = {}, .validation_errors = std::move(errors_)};
        }
        spread_over_all();
        place_on_hosts();
        place_on_ranks();
        if (errors_.empty()) {
            check_memory();
        }
        if (!errors_.empty()) {
            return {.plan = {}, .validation_errors = std::move(errors_)};
        }
        return {.plan = std::move(plan_), .validation_errors = {}};
    }

private:
    void refuse(std::string key, std::string message, std::string hint) {
        errors_.push_back({std::move(key), std::move(message), std::move(hint)});
    }

    [[nodiscard]] std::int64_t communication(std::int64_t values) const {
        return sharding_.link_rate ? (2 * values * activation_size_ / sharding_.link_rate->across).count()
                                   : 0;
    }

    /// Of lengths and indices that a rank receives, of a table whose lookups `sharers` ranks share.
    [[nodiscard]] std::int64_t input_time(std::size_t table, std::int64_t sharers) const {
        if (!sharding_.link_rate || !sharding_.input_distribution) {
            return 0;
        }
        const InputDistribution& input = *sharding_.input_distribution;
        const std::int64_t samples = (ranks_ - 1) * samples_;
        return ((samples * input.length + samples * plan_.tables[table].pooling / sharers * input.index) /
                sharding_.link_rate->across)
            .count();
    }

    /// Whether no load can overflow, wherever the tables are.
    [[nodiscard]] bool costs_fit() const {
        detail::Int128 sum = 0;
        for (std::size_t table = 0; table < decisions_.size(); ++table) {
            sum += static_cast<detail::Int128>(decisions_[table].shards) *
                   shard_item(table, plan_.tables[table].dimension).cost;
        }
        return sum <= Time::max().count() / (2 * ranks_);
    }

    [[nodiscard]] PlacementItem shard_item(std::size_t table, std::int64_t columns) const {
        return {
            .cost = saturating_sum(time_(table, columns, ranks_ * samples_, 1).count(),
                                   communication((ranks_ - 1) * samples_ * columns) + input_time(table, 1)),
            .memory = plan_.tables[table].rows * columns * element_size_};
    }

    /// Of a table whose rows `sharers` ranks share.
    [[nodiscard]] PlacementItem rows_item(std::size_t table, std::int64_t columns, std::int64_t sharers,
                                          std::int64_t values_sent) const {
        return {.cost = time_(table, columns, ranks_ / sharers * samples_, sharers).count() +
                        communication(values_sent) + input_time(table, sharers),
                .memory = divide_up(plan_.tables[table].rows, sharers) * columns * element_size_};
    }

    [[nodiscard]] PlacementItem host_rows_item(std::size_t table, std::int64_t columns) const {
        const std::int64_t hosts = ranks_ / host_size_;
        const std::int64_t samples_sent = (host_size_ - 1) * hosts * samples_ + (hosts - 1) * samples_;
        return rows_item(table, columns, host_size_, samples_sent * columns);
    }

    void spread_over_all() {
        for (std::size_t table = 0; table < decisions_.size(); ++table) {
            if (decisions_[table].kind == TableSharding::kRowWise) {
                plan_.row_wise.push_back(table);
                const std::int64_t columns = plan_.tables[table].dimension;
                add_to_all(rows_item(table, columns, ranks_, (ranks_ - 1) * samples_ * columns));
            } else if (decisions_[table].kind == TableSharding::kDataParallel) {
                plan_.data_parallel.push_back(table);
                PlacementItem copy = rows_item(table, plan_.tables[table].dimension, 1, 0);
                copy.cost = time_(table, plan_.tables[table].dimension, samples_, 1).count();
                add_to_all(copy);
            }
        }
    }

    void add_to_all(const PlacementItem& item) {
        for (std::size_t rank = 0; rank < load_.cost.size(); ++rank) {
            load_.add(rank, item);
        }
    }

    /// A table, or a column shard of a grid, that is sharded within a host.
    struct HostPiece {
        std::size_t table = 0;
        std::int64_t columns = 0;
        std::optional<std::int64_t> host = std::nullopt;
    };

    /// What each rank of a host gets of it.
    [[nodiscard]] std::vector<PlacementItem> host_items(const HostPiece& piece) const {
        if (decisions_[piece.table].kind != TableSharding::kTableColumnWise) {
            return std::vector<PlacementItem>(static_cast<std::size_t>(host_size_),
                                              host_rows_item(piece.table, piece.columns));
        }
        std::vector<PlacementItem> items;
        for (std::int64_t i = 0; i < host_size_; ++i) {
            items.push_back(shard_item(piece.table, columns_of_shard(piece.columns, host_size_, i)));
        }
        return items;
    }

    [[nodiscard]] std::vector<HostPiece> host_pieces() const {
        std::vector<HostPiece> pieces;
        for (std::size_t table = 0; table < decisions_.size(); ++table) {
            const Decision& decision = decisions_[table];
            if (!is_placed_on_hosts(decision.kind)) {
                continue;
            }
            for (std::int64_t i = 0; i < decision.shards; ++i) {
                pieces.push_back(
                    {.table = table,
                     .columns = columns_of_shard(plan_.tables[table].dimension, decision.shards, i)});
                if (!decision.hosts.empty()) {
                    pieces.back().host = decision.hosts[static_cast<std::size_t>(i)];
                }
            }
        }
        return pieces;
    }

    void place_on_hosts() {
        std::vector<HostPiece> pieces = host_pieces();
        std::stable_sort(pieces.begin(), pieces.end(), [&](const HostPiece& a, const HostPiece& b) {
            if (a.host.has_value() != b.host.has_value()) {
                return a.host.has_value();
            }
            return sharding_.plan == ShardingMethod::kPlanner && !a.host &&
                   host_items(a).front().cost > host_items(b).front().cost;
        });
        std::int64_t next_host = 0;
        for (const HostPiece& piece : pieces) {
            const std::vector<PlacementItem> items = host_items(piece);
            std::optional<std::int64_t> host = piece.host;
            if (!host && sharding_.plan == ShardingMethod::kRoundRobin) {
                host = next_host++ % (ranks_ / host_size_);
            } else if (!host) {
                host = least_loaded_host(items);
            }
            if (!host) {
                refuse("sharding.memory",
                       fmt::format("no host has room for table {}, {} on each of its ranks, beside what they "
                                   "hold; a rank has {}",
                                   piece.table, readable(items.front().memory), readable(*sharding_.memory)),
                       "raise the memory, or shard more tables");
                return;
            }
            put_on_host(piece, static_cast<std::size_t>(*host), items);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> least_loaded_host(
        const std::vector<PlacementItem>& items) const {
        std::optional<std::int64_t> best;
        std::int64_t smallest = 0;
        for (std::int64_t host = 0; host < ranks_ / host_size_; ++host) {
            std::int64_t largest = 0;
            bool has_room = true;
            for (std::size_t i = 0; i < items.size(); ++i) {
                const std::size_t rank = static_cast<std::size_t>(host * host_size_) + i;
                largest = std::max(largest, load_.cost[rank] + items[i].cost);
                has_room = has_room &&
                           (!sharding_.memory || load_.memory[rank] + items[i].memory <= *sharding_.memory);
            }
            if (has_room && (!best || largest < smallest)) {
                best = host;
                smallest = largest;
            }
        }
        return best;
    }

    void put_on_host(const HostPiece& piece, std::size_t host, const std::vector<PlacementItem>& items) {
        const TableSharding kind = decisions_[piece.table].kind;
        const bool by_rows = kind != TableSharding::kTableColumnWise;
        if (by_rows) {
            plan_.host_tables.push_back(
                {.table = piece.table, .columns = piece.columns, .host = host, .kind = kind});
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::size_t rank = host * plan_.ranks_per_host + i;
            load_.add(rank, items[i]);
            if (!by_rows) {
                plan_.shards.push_back(
                    {.table = piece.table,
                     .columns = columns_of_shard(piece.columns, host_size_, static_cast<std::int64_t>(i)),
                     .rank = system::RankId(rank)});
            }
        }
    }

    void place_on_ranks() {
        std::vector<Shard> free;
        std::size_t next_rank = 0;
        for (std::size_t table = 0; table < decisions_.size(); ++table) {
            const Decision& decision = decisions_[table];
            if (!is_placed_on_ranks(decision.kind)) {
                continue;
            }
            for (std::int64_t i = 0; i < decision.shards; ++i) {
                Shard shard{.table = table,
                            .columns = columns_of_shard(plan_.tables[table].dimension, decision.shards, i)};
                if (!decision.ranks.empty()) {
                    shard.rank =
                        system::RankId(static_cast<std::size_t>(decision.ranks[static_cast<std::size_t>(i)]));
                } else if (sharding_.plan == ShardingMethod::kRoundRobin) {
                    shard.rank = system::RankId(next_rank++ % plan_.ranks);
                } else {
                    free.push_back(shard);
                    continue;
                }
                load_.add(shard.rank.index(), shard_item(table, shard.columns));
                plan_.shards.push_back(shard);
            }
        }
        if (!free.empty()) {
            place_by_cost(std::move(free));
        }
    }

    void place_by_cost(std::vector<Shard> shards) {
        PlacementProblem problem{.items = {},
                                 .cost_before = load_.cost,
                                 .memory_before = load_.memory,
                                 .memory = sharding_.memory};
        for (const Shard& shard : shards) {
            problem.items.push_back(shard_item(shard.table, shard.columns));
        }
        const bool exact = sharding_.search == PlacementSearch::kExact;
        plan_.placement = exact ? place_exactly(problem) : place_greedily(problem);
        if (!plan_.placement->found()) {
            report_no_room(problem);
            return;
        }
        for (std::size_t i = 0; i < shards.size(); ++i) {
            shards[i].rank = plan_.placement->rank_of[i];
            load_.add(shards[i].rank.index(), problem.items[i]);
        }
        plan_.shards.insert(plan_.shards.end(), shards.begin(), shards.end());
    }

    void report_no_room(const PlacementProblem& problem) {
        detail::Int128 all = 0;
        Bytes largest;
        for (const PlacementItem& item : problem.items) {
            all += item.memory.count();
            largest = std::max(largest, item.memory);
        }
        for (const Bytes held : problem.memory_before) {
            all += held.count();
        }
        constexpr detail::Int128 kLimit = std::numeric_limits<std::int64_t>::max();
        const Bytes needed(static_cast<std::int64_t>(std::min(all, kLimit)));
        const bool exact = sharding_.search == PlacementSearch::kExact;
        refuse("sharding.memory",
               fmt::format("no placement of {} shards was found: they need {} on {} ranks of {}, the largest "
                           "{}",
                           problem.items.size(), readable(needed), ranks_, readable(*sharding_.memory),
                           readable(largest)),
               exact || largest > *sharding_.memory
                   ? "raise the memory, set widest_shard or row_wise_from, or use more ranks"
                   : "raise the memory, set widest_shard or row_wise_from, or search: exact for few shards");
    }

    void check_memory() {
        if (!sharding_.memory) {
            return;
        }
        const auto largest = std::max_element(load_.memory.begin(), load_.memory.end());
        if (*largest > *sharding_.memory) {
            refuse("sharding.memory",
                   fmt::format("rank {} holds {} of tables, more than {}", largest - load_.memory.begin(),
                               readable(*largest), readable(*sharding_.memory)),
                   "raise the memory, or let the planner place the tables");
        }
    }

    const Sharding& sharding_;
    Bytes element_size_;
    Bytes activation_size_;
    std::int64_t ranks_;
    std::int64_t host_size_;
    std::int64_t samples_;
    const ShardTime& time_;
    std::vector<Decision> decisions_;
    Load load_;
    ShardingPlan plan_;
    ValidationErrors errors_;
};

}  // namespace

ShardingResult plan_sharding(const Sharding& sharding, const DlrmModel& model, std::size_t ranks,
                             std::int64_t local_batch, const ShardTime& time) {
    ASTROLABE_ASSERT(!sharding.is_balanced() && !sharding.is_searched_fully(),
                     "a balanced sharding places nothing, the full search is elsewhere");
    ASTROLABE_ASSERT(validation_errors(sharding, model, ranks).empty(),
                     "the user's errors were reported before");
    return Planner(sharding, model, ranks, local_batch, time).plan();
}

}  // namespace astrolabe::workload
