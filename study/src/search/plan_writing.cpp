#include "plan_writing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/experiment/file/config_path.hpp>
#include <astrolabe/workload/dlrm/sharding_names.hpp>

namespace astrolabe::study {
namespace {

using workload::TablePlace;
using workload::TableSharding;

ConfigNode number(std::int64_t value) {
    return ConfigNode::scalar(std::to_string(value));
}

ConfigNode numbers(const std::vector<std::int64_t>& values) {
    std::vector<ConfigNode> items;
    std::transform(values.begin(), values.end(), std::back_inserter(items), number);
    return ConfigNode::sequence(std::move(items));
}

/// One rule for the tables from `first` up to `end`, which are sharded alike.
ConfigNode rule(const std::vector<TablePlace>& places, std::size_t first, std::size_t end) {
    const TablePlace& shape = places[first];
    std::vector<std::int64_t> ranks;
    std::vector<std::int64_t> hosts;
    for (std::size_t table = first; table < end; ++table) {
        ranks.insert(ranks.end(), places[table].ranks.begin(), places[table].ranks.end());
        hosts.insert(hosts.end(), places[table].hosts.begin(), places[table].hosts.end());
    }
    ConfigNode node = ConfigNode::mapping();
    node.set("first", number(static_cast<std::int64_t>(first)));
    node.set("count", number(static_cast<std::int64_t>(end - first)));
    node.set("sharding", ConfigNode::scalar(ValueTraits<TableSharding>::format(shape.sharding)));
    if (shape.sharding == TableSharding::kColumnWise) {
        node.set("shards", number(static_cast<std::int64_t>(shape.ranks.size())));
    } else if (shape.sharding == TableSharding::kGrid) {
        node.set("shards", number(static_cast<std::int64_t>(shape.hosts.size())));
    }
    if (!ranks.empty()) {
        node.set("ranks", numbers(ranks));
    }
    if (!hosts.empty()) {
        node.set("hosts", numbers(hosts));
    }
    return node;
}

ConfigNode rules(const std::vector<TablePlace>& places) {
    std::vector<ConfigNode> all;
    for (std::size_t first = 0; first < places.size();) {
        std::size_t end = first + 1;
        while (end < places.size() && places[end].sharding == places[first].sharding &&
               places[end].ranks.size() == places[first].ranks.size() &&
               places[end].hosts.size() == places[first].hosts.size()) {
            ++end;
        }
        all.push_back(rule(places, first, end));
        first = end;
    }
    return ConfigNode::sequence(std::move(all));
}

ConfigNode sharding_of(const std::vector<TablePlace>& places, const TableMoves& moves,
                       const ConfigNode* before) {
    ConfigNode sharding = ConfigNode::mapping();
    sharding.set("plan", ConfigNode::scalar("explicit"));
    for (const char* key : {"memory", "index_size"}) {
        if (const ConfigNode* kept = before == nullptr ? nullptr : before->find(key)) {
            sharding.set(key, *kept);
        }
    }
    if (std::any_of(places.begin(), places.end(),
                    [](const TablePlace& place) { return !place.hosts.empty(); })) {
        sharding.set("ranks_per_host", number(*moves.ranks_per_host));
    }
    sharding.set("tables", rules(places));
    return sharding;
}

ConfigNode runs_of(const std::vector<std::int64_t>& tables) {
    std::vector<ConfigNode> runs;
    for (std::size_t first = 0; first < tables.size();) {
        std::size_t end = first + 1;
        while (end < tables.size() && tables[end] == tables[first]) {
            ++end;
        }
        ConfigNode run = ConfigNode::mapping();
        run.set("nodes", number(static_cast<std::int64_t>(end - first)));
        run.set("tables", number(tables[first]));
        runs.push_back(std::move(run));
        first = end;
    }
    return ConfigNode::sequence(std::move(runs));
}

void set(ConfigNode& root, const std::string& path, ConfigNode value, std::vector<std::string>& set) {
    const std::string_view nowhere = experiment::set_at(root, path, std::move(value));
    ASTROLABE_ASSERT(nowhere.empty(), "paths of a study lead somewhere");
    set.push_back(path);
}

}  // namespace

void write_tables(ConfigNode& root, const workload::MovableTables& tables, const TableMoves& moves,
                  std::vector<std::string>& paths) {
    if (const auto* counted = std::get_if<workload::CountedTables>(&tables)) {
        set(root, "workload.placement", ConfigNode::scalar("explicit"), paths);
        set(root, "workload.tables_per_node", runs_of(counted->tables), paths);
    } else if (const auto* placed = std::get_if<workload::PlacedTables>(&tables)) {
        ConfigNode sharding = sharding_of(placed->places, moves, root.find_path("workload.sharding"));
        set(root, "workload.sharding", std::move(sharding), paths);
    }
}

void write_choices(ConfigNode& root, const std::vector<Choice>& choices, const Plan& plan,
                   std::vector<std::string>& paths) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
        set(root, choices[i].path, choices[i].alternatives[plan.choices[i]], paths);
    }
}

}  // namespace astrolabe::study
