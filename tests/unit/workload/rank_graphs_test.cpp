// Rank graphs as Programs: what is matched and merged, in which order, and what is refused.

#include "torchrec_program.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <workload/src/rank_graphs/build_program.hpp>
#include <workload/src/rank_graphs/graph_summary.hpp>
#include <workload/src/rank_graphs/program_graphs.hpp>
#include <workload/src/rank_graphs/rank_graphs.hpp>

#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::workload {
namespace {

using system::CollectiveKind;
using system::OperationId;
using system::Program;
using system::RankId;

constexpr Time kLatency(1000);
constexpr Time kPerByte(80);

/// Writes the lists of a few ranks.
class Graphs {
public:
    explicit Graphs(std::size_t ranks) {
        graphs.ranks.resize(ranks);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            graphs.ranks[rank].source = fmt::format("trace.{}.et", rank);
        }
    }

    std::uint32_t compute(std::size_t rank, const std::string& name, Time duration,
                          const std::vector<std::uint32_t>& dependencies = {}) {
        RankTask task;
        task.duration = duration;
        return add(rank, name, task, dependencies);
    }
    std::uint32_t collective(std::size_t rank, CollectiveKind kind, const std::vector<RankId>& members,
                             std::uint64_t match, Bytes size,
                             const std::vector<std::uint32_t>& dependencies = {}) {
        RankTask task;
        task.kind = TaskKind::kCollective;
        task.collective = kind;
        task.group = graphs.group(members, fmt::format("group {}", graphs.groups.size()));
        task.match = match;
        task.size = size;
        return add(rank, std::string(system::to_string(kind)), task, dependencies);
    }
    std::uint32_t send(std::size_t rank, std::uint32_t to, Bytes size,
                       const std::vector<std::uint32_t>& dependencies = {}, std::uint64_t tag = 0) {
        return message(TaskKind::kSend, rank, to, size, dependencies, tag);
    }
    std::uint32_t receive(std::size_t rank, std::uint32_t from, Bytes size,
                          const std::vector<std::uint32_t>& dependencies = {}, std::uint64_t tag = 0) {
        return message(TaskKind::kReceive, rank, from, size, dependencies, tag);
    }
    std::uint32_t uneven(std::size_t rank, const std::vector<RankId>& members, std::uint64_t match,
                         std::vector<Bytes> splits) {
        graphs.ranks[rank].splits.push_back(std::move(splits));
        RankTask task;
        task.kind = TaskKind::kCollective;
        task.collective = CollectiveKind::kAllToAll;
        task.group = graphs.group(members, fmt::format("group {}", graphs.groups.size()));
        task.match = match;
        task.splits = static_cast<std::uint32_t>(graphs.ranks[rank].splits.size() - 1);
        return add(rank, "exchange", task, {});
    }

    [[nodiscard]] Program program() const {
        Result<Program> built = build_program(graphs, {});
        EXPECT_TRUE(built.has_value()) << (built ? "" : render(built.error()));
        return built ? *std::move(built) : Program{};
    }
    [[nodiscard]] std::string error() const {
        const Result<Program> built = build_program(graphs, {});
        return built ? "no error" : render(built.error());
    }

    RankGraphs graphs;

private:
    std::uint32_t add(std::size_t rank, const std::string& name, RankTask task,
                      const std::vector<std::uint32_t>& dependencies) {
        const auto place = static_cast<std::uint32_t>(graphs.ranks[rank].tasks.size());
        task.id = 100 + place;
        task.name = graphs.name(name);
        graphs.ranks[rank].add(task, dependencies);
        return place;
    }
    std::uint32_t message(TaskKind kind, std::size_t rank, std::uint32_t peer, Bytes size,
                          const std::vector<std::uint32_t>& dependencies, std::uint64_t tag) {
        RankTask task;
        task.kind = kind;
        task.peer = peer;
        task.size = size;
        task.match = tag;
        return add(rank, kind == TaskKind::kSend ? "send" : "receive", task, dependencies);
    }
};

std::vector<RankId> ranks(std::size_t from, std::size_t to) {
    std::vector<RankId> all;
    for (; from < to; ++from) {
        all.emplace_back(from);
    }
    return all;
}

system::ExecutionReport execute(const Program& program) {
    astrolabe::testing::FakeBackend backend(program.ranks, {.latency = kLatency, .time_per_byte = kPerByte});
    system::SystemOptions options;
    options.minimum_chunk = Bytes(1);
    options.collectives.fill({astrolabe::testing::algorithm_of("ring"), 1});
    options.collectives[static_cast<std::size_t>(CollectiveKind::kPointToPoint)] = {
        astrolabe::testing::algorithm_of("direct"), 1};
    std::vector<network::HostId> hosts;
    for (std::size_t rank = 0; rank < program.ranks; ++rank) {
        hosts.emplace_back(rank);
    }
    system::Executor executor(program, options, backend, hosts);
    return executor.run();
}

TEST(RankGraphs, EqualListsAreOneProgramOfAllRanks) {
    Graphs graphs(4);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const std::uint32_t work = graphs.compute(rank, "forward", Time(1000 * (rank == 3 ? 2 : 1)));
        const std::uint32_t sum =
            graphs.collective(rank, CollectiveKind::kAllReduce, ranks(0, 4), 0, Bytes(4096), {work});
        graphs.compute(rank, "update", Time(7), {sum});
    }
    const Program program = graphs.program();
    ASSERT_EQ(program.operations.size(), 3U);
    EXPECT_TRUE(system::Participants(program).is_spmd());
    EXPECT_EQ(program.operations[OperationId(0)].name, "forward");
    EXPECT_EQ(program.operations[OperationId(0)].compute().duration[RankId(3)], Time(2000));
    EXPECT_EQ(program.operations[OperationId(0)].compute().duration[RankId(2)], Time(1000));
    EXPECT_TRUE(program.operations[OperationId(2)].compute().duration.uniform());
    EXPECT_EQ(program.partitions.size(), 1U);
}

TEST(RankGraphs, GroupsOfOnePartitionAreOneOperation) {
    Graphs graphs(4);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const std::vector<RankId> pair = rank < 2 ? ranks(0, 2) : ranks(2, 4);
        const std::uint32_t inner = graphs.collective(rank, CollectiveKind::kAllGather, pair, 0, Bytes(10));
        graphs.collective(rank, CollectiveKind::kAllReduce, ranks(0, 4), 0, Bytes(20), {inner});
    }
    const Program program = graphs.program();
    ASSERT_EQ(program.operations.size(), 2U);
    EXPECT_EQ(program.partitions[program.operations[OperationId(0)].collective().partition].groups,
              (std::vector{ranks(0, 2), ranks(2, 4)}));
    EXPECT_TRUE(system::Participants(program).is_spmd());
}

TEST(RankGraphs, AGroupThatLeavesRanksOutIsOfItsMembers) {
    Graphs graphs(4);
    for (const std::size_t rank : {0U, 2U}) {
        graphs.collective(rank, CollectiveKind::kAllReduce, {RankId(0), RankId(2)}, 5, Bytes(64));
    }
    for (const std::size_t rank : {1U, 3U}) {
        graphs.compute(rank, "alone", Time(10));
    }
    const Program program = graphs.program();
    EXPECT_EQ(program.operations.size(), 2U);
    EXPECT_EQ(program.rank_sets.size(), 1U);
    // Ring of 2: 2 (n - 1) = 2 steps of 32 B, each 1,000 + 80·32 = 3,560.
    EXPECT_EQ(execute(program).total, Time(2 * 3560));
}

TEST(RankGraphs, ARingOfMessagesNeedsAsManyOperationsAsDisjointPairs) {
    constexpr std::size_t kRanks = 8;
    Graphs graphs(kRanks);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        std::vector<std::uint32_t> before;
        for (int step = 0; step < 14; ++step) {
            const std::uint32_t send = graphs.send(rank, (rank + 1) % kRanks, Bytes(128), before);
            before = {graphs.receive(rank, (rank + 7) % kRanks, Bytes(128), {send})};
        }
    }
    const Program program = graphs.program();
    // Two sends and two receives a step: pairs (0,1), (2,3), … and (1,2), …, (7,0).
    EXPECT_EQ(program.operations.size(), 14U * 4);
    const system::ExecutionReport report = execute(program);
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, (kLatency + kPerByte * 128) * 14);
}

TEST(RankGraphs, ReplicasOfAStageShareOperations) {
    // Rank = replica · 3 + stage; m micro-batches go down the stages.
    constexpr std::uint32_t kStages = 3;
    constexpr std::uint32_t kReplicas = 4;
    constexpr int kBatches = 5;
    Graphs graphs(kStages * kReplicas);
    for (std::uint32_t replica = 0; replica < kReplicas; ++replica) {
        for (std::uint32_t stage = 0; stage < kStages; ++stage) {
            const std::uint32_t rank = replica * kStages + stage;
            for (int batch = 0; batch < kBatches; ++batch) {
                std::vector<std::uint32_t> needs;
                if (stage > 0) {
                    needs.push_back(graphs.receive(rank, rank - 1, Bytes(50)));
                }
                const std::uint32_t work = graphs.compute(rank, "forward", Time(6000), needs);
                if (stage + 1 < kStages) {
                    graphs.send(rank, rank + 1, Bytes(50), {work});
                }
            }
        }
    }
    const Program program = graphs.program();
    // A batch: 3 computations, 2 sends, 2 receives.
    EXPECT_EQ(program.operations.size(), static_cast<std::size_t>(kBatches) * 7);
    const system::ExecutionReport report = execute(program);
    ASSERT_TRUE(report.finished) << report.stall;
    // (p - 1) (f + t) + m f with t = 1,000 + 80·50 = 5,000 ≤ f = 6,000.
    EXPECT_EQ(report.total, Time(2 * 11'000 + kBatches * 6000));
}

TEST(RankGraphs, ABroadcastBeginsAtItsRoot) {
    Graphs graphs(3);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        const std::uint32_t place =
            graphs.collective(rank, CollectiveKind::kBroadcast, ranks(0, 3), 0, Bytes(64));
        graphs.graphs.ranks[rank].tasks[place].root = 2;
    }
    const Program program = graphs.program();
    EXPECT_EQ(program.partitions[system::PartitionId(0)].groups.front(),
              (std::vector{RankId(2), RankId(0), RankId(1)}));
}

TEST(RankGraphs, SplitsAreSizesByPairAndEvenOnesAreNone) {
    Graphs graphs(2);
    graphs.uneven(0, ranks(0, 2), 1, {Bytes(3), Bytes(5)});
    graphs.uneven(1, ranks(0, 2), 1, {Bytes(7), Bytes(11)});
    graphs.uneven(0, ranks(0, 2), 2, {Bytes(4), Bytes(4)});
    graphs.uneven(1, ranks(0, 2), 2, {Bytes(4), Bytes(4)});
    const Program program = graphs.program();
    const system::CollectiveOperation& uneven = program.operations[OperationId(0)].collective();
    ASSERT_TRUE(uneven.is_uneven());
    EXPECT_EQ((*uneven.pair_sizes)[0](0, 1), Bytes(5));
    EXPECT_EQ((*uneven.pair_sizes)[0](1, 0), Bytes(7));
    EXPECT_EQ(uneven.size, Bytes(18));
    EXPECT_FALSE(program.operations[OperationId(1)].collective().is_uneven());
    EXPECT_EQ(program.operations[OperationId(1)].collective().size, Bytes(8));
    // 5 + 7 B to each other, and 4 + 4.
    EXPECT_EQ(summarize(graphs.graphs).collectives.front().bytes, Bytes(12 + 8));
}

TEST(RankGraphs, TheSummaryCountsWhatIsThere) {
    Graphs graphs(2);
    const std::uint32_t slow = graphs.compute(0, "slow", Time(900));
    graphs.compute(1, "fast", Time(100));
    const std::uint32_t sum0 =
        graphs.collective(0, CollectiveKind::kAllReduce, ranks(0, 2), 0, Bytes(10), {slow});
    const std::uint32_t sum1 = graphs.collective(1, CollectiveKind::kAllReduce, ranks(0, 2), 0, Bytes(10));
    graphs.send(0, 1, Bytes(33), {sum0});
    const std::uint32_t receive = graphs.receive(1, 0, Bytes(33), {sum1});
    graphs.compute(1, "use", Time(50), {receive});
    const GraphSummary summary = summarize(graphs.graphs);
    EXPECT_EQ(summary.ranks, 2U);
    EXPECT_EQ(summary.computations, 3U);
    EXPECT_EQ(summary.sends, 1U);
    EXPECT_EQ(summary.receives, 1U);
    EXPECT_EQ(summary.sent, Bytes(33));
    EXPECT_EQ(summary.compute_by_rank, (std::vector{Time(900), Time(150)}));
    ASSERT_EQ(summary.collectives.size(), 1U);
    EXPECT_EQ(summary.collectives.front().count, 1U);
    EXPECT_EQ(summary.collectives.front().bytes, Bytes(20));
    // Rank 1 sums when rank 0 has computed: 900, then 50.
    EXPECT_EQ(summary.critical_path, Time(950));
}

TEST(RankGraphs, DependenciesMayPointForward) {
    Graphs graphs(1);
    graphs.compute(0, "second", Time(1), {1});
    graphs.compute(0, "first", Time(2));
    graphs.graphs.streams.front().keeps_order = false;
    const Program program = graphs.program();
    EXPECT_EQ(program.operations[OperationId(0)].name, "first");
    EXPECT_EQ(program.operations[OperationId(1)].dependencies, std::vector{OperationId(0)});
}

TEST(RankGraphs, AStreamInOrderMakesAForwardDependencyACircle) {
    Graphs graphs(1);
    graphs.compute(0, "second", Time(1), {1});
    graphs.compute(0, "first", Time(2));
    EXPECT_NE(graphs.error().find("circle of 2"), std::string::npos) << graphs.error();
}

TEST(RankGraphs, EqualNamesAreToldApart) {
    Graphs graphs(1);
    graphs.compute(0, "kernel", Time(1));
    graphs.compute(0, "kernel", Time(2));
    graphs.compute(0, "kernel#1@0", Time(3));
    const Program program = graphs.program();  // checks that names are different
    EXPECT_EQ(program.operations[OperationId(1)].name, "kernel#1@0");
    EXPECT_EQ(program.operations[OperationId(1)].layer, "kernel");
}

TEST(RankGraphErrors, GroupsThatMeetInOppositeOrderAreACircle) {
    Graphs graphs(2);
    const std::vector<RankId> one = ranks(0, 2);
    const std::vector<RankId> other{RankId(1), RankId(0)};
    const std::uint32_t a = graphs.collective(0, CollectiveKind::kAllReduce, one, 0, Bytes(8));
    graphs.collective(0, CollectiveKind::kAllReduce, other, 0, Bytes(8), {a});
    const std::uint32_t b = graphs.collective(1, CollectiveKind::kAllReduce, other, 0, Bytes(8));
    graphs.collective(1, CollectiveKind::kAllReduce, one, 0, Bytes(8), {b});
    const std::string error = graphs.error();
    EXPECT_NE(error.find("circle of 2"), std::string::npos) << error;
    EXPECT_NE(error.find("rank 0, node 101"), std::string::npos) << error;
    EXPECT_NE(error.find("rank 1, node 101"), std::string::npos) << error;
    EXPECT_NE(error.find("trace.0.et"), std::string::npos) << error;
}

TEST(RankGraphErrors, EachBreachIsNamedWithItsTask) {
    const auto error_of = [](const auto& breach) {
        Graphs graphs(2);
        breach(graphs);
        return graphs.error();
    };
    const auto expect = [&](const std::string& text, const auto& breach) {
        const std::string error = error_of(breach);
        EXPECT_NE(error.find(text), std::string::npos) << "expected: " << text << "\n" << error;
        EXPECT_NE(error.find("trace."), std::string::npos) << error;
    };
    const std::vector<RankId> both = ranks(0, 2);
    expect("takes negative time", [](Graphs& g) { g.compute(0, "x", Time(-1)); });
    expect("depends on a task that does not exist", [](Graphs& g) { g.compute(0, "x", Time(1), {7}); });
    expect("depends on itself", [](Graphs& g) { g.compute(0, "x", Time(1), {0}); });
    expect("1 of 2 members of group 'group 0' never take part in its collective 3: ranks 1",
           [&](Graphs& g) { g.collective(0, CollectiveKind::kAllReduce, both, 3, Bytes(1)); });
    expect("size (2 bytes here, 1 there)", [&](Graphs& g) {
        g.collective(0, CollectiveKind::kAllReduce, both, 3, Bytes(1));
        g.collective(1, CollectiveKind::kAllReduce, both, 3, Bytes(2));
    });
    expect("kind (all_to_all here, all_reduce there)", [&](Graphs& g) {
        g.collective(0, CollectiveKind::kAllReduce, both, 3, Bytes(1));
        g.collective(1, CollectiveKind::kAllToAll, both, 3, Bytes(1));
    });
    expect("takes part twice", [&](Graphs& g) {
        g.collective(0, CollectiveKind::kAllReduce, both, 3, Bytes(1));
        g.collective(0, CollectiveKind::kAllReduce, both, 3, Bytes(1));
    });
    expect("rank 0 is no member of its group",
           [](Graphs& g) { g.collective(0, CollectiveKind::kAllReduce, {RankId(1)}, 0, Bytes(1)); });
    expect("rank 5 is a member, and there are 2 ranks", [](Graphs& g) {
        g.collective(0, CollectiveKind::kAllReduce, {RankId(0), RankId(5)}, 0, Bytes(1));
    });
    expect("negative size",
           [&](Graphs& g) { g.collective(0, CollectiveKind::kAllReduce, both, 0, Bytes(-4)); });
    expect("rank 1 never receives it (tag 9)", [](Graphs& g) { g.send(0, 1, Bytes(1), {}, 9); });
    expect("rank 0 never sends it (tag 9)", [](Graphs& g) { g.receive(1, 0, Bytes(1), {}, 9); });
    expect("receives 2 bytes where rank 0", [](Graphs& g) {
        g.send(0, 1, Bytes(1));
        g.receive(1, 0, Bytes(2));
    });
    expect("its peer is rank 8 of 2", [](Graphs& g) { g.send(0, 8, Bytes(1)); });
    expect("sends to itself", [](Graphs& g) { g.send(0, 0, Bytes(1)); });
    expect("3 splits for a group of 2", [&](Graphs& g) {
        g.uneven(0, both, 0, {Bytes(1), Bytes(1), Bytes(1)});
    });
}

TEST(RankGraphErrors, AtMostTwentyAreReported) {
    Graphs graphs(1);
    for (int i = 0; i < 100; ++i) {
        graphs.compute(0, "x", Time(-1));
    }
    const Result<Program> built = build_program(graphs.graphs, {});
    ASSERT_FALSE(built.has_value());
    EXPECT_EQ(built.error().size(), 20U);
}

TEST(RankGraphErrors, NoTraceAtAll) {
    EXPECT_FALSE(build_program(RankGraphs(), {}).has_value());
}

/// Everything that the lists of a rank can say of an operation.
std::string say(const Program& program, OperationId id) {
    const system::Operation& operation = program.operations[id];
    std::string text = fmt::format("{} {} ", operation.name, operation.iteration);
    for (const OperationId dependency : operation.dependencies) {
        text += fmt::format("<{} ", dependency.index());
    }
    if (operation.is_compute()) {
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            text += fmt::format("{} ", operation.compute().duration[RankId(rank)].count());
        }
        return text + fmt::format("stream {}", program.streams[operation.compute().stream]);
    }
    const system::CollectiveOperation& work = operation.collective();
    text += fmt::format("{} {} B priority {} {} delay {} least {} together {}", to_string(work.kind),
                        work.size.count(), static_cast<int>(work.priority), work.explicit_priority,
                        work.completion_delay.count(), work.least_duration.count(), work.begins_together);
    const system::Partition& partition = program.partitions[work.partition];
    for (std::size_t group = 0; group < partition.groups.size(); ++group) {
        text += " (";
        const std::size_t size = partition.groups[group].size();
        for (std::size_t i = 0; i < size; ++i) {
            text += fmt::format("{} ", partition.groups[group][i].index());
            for (std::size_t j = 0; work.is_uneven() && j < size; ++j) {
                text += fmt::format("{},", (*work.pair_sizes)[group](i, j).count());
            }
        }
        text += ")";
    }
    return text;
}

RankGraphs graphs_of(const Program& program) {
    RankGraphs graphs = empty_graphs_of(program);
    for (std::size_t rank = 0; rank < program.ranks; ++rank) {
        RankGraph graph = rank_graph_of(program, RankId(rank), graphs);
        graphs.ranks.push_back(std::move(graph));
    }
    return graphs;
}

/// Programs of one list for all ranks: computations on two streams, collectives of all, of rows and columns,
/// uneven ones, with delays and priorities.
Program random_spmd(std::mt19937& random) {
    const auto draw = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
    Program program;
    program.ranks = 6;
    program.iterations = 2;
    program.streams = {"compute", "host"};
    program.partitions.push_back(system::Partition::world(6));
    program.partitions.push_back({.name = "rows", .groups = {ranks(0, 3), ranks(3, 6)}});
    program.partitions.push_back(
        {.name = "columns",
         .groups = {{RankId(0), RankId(3)}, {RankId(1), RankId(4)}, {RankId(2), RankId(5)}}});
    for (int i = 0; i < 30; ++i) {
        system::Operation operation{
            .name = fmt::format("operation {}", i), .layer = {}, .iteration = i / 15, .work = {}};
        operation.layer = operation.name;
        for (int dependency = 0; dependency < i; ++dependency) {
            if (draw(9) == 0) {
                operation.dependencies.emplace_back(dependency);
            }
        }
        if (draw(1) == 0) {
            system::ComputeOperation work{.duration = Time(draw(5000)),
                                          .stream = static_cast<std::uint32_t>(draw(1))};
            if (draw(2) == 0) {
                std::vector<Time> each;
                for (std::size_t rank = 0; rank < program.ranks; ++rank) {
                    each.emplace_back(draw(3000));
                }
                work.duration = system::PerRank<Time>(each);
            }
            operation.work = work;
        } else {
            system::CollectiveOperation work{.kind = static_cast<CollectiveKind>(draw(3)),
                                             .partition = system::PartitionId(draw(2)),
                                             .size = Bytes(1 + draw(1000))};
            work.completion_delay = Time(draw(1) * draw(700));
            work.least_duration = Time(draw(1) * draw(700));
            work.begins_together = draw(3) == 0;
            if (draw(3) == 0) {
                work.priority = system::Priority::kExplicit;
                work.explicit_priority = draw(9) - 4;
            }
            if (work.kind == CollectiveKind::kAllToAll && draw(1) == 0) {
                std::vector<system::PairSizes> sizes;
                work.size = Bytes(0);
                for (const auto& group : program.partitions[work.partition].groups) {
                    std::vector<Bytes> pairs;
                    for (std::size_t pair = 0; pair < group.size() * group.size(); ++pair) {
                        pairs.emplace_back(static_cast<std::int64_t>(pair) + draw(50));
                    }
                    sizes.push_back(system::PairSizes::of_pairs(group.size(), pairs));
                    work.size = std::max(work.size, sizes.back().largest_held());
                }
                work.pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(sizes);
            }
            operation.work = work;
        }
        program.operations.push_back(operation);
    }
    program.check();
    return program;
}

TEST(ProgramGraphs, ProgramsOfOneListComeBackOperationByOperation) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const Program program = random_spmd(random);
        const Result<Program> again = build_program(graphs_of(program), {});
        ASSERT_TRUE(again.has_value()) << "seed " << seed << "\n" << render(again.error());
        ASSERT_EQ(again->operations.size(), program.operations.size()) << "seed " << seed;
        for (std::size_t i = 0; i < program.operations.size(); ++i) {
            ASSERT_EQ(say(*again, OperationId(i)), say(program, OperationId(i))) << "seed " << seed;
        }
    }
}

/// Lists that are made by carrying out random steps of all ranks in one order, so that they have one.
TEST(ProgramGraphs, RandomListsEndAndComeBackWithTheSameTime) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto draw = [&](unsigned most) { return static_cast<std::uint32_t>(random() % (most + 1)); };
        constexpr std::size_t kRanks = 5;
        Graphs graphs(kRanks);
        std::vector<std::vector<std::uint32_t>> done(kRanks);
        const auto needs = [&](std::size_t rank) {
            std::vector<std::uint32_t> chosen;
            for (const std::uint32_t task : done[rank]) {
                if (draw(3) == 0) {
                    chosen.push_back(task);
                }
            }
            return chosen;
        };
        for (std::uint64_t step = 0; step < 40; ++step) {
            const std::uint32_t rank = draw(kRanks - 1);
            const std::uint32_t choice = draw(2);
            if (choice == 0) {
                done[rank].push_back(graphs.compute(rank, "work", Time(draw(9000)), needs(rank)));
            } else if (choice == 1) {
                const std::uint32_t peer = (rank + 1 + draw(kRanks - 2)) % kRanks;
                const Bytes size(1 + draw(99));
                done[rank].push_back(graphs.send(rank, peer, size, needs(rank)));
                done[peer].push_back(graphs.receive(peer, rank, size, needs(peer)));
            } else {
                std::vector<RankId> group;
                for (std::size_t member = 0; member < kRanks; ++member) {
                    if (draw(1) == 0) {
                        group.emplace_back(member);
                    }
                }
                const Bytes size(1 + draw(500));
                for (const RankId member : group) {
                    done[member.index()].push_back(graphs.collective(member.index(),
                                                                     CollectiveKind::kAllReduce, group, step,
                                                                     size, needs(member.index())));
                }
            }
        }
        const Program program = graphs.program();
        const system::ExecutionReport report = execute(program);
        ASSERT_TRUE(report.finished) << "seed " << seed << "\n" << report.stall;
        const Result<Program> again = build_program(graphs_of(program), {});
        ASSERT_TRUE(again.has_value()) << render(again.error());
        EXPECT_EQ(execute(*again).total, report.total) << "seed " << seed;
    }
}

}  // namespace
}  // namespace astrolabe::workload
