#include "sharding_decisions.hpp"

#include "../integer_division.hpp"

#include <algorithm>

namespace astrolabe::workload {

namespace {

Bytes size_of(const EqualTables& table, Bytes element_size) {
    return table.rows * table.dimension * element_size;
}

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

}  // namespace

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

}  // namespace astrolabe::workload
