// Hierarchical collectives: what their phases are, what each carries, and that they are right on every grid.

#include "sanitizers.hpp"
#include "schedule_checks.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "system/src/program/traffic.hpp"
#include "system/src/schedule/proof.hpp"


#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::system {
namespace {

using Algorithm = std::shared_ptr<const CollectiveAlgorithm>;

constexpr auto kAware = HierarchicalOptimisation::kLocalBandwidthAware;
constexpr auto kBaseline = HierarchicalOptimisation::kBaseline;

Algorithm over(std::vector<Algorithm> per_dimension, HierarchicalOptimisation optimisation = kAware,
               DimensionOrder order = DimensionOrder::kAscending, std::vector<Bandwidth> bandwidths = {}) {
    return make_hierarchical({.optimisation = optimisation,
                              .per_dimension = std::move(per_dimension),
                              .order = order,
                              .bandwidths = std::move(bandwidths)});
}

// ---- Right on every grid

TEST(HierarchicalProof, OnGridsOfTwoAndThreeDimensions) {
    for (const std::size_t dimensions : {2U, 3U}) {
        for (const Shape& shape : factorisations(dimensions, testing::up_to<Position>(64, 24))) {
            // Every ordered factorisation up to 32 ranks; beyond, those with most divisors and a square of a
            // prime. proof_long_test.cpp has them all.
            if (shape.ranks() > 32 && shape.ranks() != 36 && shape.ranks() != 49 && shape.ranks() != 64) {
                continue;
            }
            expect_hierarchical_proven(shape, testing::algorithm_of("ring"));
            expect_hierarchical_proven(shape, testing::algorithm_of("direct"));
        }
    }
}

TEST(HierarchicalProof, WithDifferentAlgorithmsInEveryDimension) {
    const std::vector<Algorithm> mixed{testing::algorithm_of("halving_doubling"),
                                       testing::algorithm_of("bidirectional_ring"),
                                       testing::algorithm_of("double_binary_tree")};
    const std::vector<Algorithm> exchanging{testing::algorithm_of("pairwise"),
                                            testing::algorithm_of("bruck")};
    for (const Shape& shape : {Shape({2, 3, 4}), Shape({4, 2, 3}), Shape({3, 5, 2}), Shape({1, 4, 1, 5})}) {
        expect_proven(*over(mixed), CollectiveKind::kAllReduce, shape);
        expect_proven(*over({testing::algorithm_of("recursive_doubling")}, kBaseline),
                      CollectiveKind::kAllReduce, shape);
        expect_proven(*over({testing::algorithm_of("bidirectional_ring")}), CollectiveKind::kReduceScatter,
                      shape);
        expect_proven(*over({testing::algorithm_of("bruck"), testing::algorithm_of("ring")}),
                      CollectiveKind::kAllGather, shape);
        expect_proven(*over(exchanging), CollectiveKind::kAllToAll, shape);
    }
}

TEST(HierarchicalProof, InEveryOrderOfDimensions) {
    for (const DimensionOrder order : {DimensionOrder::kRoundRobin, DimensionOrder::kThemis}) {
        for (const CollectiveKind kind : kUnrootedKinds) {
            expect_proven(*over({testing::algorithm_of("direct")}, kAware, order), kind, Shape({2, 3, 2}));
            expect_proven(*over({testing::algorithm_of("ring")}, kBaseline, order), kind, Shape({3, 4}));
        }
    }
}

RC_GTEST_PROP(HierarchicalProof, OnRandomGridsWithRandomAlgorithms, ()) {
    const auto pick = [](auto low, auto end) {
        return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, end));
    };
    std::vector<Position> sizes;
    Position ranks = 1;
    for (int dimensions = pick(1, 5); dimensions > 0 && ranks < 24; --dimensions) {
        sizes.push_back(pick(Position{1}, 48 / ranks > 7 ? Position{8} : 48 / ranks + 1));
        ranks *= sizes.back();
    }
    HierarchicalOptions options;
    options.optimisation = *rc::gen::element(kAware, kBaseline);
    options.order =
        *rc::gen::element(DimensionOrder::kAscending, DimensionOrder::kRoundRobin, DimensionOrder::kThemis);
    const std::vector<testing::NamedAlgorithm> known = testing::builtin_algorithms();
    for (std::size_t dimension = 0; dimension < sizes.size(); ++dimension) {
        options.per_dimension.push_back(known[pick(std::size_t{0}, known.size())].algorithm);
        options.bandwidths.push_back(Bandwidth(pick(1, 1000) * 1'000'000'000LL));
    }
    const Shape shape(sizes);
    const Algorithm algorithm = make_hierarchical(options);
    const CollectiveKind kind = *rc::gen::elementOf(kUnrootedKinds);
    RC_PRE(ranks > 1 && !algorithm->unsupported(kind, shape));
    const std::vector<unsigned> sequence = algorithm->variant_sequence(kind, shape, 5);
    for (const unsigned variant : sequence) {
        RC_ASSERT(variant < algorithm->variants(kind, shape));
    }
    const CollectiveSchedule schedule = algorithm->schedule(kind, shape, sequence.back());
    const auto failure = prove(schedule);
    RC_ASSERT(!failure);
    // Whatever S is, what is sent is received, and every message stays inside its dimension.
    const Traffic traffic = traffic_of(schedule, Bytes(pick(0, 100'000)));
    Bytes received;
    for (const RankTraffic& rank : traffic.ranks) {
        received += rank.bytes_received;
    }
    RC_ASSERT(received == traffic.bytes());
    for (Position rank = 0; rank < ranks; ++rank) {
        for (const Action& action : schedule.program(rank).actions) {
            const std::size_t dimension = schedule.stages()[action.stage].dimension;
            const Position peer = schedule.resolve(rank, action.peer);
            RC_ASSERT(shape.with_coordinate(rank, dimension, shape.coordinate(peer, dimension)) == peer);
        }
    }
}

// ---- Phases

TEST(HierarchicalPhases, OfEveryKind) {
    using enum CollectiveKind;
    const Shape shape({2, 1, 3, 2});  // dimension 1 has nothing to do
    const auto stages = [&](CollectiveKind kind, HierarchicalOptimisation optimisation) {
        return over({testing::algorithm_of("ring")}, optimisation)->schedule(kind, shape, 0).stages();
    };
    EXPECT_EQ(
        stages(kAllReduce, kAware),
        (std::vector<Stage>{
            {0, kReduceScatter}, {2, kReduceScatter}, {3, kAllReduce}, {2, kAllGather}, {0, kAllGather}}));
    EXPECT_EQ(stages(kAllReduce, kBaseline),
              (std::vector<Stage>{{0, kAllReduce}, {2, kAllReduce}, {3, kAllReduce}}));
    EXPECT_EQ(stages(kReduceScatter, kAware),
              (std::vector<Stage>{{0, kReduceScatter}, {2, kReduceScatter}, {3, kReduceScatter}}));
    EXPECT_EQ(stages(kAllGather, kAware),
              (std::vector<Stage>{{3, kAllGather}, {2, kAllGather}, {0, kAllGather}}));
    EXPECT_EQ(stages(kAllToAll, kAware),
              (std::vector<Stage>{{0, kAllToAll}, {2, kAllToAll}, {3, kAllToAll}}));
}

/// Bytes that each rank sends, by dimension; the same on every rank.
std::map<std::size_t, Bytes> sent_by_dimension(const CollectiveSchedule& schedule, Bytes size) {
    std::map<std::size_t, Bytes> first;
    for (Position rank = 0; rank < schedule.ranks(); ++rank) {
        std::map<std::size_t, Bytes> sent;
        for (const Action& action : schedule.program(rank).actions) {
            if (action.is_send()) {
                sent[schedule.stages()[action.stage].dimension] += schedule.message_size(rank, action, size);
            }
        }
        EXPECT_TRUE(rank == 0 || sent == first) << rank;
        first = std::move(sent);
    }
    return first;
}

TEST(HierarchicalPhases, BytesOfEveryDimension) {
    for (const Algorithm& inner : {testing::algorithm_of("ring"), testing::algorithm_of("direct")}) {
        for (const Shape& shape : factorisations(3, 48)) {
            const Position n = shape.ranks();
            const Bytes size = Bytes(8) * n * n;  // S, with all divisions below exact
            const auto sent = [&](CollectiveKind kind, HierarchicalOptimisation optimisation = kAware) {
                return sent_by_dimension(over({inner}, optimisation)->schedule(kind, shape, 0), size);
            };
            auto aware = sent(CollectiveKind::kAllReduce);
            auto baseline = sent(CollectiveKind::kAllReduce, kBaseline);
            auto scatter = sent(CollectiveKind::kReduceScatter);
            auto gather = sent(CollectiveKind::kAllGather);
            auto exchange =
                over({testing::algorithm_of("direct")})->schedule(CollectiveKind::kAllToAll, shape, 0);
            auto exchanged = sent_by_dimension(exchange, size);
            Bytes total;
            for (std::size_t d = 0; d < 3; ++d) {
                const Bytes part = size * (shape[d] - 1) / shape[d];  // S(n_d-1)/n_d
                const Bytes share = part / shape.stride(d);           // S(n_d-1)/(n_0·…·n_d)
                EXPECT_EQ(aware[d], share * 2) << shape.text();
                EXPECT_EQ(baseline[d], part * 2) << shape.text();
                EXPECT_EQ(scatter[d], share) << shape.text();
                // Before AG(d) a rank holds S of every rank with the same coordinates up to d.
                EXPECT_EQ(gather[d], size * (shape[d] - 1) * (n / shape.stride(d + 1))) << shape.text();
                EXPECT_EQ(exchanged[d], part) << shape.text();
                total += aware[d];
            }
            EXPECT_EQ(total, size * 2 * (n - 1) / n);  // 2S(N-1)/N
        }
    }
}

TEST(HierarchicalPhases, TorusOfTheReference) {
    // docs/theory/collectives-and-costs.md, "Torus of three dimensions": 4 x 4 x 4, S = 64 MiB. 2S·63/64, and
    // 3 · 2S·3/4.
    const Shape torus({4, 4, 4});
    const Algorithm aware = over({testing::algorithm_of("ring")});
    const Algorithm baseline = over({testing::algorithm_of("ring")}, kBaseline);
    const Bytes size = Bytes(67'108'864);
    const auto sent = [&](const Algorithm& algorithm) {
        return traffic_of(algorithm->schedule(CollectiveKind::kAllReduce, torus, 0), size).bytes_sent_max();
    };
    EXPECT_EQ(sent(aware), Bytes(132'120'576));
    EXPECT_EQ(sent(baseline), Bytes(301'989'888));
    // Five phases of 3 or 6 steps: 3 + 3 + 6 + 3 + 3; three of 6.
    EXPECT_EQ(aware->schedule(CollectiveKind::kAllReduce, torus, 0).steps(), 18U);
    EXPECT_EQ(baseline->schedule(CollectiveKind::kAllReduce, torus, 0).steps(), 18U);
}

TEST(HierarchicalPhases, StepsAndMessagesAreThoseOfThePhases) {
    for (const Shape& shape : factorisations(2, 36)) {
        const Position a = shape[0];
        const Position b = shape[1];
        const CollectiveSchedule ring =
            over({testing::algorithm_of("ring")})->schedule(CollectiveKind::kAllReduce, shape, 0);
        EXPECT_EQ(ring.steps(), 2 * (a - 1) + 2 * (b - 1)) << shape.text();
        EXPECT_EQ(ring.message_count(), shape.ranks() * (2 * (a - 1) + 2 * (b - 1))) << shape.text();
        const CollectiveSchedule direct =
            over({testing::algorithm_of("direct")})->schedule(CollectiveKind::kAllReduce, shape, 0);
        EXPECT_EQ(direct.steps(), 1U + 2U + 1U) << shape.text();
        EXPECT_EQ(direct.message_count(), ring.message_count()) << shape.text();
    }
}

TEST(HierarchicalPhases, OneDimensionIsTheInnerAlgorithm) {
    for (const CollectiveKind kind : kUnrootedKinds) {
        const CollectiveSchedule inner = testing::algorithm_of("ring")->schedule(kind, 7, 0);
        const CollectiveSchedule outer =
            over({testing::algorithm_of("ring")})->schedule(kind, Shape({1, 7, 1}), 0);
        EXPECT_EQ(outer.stages(), (std::vector<Stage>{{1, kind}}));
        EXPECT_EQ(outer.symmetry(), Symmetry::kRotation);
        EXPECT_EQ(outer.message_count(), inner.message_count());
        EXPECT_EQ(outer.steps(), inner.steps());
    }
}

// ---- Variants

TEST(HierarchicalVariants, AreTheOrdersTimesTheInnerVariants) {
    const auto variants = [](const Algorithm& algorithm, const Shape& shape) {
        return algorithm->variants(CollectiveKind::kAllReduce, shape);
    };
    const Shape shape({2, 3, 4});
    EXPECT_EQ(variants(over({testing::algorithm_of("ring")}), shape), 1U);
    EXPECT_EQ(variants(over({testing::algorithm_of("bidirectional_ring")}), shape), 2U * 2 * 2);
    EXPECT_EQ(variants(over({testing::algorithm_of("ring"), testing::algorithm_of("ring"),
                             testing::algorithm_of("double_binary_tree")}),
                       shape),
              2U);
    EXPECT_EQ(variants(over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kRoundRobin), shape),
              3U);
    EXPECT_EQ(variants(over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kThemis), shape),
              6U);  // 3!
    EXPECT_EQ(variants(over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kThemis),
                       Shape({2, 2, 2, 2, 2})),
              5U);
    EXPECT_EQ(
        variants(over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kThemis), Shape({1, 3, 1})),
        1U);
}

/// The dimension in which each chunk of an all_reduce begins.
std::vector<std::uint32_t> first_dimensions(const Algorithm& algorithm, const Shape& shape,
                                            std::uint32_t chunks) {
    std::vector<std::uint32_t> first;
    for (const unsigned variant : algorithm->variant_sequence(CollectiveKind::kAllReduce, shape, chunks)) {
        const CollectiveSchedule schedule = algorithm->schedule(CollectiveKind::kAllReduce, shape, variant);
        first.push_back(schedule.stages().front().dimension);
    }
    return first;
}

TEST(HierarchicalVariants, RoundRobinStartsInEveryDimensionInTurn) {
    using Dimensions = std::vector<std::uint32_t>;
    const Algorithm algorithm = over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kRoundRobin);
    EXPECT_EQ(first_dimensions(algorithm, Shape({2, 2, 3}), 7), (Dimensions{0, 1, 2, 0, 1, 2, 0}));
    EXPECT_EQ(first_dimensions(algorithm, Shape({2, 1, 3}), 4), (Dimensions{0, 2, 0, 2}));
    EXPECT_EQ(first_dimensions(over({testing::algorithm_of("ring")}), Shape({2, 2, 3}), 3),
              (Dimensions{0, 0, 0}));
}

TEST(HierarchicalVariants, EveryCombinationOfInnerVariantsTakesItsTurn) {
    const Algorithm algorithm =
        over({testing::algorithm_of("bidirectional_ring")}, kAware, DimensionOrder::kRoundRobin);
    // Chunks 0, 2, 4, 6 start in dimension 0 and take its four combinations, the odd ones in dimension 1.
    EXPECT_EQ(algorithm->variant_sequence(CollectiveKind::kAllReduce, Shape({3, 3}), 10),
              (std::vector<unsigned>{0, 4, 1, 5, 2, 6, 3, 7, 0, 4}));
}

TEST(HierarchicalVariants, ThemisBalancesEqualDimensions) {
    // 4 x 4, equal bandwidths: starting in dimension d costs it 2·3/4 S and the other 2·3/4·S/4, so the least
    // largest load takes both in turn.
    const Algorithm algorithm = over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kThemis);
    EXPECT_EQ(first_dimensions(algorithm, Shape({4, 4}), 5), (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
    // Dimensions of size 1 have no load, wherever they are.
    EXPECT_EQ(first_dimensions(algorithm, Shape({4, 4, 1}), 5), (std::vector<std::uint32_t>{0, 1, 0, 1, 0}));
    EXPECT_EQ(first_dimensions(algorithm, Shape({1, 4, 1, 4, 1}), 5),
              (std::vector<std::uint32_t>{1, 3, 1, 3, 1}));
}

TEST(HierarchicalVariants, ThemisStartsWhereThereIsBandwidth) {
    // Dimension 0 with four times the bandwidth: a chunk that starts there loads both for 2·3/4·S/4 over the
    // lower bandwidth, one that starts in dimension 1 loads that for four times as long.
    const std::vector<Bandwidth> bandwidths{Bandwidth(400'000'000'000), Bandwidth(100'000'000'000)};
    const Algorithm algorithm =
        over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kThemis, bandwidths);
    EXPECT_EQ(first_dimensions(algorithm, Shape({4, 4}), 6), (std::vector<std::uint32_t>(6, 0)));
    const Algorithm swapped = over({testing::algorithm_of("ring")}, kAware, DimensionOrder::kThemis,
                                   {bandwidths[1], bandwidths[0]});
    EXPECT_EQ(first_dimensions(swapped, Shape({4, 4}), 6), (std::vector<std::uint32_t>(6, 1)));
}

// ---- Limits

TEST(HierarchicalRefusal, NamesTheDimensionAndTheReason) {
    const Algorithm trees =
        over({testing::algorithm_of("ring"), testing::algorithm_of("double_binary_tree")});
    EXPECT_EQ(trees->unsupported(CollectiveKind::kAllReduce, Shape({2, 3})), std::nullopt);
    EXPECT_EQ(trees->unsupported(CollectiveKind::kAllReduce, Shape({2, 3, 2})),
              "hierarchical cannot do reduce_scatter in dimension 1 of 2 x 3 x 2: double_binary_tree does "
              "all_reduce only");
    EXPECT_EQ(trees->unsupported(CollectiveKind::kBroadcast, Shape({2, 3})),
              "hierarchical does not do broadcast");
    EXPECT_EQ(trees->unsupported(CollectiveKind::kAllToAll, Shape({1, 1})), std::nullopt);  // nothing to do
}

TEST(HierarchicalRefusal, OfWhatTheExecutorCannotNumber) {
    // A forwarded all_to_all over a line of n takes n(n-1) actions on each of N ranks.
    const auto reason =
        over({testing::algorithm_of("ring")})->unsupported(CollectiveKind::kAllToAll, Shape({2, 512}));
    ASSERT_TRUE(reason);
    EXPECT_NE(reason->find(std::to_string(1024ULL * (2 * 1 + 512 * 511))), std::string::npos) << *reason;
    EXPECT_FALSE(
        over({testing::algorithm_of("direct")})->unsupported(CollectiveKind::kAllToAll, Shape({2, 512})));
}

TEST(HierarchicalScale, AThousandRanks) {
    // 8 x 128: a rank sends 2·7 messages in dimension 0, each of 128 blocks, and 2·127 of one in dimension 1.
    for (const Algorithm& inner : {testing::algorithm_of("ring"), testing::algorithm_of("direct")}) {
        const CollectiveSchedule schedule =
            over({inner})->schedule(CollectiveKind::kAllReduce, Shape({8, 128}), 0);
        EXPECT_EQ(schedule.message_count(), 1024U * (2 * 7 + 2 * 127));
        EXPECT_EQ(schedule.program(1023).blocks.size(), 2U * (2 * 7 * 128 + 2 * 127));
    }
    // Powers of two under the exclusive or: one program.
    const CollectiveSchedule shared = over({testing::algorithm_of("halving_doubling")})
                                          ->schedule(CollectiveKind::kAllReduce, Shape({8, 128}), 0);
    EXPECT_EQ(shared.symmetry(), Symmetry::kExclusiveOr);
    EXPECT_EQ(shared.steps(), 2U * (3 + 7));
}

}  // namespace
}  // namespace astrolabe::system
