// Chunks and blocks sum exactly to what they divide.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {
namespace {

Bytes sum_of_parts(Bytes size, std::uint64_t count) {
    Bytes sum;
    for (std::uint64_t index = 0; index < count; ++index) {
        sum += part_size(size, count, index);
    }
    return sum;
}

TEST(PartSize, DiffersByAtMostOneByteLargerOnesFirst) {
    // 10 = 3 + 3 + 2 + 2
    EXPECT_EQ(part_size(Bytes(10), 4, 0), Bytes(3));
    EXPECT_EQ(part_size(Bytes(10), 4, 1), Bytes(3));
    EXPECT_EQ(part_size(Bytes(10), 4, 2), Bytes(2));
    EXPECT_EQ(part_size(Bytes(10), 4, 3), Bytes(2));
}

TEST(PartSize, SumsExactlyForAllSmallSizesAndSplits) {
    for (std::int64_t size = 1; size <= 10'000; ++size) {
        for (std::uint64_t parts = 1; parts <= 1024; ++parts) {
            const Bytes largest = part_size(Bytes(size), parts, 0);
            const Bytes smallest = part_size(Bytes(size), parts, parts - 1);
            ASSERT_TRUE(largest - smallest == Bytes(0) || largest - smallest == Bytes(1))
                << size << '/' << parts;
            // The parts fall from largest to smallest once, so their number of larger ones gives the sum.
            std::uint64_t low = 0;
            std::uint64_t high = parts;
            while (low < high) {
                const std::uint64_t middle = (low + high) / 2;
                if (part_size(Bytes(size), parts, middle) > smallest) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            ASSERT_EQ(smallest * parts + Bytes(static_cast<std::int64_t>(low)), Bytes(size))
                << size << '/' << parts;
        }
    }
}

TEST(PartSize, SumsExactlyPartByPart) {
    for (const std::int64_t size : {1, 2, 1023, 1024, 1025, 9973, 10'000}) {
        for (std::uint64_t parts = 1; parts <= 1024; ++parts) {
            ASSERT_EQ(sum_of_parts(Bytes(size), parts), Bytes(size)) << parts;
        }
    }
    for (const std::int64_t size : {std::int64_t{1} << 33, (std::int64_t{1} << 40) + 1}) {
        for (const std::uint64_t parts : {1, 3, 7, 128, 1000, 1024}) {
            ASSERT_EQ(sum_of_parts(Bytes(size), parts), Bytes(size)) << parts;
        }
    }
}

RC_GTEST_PROP(PartSize, PartsNeverGrowWithTheirIndex, ()) {
    const auto size = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
    const auto parts = *rc::gen::inRange<std::uint64_t>(1, 2000);
    for (std::uint64_t index = 1; index < parts; ++index) {
        RC_ASSERT(part_size(Bytes(size), parts, index) <= part_size(Bytes(size), parts, index - 1));
    }
    RC_ASSERT(sum_of_parts(Bytes(size), parts) == Bytes(size));
}

TEST(ChunkCount, IsClampedBetweenOneAndTheSplits) {
    // clamp(ceil(size / 1024), 1, splits)
    EXPECT_EQ(chunk_count(Bytes(0), Bytes(1024), 16), 1U);
    EXPECT_EQ(chunk_count(Bytes(1), Bytes(1024), 16), 1U);
    EXPECT_EQ(chunk_count(Bytes(1024), Bytes(1024), 16), 1U);
    EXPECT_EQ(chunk_count(Bytes(1025), Bytes(1024), 16), 2U);
    EXPECT_EQ(chunk_count(Bytes(16 * 1024 - 1), Bytes(1024), 16), 16U);
    EXPECT_EQ(chunk_count(Bytes(std::int64_t{1} << 33), Bytes(1024), 16), 16U);
    EXPECT_EQ(chunk_count(Bytes::max(), Bytes(1), 1024), 1024U);
}

TEST(BlockSize, BlocksOfAChunkSumToIt) {
    // Of every rank's vector: S for all_reduce, reduce_scatter and all_to_all; N·S contributed for
    // all_gather.
    const auto ring = testing::algorithm_of("ring");
    for (const Position ranks : {2U, 3U, 7U, 16U}) {
        for (const std::int64_t size :
             {std::int64_t{1}, std::int64_t{5}, std::int64_t{1000}, std::int64_t{1} << 33}) {
            for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                              CollectiveKind::kAllGather, CollectiveKind::kAllToAll}) {
                const CollectiveSchedule schedule = ring->schedule(kind, ranks, 0);
                Bytes sum;
                for (std::uint64_t block = 0; block < schedule.block_count(); ++block) {
                    sum += schedule.block_size(block, Bytes(size));
                }
                const bool counts_all_ranks =
                    kind == CollectiveKind::kAllGather || kind == CollectiveKind::kAllToAll;
                EXPECT_EQ(sum, Bytes(size) * (counts_all_ranks ? ranks : 1))
                    << to_string(kind) << ' ' << ranks;
            }
        }
    }
}

}  // namespace
}  // namespace astrolabe::system
