// Rings of chosen strides: which are rings at all, their proof, and their times on a network that has links
// of its own for every stride (docs/theory/topoopt.md, "Strides" and "Times on rings").

#include "network/src/engines/fluid/fluid_backend.hpp"
#include "program_builder.hpp"
#include "sanitizers.hpp"
#include "schedule_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
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

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::CollectiveSchedule;
using system::Position;
using Algorithm = std::shared_ptr<const system::CollectiveAlgorithm>;
using Strides = std::vector<Position>;

Algorithm rings(const Strides& strides, bool barrier = false) {
    return algorithm_of(
        fmt::format("multi_ring, strides: [{}], barrier: {}", fmt::join(strides, ", "), barrier));
}

/// Who comes after position 0, 1, … on the ring of a variant.
Strides successors(const Algorithm& algorithm, Position ranks, unsigned variant) {
    const CollectiveSchedule schedule = algorithm->schedule(CollectiveKind::kAllReduce, ranks, variant);
    Strides next;
    for (Position rank = 0; rank < ranks; ++rank) {
        for (const system::Action& action : schedule.program(rank).actions) {
            if (action.is_send()) {
                next.push_back(schedule.resolve(rank, action.peer));
                break;
            }
        }
    }
    return next;
}

TEST(ChosenRings, AreThoseThatVisitAllRanks) {
    for (Position ranks = 2; ranks <= 64; ++ranks) {
        for (Position stride = 1; stride <= 2 * ranks; ++stride) {
            // Followed from rank 0 until it is back there.
            Position visited = 0;
            for (Position at = 0; visited == 0 || at != 0; at = (at + stride) % ranks) {
                ++visited;
            }
            EXPECT_EQ(rings({stride})->unsupported(CollectiveKind::kAllReduce, ranks).has_value(),
                      visited < ranks)
                << stride << " over " << ranks;
        }
    }
    EXPECT_EQ(rings({1, 6})->unsupported(CollectiveKind::kAllReduce, 16),
              "a ring of stride 6 does not visit all of 16 ranks: both are multiples of 2");
}

TEST(ChosenRings, EveryStrideIsProven) {
    for (Position ranks = 2; ranks <= testing::up_to<Position>(32, 16); ++ranks) {
        Strides coprime;
        for (Position stride = 1; stride < ranks; ++stride) {
            if (std::gcd(stride, ranks) == 1) {
                coprime.push_back(stride);
            }
        }
        const Algorithm all = rings(coprime);
        EXPECT_EQ(all->variants(CollectiveKind::kAllReduce, ranks), coprime.size());
        for (const CollectiveKind kind :
             {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
              CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
            system::expect_proven(*all, kind, ranks);
        }
        if (ranks <= 12) {
            system::expect_proven(*all, CollectiveKind::kAllToAll, ranks);
        }
    }
}

TEST(ChosenRings, CountModuloTheRanks) {
    // The strides 1, 5, 11, 15 of 16 nodes, in a group of four of them: 1, 1, 3, 3.
    const Algorithm algorithm = rings({1, 5, 11, 15});
    EXPECT_EQ(algorithm->default_chunks(), 4U);
    EXPECT_EQ(successors(algorithm, 4, 1), (Strides{1, 2, 3, 0}));
    EXPECT_EQ(successors(algorithm, 4, 3), (Strides{3, 0, 1, 2}));
    for (unsigned variant = 0; variant < 4; ++variant) {
        for (Position rank = 0; rank < 16; ++rank) {
            EXPECT_EQ(successors(algorithm, 16, variant)[rank], (rank + Strides{1, 5, 11, 15}[variant]) % 16);
        }
    }
}

TEST(RingsOfTheNetwork, DifferByTheSizeOfTheGroup) {
    const Algorithm unbound = algorithm_of("multi_ring, strides: network");
    EXPECT_TRUE(unbound->needs_rings());
    const Algorithm bound = unbound->on_rings({{16, {1, 5, 11, 15}}, {4, {3}}, {8, {1, 3, 5, 7, 7, 7}}});
    EXPECT_EQ(successors(bound, 16, 1)[0], 5U);
    EXPECT_EQ(successors(bound, 4, 0)[0], 3U);
    EXPECT_EQ(bound->variants(CollectiveKind::kAllReduce, 8), 6U);
    // Of a size that the network has no ring for: the order of the group.
    EXPECT_EQ(bound->variants(CollectiveKind::kAllReduce, 6), 1U);
    EXPECT_EQ(successors(bound, 6, 0), (Strides{1, 2, 3, 4, 5, 0}));
    // 4, 1 and 6 rings carry even shares of 12 chunks, of no fewer.
    EXPECT_EQ(bound->default_chunks(), 12U);
    EXPECT_FALSE(algorithm_of("multi_ring")->needs_rings());
    EXPECT_EQ(algorithm_of("ring")->on_rings({{4, {1}}}), nullptr);
}

TEST(RingsWithBarriers, AreProvenAndRefuseWhatHasNoCommonSteps) {
    const Algorithm algorithm = algorithm_of("multi_ring, strides: [1, 5, 7, 11], barrier: true");
    EXPECT_TRUE(algorithm->has_barriers());
    for (const Position ranks : {2U, 3U, 6U, 12U, 24U}) {
        for (const CollectiveKind kind :
             {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
            ASSERT_EQ(algorithm->unsupported(kind, ranks), std::nullopt);
            system::expect_proven(*algorithm, kind, ranks);
            const std::size_t steps = (kind == CollectiveKind::kAllReduce ? 2 : 1) * (ranks - 1);
            EXPECT_EQ(algorithm->schedule(kind, ranks, 0).stages().size(), steps);
        }
        for (const CollectiveKind kind :
             {CollectiveKind::kAllToAll, CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
            EXPECT_EQ(algorithm->unsupported(kind, ranks),
                      "multi_ring with barriers does all_reduce, reduce_scatter and all_gather only");
        }
    }
    // 2 · (2^15 - 1) stages have a number each in 16 bits; one rank more needs 2^16.
    EXPECT_EQ(algorithm_of("multi_ring, barrier: true")->unsupported(CollectiveKind::kAllReduce, 32'768),
              std::nullopt);
    EXPECT_EQ(algorithm_of("multi_ring, barrier: true")->unsupported(CollectiveKind::kAllReduce, 32'769),
              "multi_ring with barriers takes at most 32768 ranks");
    EXPECT_FALSE(algorithm_of("multi_ring")->has_barriers());
    EXPECT_TRUE(
        algorithm_of("multi_ring, strides: network, barrier: true")->on_rings({{4, {1, 3}}})->has_barriers());
}

TEST(RingsWithBarriers, NoRankBeginsAStepBeforeAllHaveDoneTheOneBefore) {
    constexpr Position kRanks = 12;
    // Sends that leave while a message of the step before is under way anywhere.
    const auto early_sends = [](const Algorithm& algorithm) {
        FakeBackend* network = nullptr;
        std::vector<std::size_t> steps(kRanks);  // by source: one send a step
        std::vector<Time> ends(2 * (kRanks - 1));
        std::vector<Position> sent(ends.size());
        std::size_t early = 0;
        FakeBackend backend(kRanks, [&](const network::Message& message) {
            const std::uint32_t source = message.source.index();
            const std::size_t step = steps[source]++;
            if (step > 0) {
                early += sent[step - 1] < kRanks || network->now() < ends[step - 1] ? 1 : 0;
            }
            const Time cost(100 + (source * 37 + step * 1009) % 1013);
            ends[step] = std::max(ends[step], network->now() + cost);
            ++sent[step];
            return cost;
        });
        network = &backend;
        ProgramBuilder builder(kRanks);
        builder.collective("alone", {.kind = CollectiveKind::kAllReduce, .size = 64_B * kRanks});
        system::Executor executor(builder.program(), options_with(algorithm, 1, 1), backend,
                                  host_of_each_rank(kRanks));
        EXPECT_TRUE(executor.run().finished);
        EXPECT_TRUE(std::ranges::all_of(sent, [](Position ranks) { return ranks == kRanks; }));
        return early;
    };
    EXPECT_EQ(early_sends(algorithm_of("multi_ring, strides: [5], barrier: true")), 0U);
    EXPECT_GT(early_sends(algorithm_of("multi_ring, strides: [5]")), 0U);
}

constexpr Bandwidth kRate = 100_Gbps;  // β = 80 ps/B
constexpr Time kLinkLatency = 1_us;

/// Cables from host i to i + stride (mod hosts), so that each stride makes links of its own both ways.
std::shared_ptr<const network::Fabric> union_of_rings(std::size_t hosts,
                                                      const std::vector<std::size_t>& strides, Time latency) {
    network::FabricBuilder builder("union of rings");
    for (std::size_t host = 0; host < hosts; ++host) {
        builder.add_host(fmt::format("host {}", host));
    }
    for (const std::size_t stride : strides) {
        for (std::size_t host = 0; host < hosts; ++host) {
            builder.connect(network::NodeId(host), network::NodeId((host + stride) % hosts),
                            {kRate, latency, Bytes(0)});
        }
    }
    return std::move(builder).build();
}

Time all_reduce_time(const std::shared_ptr<const network::Fabric>& fabric, const Algorithm& algorithm,
                     system::Partition partition, Bytes size) {
    ProgramBuilder builder(fabric->host_count());
    builder.program().partitions[system::PartitionId(0)] = std::move(partition);
    builder.collective("alone", {.kind = CollectiveKind::kAllReduce, .size = size});
    network::FluidBackend backend(fabric);
    system::Executor executor(builder.program(), options_with(algorithm, algorithm->default_chunks(), 64),
                              backend, host_of_each_rank(fabric->host_count()));
    const system::ExecutionReport report = executor.run();
    EXPECT_TRUE(report.finished) << report.stall;
    return report.total;
}

Time all_reduce_time(const std::shared_ptr<const network::Fabric>& fabric, const Algorithm& algorithm,
                     Bytes size) {
    return all_reduce_time(fabric, algorithm, system::Partition::world(fabric->host_count()), size);
}

TEST(AllReduceOnRings, UsesTheFullRateOfANode) {
    // Every round moves S/(4n) = 65,536 B over a link: 5.24288 us and 1 us of latency, 2(n-1) times.
    struct Row {
        std::size_t hosts;
        std::size_t stride;
    };
    for (const Row row : {Row{12, 5}, Row{16, 5}, Row{32, 7}, Row{128, 13}}) {
        const auto n = static_cast<Position>(row.hosts);
        const auto p = static_cast<Position>(row.stride);
        const auto fabric = union_of_rings(row.hosts, {1, row.stride}, kLinkLatency);
        const Bytes size = 65'536_B * 4 * static_cast<std::int64_t>(n);
        const Time round = kLinkLatency + Time(65'536 * 80);
        const Time measured = all_reduce_time(fabric, rings({1, p, n - p, n - 1}), size);
        // The fluid engine rounds the end of a message to a picosecond.
        EXPECT_NEAR(static_cast<double>(measured.count()),
                    static_cast<double>((round * (2 * (n - 1))).count()), 2.0 * (n - 1));
        // Where all nodes keep step a barrier has nothing to wait for.
        const Algorithm with_barriers = rings({1, p, n - p, n - 1}, true);
        EXPECT_EQ(all_reduce_time(fabric, with_barriers, size), measured);
    }
}

TEST(AllReduceOnRings, OneWayRingsUseTheFullRateOfANode) {
    // d one-way strides, a chunk on each: 65,536 B over every link in every one of 2(n-1) rounds.
    struct Row {
        std::size_t hosts;
        std::vector<Position> strides;
    };
    for (const Row& row : {Row{12, {1, 5, 7}}, Row{16, {1, 3, 5, 7}}, Row{32, {1, 5}}, Row{9, {1}}}) {
        network::FabricBuilder builder("one-way rings");
        for (std::size_t host = 0; host < row.hosts; ++host) {
            builder.add_host(fmt::format("host {}", host));
        }
        for (const Position stride : row.strides) {
            for (std::size_t host = 0; host < row.hosts; ++host) {
                builder.connect_one_way(network::NodeId(host), network::NodeId((host + stride) % row.hosts),
                                        {kRate, kLinkLatency, Bytes(0)});
            }
        }
        const auto rounds = static_cast<std::int64_t>(2 * (row.hosts - 1));
        const auto chunks = static_cast<std::int64_t>(row.strides.size());
        const Time measured = all_reduce_time(std::move(builder).build(), rings(row.strides),
                                              65'536_B * chunks * static_cast<std::int64_t>(row.hosts));
        EXPECT_NEAR(static_cast<double>(measured.count()),
                    static_cast<double>((rounds * (kLinkLatency + Time(65'536 * 80))).count()),
                    static_cast<double>(rounds));
    }
}

TEST(AllReduceOnRings, DoesNotDependOnTheNumberOfNodes) {
    // Without latency 2(n-1)/n · Sβ/4: of 16 MiB n/(n-1) times the time is 2 · 16,777,216 · 80 / 4 ps.
    constexpr double kWhole = 2.0 * 16'777'216 * 80 / 4;
    for (const std::size_t hosts : {8U, 16U, 32U, 64U, 256U}) {
        const auto n = static_cast<Position>(hosts);
        const Time measured =
            all_reduce_time(union_of_rings(hosts, {1, 3}, Time(0)), rings({1, 3, n - 3, n - 1}), 16_MiB);
        EXPECT_NEAR(static_cast<double>(measured.count()) * n / (n - 1), kWhole, 2.0 * n) << hosts;
    }
}

TEST(AllReduceOnRings, OfFewerStridesLeavesLinksIdle) {
    // 16 nodes with four links: two strides take twice, one stride four times as long as four.
    const auto fabric = union_of_rings(16, {1, 5}, Time(0));
    const double four = static_cast<double>(all_reduce_time(fabric, rings({1, 5, 11, 15}), 16_MiB).count());
    const double two = static_cast<double>(all_reduce_time(fabric, rings({1, 5}), 16_MiB).count());
    const double one = static_cast<double>(all_reduce_time(fabric, rings({1}), 16_MiB).count());
    EXPECT_NEAR(two / four, 2.0, 1e-6);
    EXPECT_NEAR(one / four, 4.0, 1e-6);
}

TEST(AllReduceOnRings, GroupsStepOverTheirMembers) {
    // 24 nodes, every other one in a group of 12: strides 1 and 5 of a group are 2 and 10 of the nodes.
    system::Partition halves{.name = "halves", .groups = {{}, {}}};
    for (std::size_t rank = 0; rank < 24; ++rank) {
        halves.groups[rank % 2].emplace_back(rank);
    }
    const Bytes size = 65'536_B * 4 * 12;
    const Time measured = all_reduce_time(union_of_rings(24, {2, 10}, kLinkLatency), rings({1, 5, 7, 11}),
                                          std::move(halves), size);
    EXPECT_NEAR(static_cast<double>(measured.count()),
                static_cast<double>(((kLinkLatency + Time(65'536 * 80)) * 22).count()), 22.0);
}

}  // namespace
}  // namespace astrolabe::testing
