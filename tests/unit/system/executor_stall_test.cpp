// A run that cannot go on says who waits for what.

#include "program_builder.hpp"

#include <memory>
#include <string>

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
using system::PerRank;
using system::RankId;

system::Program exchange_then_compute(std::size_t ranks) {
    ProgramBuilder builder(ranks);
    const OperationId exchange =
        builder.collective("exchange", {.kind = CollectiveKind::kAllToAll, .size = Bytes(40)});
    builder.compute("after", Time(5), {exchange});
    return builder.program();
}

TEST(Stall, NamesTheLostMessageAndWhoWaitsForIt) {
    // Messages leave in the order rank 0 → 1, rank 1 → 0; the second is lost. 40 bytes over 2 ranks: 20 each.
    const system::Program program = exchange_then_compute(2);
    FakeBackend backend(2, {.latency = Time(1000), .lose_message = 2});
    Executor executor(program, options_with(algorithm_of("direct"), 1, 1), backend, host_of_each_rank(2));
    const ExecutionReport report = executor.run();
    EXPECT_FALSE(report.finished);
    EXPECT_EQ(
        report.stall,
        "stalled or interrupted (the network returned with messages in flight) at 1005ps: 2 of 4 operations "
        "finished, counted on every rank\n"
        "rank 0: 'after' waits for 'exchange'\n"
        "rank 0: 'exchange' chunk 1 of 1 waits for 20B from rank 1 (action 1)\n"
        "network: 20B from host 1 to host 0, 20B left\n");
}

TEST(Stall, ListsSixteenRanksAndCountsTheRest) {
    // One lost message of a ring stops all 20 ranks.
    ProgramBuilder builder(20);
    builder.collective("reduce", {.size = Bytes(2000)});
    FakeBackend backend(20, {.latency = Time(1000), .lose_message = 1});
    Executor executor(builder.program(), options_with(algorithm_of("ring"), 1, 1), backend,
                      host_of_each_rank(20));
    const ExecutionReport report = executor.run();
    EXPECT_FALSE(report.finished);
    EXPECT_NE(report.stall.find("rank 15: waits for its last collectives\n"), std::string::npos)
        << report.stall;
    EXPECT_EQ(report.stall.find("rank 16: waits for its last collectives"), std::string::npos);
    EXPECT_NE(report.stall.find("and 4 more ranks\n"), std::string::npos);
    EXPECT_NE(report.stall.find("rank 1: 'reduce' chunk 1 of 1 waits for 100B from rank 0 (action 1) and "),
              std::string::npos)
        << report.stall;
}

/// Two ranks that each send only after they have received: no proof would let it pass.
class Deadlock final : public system::CollectiveAlgorithm {
public:
    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind /*kind*/,
                                                         const system::Shape& /*shape*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const system::Shape& /*shape*/) const override {
        return 1;
    }
    [[nodiscard]] system::CollectiveSchedule schedule(CollectiveKind kind, const system::Shape& shape,
                                                      unsigned /*variant*/) const override {
        system::ScheduleBuilder builder(kind, shape.ranks(), 1, system::Symmetry::kNone);
        const system::BlockReference whole{};
        for (const system::Position rank : {0U, 1U}) {
            const system::ActionIndex received = builder.receive(rank, 1 - rank, {&whole, 1}, {}, true);
            builder.send(rank, 1 - rank, {&whole, 1}, {&received, 1});
        }
        return std::move(builder).build();
    }
};

TEST(Stall, NamesADeadlockOfTheSchedule) {
    ProgramBuilder builder(2);
    builder.collective("reduce", {.size = Bytes(8)});
    builder.collective("next", {.size = Bytes(8)});
    FakeBackend backend(2);
    system::SystemOptions options = options_with(std::make_shared<Deadlock>(), 1, 1);
    options.scheduling = system::Scheduling::kFifo;
    Executor executor(builder.program(), options, backend, host_of_each_rank(2));
    const ExecutionReport report = executor.run();
    EXPECT_EQ(
        report.stall,
        "stalled (nothing can happen any more) at 0ps: 0 of 4 operations finished, counted on every rank\n"
        "rank 0: waits for its last collectives\n"
        "rank 0: 'reduce' chunk 1 of 1 waits for 8B from rank 1 (action 0)\n"
        "rank 0: 'next' has 1 of 1 chunks to start\n"
        "rank 1: waits for its last collectives\n"
        "rank 1: 'reduce' chunk 1 of 1 waits for 8B from rank 0 (action 0)\n"
        "rank 1: 'next' has 1 of 1 chunks to start\n");
}

/// Two ranks issue A and B: rank 0 A at 0 and B at 10, rank 1 both at 10. LIFO and one slot: rank 0 has
/// started A when rank 1 prefers B.
system::Program skewed_pair() {
    ProgramBuilder builder(2);
    const OperationId first = builder.compute("first", PerRank<Time>({Time(0), Time(10)}));
    builder.collective("A", {.kind = CollectiveKind::kAllToAll, .size = Bytes(8)}, {first});
    const OperationId second = builder.compute("second", PerRank<Time>({Time(10), Time(0)}));
    builder.collective("B", {.kind = CollectiveKind::kAllToAll, .size = Bytes(8)}, {second});
    return builder.program();
}

ExecutionReport run_skewed_pair(const system::SystemOptions& options) {
    const system::Program program = skewed_pair();
    FakeBackend backend(2, {.latency = Time(1000)});
    Executor executor(program, options, backend, host_of_each_rank(2));
    return executor.run();
}

TEST(IndependentOrders, LockUpWhereAgreedOnesDoNotAndSayWhy) {
    system::SystemOptions options = options_with(algorithm_of("direct"), 1, 1);
    ASSERT_TRUE(run_skewed_pair(options).finished);
    options.start_order = system::StartOrder::kIndependent;
    const ExecutionReport report = run_skewed_pair(options);
    EXPECT_EQ(
        report.stall,
        "stalled (nothing can happen any more) at 1010ps: 4 of 8 operations finished, counted on every rank\n"
        "rank 0: waits for its last collectives\n"
        "rank 0: 'A' chunk 1 of 1 waits for 4B from rank 1 (action 1)\n"
        "rank 0: 'B' has 1 of 1 chunks to start\n"
        "rank 1: waits for its last collectives\n"
        "rank 1: 'A' has 1 of 1 chunks to start\n"
        "rank 1: 'B' chunk 1 of 1 waits for 4B from rank 0 (action 1)\n"
        "ranks wait for one another in a cycle:\n"
        "  rank 0 holds 1 of its 1 slots with 'A' chunk 1 of 1 and waits for rank 1, "
        "which has not started it\n"
        "  rank 1 holds 1 of its 1 slots with 'B' chunk 1 of 1 and waits for rank 0, "
        "which has not started it\n"
        "  they started chunks in different orders; start_order: agreed keeps all ranks to one order\n");
}

TEST(IndependentOrders, LockUpInADimension) {
    // Room in the window for both; one slot in the only dimension.
    system::SystemOptions options = options_with(algorithm_of("direct"), 1, 2);
    options.active_chunks_per_dimension = 1;
    ASSERT_TRUE(run_skewed_pair(options).finished);
    options.start_order = system::StartOrder::kIndependent;
    const ExecutionReport report = run_skewed_pair(options);
    EXPECT_FALSE(report.finished);
    for (const char* line :
         {"rank 0: 'B' chunk 1 of 1 waits for a slot in dimension 0, where 1 of 1 slots are taken\n",
          "  rank 0 holds 1 of its 1 slots in dimension 0 with 'A' chunk 1 of 1 and waits for rank 1, "
          "which has not started it\n"}) {
        EXPECT_NE(report.stall.find(line), std::string::npos) << report.stall;
    }
}

TEST(IndependentOrders, FinishWithRoomForAll) {
    system::SystemOptions options = options_with(algorithm_of("direct"), 1, 2);
    options.start_order = system::StartOrder::kIndependent;
    const ExecutionReport report = run_skewed_pair(options);
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, Time(1010));  // all that leaves at 10 arrives 1000 later
}

TEST(Interrupt, OfTheBackendIsToldFromAStallByItsTimers) {
    // Rank 1 computes for long; the first delivery stops the run.
    ProgramBuilder builder(2);
    const OperationId exchange =
        builder.collective("exchange", {.kind = CollectiveKind::kAllToAll, .size = Bytes(2)});
    builder.compute("work", PerRank<Time>({Time(10), Time(50'000)}));
    builder.compute("after", Time(1), {exchange});
    FakeBackend backend(2, {.latency = Time(1000), .stop_at_event = 2});
    Executor executor(builder.program(), options_with(algorithm_of("direct"), 1, 1), backend,
                      host_of_each_rank(2));
    const ExecutionReport report = executor.run();
    EXPECT_FALSE(report.finished);
    EXPECT_EQ(report.stall.substr(0, report.stall.find('\n')),
              "interrupted at 1ns: 2 of 6 operations finished, counted on every rank");
    EXPECT_NE(report.stall.find("rank 1: computes 'work'\n"), std::string::npos) << report.stall;
}

TEST(Interrupt, OfTheExecutorFromAnObserver) {
    const system::Program program = exchange_then_compute(3);
    FakeBackend backend(3, {.latency = Time(1000)});
    Executor executor(program, options_with(algorithm_of("direct"), 1, 1), backend, host_of_each_rank(3));
    executor.operation_finished.connect([&](OperationId, RankId, Time) { executor.stop(); });
    const ExecutionReport report = executor.run();
    EXPECT_FALSE(report.finished);
    EXPECT_EQ(report.stall.rfind("interrupted at 1ns: 1 of 6 operations", 0), 0U) << report.stall;
    EXPECT_EQ(report.total, Time(1000));
}

TEST(Interrupt, ARankThatHasNotIssuedIsNamed) {
    // Rank 0 has issued the barrier, rank 1 still computes when the run is stopped.
    ProgramBuilder builder(2);
    const OperationId step = builder.compute("step", PerRank<Time>({Time(10), Time(50)}));
    builder.collective("barrier", {.size = Bytes(0)}, {step});
    FakeBackend backend(2, {.stop_at_event = 1});
    Executor executor(builder.program(), {}, backend, host_of_each_rank(2));
    const ExecutionReport report = executor.run();
    EXPECT_NE(report.stall.find("rank 0: 'barrier' waits to be issued everywhere (1 of 2 ranks)\n"),
              std::string::npos)
        << report.stall;
    EXPECT_NE(report.stall.find("rank 1: has not issued 'barrier', which 1 of 2 ranks have\n"),
              std::string::npos);
}

}  // namespace
}  // namespace astrolabe::testing
