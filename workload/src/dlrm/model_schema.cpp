#include "model_schema.hpp"

#include "embedding/reuse_schema.hpp"
#include "table_list.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/config/section_list.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::Interaction> {
    static constexpr std::array<std::pair<std::string_view, workload::Interaction>, 3> kNames{
        {{"dot", workload::Interaction::kDot},
         {"concatenation", workload::Interaction::kConcatenation},
         {"dcn_v2", workload::Interaction::kDcnV2}}};
};
template <>
struct EnumNames<workload::DistributionShape> {
    static constexpr std::array<std::pair<std::string_view, workload::DistributionShape>, 4> kNames{
        {{"uniform", workload::DistributionShape::kUniform},
         {"log_uniform", workload::DistributionShape::kLogUniform},
         {"normal", workload::DistributionShape::kNormal},
         {"zipf", workload::DistributionShape::kZipf}}};
};
template <>
struct EnumNames<workload::TableMemory> {
    static constexpr std::array<std::pair<std::string_view, workload::TableMemory>, 3> kNames{
        {{"hbm", workload::TableMemory::kHbm},
         {"host", workload::TableMemory::kHost},
         {"cached", workload::TableMemory::kCached}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

Schema<ValueRange> range_schema() {
    Schema<ValueRange> schema("range", "from, from + step, …, one a table");
    schema.required("from", &ValueRange::from, "of a range: value of the first table", {1, {}})
        .required("to", &ValueRange::to, "of a range: value of the last table, or less than a step more",
                  {1, {}})
        .optional("step", &ValueRange::step, "of a range: from one table to the next", {1, {}});
    return schema;
}

Schema<ValueDistribution> distribution_schema() {
    Schema<ValueDistribution> schema("distribution", "values drawn with a seed");
    schema.required("distribution", &ValueDistribution::shape, "that the values are drawn from")
        .required("min", &ValueDistribution::min, "smallest value", {1, {}})
        .required("max", &ValueDistribution::max, "largest value", {1, {}})
        .optional("mean", &ValueDistribution::mean, "that the values have exactly", {1, {}})
        .optional("sum", &ValueDistribution::sum, "that the values have exactly, instead of a mean", {1, {}})
        .optional("multiple_of", &ValueDistribution::multiple_of, "divides every value", {1, {}})
        .optional("deviation", &ValueDistribution::deviation, "of normal: standard deviation", {0, {}})
        .optional("exponent", &ValueDistribution::exponent, "of zipf: value i falls as i^-exponent",
                  {0.001, 16.0})
        .optional("seed", &ValueDistribution::seed, "of the random numbers; unset: that of the experiment");
    return schema;
}

std::optional<TableValues> read_values(const ConfigNode& node, const std::string& key, ReadContext& context) {
    if (node.is_mapping() && node.find("distribution") != nullptr) {
        const std::optional<ValueDistribution> distribution = distribution_schema().read(node, context);
        return distribution ? std::optional(TableValues(*distribution)) : std::nullopt;
    }
    if (node.is_mapping()) {
        const std::optional<ValueRange> range = range_schema().read(node, context);
        return range ? std::optional(TableValues(*range)) : std::nullopt;
    }
    if (node.is_sequence()) {
        std::vector<std::int64_t> list;
        for (const ConfigNode& item : node.items) {
            if (const auto value =
                    read_scalar<std::int64_t>(item, "an item of '" + key + "'", context, {1, {}})) {
                list.push_back(*value);
            }
        }
        return TableValues(std::move(list));
    }
    const auto same = read_scalar<std::int64_t>(node, "'" + key + "'", context, {1, {}});
    return same ? std::optional(TableValues(*same)) : std::nullopt;
}

ConfigNode write_values(const TableValues& values) {
    struct Writer {
        ConfigNode operator()(std::int64_t same) const { return ConfigNode::scalar(std::to_string(same)); }
        ConfigNode operator()(const std::vector<std::int64_t>& list) const {
            std::vector<ConfigNode> items;
            for (const std::int64_t value : list) {
                items.push_back((*this)(value));
            }
            return ConfigNode::sequence(std::move(items));
        }
        ConfigNode operator()(const ValueRange& range) const { return range_schema().write(range); }
        ConfigNode operator()(const ValueDistribution& distribution) const {
            return distribution_schema().write(distribution);
        }
    };
    return std::visit(Writer{}, values.form());
}

Schema<PoolingSpread> spread_schema() {
    Schema<PoolingSpread> schema("pooling_spread", "lookups of a sample that vary around `pooling`");
    schema
        .optional("deviation", &PoolingSpread::deviation,
                  "standard deviation of a sample's lookups; unset: the root of `pooling`", {0.0, 1e6})
        .optional("seed", &PoolingSpread::seed, "of the random numbers; unset: that of the experiment");
    return schema;
}

Schema<RowCache> cache_schema() {
    Schema<RowCache> schema("memory", "of the host, with a cache in the device's");
    schema
        .optional("load_factor", &RowCache::load_factor, "of cached: share of the rows that the cache holds",
                  {1e-6, 1.0})
        .optional("hit_rate", &RowCache::hit_rate,
                  "of cached: share of the rows of a batch that the cache holds", {0.0, 1.0});
    return schema;
}

void read_memory(EmbeddingTables& tables, const ConfigNode& node, ReadContext& context) {
    const ConfigNode* kind = node.is_mapping() ? node.find("kind") : &node;
    if (kind == nullptr) {
        context.error("config.missing-key", node.where, "'memory' needs 'kind'",
                      "write {kind: cached, load_factor: 0.2, hit_rate: 0.9}");
        return;
    }
    const auto memory = read_scalar<TableMemory>(*kind, "'memory'", context);
    const auto cache = node.is_mapping() ? cache_schema().read(node, context, {"kind"}) : RowCache();
    if (!memory || !cache) {
        return;
    }
    if (*memory != TableMemory::kCached && node.is_mapping() && node.entries.size() > 1) {
        context.error("config.value", node.where, fmt::format("'memory' of kind {} has no cache", kind->text),
                      "leave 'load_factor' and 'hit_rate' out, or set kind to cached");
        return;
    }
    tables.traits.memory = *memory;
    tables.traits.cache = *cache;
}

std::optional<ConfigNode> write_memory(const EmbeddingTables& tables) {
    ConfigNode kind = ConfigNode::scalar(ValueTraits<TableMemory>::format(tables.traits.memory));
    if (tables.traits.memory != TableMemory::kCached) {
        return tables.traits.memory == TableMemory::kHbm ? std::nullopt : std::optional(std::move(kind));
    }
    ConfigNode node = ConfigNode::mapping();
    node.set("kind", std::move(kind));
    for (const ConfigEntry& entry : cache_schema().write(tables.traits.cache).entries) {
        node.set(entry.key, entry.value);
    }
    return node;
}

void add_traits(Schema<EmbeddingTables>& schema) {
    schema.field(
        {"unique_share",
         "number",
         "unset",
         false,
         "above 0 and at most 1",
         "unique rows of a batch over its lookups; unset: by `reuse`, or rows hit evenly",
         {}},
        [](EmbeddingTables& tables, const ConfigNode& node, ReadContext& context) {
            tables.traits.unique_share = read_scalar<double>(node, "'unique_share'", context, {1e-9, 1.0});
        },
        [](const EmbeddingTables& tables) -> std::optional<ConfigNode> {
            const std::optional<double>& share = tables.traits.unique_share;
            return share ? std::optional(ConfigNode::scalar(ValueTraits<double>::format(*share)))
                         : std::nullopt;
        });
    schema.field(
        {"reuse",
         "mapping",
         "unset",
         false,
         {},
         "how often a batch meets the same row, by powers of two; from a file or as listed",
         reuse_parameters()},
        [](EmbeddingTables& tables, const ConfigNode& node, ReadContext& context) {
            if (std::optional<ReuseHistogram> reuse = read_reuse(node, context)) {
                tables.traits.reuse = std::make_shared<const ReuseHistogram>(*std::move(reuse));
            }
        },
        [](const EmbeddingTables& tables) {
            return tables.traits.reuse ? std::optional(write_reuse(*tables.traits.reuse)) : std::nullopt;
        });
    schema.field(
        {"pooling_spread",
         "mapping",
         "unset",
         false,
         {},
         "lookups of a sample vary, and their sums over a rank's samples are drawn",
         spread_schema().parameters()},
        [](EmbeddingTables& tables, const ConfigNode& node, ReadContext& context) {
            tables.traits.spread = spread_schema().read(node, context);
        },
        [](const EmbeddingTables& tables) {
            return tables.traits.spread ? std::optional(spread_schema().write(*tables.traits.spread))
                                        : std::nullopt;
        });
    schema.field(
        {"weighted", "true or false", "false", false, {}, "every lookup has a weight, which learns", {}},
        [](EmbeddingTables& tables, const ConfigNode& node, ReadContext& context) {
            tables.traits.weighted = read_scalar<bool>(node, "'weighted'", context).value_or(false);
        },
        [](const EmbeddingTables& tables) {
            return tables.traits.weighted ? std::optional(ConfigNode::scalar("true")) : std::nullopt;
        });
    std::vector<ParameterDescriptor> memory{
        {"kind", "one of hbm, host, cached", "", true, {}, "where the rows are", {}}};
    const std::vector<ParameterDescriptor> cache = cache_schema().parameters();
    memory.insert(memory.end(), cache.begin(), cache.end());
    schema.field({"memory",
                  "one of hbm, host, cached, or a mapping",
                  "hbm",
                  false,
                  {},
                  "of the device, of its host, or of its host with a cache in the device's",
                  std::move(memory)},
                 read_memory, write_memory);
}

Schema<TableSlice> slice_schema() {
    Schema<TableSlice> schema("slice", "consecutive tables");
    schema.optional("from", &TableSlice::from, "number of the first table, counted from 0", {0, {}})
        .optional("count", &TableSlice::count, "tables from it on; unset: all", {1, {}});
    return schema;
}

Schema<TableScale> scale_schema() {
    Schema<TableScale> schema("scale", "factors for every table");
    const Range<double> range{1e-6, 1e6};
    schema.optional("rows", &TableScale::rows, "of the rows", range)
        .optional("dimension", &TableScale::dimension, "of the dimension", range)
        .optional("pooling", &TableScale::pooling, "of the lookups", range);
    return schema;
}

Schema<EmbeddingTables> tables_schema() {
    Schema<EmbeddingTables> schema("tables", "a group of embedding tables");
    schema.required("count", &EmbeddingTables::count, "number of tables", {1, {}});
    std::vector<ParameterDescriptor> forms = range_schema().parameters();
    const std::vector<ParameterDescriptor> distribution = distribution_schema().parameters();
    forms.insert(forms.end(), distribution.begin(), distribution.end());
    for (ParameterDescriptor& key : forms) {
        key.required = false;
        key.default_value = key.default_value.empty() ? "unset" : key.default_value;
    }
    const auto values = [&](std::string key, TableValues EmbeddingTables::*member, std::string help) {
        schema.field(
            {key, "integer, list, range or distribution", "", true, "at least 1", help, forms},
            [key, member](EmbeddingTables& tables, const ConfigNode& node, ReadContext& context) {
                if (std::optional<TableValues> read = read_values(node, key, context)) {
                    tables.*member = *std::move(read);
                }
            },
            [member](const EmbeddingTables& tables) { return std::optional(write_values(tables.*member)); });
    };
    values("rows", &EmbeddingTables::rows, "rows of each table");
    values("dimension", &EmbeddingTables::dimension, "values in a row");
    values("pooling", &EmbeddingTables::pooling, "rows a sample looks up and sums");
    add_traits(schema);
    return schema;
}

/// An interaction with its own keys.
Schema<CrossNetwork> cross_schema() {
    Schema<CrossNetwork> schema("interaction", "cross layers, as wide as all vectors in a row");
    schema.optional("layers", &CrossNetwork::layers, "of dcn_v2: cross layers", {1, 1024})
        .optional("rank", &CrossNetwork::rank, "of dcn_v2: columns of the first of two matrices; unset: one",
                  {1, {}});
    return schema;
}

std::vector<ParameterDescriptor> interaction_parameters() {
    std::vector<ParameterDescriptor> keys{
        {"kind", "one of dot, concatenation, dcn_v2", "", true, {}, "of the interaction", {}}};
    const std::vector<ParameterDescriptor> cross = cross_schema().parameters();
    keys.insert(keys.end(), cross.begin(), cross.end());
    return keys;
}

void read_interaction(DlrmModel& model, const ConfigNode& node, ReadContext& context) {
    const ConfigNode* kind = node.is_mapping() ? node.find("kind") : &node;
    if (kind == nullptr) {
        context.error("config.missing-key", node.where, "'interaction' needs 'kind'",
                      "write {kind: dcn_v2, layers: 3, rank: 512}");
        return;
    }
    const auto interaction = read_scalar<Interaction>(*kind, "'interaction'", context);
    if (!interaction) {
        return;
    }
    model.interaction = *interaction;
    if (!node.is_mapping()) {
        return;
    }
    const auto cross = cross_schema().read(node, context, {"kind"});
    if (cross && *interaction == Interaction::kDcnV2) {
        model.cross = *cross;
    } else if (cross && node.entries.size() > 1) {
        context.error("config.value", node.where,
                      fmt::format("'interaction' of kind {} has no cross layers", kind->text),
                      "leave 'layers' and 'rank' out, or set kind to dcn_v2");
    }
}

std::optional<ConfigNode> write_interaction(const DlrmModel& model) {
    ConfigNode kind = ConfigNode::scalar(ValueTraits<Interaction>::format(model.interaction));
    if (model.interaction != Interaction::kDcnV2) {
        return kind;
    }
    ConfigNode node = ConfigNode::mapping();
    node.set("kind", std::move(kind));
    for (const ConfigEntry& entry : cross_schema().write(model.cross).entries) {
        node.set(entry.key, entry.value);
    }
    return node;
}

void read_listed_tables(DlrmModel& model, const ConfigNode& node, ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, "'table_list'", context);
    if (!given) {
        return;
    }
    if (!model.tables.empty()) {
        context.error("config.value", node.where, "the model's tables are given twice",
                      "leave out 'tables', or 'table_list'");
        return;
    }
    const Result<ConfigNode> root =
        load_config(std::filesystem::absolute(directory_of(node) / *given).lexically_normal());
    if (!root) {
        for (const Diagnostic& diagnostic : root.error()) {
            context.error(diagnostic);
        }
        return;
    }
    if (std::optional<EmbeddingTables> tables = read_table_list(*root, context)) {
        model.tables.push_back(*std::move(tables));
    }
}

}  // namespace

Schema<DlrmModel> model_schema() {
    Schema<DlrmModel> schema("model", "a deep learning recommendation model");
    schema.required("dense_features", &DlrmModel::dense_features, "dense inputs of a sample", {1, {}})
        .list("bottom_mlp", &DlrmModel::bottom_mlp, "output widths of the bottom MLP, first layer first",
              true, {1, {}})
        .list("top_mlp", &DlrmModel::top_mlp, "output widths of the top MLP, first layer first", true,
              {1, {}});
    add_section_list(schema, "tables", &DlrmModel::tables, tables_schema(),
                     "embedding tables, or groups of them; or give table_list");
    schema
        .field({"table_list",
                "path",
                "unset",
                false,
                {},
                "TorchRec's list of tables in JSON, instead of tables; relative to the file that names it",
                {}},
               read_listed_tables, [](const DlrmModel&) { return std::optional<ConfigNode>(); })
        .section("slice", &DlrmModel::slice, slice_schema(),
                 "part of the tables that the model uses; unset: all")
        .field(
            {"repeat", "integer", "1", false, "at least 1", "times that the model has them", {}},
            [](DlrmModel& model, const ConfigNode& node, ReadContext& context) {
                model.repeat = read_scalar<std::int64_t>(node, "'repeat'", context, {1, {}}).value_or(1);
            },
            [](const DlrmModel& model) {
                return model.repeat == 1 ? std::nullopt
                                         : std::optional(ConfigNode::scalar(std::to_string(model.repeat)));
            })
        .section("scale", &DlrmModel::scale, scale_schema(), "factors for their numbers; unset: 1");
    schema
        .field({"interaction",
                "one of dot, concatenation, dcn_v2, or a mapping",
                "dot",
                false,
                {},
                "how embeddings and dense features are combined; of dcn_v2 with its keys",
                interaction_parameters()},
               read_interaction, write_interaction)
        .optional("biases", &DlrmModel::biases, "dense layers have a bias")
        .optional("element_size", &DlrmModel::element_size, "of weights and embeddings",
                  {Bytes(1), Bytes(16)})
        .optional("activation_element_size", &DlrmModel::activation_element_size,
                  "of what layers hand to each other, pooled embeddings included; unset: element_size",
                  {Bytes(1), Bytes(16)})
        .optional("gradient_element_size", &DlrmModel::gradient_element_size,
                  "of the MLP gradients that are all-reduced; unset: element_size", {Bytes(1), Bytes(16)})
        .check([](const DlrmModel& model) { return validation_errors(model); });
    return schema;
}

}  // namespace astrolabe::workload
