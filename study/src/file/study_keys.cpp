#include "study_keys.hpp"

#include "alternatives.hpp"

#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/file/file_keys.hpp>
#include <astrolabe/study/file/study.hpp>
#include <astrolabe/workload/dlrm/sharding_names.hpp>

namespace astrolabe {

template <>
struct EnumNames<study::SearchMethod> {
    static constexpr std::array<std::pair<std::string_view, study::SearchMethod>, 3> kNames{
        {{"auto", study::SearchMethod::kAuto},
         {"annealing", study::SearchMethod::kAnnealing},
         {"enumeration", study::SearchMethod::kEnumeration}}};
};

}  // namespace astrolabe

namespace astrolabe::study {
namespace {

/// Reports the first that is too many: every plan has all of them, and each is compared with all others.
bool are_too_many(const ConfigNode& node, const char* key, ReadContext& context) {
    if (node.entries.size() <= kMostPaths) {
        return false;
    }
    context.error(
        "config.limit", node.entries[kMostPaths].key_where,
        fmt::format("this is path {} of '{}', expected at most {}", kMostPaths + 1, key, kMostPaths),
        "give whole sections: {cluster: [{…}, {…}]}");
    return true;
}

void read_choices(OptimizeKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (!node.is_mapping()) {
        context.error("config.type", node.where,
                      fmt::format("'choices' takes a mapping, found {}", node.kind_name()),
                      "write {cluster.scheduling: [fifo, lifo]}");
        return;
    }
    if (are_too_many(node, "choices", context)) {
        return;
    }
    for (const ConfigEntry& entry : node.entries) {
        if (std::optional<Alternatives> given = read_alternatives(entry, context)) {
            GivenChoice choice{{given->path, {}}, given->where};
            for (Alternative& alternative : given->values) {
                choice.choice.alternatives.push_back(std::move(alternative.value));
            }
            keys.choices.push_back(std::move(choice));
        }
    }
}

void read_coarse(OptimizeKeys& keys, const ConfigNode& node, ReadContext& context) {
    if (!node.is_mapping()) {
        context.error("config.type", node.where,
                      fmt::format("'coarse' takes a mapping, found {}", node.kind_name()),
                      "write {backend.rate_slack: 0.01}");
        return;
    }
    if (are_too_many(node, "coarse", context)) {
        return;
    }
    for (const ConfigEntry& entry : node.entries) {
        keys.coarse.push_back({entry.key, entry.value});
    }
}

Schema<TableKeys> tables_schema() {
    Schema<TableKeys> schema("tables", "embedding tables that the search shards and places");
    schema.list("kinds", &TableKeys::kinds, "ways to shard that are allowed; none: table_wise (dlrm)", false)
        .list("shards", &TableKeys::shards, "of column_wise: numbers of shards that are allowed", false,
              {1, {}})
        .list("ranks", &TableKeys::ranks, "that tables may lie on; none: all", false, {0, {}})
        .optional("ranks_per_host", &TableKeys::ranks_per_host, "of table_row_wise and table_column_wise",
                  {1, {}});
    return schema;
}

Schema<SearchBudget> budget_schema() {
    Schema<SearchBudget> schema("budget", "when the search ends");
    schema
        .optional("evaluations", &SearchBudget::evaluations, "plans looked at, over all chains",
                  {1, 1'000'000'000})
        .optional("time", &SearchBudget::time,
                  "of the wall; a search that it ends need not give the same plan again", {Time(1), {}});
    return schema;
}

Schema<OptimizeKeys> optimize_schema() {
    Schema<OptimizeKeys> schema("optimize", "what may be different in an experiment, and how to search");
    schema
        .field({"choices",
                "mapping of dotted paths to lists",
                "none",
                false,
                {},
                "what may stand in the experiment at each path: values, or whole sections",
                {}},
               read_choices,
               [](const OptimizeKeys& keys) -> std::optional<ConfigNode> {
                   ConfigNode node = ConfigNode::mapping();
                   for (const GivenChoice& given : keys.choices) {
                       node.set(given.choice.path, ConfigNode::sequence(given.choice.alternatives));
                   }
                   return node;
               })
        .section("tables", &OptimizeKeys::tables, tables_schema(),
                 "embedding tables that the search shards and places")
        .field({"coarse",
                "mapping of dotted paths to values",
                "none",
                false,
                {},
                "what experiments have where plans are compared, for a search that costs less; the best are "
                "simulated as they are in the end",
                {}},
               read_coarse,
               [](const OptimizeKeys& keys) -> std::optional<ConfigNode> {
                   ConfigNode node = ConfigNode::mapping();
                   for (const CoarseValue& coarse : keys.coarse) {
                       node.set(coarse.path, coarse.value);
                   }
                   return node;
               })
        .optional("confirmed", &OptimizeKeys::confirmed,
                  "with coarse: how many of the best plans are simulated as they are", {1, 1000})
        .optional("method", &OptimizeKeys::method,
                  "auto: enumeration where the budget and 4096 evaluations suffice for all plans")
        .section("budget", &OptimizeKeys::budget, budget_schema(), "when the search ends")
        .optional("chains", &OptimizeKeys::chains,
                  "searches side by side that share the budget, each in a process of its own", {1, 1024})
        .optional("restarts", &OptimizeKeys::restarts,
                  "of annealing: times that a chain heats up again, from its best plan", {0, 1'000'000})
        .optional("temperature", &OptimizeKeys::temperature,
                  "of annealing: a plan slower by this fraction is accepted once in e times at first; unset: "
                  "a fifth of what the base is above its lower bound",
                  {1e-9, 1e3})
        .optional("seed", &OptimizeKeys::seed, "of the search",
                  {0, std::numeric_limits<std::int64_t>::max()});
    return schema;
}

}  // namespace

Schema<StudyKeys> study_schema() {
    Schema<StudyKeys> schema("study", "a search: an experiment and what may be different in it");
    experiment::add_file_keys(schema);
    experiment::add_base(schema, "the experiment to begin with");
    schema.section("optimize", &StudyKeys::optimize, optimize_schema(), "what to search", true);
    return schema;
}

ComponentDescription optimize_description() {
    const Schema<OptimizeKeys> schema = optimize_schema();
    return {schema.name(), schema.help(), schema.parameters()};
}

}  // namespace astrolabe::study
