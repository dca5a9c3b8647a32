#include "sharding_decisions.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/workload/dlrm/sharding_names.hpp>

namespace astrolabe::workload {

namespace {

constexpr std::int64_t kMaxShards = std::int64_t{1} << 20;

void check_balanced(ValidationErrors& found, const Sharding& sharding) {
    const std::pair<std::string_view, bool> given[] = {
        {"widest_shard", sharding.widest_shard.has_value()},
        {"min_partition", sharding.min_partition.has_value()},
        {"data_parallel_up_to", sharding.data_parallel_up_to.has_value()},
        {"row_wise_from", sharding.row_wise_from.has_value()},
        {"ranks_per_host", sharding.ranks_per_host.has_value()},
        {"memory", sharding.memory.has_value()},
        {"index_size", sharding.index_size.has_value()},
        {"input_distribution", sharding.input_distribution.has_value()},
        {"plan_file", !sharding.plan_file.empty()},
        {"tables", !sharding.tables.empty()}};
    for (const auto& [key, is_given] : given) {
        if (is_given) {
            add_error(found, fmt::format("sharding.{}", key), "the balanced plan places no tables",
                      "choose the plan round_robin, planner or explicit");
        }
    }
}

void check_without_full_search(ValidationErrors& found, const Sharding& sharding) {
    constexpr std::string_view kHint = "choose the plan planner and search: full";
    if (sharding.objective) {
        add_error(found, "sharding.objective", "only the full search has another objective",
                  std::string(kHint));
    }
    if (!sharding.kinds.empty()) {
        add_error(found, "sharding.kinds", "only the full search chooses how tables are sharded",
                  std::string(kHint));
    }
    if (sharding.link_rate && sharding.link_rate->inside) {
        add_error(found, "sharding.link_rate", "only the full search knows rates inside and across hosts",
                  "give one rate, or search: full");
    }
}

void check_full_search(ValidationErrors& found, const Sharding& sharding) {
    const std::pair<std::string_view, bool> given[] = {
        {"widest_shard", sharding.widest_shard.has_value()},
        {"data_parallel_up_to", sharding.data_parallel_up_to.has_value()},
        {"row_wise_from", sharding.row_wise_from.has_value()}};
    for (const auto& [key, is_given] : given) {
        if (is_given) {
            add_error(found, fmt::format("sharding.{}", key),
                      "the full search decides how tables are sharded",
                      "leave it out; kinds, min_partition and rules of tables restrict the search");
        }
    }
    if (!sharding.link_rate) {
        add_error(found, "sharding.link_rate", "the full search weighs exchanges and has no rate for them",
                  "give link_rate: 200Gbps, or {inside: 600GB/s, across: 25GB/s} with ranks_per_host");
    } else if (sharding.link_rate->inside && !sharding.ranks_per_host) {
        add_error(found, "sharding.link_rate", "a rate inside hosts needs their size", "give ranks_per_host");
    }
    for (std::size_t i = 0; i < sharding.kinds.size(); ++i) {
        if (is_placed_on_hosts(sharding.kinds[i]) && sharding.ranks_per_host.value_or(1) < 2) {
            add_error(found, fmt::format("sharding.kinds.{}", i), "sharding within a host needs its size",
                      "give ranks_per_host of at least 2");
        }
    }
    for (std::size_t i = 0; i < sharding.tables.size(); ++i) {
        const TableRule& rule = sharding.tables[i];
        if (!rule.ranks.empty() || !rule.hosts.empty()) {
            add_error(found, fmt::format("sharding.tables.{}.{}", i, rule.ranks.empty() ? "hosts" : "ranks"),
                      "the full search places the tables", "leave the places out, or make the plan explicit");
        }
    }
}

void check_planner_keys(ValidationErrors& found, const Sharding& sharding) {
    if (!sharding.is_searched_fully()) {
        check_without_full_search(found, sharding);
    }
    if (sharding.plan == ShardingMethod::kPlanner) {
        return;
    }
    if (sharding.search) {
        add_error(found, "sharding.search", "only the planner searches", "choose the plan planner");
    }
    if (sharding.link_rate) {
        add_error(found, "sharding.link_rate", "only the planner counts communication",
                  "choose the plan planner");
    }
}

void check_numbers(ValidationErrors& found, const std::string& key, const std::vector<std::int64_t>& numbers,
                   std::int64_t expected, std::int64_t limit, std::string_view what) {
    if (static_cast<std::int64_t>(numbers.size()) != expected) {
        add_error(found, key, fmt::format("{} {} for {} pieces", numbers.size(), what, expected),
                  "list one for each, tables in order");
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] < 0 || numbers[i] >= limit) {
            add_error(found, fmt::format("{}.{}", key, i),
                      fmt::format("there are {} {}, numbered from 0, and no {}", limit, what, numbers[i]));
        }
    }
}

class RuleCheck {
public:
    RuleCheck(ValidationErrors& found, const Sharding& sharding, const std::vector<EqualTables>& tables,
              std::size_t ranks)
        : found_(found),
          sharding_(sharding),
          tables_(tables),
          ranks_(static_cast<std::int64_t>(ranks)),
          ranks_per_host_(sharding.ranks_per_host) {}

    void check(const std::string& key, const TableRule& rule) {
        const auto count = static_cast<std::int64_t>(tables_.size());
        if (rule.first < 0 || rule.count < 1 || rule.first >= count || rule.count > count - rule.first) {
            add_error(found_, key,
                      fmt::format("the model has tables 0 to {}, not {} from {} on", count - 1, rule.count,
                                  rule.first));
            return;
        }
        check_shards(key, rule);
        if (!rule.ranks.empty() && !is_placed_on_ranks(rule.sharding)) {
            add_error(found_, key + ".ranks",
                      "only table_wise and column_wise shards have ranks of their own",
                      is_placed_on_hosts(rule.sharding) ? "give hosts" : "leave them out");
        } else if (!rule.ranks.empty()) {
            check_numbers(found_, key + ".ranks", rule.ranks, pieces(rule), ranks_, "ranks");
        }
        check_hosts(key, rule);
    }

private:
    /// Of all tables of a rule.
    [[nodiscard]] std::int64_t pieces(const TableRule& rule) const {
        std::int64_t sum = 0;
        for (std::int64_t table = rule.first; table < rule.first + rule.count; ++table) {
            const EqualTables& description = tables_[static_cast<std::size_t>(table)];
            sum += std::clamp<std::int64_t>(shards_of(sharding_, rule, description).value_or(1), 1,
                                            description.dimension);
        }
        return sum;
    }

    void check_shards(const std::string& key, const TableRule& rule) {
        const bool is_cut = has_shards(rule.sharding);
        if (rule.shards && !is_cut) {
            add_error(found_, key + ".shards", "only column_wise and grid have shards");
            return;
        }
        if (is_cut && !rule.shards && !sharding_.min_partition) {
            add_error(
                found_, key + ".shards",
                fmt::format("{} needs a number of shards", ValueTraits<TableSharding>::format(rule.sharding)),
                "give shards, or min_partition beside the tables");
            return;
        }
        for (std::int64_t table = rule.first; table < rule.first + rule.count; ++table) {
            const EqualTables& description = tables_[static_cast<std::size_t>(table)];
            const std::int64_t dimension = description.dimension;
            const std::int64_t shards = rule.sharding == TableSharding::kTableColumnWise
                                            ? ranks_per_host_.value_or(1)
                                            : shards_of(sharding_, rule, description).value_or(1);
            if (shards < 1 || shards > dimension) {
                add_error(found_, is_cut ? key + ".shards" : key,
                          fmt::format("table {} has {} columns, not enough for {} shards", table, dimension,
                                      shards));
                return;
            }
        }
    }

    void check_hosts(const std::string& key, const TableRule& rule) {
        if (!is_placed_on_hosts(rule.sharding)) {
            if (!rule.hosts.empty()) {
                add_error(found_, key + ".hosts",
                          "only table_row_wise, table_column_wise and grid are placed on hosts",
                          is_placed_on_ranks(rule.sharding) ? "give ranks" : "leave them out");
            }
            return;
        }
        if (!ranks_per_host_) {
            add_error(found_, key + ".sharding", "sharding within a host needs its size",
                      "give ranks_per_host");
        } else if (!rule.hosts.empty()) {
            check_numbers(found_, key + ".hosts", rule.hosts, pieces(rule), ranks_ / *ranks_per_host_,
                          "hosts");
        }
    }

    ValidationErrors& found_;
    const Sharding& sharding_;
    const std::vector<EqualTables>& tables_;
    std::int64_t ranks_;
    std::optional<std::int64_t> ranks_per_host_;
};

void check_hosts(ValidationErrors& found, const Sharding& sharding, std::size_t ranks) {
    if (!sharding.ranks_per_host) {
        return;
    }
    const std::int64_t size = *sharding.ranks_per_host;
    if (size < 1 || static_cast<std::int64_t>(ranks) % size != 0) {
        add_error(found, "sharding.ranks_per_host",
                  fmt::format("{} ranks cannot be divided in hosts of {}", ranks, size),
                  "choose a divisor of the number of ranks");
        return;
    }
    const std::vector<TableRule> rules = all_rules(sharding);
    if (!sharding.is_searched_fully() && sharding.imported.empty() &&
        std::none_of(rules.begin(), rules.end(),
                     [](const TableRule& rule) { return is_placed_on_hosts(rule.sharding); })) {
        add_error(found, "sharding.ranks_per_host", "no table is sharded within a host",
                  "leave it out, or name tables that are table_row_wise, table_column_wise or grid");
    }
}

void check_imported(ValidationErrors& found, const Sharding& sharding, const std::vector<EqualTables>& tables,
                    std::size_t ranks) {
    const std::string key = "sharding.plan_file";
    if (sharding.imported.empty()) {
        return;
    }
    if (sharding.plan != ShardingMethod::kExplicit) {
        add_error(found, key, "only the explicit plan is read from a file", "set plan to explicit");
        return;
    }
    if (sharding.imported.size() != tables.size()) {
        add_error(found, key,
                  fmt::format("the plan has {} tables, the last at {}, and the model {}",
                              sharding.imported.size(), sharding.imported.back().where, tables.size()),
                  "tables of the plan are those of the model, in the same order");
        return;
    }
    const auto refuse = [&](const ImportedTable& table, const std::string& message, std::string hint) {
        add_error(found, key, fmt::format("{}: table '{}' {}", table.where, table.name, message),
                  std::move(hint));
    };
    RuleCheck check(found, sharding, tables, ranks);
    for (std::size_t i = 0; i < tables.size() && found.empty(); ++i) {
        const ImportedTable& table = sharding.imported[i];
        if (table.rows > 0 && (table.rows != tables[i].rows || table.columns != tables[i].dimension)) {
            refuse(table,
                   fmt::format("has {} rows of {}, table {} of the model {} of {}", table.rows, table.columns,
                               i, tables[i].rows, tables[i].dimension),
                   "tables of the plan are those of the model, in the same order");
        } else if (table.ranks > 0 && table.ranks != static_cast<std::int64_t>(ranks)) {
            refuse(table, fmt::format("is row_wise on {} ranks, and there are {}", table.ranks, ranks),
                   "run the plan on as many ranks as it was made for");
        } else {
            check.check(key, table.rule);
            if (!found.empty()) {
                found.back().message =
                    fmt::format("{}: table '{}': {}", table.where, table.name, found.back().message);
                found.back().key = key;
            }
        }
    }
}

void check_decisions(ValidationErrors& found, const Sharding& sharding,
                     const std::vector<EqualTables>& tables, Bytes element_size) {
    std::int64_t shards = 0;
    std::int64_t to_be_placed = 0;
    const std::vector<Decision> decisions = decide(sharding, tables, element_size);
    for (std::size_t table = 0; table < decisions.size(); ++table) {
        shards += decisions[table].shards;
        if (is_placed_on_ranks(decisions[table].kind) && decisions[table].ranks.empty()) {
            to_be_placed += decisions[table].shards;
        }
        if (sharding.plan == ShardingMethod::kExplicit && !decisions[table].is_placed()) {
            add_error(
                found, "sharding.tables",
                fmt::format("the plan is explicit and table {} is not placed", table),
                is_placed_on_hosts(decisions[table].kind) ? "name it with hosts" : "name it with ranks");
            return;
        }
    }
    if (shards > kMaxShards) {
        add_error(found, "sharding", fmt::format("{} shards are more than {}", shards, kMaxShards));
    }
    constexpr auto kMaxSearched = static_cast<std::int64_t>(kMaxExactItems);
    if (sharding.search == PlacementSearch::kExact && to_be_placed > kMaxSearched) {
        add_error(found, "sharding.search",
                  fmt::format("{} shards are more than the {} that the exact search takes", to_be_placed,
                              kMaxSearched),
                  "search: greedy");
    }
}

}  // namespace

ValidationErrors validation_errors(const Sharding& sharding, const DlrmModel& model, std::size_t ranks) {
    ValidationErrors found;
    check_planner_keys(found, sharding);
    if (sharding.is_balanced()) {
        check_balanced(found, sharding);
        return found;
    }
    if (table_count(model) > kMaxDifferentTables) {
        add_error(found, "sharding.plan",
                  fmt::format("{} tables are more than the {} that can be placed", table_count(model),
                              kMaxDifferentTables),
                  "use the balanced plan");
        return found;
    }
    if (sharding.widest_shard && *sharding.widest_shard < 1) {
        add_error(found, "sharding.widest_shard",
                  fmt::format("a shard has at least one column, got {}", *sharding.widest_shard));
    }
    if (sharding.min_partition && *sharding.min_partition < 1) {
        add_error(found, "sharding.min_partition",
                  fmt::format("a shard has at least one column, got {}", *sharding.min_partition));
    }
    if (sharding.min_partition && sharding.widest_shard) {
        add_error(found, "sharding.min_partition",
                  "both min_partition and widest_shard cut tables in columns", "give one of the two");
    }
    if (sharding.index_size && (*sharding.index_size < Bytes(0) || *sharding.index_size > Bytes(16))) {
        add_error(found, "sharding.index_size",
                  fmt::format("must be from 0 to 16 bytes, got {}", to_string(*sharding.index_size)));
    }
    check_hosts(found, sharding, ranks);
    if (sharding.is_searched_fully()) {
        check_full_search(found, sharding);
    }
    if (!found.empty()) {
        return found;
    }
    const std::vector<EqualTables> tables = single_tables(model);
    check_imported(found, sharding, tables, ranks);
    if (!found.empty()) {
        return found;
    }
    RuleCheck check(found, sharding, tables, ranks);
    for (std::size_t i = 0; i < sharding.tables.size(); ++i) {
        check.check(fmt::format("sharding.tables.{}", i), sharding.tables[i]);
    }
    if (found.empty()) {
        check_decisions(found, sharding, tables, model.element_size);
    }
    return found;
}

}  // namespace astrolabe::workload
