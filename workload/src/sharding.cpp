#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/sharding.hpp>

namespace astrolabe::workload {

namespace {

using Problems = std::vector<ParameterProblem>;

constexpr std::int64_t kMostShards = std::int64_t{1} << 20;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// Columns of the i-th of `shards` shards.
std::int64_t columns_of_shard(std::int64_t dimension, std::int64_t shards, std::int64_t i) {
    return dimension / shards + (i < dimension % shards ? 1 : 0);
}

bool is_placed_on_ranks(TableSharding kind) {
    return kind == TableSharding::kTableWise || kind == TableSharding::kColumnWise;
}
bool is_placed_on_hosts(TableSharding kind) {
    return kind == TableSharding::kTableColumnWise || kind == TableSharding::kTableRowWise;
}

std::vector<EqualTables> single_tables(const DlrmModel& model) {
    std::vector<EqualTables> tables;
    for (const EqualTables& run : equal_tables(model)) {
        EqualTables table = run;
        table.count = 1;
        tables.insert(tables.end(), static_cast<std::size_t>(run.count), table);
    }
    return tables;
}

Bytes size_of(const EqualTables& table, Bytes element_size) {
    return table.rows * table.dimension * element_size;
}

/// How a table is sharded, and where it lies if that was said.
struct Decision {
    TableSharding kind = TableSharding::kTableWise;
    std::int64_t shards = 1;  ///< on ranks of their own choice
    std::vector<std::int64_t> ranks{};
    std::optional<std::int64_t> host{};

    [[nodiscard]] bool is_placed() const {
        return is_placed_on_hosts(kind) ? host.has_value() : !is_placed_on_ranks(kind) || !ranks.empty();
    }
};

Decision default_decision(const Sharding& sharding, const EqualTables& table, Bytes element_size) {
    const Bytes size = size_of(table, element_size);
    if (sharding.data_parallel_up_to && size <= *sharding.data_parallel_up_to) {
        return {.kind = TableSharding::kDataParallel};
    }
    if (sharding.row_wise_from && size >= *sharding.row_wise_from) {
        return {.kind = TableSharding::kRowWise};
    }
    if (sharding.widest_shard && *sharding.widest_shard >= 1 && table.dimension > *sharding.widest_shard) {
        return {.kind = TableSharding::kColumnWise,
                .shards = divide_up(table.dimension, *sharding.widest_shard)};
    }
    return {};
}

/// What is wrong in a rule has no effect: `problems` reports it.
std::vector<Decision> decide(const Sharding& sharding, const std::vector<EqualTables>& tables,
                             Bytes element_size) {
    std::vector<Decision> decisions;
    decisions.reserve(tables.size());
    for (const EqualTables& table : tables) {
        decisions.push_back(default_decision(sharding, table, element_size));
    }
    for (const TableRule& rule : sharding.tables) {
        const std::int64_t shards = rule.shards.value_or(1);
        const auto existing = static_cast<std::int64_t>(tables.size()) - rule.first;
        for (std::int64_t i = 0; rule.first >= 0 && i < std::min(rule.count, existing); ++i) {
            Decision& decision = decisions[static_cast<std::size_t>(rule.first + i)];
            decision = {.kind = rule.sharding, .shards = shards};
            const auto ranks = static_cast<std::int64_t>(rule.ranks.size());
            if (shards >= 1 && shards <= ranks && i < ranks / shards) {
                const auto from = rule.ranks.begin() + i * shards;
                decision.ranks.assign(from, from + shards);
            }
            if (i < static_cast<std::int64_t>(rule.hosts.size())) {
                decision.host = rule.hosts[static_cast<std::size_t>(i)];
            }
        }
    }
    return decisions;
}

void report(Problems& found, std::string key, std::string message, std::string hint = "") {
    found.push_back({.key = std::move(key), .message = std::move(message), .hint = std::move(hint)});
}

void check_balanced(Problems& found, const Sharding& sharding) {
    const std::pair<std::string_view, bool> given[] = {
        {"widest_shard", sharding.widest_shard.has_value()},
        {"data_parallel_up_to", sharding.data_parallel_up_to.has_value()},
        {"row_wise_from", sharding.row_wise_from.has_value()},
        {"ranks_per_host", sharding.ranks_per_host.has_value()},
        {"memory", sharding.memory.has_value()},
        {"index_size", sharding.index_size.has_value()},
        {"tables", !sharding.tables.empty()}};
    for (const auto& [key, is_given] : given) {
        if (is_given) {
            report(found, fmt::format("sharding.{}", key), "the balanced plan places no tables",
                   "choose the plan round_robin, planner or explicit");
        }
    }
}

void check_planner_keys(Problems& found, const Sharding& sharding) {
    if (sharding.plan == ShardingMethod::kPlanner) {
        return;
    }
    if (sharding.search) {
        report(found, "sharding.search", "only the planner searches", "choose the plan planner");
    }
    if (sharding.link_rate) {
        report(found, "sharding.link_rate", "only the planner counts communication",
               "choose the plan planner");
    }
}

void check_numbers(Problems& found, const std::string& key, const std::vector<std::int64_t>& numbers,
                   std::int64_t expected, std::int64_t limit, std::string_view what) {
    if (static_cast<std::int64_t>(numbers.size()) != expected) {
        report(found, key, fmt::format("{} {} for {} pieces", numbers.size(), what, expected),
               "list one for each, tables in order");
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] < 0 || numbers[i] >= limit) {
            report(found, fmt::format("{}.{}", key, i),
                   fmt::format("there are {} {}, numbered from 0, and no {}", limit, what, numbers[i]));
        }
    }
}

class RuleCheck {
public:
    RuleCheck(Problems& found, const Sharding& sharding, const std::vector<EqualTables>& tables,
              std::size_t ranks)
        : found_(found),
          tables_(tables),
          ranks_(static_cast<std::int64_t>(ranks)),
          ranks_per_host_(sharding.ranks_per_host) {}

    void check(const std::string& key, const TableRule& rule) {
        const auto count = static_cast<std::int64_t>(tables_.size());
        if (rule.first < 0 || rule.count < 1 || rule.first >= count || rule.count > count - rule.first) {
            report(found_, key,
                   fmt::format("the model has tables 0 to {}, not {} from {} on", count - 1, rule.count,
                               rule.first));
            return;
        }
        check_shards(key, rule);
        if (!rule.ranks.empty() && !is_placed_on_ranks(rule.sharding)) {
            report(found_, key + ".ranks", "only table_wise and column_wise shards lie on ranks of their own",
                   is_placed_on_hosts(rule.sharding) ? "give hosts" : "leave them out");
        } else if (!rule.ranks.empty()) {
            check_numbers(found_, key + ".ranks", rule.ranks, rule.count * rule.shards.value_or(1), ranks_,
                          "ranks");
        }
        check_hosts(key, rule);
    }

private:
    void check_shards(const std::string& key, const TableRule& rule) {
        const bool is_column_wise = rule.sharding == TableSharding::kColumnWise;
        if (rule.shards.has_value() != is_column_wise) {
            report(found_, key + ".shards",
                   is_column_wise ? "column_wise needs a number of shards" : "only column_wise has shards");
            return;
        }
        const std::int64_t shards = rule.sharding == TableSharding::kTableColumnWise
                                        ? ranks_per_host_.value_or(1)
                                        : rule.shards.value_or(1);
        for (std::int64_t table = rule.first; table < rule.first + rule.count; ++table) {
            const std::int64_t dimension = tables_[static_cast<std::size_t>(table)].dimension;
            if (shards < 1 || shards > dimension) {
                report(found_, is_column_wise ? key + ".shards" : key,
                       fmt::format("table {} has {} columns, not enough for {} shards", table, dimension,
                                   shards));
                return;
            }
        }
    }

    void check_hosts(const std::string& key, const TableRule& rule) {
        if (!is_placed_on_hosts(rule.sharding)) {
            if (!rule.hosts.empty()) {
                report(found_, key + ".hosts", "only table_row_wise and table_column_wise lie on hosts",
                       is_placed_on_ranks(rule.sharding) ? "give ranks" : "leave them out");
            }
            return;
        }
        if (!ranks_per_host_) {
            report(found_, key + ".sharding", "sharding within a host needs its size", "give ranks_per_host");
        } else if (!rule.hosts.empty()) {
            check_numbers(found_, key + ".hosts", rule.hosts, rule.count, ranks_ / *ranks_per_host_, "hosts");
        }
    }

    Problems& found_;
    const std::vector<EqualTables>& tables_;
    std::int64_t ranks_;
    std::optional<std::int64_t> ranks_per_host_;
};

void check_hosts(Problems& found, const Sharding& sharding, std::size_t ranks) {
    if (!sharding.ranks_per_host) {
        return;
    }
    const std::int64_t size = *sharding.ranks_per_host;
    if (size < 1 || static_cast<std::int64_t>(ranks) % size != 0) {
        report(found, "sharding.ranks_per_host",
               fmt::format("{} ranks cannot be divided in hosts of {}", ranks, size),
               "choose a divisor of the number of ranks");
    } else if (std::none_of(sharding.tables.begin(), sharding.tables.end(), [](const TableRule& rule) {
                   return is_placed_on_hosts(rule.sharding);
               })) {
        report(found, "sharding.ranks_per_host", "no table is sharded within a host",
               "leave it out, or name tables that are table_row_wise or table_column_wise");
    }
}

void check_decisions(Problems& found, const Sharding& sharding, const std::vector<EqualTables>& tables,
                     Bytes element_size) {
    std::int64_t shards = 0;
    std::int64_t to_be_placed = 0;
    const std::vector<Decision> decisions = decide(sharding, tables, element_size);
    for (std::size_t table = 0; table < decisions.size(); ++table) {
        shards += decisions[table].shards;
        if (is_placed_on_ranks(decisions[table].kind) && decisions[table].ranks.empty()) {
            to_be_placed += decisions[table].shards;
        }
        if (sharding.plan == ShardingMethod::kExplicit && !decisions[table].is_placed()) {
            report(found, "sharding.tables",
                   fmt::format("the plan is explicit and table {} lies nowhere", table),
                   is_placed_on_hosts(decisions[table].kind) ? "name it with hosts" : "name it with ranks");
            return;
        }
    }
    if (shards > kMostShards) {
        report(found, "sharding", fmt::format("{} shards are more than {}", shards, kMostShards));
    }
    constexpr auto kMostSearched = static_cast<std::int64_t>(kMostExactItems);
    if (sharding.search == PlacementSearch::kExact && to_be_placed > kMostSearched) {
        report(found, "sharding.search",
               fmt::format("{} shards are more than the {} that the exact search takes", to_be_placed,
                           kMostSearched),
               "search: greedy");
    }
}

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
    }

    [[nodiscard]] ShardingResult plan() && {
        if (!costs_fit()) {
            report(problems_, "sharding.plan", "the lookups take too long to be planned",
                   "check the units of the device's rates and times");
            return {.plan = {}, .problems = std::move(problems_)};
        }
        spread_over_all();
        place_on_hosts();
        place_on_ranks();
        if (problems_.empty()) {
            check_memory();
        }
        if (!problems_.empty()) {
            return {.plan = {}, .problems = std::move(problems_)};
        }
        return {.plan = std::move(plan_), .problems = {}};
    }

private:
    [[nodiscard]] std::int64_t communication(std::int64_t values) const {
        return sharding_.link_rate ? (2 * values * activation_size_ / *sharding_.link_rate).count() : 0;
    }

    /// Whether no load can overflow, wherever the tables lie.
    [[nodiscard]] bool costs_fit() const {
        detail::Int128 sum = 0;
        for (std::size_t table = 0; table < decisions_.size(); ++table) {
            sum += static_cast<detail::Int128>(decisions_[table].shards) *
                   shard_item(table, plan_.tables[table].dimension).cost;
        }
        return sum <= Time::max().count() / (2 * ranks_);
    }

    [[nodiscard]] PlacementItem shard_item(std::size_t table, std::int64_t columns) const {
        return {.cost = saturating_sum(time_(table, columns, ranks_ * samples_).count(),
                                       communication((ranks_ - 1) * samples_ * columns)),
                .memory = plan_.tables[table].rows * columns * element_size_};
    }

    /// Of a table whose rows `sharers` ranks share.
    [[nodiscard]] PlacementItem rows_item(std::size_t table, std::int64_t sharers,
                                          std::int64_t values_sent) const {
        const EqualTables& description = plan_.tables[table];
        return {.cost = time_(table, description.dimension, ranks_ / sharers * samples_).count() +
                        communication(values_sent),
                .memory = divide_up(description.rows, sharers) * description.dimension * element_size_};
    }

    [[nodiscard]] PlacementItem host_rows_item(std::size_t table) const {
        const std::int64_t hosts = ranks_ / host_size_;
        const std::int64_t samples_sent = (host_size_ - 1) * hosts * samples_ + (hosts - 1) * samples_;
        return rows_item(table, host_size_, samples_sent * plan_.tables[table].dimension);
    }

    void spread_over_all() {
        for (std::size_t table = 0; table < decisions_.size(); ++table) {
            if (decisions_[table].kind == TableSharding::kRowWise) {
                plan_.row_wise.push_back(table);
                add_to_all(rows_item(table, ranks_, (ranks_ - 1) * samples_ * plan_.tables[table].dimension));
            } else if (decisions_[table].kind == TableSharding::kDataParallel) {
                plan_.data_parallel.push_back(table);
                PlacementItem copy = rows_item(table, 1, 0);
                copy.cost = time_(table, plan_.tables[table].dimension, samples_).count();
                add_to_all(copy);
            }
        }
    }

    void add_to_all(const PlacementItem& item) {
        for (std::size_t rank = 0; rank < load_.cost.size(); ++rank) {
            load_.add(rank, item);
        }
    }

    /// What each rank of a host gets of a table that is sharded within it.
    [[nodiscard]] std::vector<PlacementItem> host_items(std::size_t table) const {
        if (decisions_[table].kind == TableSharding::kTableRowWise) {
            return std::vector<PlacementItem>(static_cast<std::size_t>(host_size_), host_rows_item(table));
        }
        std::vector<PlacementItem> items;
        for (std::int64_t i = 0; i < host_size_; ++i) {
            items.push_back(
                shard_item(table, columns_of_shard(plan_.tables[table].dimension, host_size_, i)));
        }
        return items;
    }

    void place_on_hosts() {
        std::vector<std::size_t> tables;
        for (std::size_t table = 0; table < decisions_.size(); ++table) {
            if (is_placed_on_hosts(decisions_[table].kind)) {
                tables.push_back(table);
            }
        }
        const auto is_free = [this](std::size_t table) { return !decisions_[table].host.has_value(); };
        std::stable_sort(tables.begin(), tables.end(), [&](std::size_t a, std::size_t b) {
            if (is_free(a) != is_free(b)) {
                return is_free(b);
            }
            return sharding_.plan == ShardingMethod::kPlanner && is_free(a) &&
                   host_items(a).front().cost > host_items(b).front().cost;
        });
        std::int64_t next_host = 0;
        for (const std::size_t table : tables) {
            const std::vector<PlacementItem> items = host_items(table);
            std::optional<std::int64_t> host = decisions_[table].host;
            if (!host && sharding_.plan == ShardingMethod::kRoundRobin) {
                host = next_host++ % (ranks_ / host_size_);
            } else if (!host) {
                host = least_loaded_host(items);
            }
            if (!host) {
                report(problems_, "sharding.memory",
                       fmt::format("no host has room for table {}, {} on each of its ranks, beside what they "
                                   "hold; a rank has {}",
                                   table, readable(items.front().memory), readable(*sharding_.memory)),
                       "raise the memory, or shard more tables");
                return;
            }
            put_on_host(table, static_cast<std::size_t>(*host), items);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> least_loaded_host(
        const std::vector<PlacementItem>& items) const {
        std::optional<std::int64_t> best;
        std::int64_t least = 0;
        for (std::int64_t host = 0; host < ranks_ / host_size_; ++host) {
            std::int64_t most = 0;
            bool has_room = true;
            for (std::size_t i = 0; i < items.size(); ++i) {
                const std::size_t rank = static_cast<std::size_t>(host * host_size_) + i;
                most = std::max(most, load_.cost[rank] + items[i].cost);
                has_room = has_room &&
                           (!sharding_.memory || load_.memory[rank] + items[i].memory <= *sharding_.memory);
            }
            if (has_room && (!best || most < least)) {
                best = host;
                least = most;
            }
        }
        return best;
    }

    void put_on_host(std::size_t table, std::size_t host, const std::vector<PlacementItem>& items) {
        const bool by_rows = decisions_[table].kind == TableSharding::kTableRowWise;
        if (by_rows) {
            plan_.host_tables.push_back({.table = table, .host = host});
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::size_t rank = host * plan_.ranks_per_host + i;
            load_.add(rank, items[i]);
            if (!by_rows) {
                plan_.shards.push_back({.table = table,
                                        .columns = columns_of_shard(plan_.tables[table].dimension, host_size_,
                                                                    static_cast<std::int64_t>(i)),
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
                            .columns =
                                columns_of_shard(plan_.tables[table].dimension, decision.shards, i)};
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
        report(problems_, "sharding.memory",
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
        const auto most = std::max_element(load_.memory.begin(), load_.memory.end());
        if (*most > *sharding_.memory) {
            report(problems_, "sharding.memory",
                   fmt::format("rank {} holds {} of tables, more than {}", most - load_.memory.begin(),
                               readable(*most), readable(*sharding_.memory)),
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
    Problems problems_;
};

}  // namespace

std::vector<ParameterProblem> problems(const Sharding& sharding, const DlrmModel& model, std::size_t ranks) {
    Problems found;
    check_planner_keys(found, sharding);
    if (sharding.is_balanced()) {
        check_balanced(found, sharding);
        return found;
    }
    if (table_count(model) > kMostDifferentTables) {
        report(found, "sharding.plan",
               fmt::format("{} tables are more than the {} that can be placed", table_count(model),
                           kMostDifferentTables),
               "use the balanced plan");
        return found;
    }
    if (sharding.widest_shard && *sharding.widest_shard < 1) {
        report(found, "sharding.widest_shard",
               fmt::format("a shard has at least one column, got {}", *sharding.widest_shard));
    }
    if (sharding.index_size && (*sharding.index_size < Bytes(0) || *sharding.index_size > Bytes(16))) {
        report(found, "sharding.index_size",
               fmt::format("must be from 0 to 16 bytes, got {}", to_string(*sharding.index_size)));
    }
    check_hosts(found, sharding, ranks);
    if (!found.empty()) {
        return found;
    }
    const std::vector<EqualTables> tables = single_tables(model);
    RuleCheck check(found, sharding, tables, ranks);
    for (std::size_t i = 0; i < sharding.tables.size(); ++i) {
        check.check(fmt::format("sharding.tables.{}", i), sharding.tables[i]);
    }
    if (found.empty()) {
        check_decisions(found, sharding, tables, model.element_size);
    }
    return found;
}

ShardingResult plan_sharding(const Sharding& sharding, const DlrmModel& model, std::size_t ranks,
                             std::int64_t local_batch, const ShardTime& time) {
    ASTROLABE_ASSERT(!sharding.is_balanced(), "a balanced sharding places nothing");
    ASTROLABE_ASSERT(problems(sharding, model, ranks).empty(), "the user's problems were reported before");
    return Planner(sharding, model, ranks, local_batch, time).plan();
}

TableCounts count_tables(const Sharding& sharding, const DlrmModel& model) {
    TableCounts counts{};
    if (sharding.is_balanced()) {
        return counts;
    }
    for (const Decision& decision : decide(sharding, single_tables(model), model.element_size)) {
        ++counts[static_cast<std::size_t>(decision.kind)];
    }
    return counts;
}

std::vector<Bytes> memory_of(const ShardingPlan& plan, Bytes element_size) {
    Bytes everywhere;
    const auto share = [&](std::size_t table, std::size_t sharers) {
        const EqualTables& description = plan.tables[table];
        return divide_up(description.rows, static_cast<std::int64_t>(sharers)) * description.dimension *
               element_size;
    };
    for (const std::size_t table : plan.row_wise) {
        everywhere += share(table, plan.ranks);
    }
    for (const std::size_t table : plan.data_parallel) {
        everywhere += share(table, 1);
    }
    std::vector<Bytes> memory(plan.ranks, everywhere);
    for (const Shard& shard : plan.shards) {
        memory[shard.rank.index()] += plan.tables[shard.table].rows * shard.columns * element_size;
    }
    for (const HostTable& table : plan.host_tables) {
        for (std::size_t i = 0; i < plan.ranks_per_host; ++i) {
            memory[table.host * plan.ranks_per_host + i] += share(table.table, plan.ranks_per_host);
        }
    }
    return memory;
}

std::vector<std::int64_t> columns_of(const ShardingPlan& plan) {
    std::vector<std::int64_t> columns(plan.ranks, 0);
    for (const Shard& shard : plan.shards) {
        columns[shard.rank.index()] += shard.columns;
    }
    return columns;
}

}  // namespace astrolabe::workload
