// Messages, bytes, steps and times of the algorithms beyond ring, direct and trees, as closed forms for 2 to
// 64 ranks (docs/theory/collectives-and-costs.md, "Algorithms" and "Closed forms"). Times are those of one
// chunk on a network without contention.

#include "program_builder.hpp"
#include "schedule_checks.hpp"
#include "system/src/program/traffic.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::Action;
using system::CollectiveKind;
using system::CollectiveSchedule;
using system::Position;
using system::RankTraffic;
using system::Symmetry;
using system::Traffic;
using Algorithm = std::shared_ptr<const system::CollectiveAlgorithm>;

constexpr Position kMostRanks = 64;
constexpr Bytes kBlock(24);
constexpr FakeBackendOptions kNetwork{.latency = Time(1000), .time_per_byte = Time(80)};  // α, β

Time message_time(Bytes size) {
    return kNetwork.latency + kNetwork.time_per_byte * size.count();
}

Time time_alone(const Algorithm& algorithm, CollectiveKind kind, Position ranks, Bytes size) {
    ProgramBuilder builder(ranks);
    builder.collective("alone", {.kind = kind, .size = size});
    FakeBackend backend(ranks, kNetwork);
    system::Executor executor(builder.program(), options_with(algorithm, 1, 1), backend,
                              host_of_each_rank(ranks));
    return executor.run().total;
}

Position log2_of(Position power_of_two) {
    return static_cast<Position>(std::countr_zero(power_of_two));
}
Position ceil_log2(Position ranks) {
    return static_cast<Position>(std::bit_width(ranks - 1));
}

/// What is the same on every rank.
struct Form {
    Symmetry symmetry;
    std::uint64_t messages;
    Bytes bytes;
    std::uint64_t steps;
    Time time;
};

void expect_counts(const CollectiveSchedule& schedule, Bytes size, const Form& form) {
    const Position n = schedule.ranks();
    EXPECT_EQ(schedule.symmetry(), form.symmetry) << n;
    EXPECT_EQ(schedule.steps(), form.steps) << n;
    for (const RankTraffic& rank : traffic_of(schedule, size).ranks) {
        EXPECT_EQ(rank.messages_sent, form.messages) << n;
        EXPECT_EQ(rank.messages_received, form.messages) << n;
        EXPECT_EQ(rank.bytes_sent, form.bytes) << n;
        EXPECT_EQ(rank.bytes_received, form.bytes) << n;
    }
}

void expect_form(const Algorithm& algorithm, CollectiveKind kind, Position ranks, Bytes size,
                 const Form& form) {
    for (unsigned variant = 0; variant < algorithm->variants(kind, ranks); ++variant) {
        expect_counts(algorithm->schedule(kind, ranks, variant), size, form);
    }
    EXPECT_EQ(time_alone(algorithm, kind, ranks, size), form.time) << to_string(kind) << ' ' << ranks;
}

TEST(HalvingDoubling, PowersOfTwo) {
    const Algorithm algorithm = algorithm_of("halving_doubling");
    for (Position n = 2; n <= kMostRanks; n *= 2) {
        const Position k = log2_of(n);
        const Bytes sent = kBlock * (n - 1);  // S/2 + S/4 + … + S/N = S(N-1)/N
        const Time time = kNetwork.latency * k + kNetwork.time_per_byte * sent.count();
        const Form once{Symmetry::kExclusiveOr, k, sent, k, time};
        expect_form(algorithm, CollectiveKind::kReduceScatter, n, kBlock * n, once);
        expect_form(algorithm, CollectiveKind::kAllGather, n, kBlock, once);
        expect_form(algorithm, CollectiveKind::kAllReduce, n, kBlock * n,
                    {Symmetry::kExclusiveOr, 2 * k, sent * 2, 2 * k, time * 2});
    }
}

TEST(HalvingDoubling, NearPartnersExchangeMost) {
    // N = 8, S = 800: S/2 with 1 away, S/4 with 2 away, S/8 with 4 away, and the mirror image.
    const CollectiveSchedule schedule =
        algorithm_of("halving_doubling")->schedule(CollectiveKind::kAllReduce, 8, 0);
    std::vector<std::pair<Position, Bytes>> sent;
    for (const Action& action : schedule.program(5).actions) {
        if (action.is_send()) {
            sent.emplace_back(schedule.resolve(5, action.peer), schedule.message_size(5, action, Bytes(800)));
        }
    }
    const std::vector<std::pair<Position, Bytes>> expected{{4, Bytes(400)}, {7, Bytes(200)}, {1, Bytes(100)},
                                                           {1, Bytes(100)}, {7, Bytes(200)}, {4, Bytes(400)}};
    EXPECT_EQ(sent, expected);
}

TEST(HalvingDoubling, FoldedAllReduce) {
    const Algorithm algorithm = algorithm_of("halving_doubling");
    for (Position n = 3; n <= kMostRanks; ++n) {
        const Position core = std::bit_floor(n);
        if (core == n) {
            continue;
        }
        const Position k = log2_of(core);
        const Position extras = n - core;
        const Bytes size = kBlock * core;
        const Bytes in_core = kBlock * (2 * (core - 1));  // 2S(P-1)/P
        const CollectiveSchedule schedule = algorithm->schedule(CollectiveKind::kAllReduce, n, 0);
        EXPECT_EQ(schedule.steps(), 2 * k + 2) << n;
        const Traffic traffic = traffic_of(schedule, size);
        for (Position rank = 0; rank < n; ++rank) {
            // An extra rank hands over S and gets S; its partner the other way round, beside its own part.
            const bool is_extra = rank >= core;
            const bool has_extra = rank < extras;
            const Bytes bytes = (is_extra ? Bytes(0) : in_core) + (is_extra || has_extra ? size : Bytes(0));
            EXPECT_EQ(traffic.ranks[rank].messages_sent, is_extra ? 1 : 2 * k + (has_extra ? 1 : 0)) << n;
            EXPECT_EQ(traffic.ranks[rank].bytes_sent, bytes) << n;
            EXPECT_EQ(traffic.ranks[rank].bytes_received, bytes) << n;
        }
        // 2(α + Sβ) + 2[α log2 P + (P-1)Sβ/P]
        EXPECT_EQ(
            time_alone(algorithm, CollectiveKind::kAllReduce, n, size),
            message_time(size) * 2 + kNetwork.latency * (2 * k) + kNetwork.time_per_byte * in_core.count())
            << n;
    }
}

TEST(HalvingDoubling, FoldedReduceScatterAndAllGather) {
    const Algorithm algorithm = algorithm_of("halving_doubling");
    for (Position n = 3; n <= kMostRanks; ++n) {
        const Position core = std::bit_floor(n);
        if (core == n) {
            continue;
        }
        const Position k = log2_of(core);
        const Position extras = n - core;
        // A chain of messages that crosses in every step ends on the complement of the rank where it began.
        // It can begin and end with an extra rank if some rank and its complement have one: r > P/2.
        const std::uint64_t steps = k + 1 + (2 * extras > core ? 1 : 0);
        const CollectiveSchedule scatter = algorithm->schedule(CollectiveKind::kReduceScatter, n, 0);
        const CollectiveSchedule gather = algorithm->schedule(CollectiveKind::kAllGather, n, 0);
        EXPECT_EQ(scatter.steps(), steps) << n;
        EXPECT_EQ(gather.steps(), steps) << n;
        const Traffic scattered = traffic_of(scatter, kBlock * n);
        const Traffic gathered = traffic_of(gather, kBlock);
        for (Position rank = 0; rank < n; ++rank) {
            // A rank sends each block but its own away once, summed up as far as it goes: S(N-1)/N. Gathering
            // mirrors it.
            EXPECT_EQ(scattered.ranks[rank].bytes_sent, kBlock * (n - 1)) << n;
            EXPECT_EQ(gathered.ranks[rank].bytes_received, kBlock * (n - 1)) << n;
            EXPECT_EQ(gathered.ranks[rank].bytes_sent, scattered.ranks[rank].bytes_received) << n;
            const std::uint64_t messages = rank >= core ? 1 : k + (rank < extras ? 1 : 0);
            EXPECT_EQ(scattered.ranks[rank].messages_sent, messages) << n;
            EXPECT_EQ(gathered.ranks[rank].messages_sent, messages) << n;
        }
        // Step d exchanges at most P/2d blocks of core ranks and ⌈r/2d⌉ of extra ranks. No chain of messages
        // is longer than N-1 blocks handed over, the largest message of every step, one block handed back.
        Position in_core = 0;
        for (Position d = 1; d < core; d *= 2) {
            in_core += core / (2 * d) + (extras + 2 * d - 1) / (2 * d);
        }
        const Time most = message_time(kBlock * (n - 1)) + kNetwork.latency * k +
                          message_time(kBlock * in_core) - kNetwork.latency + message_time(kBlock);
        EXPECT_LE(time_alone(algorithm, CollectiveKind::kReduceScatter, n, kBlock * n), most) << n;
        EXPECT_LE(time_alone(algorithm, CollectiveKind::kAllGather, n, kBlock), most) << n;
    }
}

TEST(RecursiveDoubling, PowersOfTwoAndFolded) {
    const Algorithm algorithm = algorithm_of("recursive_doubling");
    const Bytes size = kBlock * kMostRanks;
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Position core = std::bit_floor(n);
        const Position k = log2_of(core);
        if (core == n) {
            expect_form(algorithm, CollectiveKind::kAllReduce, n, size,
                        {Symmetry::kExclusiveOr, k, size * k, k, message_time(size) * k});
            continue;
        }
        const CollectiveSchedule schedule = algorithm->schedule(CollectiveKind::kAllReduce, n, 0);
        EXPECT_EQ(schedule.steps(), k + 2) << n;
        const Traffic traffic = traffic_of(schedule, size);
        for (Position rank = 0; rank < n; ++rank) {
            const Position messages = rank >= core ? 1 : k + (rank < n - core ? 1 : 0);
            EXPECT_EQ(traffic.ranks[rank].messages_sent, messages) << n;
            EXPECT_EQ(traffic.ranks[rank].bytes_sent, size * messages) << n;
            EXPECT_EQ(traffic.ranks[rank].bytes_received, size * messages) << n;
        }
        EXPECT_EQ(time_alone(algorithm, CollectiveKind::kAllReduce, n, size), message_time(size) * (k + 2));
    }
}

TEST(Bruck, AllToAllForwardsBlocksBitByBit) {
    const Algorithm algorithm = algorithm_of("bruck");
    for (Position n = 2; n <= kMostRanks; ++n) {
        // The block for the rank j ahead travels once for every bit of j.
        Position hops = 0;
        for (Position j = 1; j < n; ++j) {
            hops += static_cast<Position>(std::popcount(j));
        }
        const Bytes sent = kBlock * hops;
        const Position k = ceil_log2(n);
        if (std::has_single_bit(n)) {
            EXPECT_EQ(sent, kBlock * n * k / 2);  // S log2(N) / 2
        }
        expect_form(
            algorithm, CollectiveKind::kAllToAll, n, kBlock * n,
            {Symmetry::kRotation, k, sent, k, kNetwork.latency * k + kNetwork.time_per_byte * sent.count()});
    }
}

TEST(Bruck, AllGatherDoublesWhatItHolds) {
    const Algorithm algorithm = algorithm_of("bruck");
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Position k = ceil_log2(n);
        const Bytes sent = kBlock * (n - 1);  // 1 + 2 + 4 + … + the rest
        expect_form(
            algorithm, CollectiveKind::kAllGather, n, kBlock,
            {Symmetry::kRotation, k, sent, k, kNetwork.latency * k + kNetwork.time_per_byte * sent.count()});
    }
}

TEST(Pairwise, OnePartnerAtATime) {
    const Algorithm algorithm = algorithm_of("pairwise");
    for (Position n = 2; n <= kMostRanks; ++n) {
        expect_form(algorithm, CollectiveKind::kAllToAll, n, kBlock * n,
                    {std::has_single_bit(n) ? Symmetry::kExclusiveOr : Symmetry::kRotation, n - 1,
                     kBlock * (n - 1), n - 1, message_time(kBlock) * (n - 1)});
    }
}

TEST(Pairwise, EveryStepIsAPermutation) {
    for (const Position n : {6U, 8U}) {
        const CollectiveSchedule schedule =
            algorithm_of("pairwise")->schedule(CollectiveKind::kAllToAll, n, 0);
        for (std::size_t step = 0; step + 1 < n; ++step) {
            std::vector<bool> receives(n);
            for (Position rank = 0; rank < n; ++rank) {
                const Action& send = schedule.program(rank).actions[2 * step];
                ASSERT_TRUE(send.is_send());
                const Position peer = schedule.resolve(rank, send.peer);
                EXPECT_FALSE(receives[peer]);
                receives[peer] = true;
            }
        }
    }
}

TEST(WindowedDirect, AsDirectInRoundsOfTheWindow) {
    for (const Position window : {1U, 3U, 8U, 63U}) {
        const Algorithm algorithm = algorithm_of(fmt::format("windowed_direct, window: {}", window));
        for (Position n = 2; n <= kMostRanks; ++n) {
            const Position rounds = (n - 1 + window - 1) / window;  // ⌈(N-1)/W⌉
            const Form once{Symmetry::kRotation, n - 1, kBlock * (n - 1), rounds,
                            message_time(kBlock) * rounds};
            const Form twice{Symmetry::kRotation, 2 * (n - 1), kBlock * (2 * (n - 1)), 2 * rounds,
                             message_time(kBlock) * (2 * rounds)};
            expect_form(algorithm, CollectiveKind::kReduceScatter, n, kBlock * n, once);
            expect_form(algorithm, CollectiveKind::kAllToAll, n, kBlock * n, once);
            expect_form(algorithm, CollectiveKind::kAllGather, n, kBlock, once);
            expect_form(algorithm, CollectiveKind::kAllReduce, n, kBlock * n, twice);
        }
    }
}

TEST(WindowedDirect, NeverHasMoreSendsUnderWayThanTheWindow) {
    // Messages of one pair in very different times, so that lanes drift apart.
    constexpr Position kRanks = 13;
    for (const CollectiveKind kind : {CollectiveKind::kAllToAll, CollectiveKind::kAllReduce}) {
        for (const Position window : {1U, 2U, 5U, 12U}) {
            FakeBackend* network = nullptr;
            std::map<std::pair<std::uint32_t, std::uint32_t>, Time> delivered;  // last of a pair
            std::vector<std::vector<Time>> in_flight(kRanks);  // times of delivery, by source
            std::size_t most = 0;
            FakeBackend backend(kRanks, [&](const network::Message& message) {
                const std::uint32_t source = message.source.index();
                const std::uint32_t destination = message.destination.index();
                const Time cost(100 + (source * 37 + destination * 1009) % 1013);
                Time& end = delivered[{source, destination}];
                end = std::max(end, network->now() + cost);
                std::vector<Time>& mine = in_flight[source];
                std::erase_if(mine, [&](Time time) { return time <= network->now(); });
                mine.push_back(end);
                most = std::max(most, mine.size());
                return cost;
            });
            network = &backend;
            ProgramBuilder builder(kRanks);
            builder.collective("alone", {.kind = kind, .size = kBlock * kRanks});
            system::Executor executor(
                builder.program(),
                options_with(algorithm_of(fmt::format("windowed_direct, window: {}", window)), 1, 1), backend,
                host_of_each_rank(kRanks));
            ASSERT_TRUE(executor.run().finished);
            EXPECT_EQ(most, window) << to_string(kind);
        }
    }
}

TEST(BarrierDirect, SendsNoResultBeforeAllRanksHaveTheirs) {
    constexpr Position kRanks = 13;
    const auto early_results = [](const Algorithm& algorithm) {
        FakeBackend* network = nullptr;
        std::vector<std::uint32_t> sent(kRanks);  // by source; the first N-1 are scattered, all at 0
        Time scattered;                           // the last of them arrives
        std::size_t early = 0;
        FakeBackend backend(kRanks, [&](const network::Message& message) {
            const std::uint32_t source = message.source.index();
            const Time cost(100 + (source * 37 + message.destination.index() * 1009) % 1013);
            if (sent[source]++ < kRanks - 1) {
                EXPECT_EQ(network->now(), Time(0));
                scattered = std::max(scattered, cost);
            } else {
                early += network->now() < scattered ? 1 : 0;
            }
            return cost;
        });
        network = &backend;
        ProgramBuilder builder(kRanks);
        builder.collective("alone", {.kind = CollectiveKind::kAllReduce, .size = kBlock * kRanks});
        system::Executor executor(builder.program(), options_with(algorithm, 1, 1), backend,
                                  host_of_each_rank(kRanks));
        EXPECT_TRUE(executor.run().finished);
        EXPECT_EQ(sent, std::vector<std::uint32_t>(kRanks, 2 * (kRanks - 1)));
        return early;
    };
    EXPECT_EQ(early_results(algorithm_of("barrier_direct")), 0U);
    EXPECT_GT(early_results(algorithm_of("direct")), 0U);
    // Where all ranks keep step there is nothing to wait for.
    for (Position n = 2; n <= kMostRanks; ++n) {
        expect_form(algorithm_of("barrier_direct"), CollectiveKind::kAllReduce, n, kBlock * n,
                    {Symmetry::kRotation, 2 * (n - 1), kBlock * (2 * (n - 1)), 2, message_time(kBlock) * 2});
    }
}

TEST(BidirectionalRing, AsRingEitherWay) {
    const Algorithm algorithm = algorithm_of("bidirectional_ring");
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Form once{Symmetry::kRotation, n - 1, kBlock * (n - 1), n - 1, message_time(kBlock) * (n - 1)};
        const Form twice{Symmetry::kRotation, 2 * (n - 1), kBlock * (2 * (n - 1)), 2 * (n - 1),
                         message_time(kBlock) * (2 * (n - 1))};
        expect_form(algorithm, CollectiveKind::kReduceScatter, n, kBlock * n, once);
        expect_form(algorithm, CollectiveKind::kAllGather, n, kBlock, once);
        expect_form(algorithm, CollectiveKind::kAllReduce, n, kBlock * n, twice);
    }
}

TEST(BidirectionalRing, AllToAllGoesTheShorterWayRound) {
    const Algorithm algorithm = algorithm_of("bidirectional_ring");
    for (Position n = 2; n <= kMostRanks; ++n) {
        // Distances 1 … H = ⌊N/2⌋ one way, those that are left the other way: ⌊N²/4⌋ hops. The longer chain
        // has 1 + 2 + … + H.
        const Position half = n / 2;
        const Position messages = n * n / 4;
        const Position steps = half * (half + 1) / 2;
        expect_form(algorithm, CollectiveKind::kAllToAll, n, kBlock * n,
                    {Symmetry::kRotation, messages, kBlock * messages, steps, message_time(kBlock) * steps});
    }
}

/// Messages that rank 0 sends to the next and to the previous rank.
std::pair<std::uint64_t, std::uint64_t> both_ways(CollectiveKind kind, Position ranks, unsigned variant) {
    const CollectiveSchedule schedule = algorithm_of("bidirectional_ring")->schedule(kind, ranks, variant);
    std::pair<std::uint64_t, std::uint64_t> count;
    for (const Action& action : schedule.program(0).actions) {
        if (action.is_send()) {
            EXPECT_TRUE(action.peer == 1 || action.peer == ranks - 1);
            ++(action.peer == 1 ? count.first : count.second);
        }
    }
    return count;
}

TEST(BidirectionalRing, ChunksAlternateDirections) {
    using Counts = std::pair<std::uint64_t, std::uint64_t>;
    EXPECT_EQ(both_ways(CollectiveKind::kAllReduce, 6, 0), Counts(10, 0));
    EXPECT_EQ(both_ways(CollectiveKind::kAllReduce, 6, 1), Counts(0, 10));
    // N = 6: 1 + 2 hops each way, and 3 hops for the rank opposite.
    EXPECT_EQ(both_ways(CollectiveKind::kAllToAll, 6, 0), Counts(6, 3));
    EXPECT_EQ(both_ways(CollectiveKind::kAllToAll, 6, 1), Counts(3, 6));
    // N = 7: 1 + 2 + 3 hops each way, and nothing to alternate.
    EXPECT_EQ(both_ways(CollectiveKind::kAllToAll, 7, 0), Counts(6, 6));
    EXPECT_EQ(algorithm_of("bidirectional_ring")->variants(CollectiveKind::kAllToAll, 7), 1U);
}

/// How far the first send of every ring goes.
std::vector<Position> strides_of(const Algorithm& algorithm, Position ranks) {
    std::vector<Position> strides;
    for (unsigned ring = 0; ring < algorithm->variants(CollectiveKind::kAllReduce, ranks); ++ring) {
        const CollectiveSchedule schedule = algorithm->schedule(CollectiveKind::kAllReduce, ranks, ring);
        strides.push_back(schedule.program(0).actions[0].peer);
    }
    return strides;
}

TEST(MultiRing, StridesAreTheSmallestWithoutACommonDivisor) {
    using Strides = std::vector<Position>;
    // Totients as TopoOpt's reference lists them.
    EXPECT_EQ(strides_of(algorithm_of("multi_ring, rings: 9"), 12), (Strides{1, 5, 7, 11}));
    EXPECT_EQ(strides_of(algorithm_of("multi_ring, rings: 4"), 16), (Strides{1, 3, 5, 7}));
    EXPECT_EQ(strides_of(algorithm_of("multi_ring, rings: 3"), 7), (Strides{1, 2, 3}));
    EXPECT_EQ(strides_of(algorithm_of("multi_ring, rings: 3"), 2), (Strides{1}));
}

TEST(MultiRing, AsRingOnEveryRing) {
    const Algorithm algorithm = algorithm_of("multi_ring, rings: 3");
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Form once{Symmetry::kRotation, n - 1, kBlock * (n - 1), n - 1, message_time(kBlock) * (n - 1)};
        const Form twice{Symmetry::kRotation, 2 * (n - 1), kBlock * (2 * (n - 1)), 2 * (n - 1),
                         message_time(kBlock) * (2 * (n - 1))};
        expect_form(algorithm, CollectiveKind::kReduceScatter, n, kBlock * n, once);
        expect_form(algorithm, CollectiveKind::kAllGather, n, kBlock, once);
        expect_form(algorithm, CollectiveKind::kAllReduce, n, kBlock * n, twice);
    }
}

TEST(MultiRing, ChunksTakeTheRingsInTurn) {
    // N = 8: strides 1, 3, 5, 7.
    const Algorithm algorithm = algorithm_of("multi_ring, rings: 4");
    std::vector<Position> next;  // of rank 6
    for (const unsigned variant : algorithm->variant_sequence(CollectiveKind::kAllReduce, 8, 5)) {
        const CollectiveSchedule schedule = algorithm->schedule(CollectiveKind::kAllReduce, 8, variant);
        next.push_back(schedule.resolve(6, schedule.program(6).actions[0].peer));
    }
    EXPECT_EQ(next, (std::vector<Position>{7, 1, 3, 5, 7}));
}

TEST(RootedKinds, MoveEveryByteToOrFromEveryRankOnce) {
    // Every rank but the root gets S in a broadcast and gives S in a reduce; nothing is sent twice.
    const Bytes size = kBlock * 1000 + Bytes(7);  // not divisible
    for (const NamedAlgorithm& entry : builtin_algorithms()) {
        for (Position n = 2; n <= kMostRanks; ++n) {
            if (entry.algorithm->unsupported(CollectiveKind::kBroadcast, n)) {
                continue;
            }
            const unsigned last = entry.algorithm->variants(CollectiveKind::kBroadcast, n) - 1;
            const Traffic out =
                traffic_of(entry.algorithm->schedule(CollectiveKind::kBroadcast, n, last), size);
            const Traffic in = traffic_of(entry.algorithm->schedule(CollectiveKind::kReduce, n, last), size);
            for (Position rank = 0; rank < n; ++rank) {
                EXPECT_EQ(out.ranks[rank].bytes_received, rank == 0 ? Bytes(0) : size) << entry.name << n;
                EXPECT_EQ(in.ranks[rank].bytes_sent, rank == 0 ? Bytes(0) : size) << entry.name << n;
            }
        }
    }
}

TEST(HeaviestChain, GoesThroughTheHeaviestActionBeforeABarrier) {
    // Direct all_reduce: sends of 10, additions as heavy as the peer is far away, of which N - 1 is most, a
    // barrier, sends of 10, and receptions that weigh nothing. Each of the N - 1 sends behind the barrier
    // waits for the same N - 1 additions; all weights are asked for once.
    for (const Position n : {2U, 5U, 8192U}) {
        std::uint64_t asked = 0;
        const std::uint64_t weight =
            algorithm_of("direct")
                ->schedule(CollectiveKind::kAllReduce, n, 0)
                .heaviest_chain([&](Position, const Action& action) -> std::uint64_t {
                    ++asked;
                    if (action.is_send()) {
                        return 10;
                    }
                    return action.kind == Action::Kind::kReceiveReduce ? action.peer : 0;
                });
        EXPECT_EQ(weight, 10U + (n - 1) + 10U);
        EXPECT_EQ(asked, 4 * (n - 1));
    }
}

TEST(RootedKinds, AStarIsOneStep) {
    for (Position n = 2; n <= kMostRanks; ++n) {
        for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
            EXPECT_EQ(algorithm_of("direct")->schedule(kind, n, 0).steps(), 1U);
            EXPECT_EQ(time_alone(algorithm_of("direct"), kind, n, kBlock), message_time(kBlock));
        }
    }
}

TEST(RootedKinds, AChainPipelinesItsBlocks) {
    // N blocks of S/N over N-1 hops: the last block starts N-1 messages after the first.
    for (const Algorithm& algorithm :
         {algorithm_of("ring"), algorithm_of("bidirectional_ring"), algorithm_of("multi_ring")}) {
        for (Position n = 2; n <= kMostRanks; ++n) {
            for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
                EXPECT_EQ(algorithm->schedule(kind, n, 0).steps(), 2 * (n - 1));
                EXPECT_EQ(time_alone(algorithm, kind, n, kBlock * n), message_time(kBlock) * (2 * (n - 1)));
            }
        }
    }
}

TEST(RootedKinds, ABinomialTreeServesOneChildAtATime) {
    const Algorithm tree = algorithm_of("binomial_tree");
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Position k = ceil_log2(n);
        EXPECT_EQ(tree->schedule(CollectiveKind::kBroadcast, n, 0).steps(), k);
        EXPECT_EQ(time_alone(tree, CollectiveKind::kBroadcast, n, kBlock), message_time(kBlock) * k);
        // What rank r gives passes one rank for every bit set in r.
        int depth = 0;
        for (Position rank = 1; rank < n; ++rank) {
            depth = std::max(depth, std::popcount(rank));
        }
        EXPECT_EQ(time_alone(tree, CollectiveKind::kReduce, n, kBlock), message_time(kBlock) * depth) << n;
        const Traffic up = traffic_of(tree->schedule(CollectiveKind::kReduce, n, 0), kBlock);
        EXPECT_EQ(up.ranks[0].messages_received, k);
    }
}

TEST(RootedKinds, HalvingDoublingScattersAndGathers) {
    const Algorithm algorithm = algorithm_of("halving_doubling");
    for (Position n = 2; n <= kMostRanks; ++n) {
        const Position k = log2_of(std::bit_floor(n));
        const std::uint64_t broadcast = algorithm->schedule(CollectiveKind::kBroadcast, n, 0).steps();
        const std::uint64_t reduce = algorithm->schedule(CollectiveKind::kReduce, n, 0).steps();
        if (!std::has_single_bit(n)) {  // one step more to or from the extra ranks, where it is on the way
            EXPECT_TRUE(broadcast == 2 * k || broadcast == 2 * k + 1) << n;
            EXPECT_TRUE(reduce == 2 * k - 1 || reduce == 2 * k) << n;
            continue;
        }
        const Time both = (kNetwork.latency * k + kNetwork.time_per_byte * (kBlock * (n - 1)).count()) * 2;
        EXPECT_EQ(broadcast, 2 * k) << n;
        EXPECT_EQ(time_alone(algorithm, CollectiveKind::kBroadcast, n, kBlock * n), both) << n;
        // The last message of the halving and the first of the gather go the same way at the same time.
        EXPECT_EQ(reduce, 2 * k - 1) << n;
        EXPECT_EQ(time_alone(algorithm, CollectiveKind::kReduce, n, kBlock * n), both - message_time(kBlock))
            << n;
    }
}

TEST(Refusals, NameWhatTheAlgorithmDoes) {
    using enum CollectiveKind;
    const std::map<std::string, std::vector<CollectiveKind>> done{
        {"barrier_direct", {kAllReduce}},
        {"binomial_tree", {kBroadcast, kReduce}},
        {"bruck", {kAllGather, kAllToAll}},
        {"direct", {kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast, kReduce}},
        {"double_binary_tree", {kAllReduce}},
        {"halving_doubling", {kAllReduce, kReduceScatter, kAllGather, kBroadcast, kReduce}},
        {"hierarchical", {kAllReduce, kReduceScatter, kAllGather, kAllToAll}},
        {"pairwise", {kAllToAll}},
        {"recursive_doubling", {kAllReduce}},
        {"rotor_direct", {kAllReduce, kReduceScatter, kAllGather, kAllToAll}},
        {"rotor_ring", {kAllReduce, kReduceScatter, kAllGather}},
        {"windowed_direct", {kAllReduce, kReduceScatter, kAllGather, kAllToAll}}};
    const std::vector<CollectiveKind> rings{kAllReduce, kReduceScatter, kAllGather,
                                            kAllToAll,  kBroadcast,     kReduce};
    for (const NamedAlgorithm& entry : builtin_algorithms()) {
        const auto known = done.find(entry.name);
        const std::vector<CollectiveKind>& kinds = known == done.end() ? rings : known->second;
        for (const CollectiveKind kind : system::kAllKinds) {
            const bool does = std::ranges::count(kinds, kind) > 0;
            for (const Position ranks : {3U, 7U, 64U, 200U}) {
                const auto refusal = entry.algorithm->unsupported(kind, ranks);
                EXPECT_EQ(refusal.has_value(), !does) << entry.name << ' ' << to_string(kind);
                if (refusal && kind != kPointToPoint) {
                    EXPECT_EQ(refusal->find(entry.name), 0U) << *refusal;
                }
            }
        }
    }
}

TEST(Refusals, OfGroupsThatAreTooLarge) {
    const Algorithm ring = algorithm_of("ring");
    EXPECT_FALSE(ring->unsupported(CollectiveKind::kAllToAll, 4096));
    EXPECT_EQ(ring->unsupported(CollectiveKind::kAllToAll, 4097),
              "a forwarded all_to_all takes at most 4096 ranks");
    EXPECT_FALSE(ring->unsupported(CollectiveKind::kBroadcast, 2048));
    EXPECT_EQ(ring->unsupported(CollectiveKind::kBroadcast, 2049), "a chain takes at most 2048 ranks");
    EXPECT_FALSE(algorithm_of("direct")->unsupported(CollectiveKind::kPointToPoint, 2));
    EXPECT_EQ(algorithm_of("direct")->unsupported(CollectiveKind::kPointToPoint, 3),
              "point_to_point takes two ranks");
}

}  // namespace
}  // namespace astrolabe::testing
