#include "../integer_division.hpp"
#include "planner/table_options.hpp"
#include "sharding_decisions.hpp"

namespace astrolabe::workload {

TableCounts count_tables(const Sharding& sharding, const DlrmModel& model) {
    TableCounts counts{};
    if (sharding.is_balanced()) {
        return counts;
    }
    const std::vector<EqualTables> tables = single_tables(model);
    const std::vector<Decision> decisions = decide(sharding, tables, model.element_size);
    std::vector<bool> is_ruled(tables.size(), !sharding.is_searched_fully());
    for (const TableRule& rule : sharding.tables) {
        for (std::int64_t i = 0; i < rule.count; ++i) {
            is_ruled[static_cast<std::size_t>(rule.first + i)] = true;
        }
    }
    for (std::size_t table = 0; table < tables.size(); ++table) {
        for (std::size_t kind = 0; kind < counts.size(); ++kind) {
            const auto candidate = static_cast<TableSharding>(kind);
            const bool may_be = is_ruled[table] ? decisions[table].kind == candidate
                                                : planner::is_allowed(sharding, candidate);
            counts[kind] += may_be ? 1 : 0;
        }
    }
    return counts;
}

std::vector<TablePlace> places_of(const ShardingPlan& plan) {
    std::vector<TablePlace> places;
    for (const TableSharding kind : plan.kinds) {
        places.push_back({.sharding = kind});
    }
    for (const Shard& shard : plan.shards) {
        TablePlace& place = places[shard.table];
        const auto rank = static_cast<std::int64_t>(shard.rank.index());
        if (is_placed_on_hosts(place.sharding)) {
            place.hosts = {rank / static_cast<std::int64_t>(plan.ranks_per_host)};
        } else {
            place.ranks.push_back(rank);
        }
    }
    for (const HostTable& table : plan.host_tables) {
        places[table.table].hosts.push_back(static_cast<std::int64_t>(table.host));
    }
    return places;
}

std::vector<Bytes> memory_of(const ShardingPlan& plan, Bytes element_size) {
    Bytes everywhere;
    const auto share = [&](std::size_t table, std::int64_t columns, std::size_t sharers) {
        return divide_up(plan.tables[table].rows, static_cast<std::int64_t>(sharers)) * columns *
               element_size;
    };
    for (const std::size_t table : plan.row_wise) {
        everywhere += share(table, plan.tables[table].dimension, plan.ranks);
    }
    for (const std::size_t table : plan.data_parallel) {
        everywhere += share(table, plan.tables[table].dimension, 1);
    }
    std::vector<Bytes> memory(plan.ranks, everywhere);
    for (const Shard& shard : plan.shards) {
        memory[shard.rank.index()] += plan.tables[shard.table].rows * shard.columns * element_size;
    }
    for (const HostTable& table : plan.host_tables) {
        for (std::size_t i = 0; i < plan.ranks_per_host; ++i) {
            memory[table.host * plan.ranks_per_host + i] +=
                share(table.table, table.columns, plan.ranks_per_host);
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
