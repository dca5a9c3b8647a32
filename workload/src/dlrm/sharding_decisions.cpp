#include "sharding_decisions.hpp"

#include "../integer_division.hpp"

#include <algorithm>
#include <utility>

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
    if (sharding.min_partition && *sharding.min_partition >= 1) {
        const std::int64_t width = partition_width(table.dimension, *sharding.min_partition);
        if (width < table.dimension) {
            return {.kind = TableSharding::kColumnWise, .shards = table.dimension / width};
        }
    }
    return {};
}

}  // namespace

std::int64_t partition_width(std::int64_t dimension, std::int64_t min_partition) {
    constexpr std::int64_t kVector = 4;
    for (std::int64_t width = divide_up(min_partition, kVector) * kVector; width < dimension;
         width += kVector) {
        if (dimension % width == 0) {
            return width;
        }
    }
    return dimension;
}

std::int64_t columns_of_shard(std::int64_t dimension, std::int64_t shards, std::int64_t i) {
    return dimension / shards + (i < dimension % shards ? 1 : 0);
}

bool is_placed_on_ranks(TableSharding kind) {
    return kind == TableSharding::kTableWise || kind == TableSharding::kColumnWise;
}
bool is_placed_on_hosts(TableSharding kind) {
    return kind == TableSharding::kTableColumnWise || kind == TableSharding::kTableRowWise ||
           kind == TableSharding::kGrid;
}
bool has_shards(TableSharding kind) {
    return kind == TableSharding::kColumnWise || kind == TableSharding::kGrid;
}

std::optional<std::int64_t> shards_of(const Sharding& sharding, const TableRule& rule,
                                      const EqualTables& table) {
    if (!has_shards(rule.sharding)) {
        return 1;
    }
    if (rule.shards || !sharding.min_partition || *sharding.min_partition < 1) {
        return rule.shards;
    }
    return table.dimension / partition_width(table.dimension, *sharding.min_partition);
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

std::vector<TableRule> all_rules(const Sharding& sharding) {
    std::vector<TableRule> rules;
    rules.reserve(sharding.imported.size() + sharding.tables.size());
    for (const ImportedTable& table : sharding.imported) {
        rules.push_back(table.rule);
    }
    rules.insert(rules.end(), sharding.tables.begin(), sharding.tables.end());
    return rules;
}

std::vector<Decision> decide(const Sharding& sharding, const std::vector<EqualTables>& tables,
                             Bytes element_size) {
    std::vector<Decision> decisions;
    decisions.reserve(tables.size());
    for (const EqualTables& table : tables) {
        decisions.push_back(default_decision(sharding, table, element_size));
    }
    for (const TableRule& rule : all_rules(sharding)) {
        std::int64_t next = 0;  // of the places that the rule lists
        const auto existing = static_cast<std::int64_t>(tables.size()) - rule.first;
        for (std::int64_t i = 0; rule.first >= 0 && i < std::min(rule.count, existing); ++i) {
            const auto table = static_cast<std::size_t>(rule.first + i);
            const std::int64_t shards = shards_of(sharding, rule, tables[table]).value_or(1);
            Decision& decision = decisions[table];
            decision = {.kind = rule.sharding, .shards = shards};
            for (const auto& [from, to] :
                 {std::pair(&rule.ranks, &decision.ranks), std::pair(&rule.hosts, &decision.hosts)}) {
                const auto listed = static_cast<std::int64_t>(from->size());
                if (shards >= 1 && next <= listed && shards <= listed - next) {
                    to->assign(from->begin() + next, from->begin() + next + shards);
                }
            }
            next += std::max<std::int64_t>(shards, 0);
        }
    }
    return decisions;
}

}  // namespace astrolabe::workload
