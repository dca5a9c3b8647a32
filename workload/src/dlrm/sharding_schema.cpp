#include "sharding_schema.hpp"

#include "planner/torchrec_plan.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <astrolabe/core/config/section_list.hpp>
#include <astrolabe/workload/dlrm/sharding_names.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::ShardingMethod> {
    static constexpr std::array<std::pair<std::string_view, workload::ShardingMethod>, 4> kNames{
        {{"balanced", workload::ShardingMethod::kBalanced},
         {"round_robin", workload::ShardingMethod::kRoundRobin},
         {"planner", workload::ShardingMethod::kPlanner},
         {"explicit", workload::ShardingMethod::kExplicit}}};
};
template <>
struct EnumNames<workload::PlacementSearch> {
    static constexpr std::array<std::pair<std::string_view, workload::PlacementSearch>, 3> kNames{
        {{"greedy", workload::PlacementSearch::kGreedy},
         {"exact", workload::PlacementSearch::kExact},
         {"full", workload::PlacementSearch::kFull}}};
};
template <>
struct EnumNames<workload::PlannerObjective> {
    static constexpr std::array<std::pair<std::string_view, workload::PlannerObjective>, 2> kNames{
        {{"times", workload::PlannerObjective::kTimes}, {"torchrec", workload::PlannerObjective::kTorchRec}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

Schema<TableRule> rule_schema() {
    Schema<TableRule> schema("rule", "how some tables are sharded");
    schema.required("first", &TableRule::first, "number of the first table, counted from 0", {0, {}})
        .optional("count", &TableRule::count, "tables from it on", {1, {}})
        .optional("sharding", &TableRule::sharding, "the way they are sharded")
        .optional("shards", &TableRule::shards,
                  "of column_wise and grid: pieces of each table; unset: as min_partition cuts", {1, {}})
        .list("ranks", &TableRule::ranks, "of table_wise and column_wise: where each shard is", false,
              {0, {}})
        .list("hosts", &TableRule::hosts,
              "of table_row_wise and table_column_wise: where each table is; of grid: where each shard is",
              false, {0, {}});
    return schema;
}

Schema<InputDistribution> input_schema() {
    Schema<InputDistribution> schema("input_distribution",
                                     "the exchange of indices before the lookups, of placed tables");
    schema.optional("index", &InputDistribution::index, "of each lookup", {Bytes(1), Bytes(16)})
        .optional("length", &InputDistribution::length, "of how many lookups a sample has in a table",
                  {Bytes(0), Bytes(16)})
        .optional("ahead", &InputDistribution::ahead,
                  "issued behind the forward pass of the iteration before, so that its backward pass hides "
                  "it; else "
                  "the lookups wait for all of it");
    return schema;
}

struct LinkRateKeys {
    Bandwidth inside = Bandwidth(1);
    Bandwidth across = Bandwidth(1);
};

Schema<LinkRateKeys> link_rate_schema() {
    Schema<LinkRateKeys> schema("link_rate", "of a rank's ports");
    schema.required("inside", &LinkRateKeys::inside, "to the ranks of its host", {Bandwidth(1), {}})
        .required("across", &LinkRateKeys::across, "to those of other hosts", {Bandwidth(1), {}});
    return schema;
}

void read_link_rate(Sharding& sharding, const ConfigNode& node, ReadContext& context) {
    if (node.is_mapping()) {
        if (const auto rates = link_rate_schema().read(node, context)) {
            sharding.link_rate = LinkRate(rates->inside, rates->across);
        }
    } else if (const auto same = read_scalar<Bandwidth>(node, "'link_rate'", context, {Bandwidth(1), {}})) {
        sharding.link_rate = LinkRate(*same);
    }
}

std::optional<ConfigNode> write_link_rate(const Sharding& sharding) {
    if (!sharding.link_rate) {
        return std::nullopt;
    }
    const LinkRate& rate = *sharding.link_rate;
    if (rate.inside) {
        return link_rate_schema().write({.inside = *rate.inside, .across = rate.across});
    }
    return ConfigNode::scalar(to_string(rate.across));
}

void read_plan_file(Sharding& sharding, const ConfigNode& node, ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, "'plan_file'", context);
    if (!given) {
        return;
    }
    const std::filesystem::path path =
        std::filesystem::absolute(directory_of(node) / *given).lexically_normal();
    const Result<ConfigNode> root = load_config(path);
    if (!root) {
        for (const Diagnostic& diagnostic : root.error()) {
            context.error(diagnostic);
        }
        return;
    }
    std::optional<planner::ReadPlan> plan = planner::read_torchrec_plan(*root, context);
    if (!plan) {
        return;
    }
    sharding.plan_file = path.string();
    sharding.imported = std::move(plan->tables);
    sharding.ranks_per_host = sharding.ranks_per_host ? sharding.ranks_per_host : plan->ranks_per_host;
}

std::optional<ConfigNode> write_plan_file(const Sharding& sharding) {
    if (sharding.plan_file.empty()) {
        return std::nullopt;
    }
    return ConfigNode::scalar(sharding.plan_file);
}

}  // namespace

Schema<Sharding> sharding_schema() {
    Schema<Sharding> schema("sharding", "which rank holds what of which embedding table");
    schema
        .optional("plan", &Sharding::plan,
                  "balanced: every rank the same share; others place every table or shard")
        .optional("search", &Sharding::search,
                  "of the planner: full chooses kind, width and place of every table, the others the place; "
                  "unset: greedy")
        .field({"link_rate", "bandwidth, or a mapping of inside and across", "unset", false, "at least 1 b/s",
                "of the planner: counts communication at this rate, or at rates inside and across hosts "
                "(search: full, which needs it); unset: lookups alone",
                link_rate_schema().parameters()},
               read_link_rate, write_link_rate)
        .optional("objective", &Sharding::objective,
                  "of search full: the times of this model, or what TorchRec's planner expects; unset: times")
        .list("kinds", &Sharding::kinds, "of search full: ways to shard that it may choose; none: all", false)
        .optional("widest_shard", &Sharding::widest_shard, "columns; wider tables become column_wise",
                  {1, {}})
        .optional("min_partition", &Sharding::min_partition,
                  "instead of widest_shard: shards have as many columns as the smallest divisor of a table's "
                  "dimension that is a multiple of 4 and at least this, as TorchRec cuts (there 128)",
                  {1, {}})
        .optional("data_parallel_up_to", &Sharding::data_parallel_up_to,
                  "size of a table; smaller ones become data_parallel", {Bytes(0), {}})
        .optional("row_wise_from", &Sharding::row_wise_from, "size of a table; larger ones become row_wise",
                  {Bytes(1), {}})
        .optional("ranks_per_host", &Sharding::ranks_per_host,
                  "of table_row_wise, table_column_wise and grid", {1, {}})
        .optional("memory", &Sharding::memory, "that a rank has for tables; unset: enough", {Bytes(1), {}})
        .optional("index_size", &Sharding::index_size, "read with every lookup of a shard; unset: 8 bytes",
                  {Bytes(0), Bytes(16)})
        .section("input_distribution", &Sharding::input_distribution, input_schema(),
                 "exchange of indices before the lookups; unset: every rank has those of its own tables")
        .field({"plan_file",
                "path",
                "unset",
                false,
                {},
                "of plan explicit: a sharding plan of TorchRec, in JSON, relative to the file that names it; "
                "rules "
                "in tables come after it",
                {}},
               read_plan_file, write_plan_file)
        .list("tables", &Sharding::tables, rule_schema(), "rules for some of the tables",
              "[{first: 0, count: 10, sharding: row_wise}]");
    return schema;
}

}  // namespace astrolabe::workload
