// Who goes first: LIFO, FIFO and HIGHEST, no pre-emption, windows, and the schedules of G1.

#include "program_builder.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using network::HostId;
using system::CollectiveKind;
using system::CollectiveOperation;
using system::ExecutionReport;
using system::Executor;
using system::OperationId;
using system::PartitionId;
using system::Priority;
using system::Scheduling;
using system::SystemOptions;

/// A 2-rank all_to_all of the direct algorithm is one message of S/2 each way: with 2 ps a byte it takes S/2
/// · 2 ps, so `size_for(d)` bytes make a collective of constant duration d.
constexpr Time kTimePerByte = Time(2);
Bytes size_for(Time duration) {
    return Bytes(duration.count());
}
CollectiveOperation collective_of(Time duration, Priority priority = Priority::kDefault) {
    return {.kind = CollectiveKind::kAllToAll, .size = size_for(duration), .priority = priority};
}

Time ticks(std::int64_t count) {
    return Time(count);
}

constexpr std::uint32_t kUnlimited = 1000;

SystemOptions one_chunk_options(Scheduling scheduling, std::uint32_t active_chunks) {
    SystemOptions options = options_with(algorithm_of("direct"), 1, active_chunks);
    options.scheduling = scheduling;
    return options;
}

ExecutionReport run_on_pair(const system::Program& program, const SystemOptions& options) {
    FakeBackend backend(2, FakeBackendOptions{.time_per_byte = kTimePerByte});
    Executor executor(program, options, backend, {HostId(0), HostId(1)});
    return executor.run();
}

/// First starts by "iteration/name".
std::map<std::string, std::int64_t> starts_of(const system::Program& program, const ExecutionReport& report) {
    std::map<std::string, std::int64_t> starts;
    for (std::size_t index = 0; index < program.operations.size(); ++index) {
        const system::Operation& operation = program.operations[OperationId(index)];
        if (!operation.is_compute()) {
            starts[std::to_string(operation.iteration) + "/" + operation.name] =
                report.operations[OperationId(index)].first_start.count();
        }
    }
    return starts;
}

/// G1 (docs/theory/training-loops.md, "Golden schedules"): DLRM with embeddings, two bottom and two top
/// layers, two passes. The embedding update follows the backward all_to_all; the next pass's lookup follows
/// the update.
system::Program dlrm_g1() {
    ProgramBuilder builder(2, 2);
    std::map<int, OperationId> weight_gradients;
    const auto waits_on = [&](int layer) {
        return weight_gradients.contains(layer) ? std::vector<OperationId>{weight_gradients[layer]}
                                                : std::vector<OperationId>{};
    };
    for (int pass = 0; pass < 2; ++pass) {
        const OperationId lookup = builder.compute("emb.fwd", ticks(10));
        const OperationId forward =
            builder.collective("A2A.fwd", collective_of(ticks(100), Priority::kHighest), {lookup});
        builder.compute("bot1.fwd", ticks(30), waits_on(1));
        builder.compute("bot2.fwd", ticks(30), waits_on(2));
        builder.compute("interact", ticks(0), {forward});
        builder.compute("top3.fwd", ticks(50), waits_on(3));
        builder.compute("top4.fwd", ticks(50), waits_on(4));
        OperationId backward;
        for (const int layer : {4, 3, 2, 1}) {
            const bool is_top = layer >= 3;
            const std::string name = "layer" + std::to_string(layer);
            const OperationId weight = builder.compute(name + ".wg", ticks(is_top ? 50 : 30));
            weight_gradients[layer] = builder.collective("AR" + std::to_string(layer),
                                                         collective_of(ticks(is_top ? 60 : 40)), {weight});
            const OperationId input = builder.compute(name + ".ig", ticks(is_top ? 50 : 30));
            if (layer == 3) {
                backward =
                    builder.collective("A2A.bwd", collective_of(ticks(100), Priority::kHighest), {input});
            }
        }
        builder.compute("emb.wg", ticks(20), {backward});
        builder.next_iteration();
    }
    return builder.program();
}

TEST(GoldenG1, EveryCollectiveAtOnce) {
    const system::Program program = dlrm_g1();
    const ExecutionReport report = run_on_pair(program, one_chunk_options(Scheduling::kLifo, kUnlimited));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, ticks(1100));
    for (const system::RankRecord& rank : report.ranks) {
        EXPECT_EQ(rank.iteration_ends, (std::vector<Time>{ticks(550), ticks(1100)}));
        EXPECT_EQ(rank.compute, ticks(1020));
        // Each pass waits 40 for the forward all_to_all: issued at 10, done at 110, bottom layers done at 70.
        EXPECT_EQ(rank.exposed, (std::map<std::string, Time>{{"A2A.fwd", ticks(80)}}));
        EXPECT_EQ(rank.drain, ticks(0));
    }
}

TEST(GoldenG1, OneAtATimeFifo) {
    const system::Program program = dlrm_g1();
    const ExecutionReport report = run_on_pair(program, one_chunk_options(Scheduling::kFifo, 1));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, ticks(1190));
    EXPECT_EQ(report.ranks[0].iteration_ends, (std::vector<Time>{ticks(550), ticks(1140)}));
    EXPECT_EQ(report.ranks[0].exposed,
              (std::map<std::string, Time>{{"A2A.fwd", ticks(80)}, {"AR1", ticks(40)}}));
    EXPECT_EQ(report.ranks[0].drain, ticks(50));
    std::map<std::string, std::int64_t> starts = starts_of(program, report);
    EXPECT_EQ(starts["0/A2A.fwd"], 10);
    EXPECT_EQ(starts["0/AR4"], 260);
    EXPECT_EQ(starts["0/AR3"], 360);
    EXPECT_EQ(starts["0/A2A.bwd"], 420);  // issued at 410; AR3 is not pre-empted
    EXPECT_EQ(starts["0/AR2"], 520);
    EXPECT_EQ(starts["0/AR1"], 560);
    EXPECT_EQ(starts["1/A2A.fwd"], 600);  // issued at 560, as AR2 ends: AR1 was waiting
}

TEST(GoldenG1, OneAtATimeLifo) {
    const system::Program program = dlrm_g1();
    const ExecutionReport report = run_on_pair(program, one_chunk_options(Scheduling::kLifo, 1));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, ticks(1190));
    EXPECT_EQ(report.ranks[1].iteration_ends, (std::vector<Time>{ticks(550), ticks(1140)}));
    EXPECT_EQ(report.ranks[1].exposed,
              (std::map<std::string, Time>{{"A2A.fwd", ticks(110)}, {"AR2", ticks(10)}}));
    EXPECT_EQ(report.ranks[1].drain, ticks(50));
    std::map<std::string, std::int64_t> starts = starts_of(program, report);
    EXPECT_EQ(starts["0/AR4"], 260);
    EXPECT_EQ(starts["0/AR3"], 360);
    EXPECT_EQ(starts["0/A2A.bwd"], 420);
    EXPECT_EQ(starts["0/AR1"], 520);
    EXPECT_EQ(starts["0/AR2"], 560);
    EXPECT_EQ(starts["1/A2A.fwd"], 600);
}

/// A long collective occupies the one place from 0 to 100 while "a", "b", "c" are issued at 10, 20, 30.
system::Program three_waiting(std::vector<Priority> priorities) {
    ProgramBuilder builder(2);
    builder.collective("long", collective_of(ticks(100)));
    for (std::size_t i = 0; i < priorities.size(); ++i) {
        const OperationId step = builder.compute("step" + std::to_string(i), ticks(10));
        builder.collective(std::string(1, static_cast<char>('a' + i)),
                           collective_of(ticks(10), priorities[i]), {step});
    }
    return builder.program();
}

std::map<std::string, std::int64_t> starts_with(Scheduling scheduling, std::vector<Priority> priorities) {
    const system::Program program = three_waiting(std::move(priorities));
    return starts_of(program, run_on_pair(program, one_chunk_options(scheduling, 1)));
}

TEST(StartOrder, FifoOldestFirstAndNoPreemption) {
    const auto starts =
        starts_with(Scheduling::kFifo, {Priority::kDefault, Priority::kDefault, Priority::kDefault});
    EXPECT_EQ(starts,
              (std::map<std::string, std::int64_t>{{"0/long", 0}, {"0/a", 100}, {"0/b", 110}, {"0/c", 120}}));
}

TEST(StartOrder, LifoNewestFirstAndNoPreemption) {
    const auto starts =
        starts_with(Scheduling::kLifo, {Priority::kDefault, Priority::kDefault, Priority::kDefault});
    EXPECT_EQ(starts,
              (std::map<std::string, std::int64_t>{{"0/long", 0}, {"0/c", 100}, {"0/b", 110}, {"0/a", 120}}));
}

TEST(StartOrder, HighestBeforeAnyOtherAndByAgeAmongThemselves) {
    // Under LIFO "c" would be first; both HIGHEST go before it, the older one first.
    const auto starts =
        starts_with(Scheduling::kLifo, {Priority::kHighest, Priority::kHighest, Priority::kLifo});
    EXPECT_EQ(starts,
              (std::map<std::string, std::int64_t>{{"0/long", 0}, {"0/a", 100}, {"0/b", 110}, {"0/c", 120}}));
}

TEST(StartOrder, ExplicitFifoGoesBehindAllThatWasIssuedBefore) {
    // "b" goes behind "a", "c" ahead of both.
    const auto starts =
        starts_with(Scheduling::kLifo, {Priority::kDefault, Priority::kFifo, Priority::kDefault});
    EXPECT_EQ(starts,
              (std::map<std::string, std::int64_t>{{"0/long", 0}, {"0/c", 100}, {"0/a", 110}, {"0/b", 120}}));
}

TEST(StartOrder, ExplicitPrioritiesOnTheScaleOfLifoAndFifo) {
    // Issued at 10, 20, 30, 40 while "long" (LIFO, counts 1) runs: -7 behind the FIFO one, which counts -1;
    // of equals the older.
    ProgramBuilder builder(2);
    builder.collective("long", collective_of(ticks(100)));
    const auto add = [&](const std::string& name, Priority priority, std::int64_t explicit_priority) {
        const OperationId step = builder.compute(name + ".step", ticks(10));
        CollectiveOperation work = collective_of(ticks(10), priority);
        work.explicit_priority = explicit_priority;
        builder.collective(name, work, {step});
    };
    add("last", Priority::kExplicit, -7);
    add("second", Priority::kExplicit, 0);
    add("fifo", Priority::kFifo, 0);
    add("first", Priority::kExplicit, 5);
    add("third", Priority::kExplicit, 0);
    const auto starts =
        starts_of(builder.program(), run_on_pair(builder.program(), one_chunk_options(Scheduling::kLifo, 1)));
    EXPECT_EQ(starts, (std::map<std::string, std::int64_t>{{"0/long", 0},
                                                           {"0/first", 100},
                                                           {"0/second", 110},
                                                           {"0/third", 120},
                                                           {"0/fifo", 130},
                                                           {"0/last", 140}}));
}

TEST(StartOrder, AllIssuesOfOneNotificationAreSeenBeforeTheChoice) {
    // Three collectives become ready as one compute operation ends, nothing else waits: LIFO starts the last.
    ProgramBuilder builder(2);
    const OperationId step = builder.compute("step", ticks(5));
    for (const char* name : {"a", "b", "c"}) {
        builder.collective(name, collective_of(ticks(10)), {step});
    }
    const auto starts =
        starts_of(builder.program(), run_on_pair(builder.program(), one_chunk_options(Scheduling::kLifo, 1)));
    EXPECT_EQ(starts, (std::map<std::string, std::int64_t>{{"0/c", 5}, {"0/b", 15}, {"0/a", 25}}));
}

TEST(StartOrder, ATieGoesToWhatWaitedWhicheverIsNotifiedFirst) {
    // "late" (HIGHEST) is issued at 100, exactly as "long" ends; "early" has waited since 10. The timer of
    // late.step is set at 10, the messages of "long" are sent at 5 or at 20: the backend notifies them in
    // either order.
    for (const std::int64_t long_start : {5, 20}) {
        ProgramBuilder builder(2);
        builder.collective("first", collective_of(ticks(long_start)));
        const OperationId long_id = builder.collective("long", collective_of(ticks(100 - long_start)));
        const OperationId early_step = builder.compute("early.step", ticks(10));
        builder.collective("early", collective_of(ticks(10)), {early_step});
        const OperationId late_step = builder.compute("late.step", ticks(90));
        builder.collective("late", collective_of(ticks(10), Priority::kHighest), {late_step});
        const ExecutionReport report =
            run_on_pair(builder.program(), one_chunk_options(Scheduling::kFifo, 1));
        ASSERT_TRUE(report.finished);
        ASSERT_EQ(report.operations[long_id].last_finish, ticks(100));
        const auto starts = starts_of(builder.program(), report);
        EXPECT_EQ(starts.at("0/early"), 100);
        EXPECT_EQ(starts.at("0/late"), 110);
    }
}

TEST(Window, ChunksOfACollectiveStartAsOthersEnd) {
    // 6 chunks of 20 bytes, 10 each way: 20 ps each on a network of unlimited capacity. With w at a time the
    // collective takes ceil(6 / w) · 20 ps.
    ProgramBuilder builder(2);
    builder.collective("a", {.kind = CollectiveKind::kAllToAll, .size = Bytes(120)});
    for (const auto& [window, expected] :
         {std::pair{1U, 120}, {2U, 60}, {3U, 40}, {4U, 40}, {6U, 20}, {64U, 20}}) {
        const ExecutionReport report =
            run_on_pair(builder.program(), options_with(algorithm_of("direct"), 6, window));
        ASSERT_TRUE(report.finished);
        EXPECT_EQ(report.total, ticks(expected)) << window;
        EXPECT_EQ(report.operations[OperationId(0)].chunks, 6U);
    }
}

TEST(Window, HighestTakesTheNextPlaceNotAStartedOne) {
    // "long" has 4 chunks of 100 ps, two at a time: [0, 100) and [100, 200). "urgent", one chunk of 50 ps,
    // comes at 10 and takes one of the two places at 100; the other goes to chunk 3, and chunk 4 follows
    // "urgent" at 150.
    ProgramBuilder builder(2);
    builder.collective("long", {.kind = CollectiveKind::kAllToAll, .size = Bytes(400)});
    const OperationId step = builder.compute("step", ticks(10));
    builder.collective(
        "urgent", {.kind = CollectiveKind::kAllGather, .size = Bytes(25), .priority = Priority::kHighest},
        {step});
    SystemOptions options = options_with(algorithm_of("direct"), 4, 2);
    options.collectives[static_cast<std::size_t>(CollectiveKind::kAllGather)].chunks = 1;
    const ExecutionReport report = run_on_pair(builder.program(), options);
    ASSERT_TRUE(report.finished);
    EXPECT_EQ(report.operations[OperationId(2)].first_start, ticks(100));
    EXPECT_EQ(report.operations[OperationId(2)].last_finish, ticks(150));
    EXPECT_EQ(report.operations[OperationId(0)].last_finish, ticks(250));
}

TEST(Window, EveryPartitionHasItsOwn) {
    // Two partitions of the same two ranks, a window of one: both collectives move at the same time.
    ProgramBuilder builder(2);
    builder.program().partitions.push_back(system::Partition::world(2));
    builder.collective("a",
                       {.kind = CollectiveKind::kAllToAll, .partition = PartitionId(0), .size = Bytes(100)});
    builder.collective("b",
                       {.kind = CollectiveKind::kAllToAll, .partition = PartitionId(1), .size = Bytes(100)});
    const ExecutionReport report = run_on_pair(builder.program(), one_chunk_options(Scheduling::kLifo, 1));
    EXPECT_EQ(report.total, ticks(100));
}

}  // namespace
}  // namespace astrolabe::testing
