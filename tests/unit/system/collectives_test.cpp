// What each algorithm sends, by count (docs/theory/collectives-and-costs.md, "Algorithms"), and the shape of
// the two trees.

#include "system/src/program/traffic.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <queue>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/components.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {
namespace {

constexpr Position kMostRanks = 64;

/// Every rank of a symmetric algorithm with S divisible by N sends and receives exactly this.
void expect_each_rank(const CollectiveAlgorithm& algorithm, CollectiveKind kind, Position ranks, Bytes size,
                      std::uint64_t messages, Bytes bytes) {
    const Traffic traffic = traffic_of(algorithm.schedule(kind, ranks, 0), size);
    for (const RankTraffic& rank : traffic.ranks) {
        EXPECT_EQ(rank.messages_sent, messages) << ranks;
        EXPECT_EQ(rank.messages_received, messages) << ranks;
        EXPECT_EQ(rank.bytes_sent, bytes) << ranks;
        EXPECT_EQ(rank.bytes_received, bytes) << ranks;
    }
}

TEST(Ring, MessagesAndBytesPerRank) {
    const auto ring = testing::algorithm_of("ring");
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Bytes block(24);
        const Bytes size = block * n;                                                              // S
        expect_each_rank(*ring, CollectiveKind::kReduceScatter, n, size, n - 1, block * (n - 1));  // S(N-1)/N
        expect_each_rank(*ring, CollectiveKind::kAllGather, n, size, n - 1, size * (n - 1));       // S(N-1)
        expect_each_rank(*ring, CollectiveKind::kAllReduce, n, size, 2 * (n - 1),
                         block * (2 * (n - 1)));  // 2S(N-1)/N
        expect_each_rank(*ring, CollectiveKind::kAllToAll, n, size, n * (n - 1) / 2,
                         size * (n - 1) / 2);  // S(N-1)/2
    }
}

TEST(Ring, EveryMessageIsAStep) {
    const auto ring = testing::algorithm_of("ring");
    for (Position n = 2; n <= kMostRanks; ++n) {
        EXPECT_EQ(ring->schedule(CollectiveKind::kReduceScatter, n, 0).steps(), n - 1);
        EXPECT_EQ(ring->schedule(CollectiveKind::kAllGather, n, 0).steps(), n - 1);
        EXPECT_EQ(ring->schedule(CollectiveKind::kAllReduce, n, 0).steps(), 2 * (n - 1));
        EXPECT_EQ(ring->schedule(CollectiveKind::kAllToAll, n, 0).steps(), n * (n - 1) / 2);
    }
}

TEST(Direct, MessagesAndBytesPerRank) {
    const auto direct = testing::algorithm_of("direct");
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Bytes block(24);
        const Bytes size = block * n;  // S
        expect_each_rank(*direct, CollectiveKind::kReduceScatter, n, size, n - 1,
                         block * (n - 1));                                                      // S(N-1)/N
        expect_each_rank(*direct, CollectiveKind::kAllToAll, n, size, n - 1, block * (n - 1));  // S(N-1)/N
        expect_each_rank(*direct, CollectiveKind::kAllGather, n, size, n - 1, size * (n - 1));  // S(N-1)
        expect_each_rank(*direct, CollectiveKind::kAllReduce, n, size, 2 * (n - 1), block * (2 * (n - 1)));
    }
}

TEST(Direct, OneStepAndTwoForAllReduce) {
    const auto direct = testing::algorithm_of("direct");
    for (Position n = 2; n <= kMostRanks; ++n) {
        EXPECT_EQ(direct->schedule(CollectiveKind::kReduceScatter, n, 0).steps(), 1U);
        EXPECT_EQ(direct->schedule(CollectiveKind::kAllToAll, n, 0).steps(), 1U);
        EXPECT_EQ(direct->schedule(CollectiveKind::kAllGather, n, 0).steps(), 1U);
        EXPECT_EQ(direct->schedule(CollectiveKind::kAllReduce, n, 0).steps(), 2U);
    }
}

TEST(Direct, SendsToTheNextRankFirst) {
    const CollectiveSchedule schedule =
        testing::algorithm_of("direct")->schedule(CollectiveKind::kAllToAll, 5, 0);
    std::vector<Position> receivers;
    for (const Action& action : schedule.program(3).actions) {
        if (action.is_send()) {
            receivers.push_back(schedule.resolve(3, action.peer));
        }
    }
    EXPECT_EQ(receivers, (std::vector<Position>{4, 0, 1, 2}));
}

TEST(Direct, AnUnevenSizeStillSumsExactly) {
    // S = 10 over N = 4: blocks 3, 3, 2, 2. Rank r sends every block but the one it keeps: S minus that
    // block.
    const Traffic traffic = traffic_of(
        testing::algorithm_of("direct")->schedule(CollectiveKind::kReduceScatter, 4, 0), Bytes(10));
    EXPECT_EQ(traffic.ranks[0].bytes_sent, Bytes(7));
    EXPECT_EQ(traffic.ranks[1].bytes_sent, Bytes(7));
    EXPECT_EQ(traffic.ranks[2].bytes_sent, Bytes(8));
    EXPECT_EQ(traffic.ranks[3].bytes_sent, Bytes(8));
    EXPECT_EQ(traffic.bytes(), Bytes(10) * 3);  // (N-1)·S in all
}

TEST(DoubleBinaryTree, MessagesAndBytes) {
    const auto trees = testing::algorithm_of("double_binary_tree");
    const Bytes chunk(1000);
    for (Position n = 2; n <= kMostRanks; ++n) {
        for (const unsigned variant : {0U, 1U}) {
            const Traffic traffic =
                traffic_of(trees->schedule(CollectiveKind::kAllReduce, n, variant), chunk);
            EXPECT_EQ(traffic.messages(), 2 * (n - 1));         // one up and one down each edge
            EXPECT_EQ(traffic.bytes(), chunk * (2 * (n - 1)));  // of the whole chunk
            for (const RankTraffic& rank : traffic.ranks) {
                EXPECT_LE(rank.messages_sent, 3U);  // to the parent, to two children
            }
        }
        // Two chunks of S/2 each, one per tree. A rank interior in one tree is a leaf in the other: 3·S/2 +
        // S/2 = 2S; the two ranks that may be interior in both have degree <= 2 in one of them, so nobody
        // exceeds 5·S/2.
        const Traffic both = traffic_of(*trees, CollectiveKind::kAllReduce, n, chunk, 2);
        EXPECT_EQ(both.messages(), 4 * (n - 1));
        EXPECT_LE(both.bytes_sent_max(), chunk * 5 / 2);
        const auto heavy = std::count_if(both.ranks.begin(), both.ranks.end(), [&](const RankTraffic& rank) {
            return rank.bytes_sent > chunk * 2;
        });
        EXPECT_LE(heavy, 2) << n;
    }
}

TEST(DoubleBinaryTree, RefusesWhatIsNotAllReduce) {
    const auto trees = testing::algorithm_of("double_binary_tree");
    EXPECT_FALSE(trees->unsupported(CollectiveKind::kAllReduce, 7).has_value());
    for (const CollectiveKind kind :
         {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather, CollectiveKind::kAllToAll}) {
        EXPECT_EQ(trees->unsupported(kind, 8), "double_binary_tree does all_reduce only");
    }
}

TEST(DoubleBinaryTree, StepsAreTwiceTheDepthForPowersOfTwo) {
    const auto trees = testing::algorithm_of("double_binary_tree");
    for (Position k = 1; k <= 10; ++k) {
        for (const unsigned variant : {0U, 1U}) {
            EXPECT_EQ(trees->schedule(CollectiveKind::kAllReduce, Position{1} << k, variant).steps(), 2 * k);
        }
    }
}

/// One tree as lists of children, and the depth of each rank.
struct Tree {
    Position root = 0;
    std::vector<std::vector<Position>> children;
    std::vector<Position> depths;  // kUnreached where the root does not reach
    static constexpr Position kUnreached = 0xffffffff;

    Tree(Position ranks, unsigned variant)
        : children(ranks),
          depths(ranks, kUnreached) {
        const CollectiveSchedule schedule =
            testing::algorithm_of("double_binary_tree")->schedule(CollectiveKind::kAllReduce, ranks, variant);
        for (Position rank = 0; rank < ranks; ++rank) {
            bool has_parent = false;
            for (const Action& action : schedule.program(rank).actions) {
                if (action.kind == Action::Kind::kReceive) {  // the sum comes from the parent
                    children[action.peer].push_back(rank);
                    has_parent = true;
                }
            }
            if (!has_parent) {
                root = rank;
            }
        }
        std::queue<Position> queue;
        queue.push(root);
        depths[root] = 0;
        while (!queue.empty()) {
            const Position parent = queue.front();
            queue.pop();
            for (const Position child : children[parent]) {
                depths[child] = depths[parent] + 1;
                queue.push(child);
            }
        }
    }
};

TEST(DoubleBinaryTree, ShapeForEveryNumberOfRanks) {
    for (Position n = 2; n <= 299; ++n) {
        const Tree first(n, 0);
        const Tree second(n, 1);
        const auto ceil_log2 = static_cast<Position>(std::bit_width(n - 1));
        Position interior_in_both = 0;
        for (Position rank = 0; rank < n; ++rank) {
            for (const Tree* tree : {&first, &second}) {
                EXPECT_LE(tree->children[rank].size(), 2U) << n;
                ASSERT_NE(tree->depths[rank], Tree::kUnreached) << n;
                EXPECT_LE(tree->depths[rank], ceil_log2) << n;
            }
            const bool leaf_in_both = first.children[rank].empty() && second.children[rank].empty();
            EXPECT_FALSE(leaf_in_both) << "rank " << rank << " of " << n;
            interior_in_both += !first.children[rank].empty() && !second.children[rank].empty() ? 1 : 0;
        }
        EXPECT_LE(interior_in_both, 2U) << n;
    }
}

TEST(Traffic, OfAWholeCollectiveIsTheSumOfItsChunks) {
    // 1001 bytes in 4 chunks: 251, 250, 250, 250; a ring all_reduce sends 2(N-1) messages per rank and chunk
    // and 2(N-1)·S bytes over all ranks.
    const Traffic traffic =
        traffic_of(*testing::algorithm_of("ring"), CollectiveKind::kAllReduce, 5, Bytes(1001), 4);
    EXPECT_EQ(traffic.messages(), 4U * 5 * 8);
    EXPECT_EQ(traffic.bytes(), Bytes(8 * 1001));
    Bytes received;
    for (const RankTraffic& rank : traffic.ranks) {
        received += rank.bytes_received;
    }
    EXPECT_EQ(received, traffic.bytes());
    EXPECT_EQ(
        traffic_of(*testing::algorithm_of("ring"), CollectiveKind::kAllReduce, 1, Bytes(1001), 4).bytes(),
        Bytes(0));
}

}  // namespace
}  // namespace astrolabe::system
