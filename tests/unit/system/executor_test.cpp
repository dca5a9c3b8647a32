// The executor on a network without interaction: times, bytes, and the cases at the edge.

#include "program_builder.hpp"
#include "system/src/program/traffic.hpp"

#include <bit>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::ExecutionReport;
using system::Executor;
using system::OperationId;
using system::Partition;
using system::PartitionId;
using system::PerRank;
using system::Position;
using system::RankId;
using system::SystemOptions;

constexpr FakeBackendOptions kNetwork{.latency = Time(1000), .time_per_byte = Time(80)};  // α, β

ExecutionReport execute(const system::Program& program, const SystemOptions& options,
                        FakeBackendOptions network = kNetwork) {
    FakeBackend backend(program.ranks, network);
    Executor executor(program, options, backend, host_of_each_rank(program.ranks));
    return executor.run();
}

ExecutionReport execute_alone(CollectiveKind kind, std::size_t ranks, Bytes size,
                              const SystemOptions& options) {
    ProgramBuilder builder(ranks);
    builder.collective("alone", {.kind = kind, .size = size});
    return execute(builder.program(), options);
}

Time message_time(Bytes size) {
    return kNetwork.latency + kNetwork.time_per_byte * size.count();
}

TEST(ClosedForm, RingTakesItsStepsOneByOne) {
    for (Position n = 2; n <= 16; ++n) {
        const Bytes block(100);
        const Bytes size = block * n;
        const SystemOptions options = options_with(algorithm_of("ring"), 1, 64);
        const auto time = [&](CollectiveKind kind, Bytes s) {
            return execute_alone(kind, n, s, options).total;
        };
        EXPECT_EQ(time(CollectiveKind::kReduceScatter, size), message_time(block) * (n - 1));
        EXPECT_EQ(time(CollectiveKind::kAllGather, block), message_time(block) * (n - 1));
        EXPECT_EQ(time(CollectiveKind::kAllReduce, size), message_time(block) * (2 * (n - 1)));
        EXPECT_EQ(time(CollectiveKind::kAllToAll, size), message_time(block) * (n * (n - 1) / 2));
    }
}

TEST(ClosedForm, DirectTakesOneMessageTimeOrTwo) {
    // Without contention all messages of a step travel at once.
    for (Position n = 2; n <= 16; ++n) {
        const Bytes block(100);
        const Bytes size = block * n;
        const SystemOptions options = options_with(algorithm_of("direct"), 1, 64);
        const auto time = [&](CollectiveKind kind, Bytes s) {
            return execute_alone(kind, n, s, options).total;
        };
        EXPECT_EQ(time(CollectiveKind::kReduceScatter, size), message_time(block));
        EXPECT_EQ(time(CollectiveKind::kAllToAll, size), message_time(block));
        EXPECT_EQ(time(CollectiveKind::kAllGather, block), message_time(block));
        EXPECT_EQ(time(CollectiveKind::kAllReduce, size), message_time(block) * 2);
    }
}

TEST(ClosedForm, TreesTakeTheirDepthTwice) {
    // Contention-free, N = 2^k: 2k(α + Sβ).
    for (int k = 1; k <= 6; ++k) {
        const Bytes size(1000);
        const SystemOptions options = options_with(algorithm_of("double_binary_tree"), 1, 64);
        const ExecutionReport report =
            execute_alone(CollectiveKind::kAllReduce, std::size_t{1} << k, size, options);
        EXPECT_EQ(report.total, message_time(size) * (2 * k));
    }
}

TEST(Traffic, IsWhatTheScheduleSays) {
    for (const auto& entry : builtin_algorithms()) {
        if (entry.algorithm->unsupported(CollectiveKind::kAllReduce, 2)) {
            continue;
        }
        for (const std::size_t ranks : {2U, 3U, 8U, 13U}) {
            for (const std::uint32_t chunks : {1U, 3U, 8U}) {
                const Bytes size(1009);  // prime: no division comes out even
                const auto report = execute_alone(CollectiveKind::kAllReduce, ranks, size,
                                                  options_with(entry.algorithm, chunks, 2));
                ASSERT_TRUE(report.finished) << report.stall;
                const system::Traffic traffic = system::traffic_of(
                    *entry.algorithm, CollectiveKind::kAllReduce, static_cast<Position>(ranks), size, chunks);
                const auto& record = report.operations[OperationId(0)];
                EXPECT_EQ(record.bytes_sent, traffic.bytes());
                EXPECT_EQ(record.messages, traffic.messages());
                EXPECT_EQ(record.chunks, chunks);
            }
        }
    }
}

TEST(Symmetry, ExclusiveOrSchedulesWithWaitingReceivesExecute) {
    // The receive of a step also waits for the delivery of its own send, which takes as long: log2 N message
    // times.
    for (const std::size_t ranks : {2U, 4U, 16U}) {
        const Bytes size(1003);  // uneven over 2, 4 and 16 blocks
        const auto options = options_with(algorithm_of("recursive_doubling"), 3, 64);
        const ExecutionReport report = execute_alone(CollectiveKind::kAllReduce, ranks, size, options);
        ASSERT_TRUE(report.finished) << report.stall;
        const Bytes first_chunk = system::part_size(size, 3, 0);
        EXPECT_EQ(report.total, message_time(first_chunk) * std::countr_zero(ranks));
    }
}

TEST(Edge, ZeroBytesFinishOnceIssuedEverywhere) {
    ProgramBuilder builder(3);
    const OperationId step = builder.compute("step", PerRank<Time>({Time(10), Time(30), Time(20)}));
    const OperationId barrier = builder.collective("barrier", {.size = Bytes(0)}, {step});
    builder.compute("after", Time(5), {barrier});
    const ExecutionReport report = execute(builder.program(), options_with(algorithm_of("ring"), 4, 1));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.operations[barrier].first_issue, Time(10));
    EXPECT_EQ(report.operations[barrier].first_start, Time(30));
    EXPECT_EQ(report.operations[barrier].last_finish, Time(30));
    EXPECT_EQ(report.operations[barrier].messages, 0U);
    EXPECT_EQ(report.total, Time(35));
    EXPECT_EQ(report.ranks[0].exposed, (std::map<std::string, Time>{{"barrier", Time(20)}}));
    EXPECT_EQ(report.ranks[1].exposed, (std::map<std::string, Time>{}));
    EXPECT_EQ(report.ranks[2].exposed, (std::map<std::string, Time>{{"barrier", Time(10)}}));
}

TEST(Edge, OneRankNeedsNoNetwork) {
    ProgramBuilder builder(1);
    const OperationId reduce =
        builder.collective("reduce", {.size = Bytes(1000), .completion_delay = Time(7)});
    builder.compute("after", Time(5), {reduce});
    const ExecutionReport report =
        execute(builder.program(), SystemOptions{});  // no algorithm is needed either
    ASSERT_TRUE(report.finished);
    EXPECT_EQ(report.total, Time(12));  // 7 + 5
    EXPECT_EQ(report.ranks[0].exposed.at("reduce"), Time(7));
}

TEST(Edge, NothingToDoIsDoneAtOnce) {
    const ExecutionReport report = execute(ProgramBuilder(4).program(), SystemOptions{});
    EXPECT_TRUE(report.finished);
    EXPECT_EQ(report.total, Time(0));
    EXPECT_EQ(report.ranks.size(), 4U);
}

TEST(Edge, CompletionDelayIsPartOfTheCollective) {
    ProgramBuilder builder(2);
    const OperationId reduce = builder.collective(
        "reduce", {.kind = CollectiveKind::kAllToAll, .size = Bytes(20), .completion_delay = Time(333)});
    builder.compute("after", Time(1), {reduce});
    const ExecutionReport report = execute(builder.program(), options_with(algorithm_of("direct"), 1, 1));
    EXPECT_EQ(report.operations[reduce].last_finish, message_time(Bytes(10)) + Time(333));
    EXPECT_EQ(report.total, message_time(Bytes(10)) + Time(334));
}

TEST(Injection, DelaysEveryMessageAndCopiesOverlap) {
    // Direct all_reduce: two steps of N-1 messages each, all of a step delayed together by 500.
    SystemOptions options = options_with(algorithm_of("direct"), 1, 1);
    options.end_point.injection_latency = Time(500);
    const ExecutionReport report = execute_alone(CollectiveKind::kAllReduce, 5, Bytes(500), options);
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, (message_time(Bytes(100)) + Time(500)) * 2);
}

TEST(Injection, MessagesReadyAtOneInstantShareATimer) {
    // All 4 · 3 messages of the step are ready at 0: one timer and 12 deliveries.
    ProgramBuilder builder(4);
    builder.collective("exchange", {.kind = CollectiveKind::kAllToAll, .size = Bytes(400)});
    SystemOptions options = options_with(algorithm_of("direct"), 1, 1);
    options.end_point.injection_latency = Time(500);
    FakeBackend backend(4, kNetwork);
    Executor executor(builder.program(), options, backend, host_of_each_rank(4));
    ASSERT_TRUE(executor.run().finished);
    EXPECT_EQ(backend.events_processed(), 13U);
}

TEST(Accounting, WaitsAreChargedInTheOrderListed) {
    // Two collectives: "short" done at 1000 + 80·10 = 1800, "long" at 1000 + 80·100 = 9000. A rank that lists
    // short first waits 1800 for it and 7200 for long; listing long first charges all 9000 to it.
    for (const bool short_first : {true, false}) {
        ProgramBuilder builder(2);
        const OperationId brief =
            builder.collective("short", {.kind = CollectiveKind::kAllToAll, .size = Bytes(20)});
        const OperationId lengthy =
            builder.collective("long", {.kind = CollectiveKind::kAllToAll, .size = Bytes(200)});
        using Causes = std::vector<OperationId>;
        builder.compute("after", Time(50), short_first ? Causes{brief, lengthy} : Causes{lengthy, brief});
        SystemOptions options = options_with(algorithm_of("direct"), 1, 8);
        options.scheduling = system::Scheduling::kFifo;  // "short" is first on each pair's way
        const ExecutionReport report = execute(builder.program(), options);
        const std::map<std::string, Time> expected =
            short_first ? std::map<std::string, Time>{{"short", Time(1800)}, {"long", Time(7200)}}
                        : std::map<std::string, Time>{{"long", Time(9000)}};
        EXPECT_EQ(report.ranks[0].exposed, expected);
        EXPECT_EQ(report.operations[lengthy].exposed, short_first ? Time(14400) : Time(18000));  // both ranks
        EXPECT_EQ(report.total, Time(9050));
    }
}

TEST(Accounting, WaitsOfAllRanksTogetherMayExceedTime) {
    // Four ranks wait for half of all time each: twice Time::max() together, said as Time::max().
    constexpr Time kHalf = Time::max() / 2;
    ProgramBuilder builder(4);
    const OperationId barrier = builder.collective("barrier", {.size = Bytes(0), .completion_delay = kHalf});
    builder.compute("after", Time(1), {barrier});
    const ExecutionReport report = execute(builder.program(), SystemOptions{});
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.operations[barrier].exposed, Time::max());
    EXPECT_EQ(report.ranks[3].exposed.at("barrier"), kHalf);
    EXPECT_EQ(report.total, kHalf + Time(1));
}

TEST(Accounting, DrainLastsToTheEndOfTheRun) {
    // Rank 0 computes for 10, rank 1 for 100; the all_to_all of 10 bytes each way is issued then, and rank
    // 1's message reaches rank 0 at 100 + 1800.
    ProgramBuilder builder(2);
    const OperationId step = builder.compute("step", PerRank<Time>({Time(10), Time(100)}));
    builder.collective("exchange", {.kind = CollectiveKind::kAllToAll, .size = Bytes(20)}, {step});
    const ExecutionReport report = execute(builder.program(), options_with(algorithm_of("direct"), 1, 1));
    EXPECT_EQ(report.total, Time(1900));
    EXPECT_EQ(report.ranks[0].drain, Time(1890));
    EXPECT_EQ(report.ranks[1].drain, Time(1800));
    EXPECT_EQ(report.ranks[0].end, Time(1900));
    EXPECT_EQ(report.ranks[1].end, Time(1810));  // rank 0's message left at 10
    EXPECT_EQ(report.ranks[0].iteration_ends, (std::vector<Time>{Time(10)}));
}

TEST(Groups, RunTheirOwnInstances) {
    // Two groups of two; only the second has a slow member, and only it is late.
    ProgramBuilder builder(4);
    builder.program().partitions.push_back({"pairs", {{RankId(2), RankId(0)}, {RankId(1), RankId(3)}}});
    const OperationId step = builder.compute("step", PerRank<Time>({Time(0), Time(0), Time(0), Time(700)}));
    const OperationId exchange = builder.collective(
        "exchange", {.kind = CollectiveKind::kAllToAll, .partition = PartitionId(1), .size = Bytes(20)},
        {step});
    builder.compute("after", Time(1), {exchange});
    const ExecutionReport report = execute(builder.program(), options_with(algorithm_of("direct"), 1, 1));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.ranks[0].end, Time(1801));
    EXPECT_EQ(report.ranks[2].end, Time(1801));
    EXPECT_EQ(report.ranks[1].end, Time(2501));  // 700 + 1800 + 1
    EXPECT_EQ(report.operations[exchange].messages, 4U);
}

TEST(Groups, ThatCrossDoNotLockOneAnotherUp) {
    // Rows {0,1}, {2,3} and columns {0,2}, {1,3}, a window of one, two chunks each. Row 0 is slow, so is
    // column 1. Rank 0 is done with A early and issues P, the first in row 0 when B ends there; rank 3 is
    // done with Q early and issues R, the newest in column 1 when A's first chunk ends there. Were these the
    // agreed orders, rank 1 would wait for A behind R, for Q behind P, and could issue neither P (after A)
    // nor R (after Q).
    ProgramBuilder builder(4);
    builder.program().partitions.push_back({"rows", {{RankId(0), RankId(1)}, {RankId(2), RankId(3)}}});
    builder.program().partitions.push_back({"columns", {{RankId(0), RankId(2)}, {RankId(1), RankId(3)}}});
    const auto add = [&](const char* name, std::uint32_t partition, system::Priority priority,
                         std::vector<OperationId> after) {
        return builder.collective(name,
                                  {.kind = CollectiveKind::kAllToAll,
                                   .partition = PartitionId(partition),
                                   .size = Bytes(4),
                                   .priority = priority},
                                  std::move(after));
    };
    add("B", 1, system::Priority::kFifo, {});
    const OperationId q = add("Q", 1, system::Priority::kFifo, {});
    const OperationId a = add("A", 2, system::Priority::kLifo, {});
    add("P", 1, system::Priority::kHighest, {a});
    add("R", 2, system::Priority::kLifo, {q});
    FakeBackend backend(4, [](const network::Message& message) {
        const auto pair = message.source.index() + message.destination.index();
        return pair == 1 ? Time(100) : (pair == 4 ? Time(50) : Time(1));  // row 0, column 1, the others
    });
    Executor executor(builder.program(), options_with(algorithm_of("direct"), 2, 1), backend,
                      host_of_each_rank(4));
    const ExecutionReport report = executor.run();
    EXPECT_TRUE(report.finished) << report.stall;
}

TEST(Observers, SeeEveryOperationOnEveryRank) {
    ProgramBuilder builder(3, 2);
    for (int iteration = 0; iteration < 2; ++iteration) {
        const OperationId step = builder.compute("step", Time(5));
        builder.collective("reduce", {.size = Bytes(30)}, {step});
        builder.next_iteration();
    }
    FakeBackend backend(3, kNetwork);
    Executor executor(builder.program(), options_with(algorithm_of("ring"), 2, 1), backend,
                      host_of_each_rank(3));
    std::size_t issued = 0;
    std::size_t finished = 0;
    executor.operation_issued.connect([&](OperationId, RankId, Time) { ++issued; });
    executor.operation_finished.connect([&](OperationId, RankId, Time) {
        ++finished;
        EXPECT_EQ(executor.finished_operations(), finished);
    });
    ASSERT_TRUE(executor.run().finished);
    EXPECT_EQ(issued, 12U);
    EXPECT_EQ(finished, 12U);
    EXPECT_EQ(executor.total_operations(), 12U);
}

TEST(Observers, CanAskWhatRanksDo) {
    // Both ranks compute until 1000, reduce 2 · 50 bytes in two steps of α + 50 β = 5000 each, and compute
    // again until 12000.
    ProgramBuilder builder(2, 2);
    const OperationId first = builder.compute("first", Time(1000));
    const OperationId reduce = builder.collective("reduce", {.size = Bytes(100)}, {first});
    builder.next_iteration();
    builder.compute("second", Time(1000), {reduce});
    FakeBackend backend(2, kNetwork);
    Executor executor(builder.program(), options_with(algorithm_of("ring"), 1, 1), backend,
                      host_of_each_rank(2));
    class Questioner final : public network::NotificationHandler {
    public:
        explicit Questioner(const Executor& executor)
            : executor_(executor) {}
        void notify(std::uint64_t time) override {
            answers[time] = executor_.activity();
            messages[time] = executor_.delivered_messages();
        }
        std::map<std::uint64_t, system::RankActivity> answers;
        std::map<std::uint64_t, std::uint64_t> messages;

    private:
        const Executor& executor_;
    };
    Questioner questioner(executor);
    for (const std::uint64_t time : {500, 4000, 7000, 11'500}) {
        backend.schedule(Time(static_cast<std::int64_t>(time)), questioner, time);
    }
    const ExecutionReport report = executor.run();
    ASSERT_TRUE(report.finished);
    EXPECT_EQ(report.total, Time(12'000));
    EXPECT_EQ(questioner.answers[500].computing, 2U);
    EXPECT_EQ(questioner.answers[500].waiting, 0U);
    EXPECT_EQ(questioner.answers[500].finished_iterations, 0);
    EXPECT_EQ(questioner.answers[4000].computing, 0U);
    EXPECT_EQ(questioner.answers[4000].waiting, 2U);
    EXPECT_EQ(questioner.answers[4000].finished_iterations, 1) << "its computations have ended";
    EXPECT_EQ(questioner.answers[11'500].computing, 2U);
    EXPECT_EQ(questioner.messages[4000], 0U);
    EXPECT_EQ(questioner.messages[7000], 2U) << "one from each rank";
    EXPECT_EQ(questioner.messages[11'500], 4U);
    EXPECT_EQ(executor.activity().computing + executor.activity().waiting, 0U);
    EXPECT_EQ(executor.activity().finished_iterations, 1) << "the last one ends with the run";
}

TEST(Relabelling, RanksOfASymmetricNetworkAreInterchangeable) {
    // Rank r of the second run is rank (r + 2) mod 5 of the first: durations and group order are relabelled
    // alike.
    constexpr std::size_t kRanks = 5;
    const auto relabelled = [](std::size_t rank) { return (rank + 2) % kRanks; };
    const std::vector<Time> durations{Time(100), Time(2000), Time(30), Time(450), Time(900)};
    const auto run = [&](bool relabel) {
        ProgramBuilder builder(kRanks);
        std::vector<Time> own(kRanks);
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
            own[relabel ? relabelled(rank) : rank] = durations[rank];
            builder.program().partitions[PartitionId(0)].groups[0][rank] =
                RankId(relabel ? relabelled(rank) : rank);
        }
        const OperationId step = builder.compute("step", PerRank<Time>(own));
        const OperationId reduce = builder.collective("reduce", {.size = Bytes(1001)}, {step});
        builder.compute("after", Time(7), {reduce});
        return execute(builder.program(), options_with(algorithm_of("ring"), 3, 2));
    };
    const ExecutionReport plain = run(false);
    const ExecutionReport renamed = run(true);
    EXPECT_EQ(plain.total, renamed.total);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
        EXPECT_EQ(plain.ranks[rank].end, renamed.ranks[relabelled(rank)].end);
        EXPECT_EQ(plain.ranks[rank].exposed, renamed.ranks[relabelled(rank)].exposed);
    }
}

TEST(Contract, RefusesWhatTheAlgorithmCannotDo) {
    ProgramBuilder builder(4);
    builder.collective("exchange", {.kind = CollectiveKind::kAllToAll, .size = Bytes(4)});
    FakeBackend backend(4);
    EXPECT_THROW(Executor(builder.program(), options_with(algorithm_of("double_binary_tree"), 1, 1), backend,
                          host_of_each_rank(4)),
                 std::logic_error);
    EXPECT_THROW(
        Executor(builder.program(), options_with(algorithm_of("ring"), 1, 1), backend, host_of_each_rank(3)),
        std::logic_error);
}

TEST(Messages, CarryTheClassOfTheirOperationOrKindAndTheNumberOfTheirOperation) {
    ProgramBuilder builder(4);
    const OperationId sums =
        builder.collective("sums", {.kind = CollectiveKind::kAllReduce, .size = Bytes(8)});
    builder.collective("turns", {.kind = CollectiveKind::kAllToAll, .size = Bytes(8)}, {sums});
    // One that says a class of its own, 0 included.
    builder.collective("more", {.kind = CollectiveKind::kAllToAll, .size = Bytes(8), .traffic_class = 0});
    SystemOptions options = options_with(algorithm_of("direct"), 1, 64);
    options.collectives[static_cast<std::size_t>(CollectiveKind::kAllToAll)].traffic_class = 5;
    options.end_point.rendezvous_threshold = Bytes(1);  // requests go with what they ask for
    std::map<std::pair<std::uint32_t, int>, int> seen;
    FakeBackend backend(4, [&](const network::Message& message) {
        ++seen[{message.label, message.traffic_class}];
        return Time(1);
    });
    Executor executor(builder.program(), options, backend, host_of_each_rank(4));
    ASSERT_TRUE(executor.run().finished);
    // Both halves of the direct all-reduce, and the all-to-all: 12 messages each, and as many requests.
    EXPECT_EQ(seen, (std::map<std::pair<std::uint32_t, int>, int>{{{0, 0}, 48}, {{1, 5}, 24}, {{2, 0}, 24}}));
}

}  // namespace
}  // namespace astrolabe::testing
