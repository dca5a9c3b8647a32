#include "drawn_lookups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <astrolabe/core/random.hpp>

namespace astrolabe::workload {

namespace {

/// The sum of 12 uniform numbers in [0, 1), less 6: mean 0, variance 1.
double standard_normal(RandomStream& random) {
    constexpr std::int64_t kOne = std::int64_t{1} << 32;
    std::int64_t sum = -6 * kOne;
    for (int i = 0; i < 12; ++i) {
        sum += static_cast<std::int64_t>(random.next() >> 32U);
    }
    return static_cast<double>(sum) / static_cast<double>(kOne);
}

/// Around `mean` with `variance`, within 0 and `largest`.
std::int64_t drawn(RandomStream& random, std::int64_t mean, double variance, std::int64_t largest) {
    const std::int64_t offset = std::llround(std::sqrt(variance) * standard_normal(random));
    return std::clamp(mean + offset, std::int64_t{0}, largest);
}

}  // namespace

DrawnLookups::DrawnLookups(const std::vector<EqualTables>& tables, std::size_t ranks, std::int64_t samples)
    : tables_(tables),
      ranks_(ranks),
      samples_(samples),
      even_(even_lookups(tables, samples)) {}

std::int64_t DrawnLookups::of_rank(std::size_t rank, std::size_t table, std::int64_t block,
                                   std::int64_t blocks) {
    if (!tables_[table].traits.spread) {
        return even_(rank, table, block, blocks);
    }
    return by_rank(table, blocks)[rank][static_cast<std::size_t>(block)];
}

std::int64_t DrawnLookups::of_all(std::size_t table, std::int64_t block, std::int64_t blocks) {
    if (!tables_[table].traits.spread) {
        return static_cast<std::int64_t>(ranks_) * even_(0, table, block, blocks);
    }
    const auto [entry, is_new] =
        sums_.try_emplace({table, blocks}, Blocks(static_cast<std::size_t>(blocks), 0));
    if (is_new) {
        for (const Blocks& of_rank : by_rank(table, blocks)) {
            for (std::size_t i = 0; i < of_rank.size(); ++i) {
                entry->second[i] += of_rank[i];
            }
        }
    }
    return entry->second[static_cast<std::size_t>(block)];
}

const std::vector<DrawnLookups::Blocks>& DrawnLookups::by_rank(std::size_t table, std::int64_t blocks) {
    const auto [entry, is_new] = drawn_.try_emplace({table, blocks});
    if (is_new) {
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            entry->second.push_back(draw(rank, table, blocks));
        }
    }
    return entry->second;
}

DrawnLookups::Blocks DrawnLookups::draw(std::size_t rank, std::size_t table, std::int64_t blocks) const {
    const EqualTables& description = tables_[table];
    const PoolingSpread& spread = *description.traits.spread;
    RandomStream of_table(static_cast<std::uint64_t>(spread.seed),
                          fmt::format("lookups of table {} on rank {}", table, rank));
    const auto pooling = static_cast<double>(description.pooling);
    const double variance = spread.deviation ? *spread.deviation * *spread.deviation : pooling;
    const std::int64_t mean = samples_ * description.pooling;
    constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
    std::int64_t left = drawn(of_table, mean, static_cast<double>(samples_) * variance, kUnbounded);

    RandomStream of_blocks(static_cast<std::uint64_t>(spread.seed),
                           fmt::format("blocks of table {} on rank {}", table, rank));
    Blocks counts;
    std::int64_t rows_left = description.rows;
    for (std::int64_t block = 0; block < blocks; ++block) {
        const RowBlock rows = row_block(description.rows, block, blocks);
        const std::int64_t of_block = rows.end - rows.begin;
        std::int64_t count = left;
        if (of_block < rows_left) {
            const double share = static_cast<double>(of_block) / static_cast<double>(rows_left);
            const std::int64_t even = std::llround(static_cast<double>(left) * share);
            count = drawn(of_blocks, even, static_cast<double>(left) * share * (1 - share), left);
        }
        counts.push_back(count);
        left -= count;
        rows_left -= of_block;
    }
    return counts;
}

LookupCount drawn_lookups(const std::vector<EqualTables>& tables, std::size_t ranks, std::int64_t samples) {
    const auto lookups = std::make_shared<DrawnLookups>(tables, ranks, samples);
    return [lookups](std::size_t rank, std::size_t table, std::int64_t block, std::int64_t blocks) {
        return lookups->of_rank(rank, table, block, blocks);
    };
}

}  // namespace astrolabe::workload
