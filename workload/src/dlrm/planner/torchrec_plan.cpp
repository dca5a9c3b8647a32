#include "torchrec_plan.hpp"

#include "../input_distribution.hpp"
#include "../sharding_decisions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::workload::planner {

namespace {

constexpr std::array<std::pair<std::string_view, TableSharding>, 7> kTypes{
    {{"table_wise", TableSharding::kTableWise},
     {"column_wise", TableSharding::kColumnWise},
     {"table_column_wise", TableSharding::kTableColumnWise},
     {"row_wise", TableSharding::kRowWise},
     {"table_row_wise", TableSharding::kTableRowWise},
     {"grid_shard", TableSharding::kGrid},
     {"data_parallel", TableSharding::kDataParallel}}};

/// A part of a table on a rank.
struct TablePart {
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t rank = 0;

    bool operator==(const TablePart&) const = default;
};

std::string describe_part(const TablePart& part) {
    return fmt::format("offsets [{}, {}], sizes [{}, {}] on rank {}", part.row, part.column, part.rows,
                       part.columns, part.rank);
}

/// All parts of a table of a plan, in TorchRec's order; none of data_parallel.
std::vector<TablePart> parts_of(std::int64_t rows, std::int64_t columns, const TablePlace& place,
                                std::int64_t ranks, std::int64_t ranks_per_host) {
    std::vector<TablePart> parts;
    const auto add_rows = [&](std::int64_t first_rank, std::int64_t blocks, std::int64_t column,
                              std::int64_t width) {
        for (std::int64_t block = 0; block < blocks; ++block) {
            const RowBlock held = row_block(rows, block, blocks);
            parts.push_back({held.begin, column, held.end - held.begin, width, first_rank + block});
        }
    };
    std::int64_t column = 0;
    const auto next_columns = [&](std::int64_t shards, std::int64_t i) {
        const std::int64_t width = columns_of_shard(columns, shards, i);
        return std::pair(std::exchange(column, column + width), width);
    };
    switch (place.sharding) {
        case TableSharding::kTableWise:
        case TableSharding::kColumnWise:
        case TableSharding::kTableColumnWise: {
            std::vector<std::int64_t> holders = place.ranks;
            if (place.sharding == TableSharding::kTableColumnWise) {
                holders.resize(static_cast<std::size_t>(ranks_per_host));
                std::iota(holders.begin(), holders.end(), place.hosts.front() * ranks_per_host);
            }
            const auto shards = static_cast<std::int64_t>(holders.size());
            for (std::int64_t i = 0; i < shards; ++i) {
                const auto [from, width] = next_columns(shards, i);
                parts.push_back({0, from, rows, width, holders[static_cast<std::size_t>(i)]});
            }
            break;
        }
        case TableSharding::kRowWise:
            add_rows(0, ranks, 0, columns);
            break;
        case TableSharding::kTableRowWise:
        case TableSharding::kGrid: {
            const auto shards = static_cast<std::int64_t>(place.hosts.size());
            for (std::int64_t i = 0; i < shards; ++i) {
                const auto [from, width] = next_columns(shards, i);
                add_rows(place.hosts[static_cast<std::size_t>(i)] * ranks_per_host, ranks_per_host, from,
                         width);
            }
            break;
        }
        case TableSharding::kDataParallel:
            break;
    }
    return parts;
}

bool is_null(const ConfigNode* node) {
    return node == nullptr || (node->is_scalar() && (node->text.empty() || node->text == "null" ||
                                                     node->text == "None" || node->text == "~"));
}

/// Reads one table.
class TableReader {
public:
    TableReader(std::string name, const ConfigNode& node, ReadContext& context)
        : node_(node),
          context_(context) {
        table_.name = std::move(name);
        table_.where = node.where.to_string();
    }

    [[nodiscard]] std::optional<ImportedTable> read() {
        const std::size_t errors = context_.error_count();
        read_type();
        read_kernel();
        read_parts();
        if (context_.error_count() == errors) {
            read_ranks();
        }
        if (context_.error_count() == errors) {
            place();
        }
        if (context_.error_count() == errors) {
            compare();
        }
        return context_.error_count() == errors ? std::optional(std::move(table_)) : std::nullopt;
    }
    /// After `read`; 0 where the table is not within hosts.
    [[nodiscard]] std::int64_t ranks_per_host() const { return ranks_per_host_; }

private:
    void error(const ConfigNode& node, std::string message, std::string hint = {}) {
        context_.error("config.plan", node.where, fmt::format("table '{}': {}", table_.name, message),
                       std::move(hint));
    }

    void read_type() {
        const ConfigNode* type = node_.find("sharding_type");
        if (type == nullptr || !type->is_scalar()) {
            error(node_, "no sharding_type", "write \"sharding_type\": \"table_wise\"");
            return;
        }
        const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                        [&](const auto& known) { return known.first == type->text; });
        if (found == kTypes.end()) {
            std::vector<std::string> names;
            for (const auto& [name, kind] : kTypes) {
                names.emplace_back(name);
            }
            error(*type, fmt::format("'{}' is no sharding_type", type->text),
                  fmt::format("one of: {}", fmt::join(names, ", ")));
            return;
        }
        kind_ = found->second;
        table_.rule.sharding = kind_;
    }

    void read_kernel() {
        const ConfigNode* kernel = node_.find("compute_kernel");
        if (!is_null(kernel) && kernel->text != "fused" && kernel->text != "dense") {
            error(*kernel,
                  fmt::format("compute_kernel '{}' keeps rows outside of the device's memory", kernel->text),
                  "plans are read with the kernels fused and dense; say in the model where rows lie");
        }
    }

    [[nodiscard]] std::optional<std::int64_t> number(const ConfigNode& node, std::string_view what) {
        constexpr std::int64_t kMost = std::int64_t{1} << 48;  // sums of two stay in range
        return read_scalar<std::int64_t>(node, fmt::format("{} of table '{}'", what, table_.name), context_,
                                         {0, kMost});
    }

    [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> pair_of(const ConfigNode& shard,
                                                                               const char* key) {
        const ConfigNode* pair = shard.find(key);
        if (pair == nullptr || !pair->is_sequence() || pair->items.size() != 2) {
            error(shard, fmt::format("a shard needs {}: [rows, columns]", key));
            return std::nullopt;
        }
        const auto rows = number(pair->items[0], key);
        const auto columns = number(pair->items[1], key);
        return rows && columns ? std::optional(std::pair(*rows, *columns)) : std::nullopt;
    }

    /// Of "rank:3/cuda:1".
    [[nodiscard]] std::optional<std::int64_t> rank_of(const ConfigNode& placement) {
        constexpr std::string_view kPrefix = "rank:";
        const std::string_view text = placement.text;
        std::int64_t rank = -1;
        if (placement.is_scalar() && text.starts_with(kPrefix)) {
            const char* end = text.data() + text.size();
            const auto [rest, failure] = std::from_chars(text.data() + kPrefix.size(), end, rank);
            if (failure == std::errc() && rank >= 0 && (rest == end || *rest == '/')) {
                return rank;
            }
        }
        error(placement, fmt::format("'{}' is no placement", placement.text), "write \"rank:3/cuda:1\"");
        return std::nullopt;
    }

    void read_parts() {
        const ConfigNode* spec = node_.find("sharding_spec");
        if (is_null(spec)) {
            return;
        }
        const ConfigNode* shards = spec->is_mapping() ? spec->find("shards") : spec;
        if (shards == nullptr || !shards->is_sequence() || shards->items.empty()) {
            error(
                *spec, "sharding_spec needs shards",
                R"(write {"shards": [{"shard_offsets": [0, 0], "shard_sizes": [R, D], "placement": "rank:0/cuda:0"}]})");
            return;
        }
        for (const ConfigNode& shard : shards->items) {
            const auto offsets = pair_of(shard, "shard_offsets");
            const auto sizes = pair_of(shard, "shard_sizes");
            if (!offsets || !sizes) {
                return;
            }
            TablePart part{offsets->first, offsets->second, sizes->first, sizes->second, -1};
            if (const ConfigNode* placement = shard.find("placement"); !is_null(placement)) {
                const auto rank = rank_of(*placement);
                if (!rank) {
                    return;
                }
                part.rank = *rank;
            }
            table_.rows = std::max(table_.rows, part.row + part.rows);
            table_.columns = std::max(table_.columns, part.column + part.columns);
            parts_.push_back(part);
            part_nodes_.push_back(&shard);
        }
    }

    void read_ranks() {
        const ConfigNode* ranks = node_.find("ranks");
        if (!is_null(ranks) && !ranks->is_sequence()) {
            error(*ranks, "'ranks' takes a list");
            return;
        }
        for (std::size_t i = 0; !is_null(ranks) && i < ranks->items.size(); ++i) {
            if (const auto rank = number(ranks->items[i], "a rank")) {
                ranks_.push_back(*rank);
            }
        }
        if (ranks_.empty()) {
            for (const TablePart& part : parts_) {
                ranks_.push_back(part.rank);
            }
        }
        if (!parts_.empty() && ranks_.size() != parts_.size()) {
            error(node_, fmt::format("{} ranks for {} shards", ranks_.size(), parts_.size()));
            return;
        }
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (parts_[i].rank < 0) {
                parts_[i].rank = ranks_[i];
            } else if (parts_[i].rank != ranks_[i]) {
                error(*part_nodes_[i], fmt::format("a shard is placed on rank {} and listed for rank {}",
                                                   parts_[i].rank, ranks_[i]));
                return;
            }
        }
        if (kind_ != TableSharding::kDataParallel &&
            (ranks_.empty() || std::find(ranks_.begin(), ranks_.end(), -1) != ranks_.end())) {
            error(node_, "no rank is given", "write \"ranks\": [0], or a placement for every shard");
        }
    }

    /// Whether ranks [from, from + count) of the list are all of a host, in order; its number.
    [[nodiscard]] std::optional<std::int64_t> host_of(std::size_t from, std::int64_t count) {
        const std::int64_t first = ranks_[from];
        bool is_host = first % count == 0;
        for (std::int64_t i = 0; i < count; ++i) {
            is_host = is_host && ranks_[from + static_cast<std::size_t>(i)] == first + i;
        }
        if (!is_host) {
            error(node_, fmt::format("ranks {} are not all ranks of a host of {}, in order",
                                     fmt::join(ranks_, ", "), count));
            return std::nullopt;
        }
        return first / count;
    }

    void place() {
        const auto count = static_cast<std::int64_t>(ranks_.size());
        switch (kind_) {
            case TableSharding::kTableWise:
                if (count != 1) {
                    error(node_, fmt::format("table_wise lies on one rank, not on {}", count));
                }
                table_.rule.ranks = ranks_;
                break;
            case TableSharding::kColumnWise:
                table_.rule.shards = count;
                table_.rule.ranks = ranks_;
                break;
            case TableSharding::kTableColumnWise:
            case TableSharding::kTableRowWise:
                place_on_hosts(1);
                break;
            case TableSharding::kGrid: {
                const auto in_first = std::count_if(
                    parts_.begin(), parts_.end(),
                    [this](const TablePart& part) { return part.column == parts_.front().column; });
                if (parts_.empty() || count % in_first != 0) {
                    error(node_, "grid_shard needs a sharding_spec with as many shards on every host");
                    return;
                }
                table_.rule.shards = count / in_first;
                place_on_hosts(*table_.rule.shards);
                break;
            }
            case TableSharding::kRowWise:
                if (host_of(0, count).value_or(0) != 0) {
                    error(node_, "row_wise lies on all ranks from 0 on");
                }
                table_.ranks = count;
                break;
            case TableSharding::kDataParallel:
                break;
        }
    }

    void place_on_hosts(std::int64_t hosts) {
        ranks_per_host_ = static_cast<std::int64_t>(ranks_.size()) / hosts;
        for (std::int64_t i = 0; i < hosts; ++i) {
            if (const auto host = host_of(static_cast<std::size_t>(i * ranks_per_host_), ranks_per_host_)) {
                table_.rule.hosts.push_back(*host);
            } else {
                return;
            }
        }
    }

    /// Every shard with what the simulator makes of the plan.
    void compare() {
        if (parts_.empty() || kind_ == TableSharding::kDataParallel) {
            return;
        }
        const TablePlace place{.sharding = kind_, .ranks = table_.rule.ranks, .hosts = table_.rule.hosts};
        const std::vector<TablePart> expected = parts_of(table_.rows, table_.columns, place, table_.ranks,
                                                         std::max<std::int64_t>(ranks_per_host_, 1));
        ASTROLABE_ASSERT(expected.size() == parts_.size(), "as many shards as ranks");
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (parts_[i] != expected[i]) {
                error(
                    *part_nodes_[i],
                    fmt::format("shard {} has {}; expected {}", i, describe_part(parts_[i]),
                                describe_part(expected[i])),
                    "shards come in order, cover the table once, and are as even as rows and columns allow");
                return;
            }
        }
    }

    const ConfigNode& node_;
    ReadContext& context_;
    ImportedTable table_;
    TableSharding kind_ = TableSharding::kTableWise;
    std::vector<TablePart> parts_;
    std::vector<const ConfigNode*> part_nodes_;
    std::vector<std::int64_t> ranks_;
    std::int64_t ranks_per_host_ = 0;
};

bool is_table(const ConfigNode& node) {
    return node.is_mapping() && node.find("sharding_type") != nullptr;
}

/// The mapping of tables: the node itself, or below "plan" and the only module.
const ConfigNode* tables_of(const ConfigNode& root, ReadContext& context) {
    const ConfigNode* node = &root;
    if (node->is_mapping() && node->find("plan") != nullptr && !is_table(*node->find("plan"))) {
        node = node->find("plan");
    }
    if (node->is_mapping() && !node->entries.empty() && !is_table(node->entries.front().value)) {
        if (node->entries.size() > 1) {
            context.error("config.plan", node->entries[1].value.where,
                          fmt::format("the plan has {} modules, and the model one", node->entries.size()),
                          "give the plan of one EmbeddingBagCollection");
            return nullptr;
        }
        node = &node->entries.front().value;
    }
    if (!node->is_mapping() || node->entries.empty()) {
        context.error("config.plan", node->where, "there is no table in this plan",
                      R"(write {"table_0": {"sharding_type": "table_wise", "ranks": [0], …}})");
        return nullptr;
    }
    return node;
}

}  // namespace

std::optional<ReadPlan> read_torchrec_plan(const ConfigNode& root, ReadContext& context) {
    const ConfigNode* tables = tables_of(root, context);
    if (tables == nullptr) {
        return std::nullopt;
    }
    const std::size_t errors = context.error_count();
    ReadPlan plan;
    for (const ConfigEntry& entry : tables->entries) {
        TableReader reader(entry.key, entry.value, context);
        std::optional<ImportedTable> table = reader.read();
        if (!table) {
            continue;
        }
        const std::int64_t size = reader.ranks_per_host();
        if (size > 0 && plan.ranks_per_host.value_or(size) != size) {
            context.error(
                "config.plan", entry.value.where,
                fmt::format("table '{}' lies on a host of {} ranks, tables before it on hosts of {}",
                            entry.key, size, *plan.ranks_per_host));
        } else if (size > 0) {
            plan.ranks_per_host = size;
        }
        table->rule.first = static_cast<std::int64_t>(plan.tables.size());
        plan.tables.push_back(*std::move(table));
    }
    return context.error_count() == errors ? std::optional(std::move(plan)) : std::nullopt;
}

nlohmann::ordered_json torchrec_plan(const DlrmModel& model, const std::vector<TablePlace>& places,
                                     std::size_t ranks, std::int64_t ranks_per_host) {
    using Json = nlohmann::ordered_json;
    const std::vector<EqualTables> tables = single_tables(model);
    ASTROLABE_ASSERT(tables.size() == places.size(), "every table has a place");
    const auto count = static_cast<std::int64_t>(ranks);
    Json all = Json::object();
    for (std::size_t table = 0; table < tables.size(); ++table) {
        const TableSharding kind = places[table].sharding;
        const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                       [kind](const auto& known) { return known.second == kind; });
        const bool is_copy = kind == TableSharding::kDataParallel;
        Json shards = Json::array();
        std::vector<std::int64_t> holders;
        for (const TablePart& part :
             parts_of(tables[table].rows, tables[table].dimension, places[table], count, ranks_per_host)) {
            holders.push_back(part.rank);
            shards.push_back(
                {{"shard_offsets", {part.row, part.column}},
                 {"shard_sizes", {part.rows, part.columns}},
                 {"placement", fmt::format("rank:{}/cuda:{}", part.rank, part.rank % ranks_per_host)}});
        }
        if (is_copy) {
            holders.resize(ranks);
            std::iota(holders.begin(), holders.end(), std::int64_t{0});
        }
        all[fmt::format("table_{}", table)] = {
            {"sharding_type", type->first},
            {"compute_kernel", is_copy ? "dense" : "fused"},
            {"ranks", holders},
            {"sharding_spec", is_copy ? Json(nullptr) : Json{{"shards", std::move(shards)}}}};
    }
    return {{"plan", {{"sparse_arch.embedding_bag_collection", std::move(all)}}}};
}

}  // namespace astrolabe::workload::planner
