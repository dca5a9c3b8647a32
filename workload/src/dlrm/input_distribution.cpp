#include "input_distribution.hpp"

#include "../integer_division.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {
namespace {

/// floor(a·b / c) of numbers that are not negative.
std::int64_t multiply_divide(std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<std::int64_t>(static_cast<detail::Int128>(a) * b / c);
}

/// Elements from each rank for each, of the tables of one kind.
class Elements {
public:
    explicit Elements(std::size_t ranks)
        : ranks_(ranks),
          lengths_(ranks * ranks, 0),
          values_(ranks * ranks, 0) {}

    /// `destination` looks up block `block` of `blocks` of a table's rows for everyone.
    void add(std::size_t destination, std::size_t table, std::int64_t block, std::int64_t blocks,
             std::int64_t samples, const LookupCount& lookups) {
        for (std::size_t source = 0; source < ranks_; ++source) {
            lengths_[source * ranks_ + destination] += samples;
            values_[source * ranks_ + destination] += lookups(source, table, block, blocks);
        }
    }

    [[nodiscard]] IndexExchange exchange(TableSharding kind, const InputDistribution& input) const {
        return {
            .kind = kind, .lengths = sizes(lengths_, input.length), .values = sizes(values_, input.index)};
    }

private:
    [[nodiscard]] system::PairSizes sizes(const std::vector<std::int64_t>& elements, Bytes each) const {
        std::vector<Bytes> bytes;
        bytes.reserve(elements.size());
        for (const std::int64_t count : elements) {
            bytes.push_back(count * each);
        }
        bool is_alike = true;
        for (std::size_t source = 1; source < ranks_ && is_alike; ++source) {
            is_alike = std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(ranks_),
                                  bytes.begin() + static_cast<std::ptrdiff_t>(source * ranks_));
        }
        if (is_alike) {
            bytes.resize(ranks_);
            return system::PairSizes::by_destination(std::move(bytes));
        }
        return system::PairSizes::of_pairs(ranks_, std::move(bytes));
    }

    std::size_t ranks_;
    std::vector<std::int64_t> lengths_;
    std::vector<std::int64_t> values_;
};

}  // namespace

RowBlock row_block(std::int64_t rows, std::int64_t block, std::int64_t blocks) {
    const std::int64_t height = divide_up(rows, blocks);
    return {.begin = std::min(rows, block * height), .end = std::min(rows, (block + 1) * height)};
}

LookupCount even_lookups(const std::vector<EqualTables>& tables, std::int64_t samples) {
    return
        [&tables, samples](std::size_t /*rank*/, std::size_t table, std::int64_t block, std::int64_t blocks) {
            const EqualTables& description = tables[table];
            const std::int64_t all = samples * description.pooling;
            const RowBlock rows = row_block(description.rows, block, blocks);
            return multiply_divide(all, rows.end, description.rows) -
                   multiply_divide(all, rows.begin, description.rows);
        };
}

std::vector<IndexExchange> index_exchanges(const ShardingPlan& plan, const std::vector<TablePlace>& places,
                                           std::int64_t samples, const InputDistribution& input,
                                           const LookupCount& lookups) {
    ASTROLABE_ASSERT(places.size() == plan.tables.size(), "every table has a place");
    std::map<TableSharding, Elements> by_kind;
    const auto of = [&](TableSharding kind) -> Elements& {
        return by_kind.try_emplace(kind, plan.ranks).first->second;
    };
    for (const Shard& shard : plan.shards) {
        of(places[shard.table].sharding).add(shard.rank.index(), shard.table, 0, 1, samples, lookups);
    }
    const auto host_size = static_cast<std::int64_t>(plan.ranks_per_host);
    for (const HostTable& table : plan.host_tables) {
        for (std::int64_t i = 0; i < host_size; ++i) {
            of(table.kind)
                .add(table.host * plan.ranks_per_host + static_cast<std::size_t>(i), table.table, i,
                     host_size, samples, lookups);
        }
    }
    for (const std::size_t table : plan.row_wise) {
        for (std::size_t rank = 0; rank < plan.ranks; ++rank) {
            of(TableSharding::kRowWise)
                .add(rank, table, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(plan.ranks),
                     samples, lookups);
        }
    }
    std::vector<IndexExchange> exchanges;
    for (const auto& [kind, elements] : by_kind) {
        exchanges.push_back(elements.exchange(kind, input));
    }
    return exchanges;
}

Bytes split_bytes(std::size_t kinds) {
    constexpr std::int64_t kNumbers = 3;  // of lengths, of values, and the samples of a batch
    constexpr std::int64_t kNumberBytes = 8;
    return Bytes(kNumbers * kNumberBytes * static_cast<std::int64_t>(kinds));
}

}  // namespace astrolabe::workload
