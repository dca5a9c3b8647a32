#include "table_list.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace astrolabe::workload {

namespace {

std::optional<std::int64_t> read_count(const ConfigNode& table, const char* key, ReadContext& context) {
    const ConfigNode* node = table.find(key);
    if (node == nullptr) {
        context.error("config.tables", table.where, fmt::format("a table needs {}", key),
                      R"(write {"name": "t_0", "num_embeddings": 1000, "embedding_dim": 64})");
        return std::nullopt;
    }
    return read_scalar<std::int64_t>(*node, fmt::format("'{}'", key), context, {1, {}});
}

/// Lookups of a sample.
std::optional<std::int64_t> read_pooling(const ConfigNode& table, ReadContext& context) {
    const ConfigNode* factors = table.find("pooling_factors");
    const ConfigNode* features = table.find("feature_names");
    for (const ConfigNode* list : {factors, features}) {
        if (list != nullptr && (!list->is_sequence() || list->items.empty())) {
            context.error("config.tables", list->where, "a list with an entry for each feature is needed");
            return std::nullopt;
        }
    }
    if (factors == nullptr) {
        return features == nullptr ? 1 : static_cast<std::int64_t>(features->items.size());
    }
    if (features != nullptr && features->items.size() != factors->items.size()) {
        context.error(
            "config.tables", factors->where,
            fmt::format("{} pooling factors for {} features", factors->items.size(), features->items.size()));
        return std::nullopt;
    }
    std::int64_t sum = 0;
    for (const ConfigNode& factor : factors->items) {
        constexpr std::int64_t kMost = 1'000'000'000;
        const auto one = read_scalar<std::int64_t>(factor, "a pooling factor", context, {1, kMost});
        if (!one) {
            return std::nullopt;
        }
        sum += *one;
    }
    return sum;
}

}  // namespace

std::optional<EmbeddingTables> read_table_list(const ConfigNode& root, ReadContext& context) {
    if (!root.is_sequence() || root.items.empty()) {
        context.error("config.tables", root.where, "a list of tables is needed",
                      R"(write [{"name": "t_0", "num_embeddings": 1000, "embedding_dim": 64}, …])");
        return std::nullopt;
    }
    constexpr std::size_t kMostTables = 65'536;
    if (root.items.size() > kMostTables) {
        context.error("config.tables", root.where,
                      fmt::format("{} tables, expected at most {}", root.items.size(), kMostTables));
        return std::nullopt;
    }
    const std::size_t errors = context.error_count();
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> dimension;
    std::vector<std::int64_t> pooling;
    for (const ConfigNode& table : root.items) {
        if (!table.is_mapping()) {
            context.error("config.tables", table.where,
                          fmt::format("a table is a mapping, found {}", table.kind_name()));
            continue;
        }
        rows.push_back(read_count(table, "num_embeddings", context).value_or(1));
        dimension.push_back(read_count(table, "embedding_dim", context).value_or(1));
        pooling.push_back(read_pooling(table, context).value_or(1));
    }
    if (context.error_count() != errors) {
        return std::nullopt;
    }
    EmbeddingTables all;
    all.count = std::ssize(rows);
    all.rows = TableValues(std::move(rows));
    all.dimension = TableValues(std::move(dimension));
    all.pooling = TableValues(std::move(pooling));
    return all;
}

}  // namespace astrolabe::workload
