#include "sweep_keys.hpp"

#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/experiment/file/file_keys.hpp>
#include <astrolabe/study/file/study.hpp>

namespace astrolabe::study {
namespace {

constexpr std::int64_t kMostSeeds = 100'000;

/// Entries of a mapping that has some; none after an error.
const std::vector<ConfigEntry>& entries_of(const ConfigNode& node, const std::string& key,
                                           const std::string& example, ReadContext& context) {
    static const std::vector<ConfigEntry> none;
    if (node.is_mapping() && !node.entries.empty()) {
        return node.entries;
    }
    context.error("config.type", node.where,
                  node.is_mapping() ? fmt::format("'{}' is empty", key)
                                    : fmt::format("'{}' takes a mapping, found {}", key, node.kind_name()),
                  "write " + example + ", or leave it out");
    return none;
}

std::vector<Alternatives> read_all(const ConfigNode& node, const std::string& key, SameValues same,
                                   ReadContext& context) {
    std::vector<Alternatives> read;
    for (const ConfigEntry& entry : entries_of(node, key, "{cluster.ranks: [16, 64]}", context)) {
        if (std::optional<Alternatives> one = read_alternatives(entry, context, same)) {
            read.push_back(*std::move(one));
        }
    }
    return read;
}

void read_zip(SweepKeys& keys, const ConfigNode& node, ReadContext& context) {
    const std::vector<ConfigNode> groups = node.is_sequence() ? node.items : std::vector{node};
    if (groups.empty()) {
        context.error("config.type", node.where, "'zip' is empty", "leave it out");
    }
    for (const ConfigNode& given : groups) {
        std::vector<Alternatives> group = read_all(given, "zip", SameValues::kAllowed, context);
        for (const Alternatives& member : group) {
            if (member.values.size() != group.front().values.size()) {
                context.error(
                    "config.zip", member.where,
                    fmt::format("'{}' has {} values, and '{}' beside it {}", member.path,
                                member.values.size(), group.front().path, group.front().values.size()),
                    "what varies together has equally many values; put the one under 'vary' to have "
                    "all combinations");
            }
        }
        keys.zip.push_back(std::move(group));
    }
}

void read_derived(SweepKeys& keys, const ConfigNode& node, ReadContext& context) {
    for (const ConfigEntry& entry :
         entries_of(node, "derived", "{batch_per_rank: workload.batch.global / cluster.ranks}", context)) {
        if (!entry.value.is_scalar() || entry.value.text.empty()) {
            context.error("config.type", entry.value.where,
                          fmt::format("'{}' takes an expression, found {}", entry.key,
                                      entry.value.is_scalar() ? "nothing" : entry.value.kind_name()),
                          "write 512 * cluster.ranks");
            continue;
        }
        keys.derived.push_back(entry);
    }
}

void read_repeat(SweepKeys& keys, const ConfigNode& node, ReadContext& context) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    keys.repeat.where = node.where;
    if (!node.is_sequence()) {
        keys.repeat.count = read_scalar<std::int64_t>(node, "'repeat'", context, {1, kMostSeeds}).value_or(0);
        return;
    }
    std::set<std::int64_t> seen;
    for (const ConfigNode& item : node.items) {
        const auto seed = read_scalar<std::int64_t>(item, "a seed of 'repeat'", context, {0, kMost});
        if (seed && !seen.insert(*seed).second) {
            context.error("config.choice", item.where, fmt::format("seed {} is there twice", *seed),
                          "list every seed once");
        }
        keys.repeat.seeds.push_back(seed.value_or(0));
    }
    if (node.items.empty()) {
        context.error("config.type", node.where, "'repeat' is empty", "write 3, or seeds: [1, 2, 3]");
    }
}

/// A field that is read by a function of its own and described by name only.
void add_field(Schema<SweepKeys>& schema, std::string key, std::string type, std::string help,
               std::function<void(SweepKeys&, const ConfigNode&, ReadContext&)> read) {
    schema.field({std::move(key), std::move(type), "none", false, {}, std::move(help), {}}, std::move(read),
                 [](const SweepKeys&) { return std::nullopt; });
}

void read_overrides(SweepKeys& keys, const ConfigNode& node, ReadContext& context) {
    Schema<OverrideKeys> schema("overrides", "what is different in some points");
    schema
        .field(
            {"when", "condition", "", true, {}, "the points", {}},
            [](OverrideKeys& one, const ConfigNode& given, ReadContext& reading) {
                one.when = read_condition(given, reading).value_or(Condition{});
            },
            [](const OverrideKeys&) { return std::nullopt; })
        .field(
            {"set", "mapping of dotted paths to values", "", true, {}, "what they have", {}},
            [](OverrideKeys& one, const ConfigNode& given, ReadContext& reading) {
                one.set = entries_of(given, "set", "{cluster.scheduling: fifo}", reading);
            },
            [](const OverrideKeys&) { return std::nullopt; });
    for (const ConfigNode& given : node.is_sequence() ? node.items : std::vector{node}) {
        if (std::optional<OverrideKeys> one = schema.read(given, context)) {
            one->where = given.where;
            keys.overrides.push_back(*std::move(one));
        }
    }
}

}  // namespace

Schema<SweepKeys> sweep_schema() {
    Schema<SweepKeys> schema("study", "an experiment and what varies in it");
    experiment::add_file_keys(schema);
    experiment::add_base(schema, "the experiment that all points begin with");
    add_field(schema, "vary", "mapping of dotted paths to lists, named values or ranges",
              "values in every combination",
              [](SweepKeys& keys, const ConfigNode& node, ReadContext& context) {
                  keys.vary = read_all(node, "vary", SameValues::kRefused, context);
              });
    add_field(schema, "zip", "mapping like 'vary', or list of them",
              "groups: values of one group side by side, groups in every combination", read_zip);
    add_field(schema, "derived", "mapping of names or dotted paths to expressions",
              "arithmetic on values of a point; a path is set, a name is only reported", read_derived);
    add_field(schema, "when", "condition", "points to keep",
              [](SweepKeys& keys, const ConfigNode& node, ReadContext& context) {
                  keys.when = read_condition(node, context);
                  keys.when_place = node.where;
              });
    add_field(schema, "overrides", "list of {when: condition, set: {path: value}}",
              "what is different in some points", read_overrides);
    add_field(schema, "repeat", "number, or list of seeds",
              "times that a point is run, with seeds from the base's on, or with these", read_repeat);
    schema.list("report", &SweepKeys::report, "figures by name; none: those that suit the study", false)
        .section("slurm", &SweepKeys::slurm, slurm_schema(), "for --launcher slurm");
    return schema;
}

ComponentDescription study_description() {
    const Schema<SweepKeys> schema = sweep_schema();
    return {schema.name(), schema.help(), schema.parameters()};
}

}  // namespace astrolabe::study
