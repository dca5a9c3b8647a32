// Computations that are slower while collectives are in flight on their rank: worked by hand, and random
// programs of which the integral of the speed is checked.

#include "program_builder.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/compute_speeds.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::ExecutionReport;
using system::OperationId;
using system::PerRank;
using system::Program;
using system::RankId;

system::CollectiveOperation all_reduce(Bytes size) {
    return {.kind = CollectiveKind::kAllReduce, .size = size};
}

void contend(Program& program, OperationId id, PerRank<Time> contended) {
    std::get<system::ComputeOperation>(program.operations[id].work).contended = std::move(contended);
}

/// Over a network on which a message of n bytes takes 1,000 + 80 n.
ExecutionReport execute(const Program& program) {
    FakeBackend backend(program.ranks, {.latency = Time(1000), .time_per_byte = Time(80)});
    system::Executor executor(program, options_with(algorithm_of("direct"), 1, 64), backend,
                              host_of_each_rank(program.ranks));
    ExecutionReport report = executor.run();
    EXPECT_TRUE(report.finished) << report.stall;
    return report;
}

// Two ranks and 100 bytes: two messages one after the other of 50 bytes, 5,000 each: in flight for 10,000.
TEST(Contention, ACollectiveThatEndsFirstLeavesTheRestToFullSpeed) {
    ProgramBuilder builder(2);
    const OperationId first = builder.compute("first", Time(10'000));
    const OperationId reduce = builder.collective("reduce", all_reduce(100_B), {first});
    const OperationId beside = builder.compute("beside", Time(8'000));
    contend(builder.program(), first, Time(99'000));  // nothing is in flight yet
    contend(builder.program(), beside, Time(12'000));
    const ExecutionReport report = execute(builder.program());
    EXPECT_EQ(report.operations[first].last_finish, Time(10'000));
    EXPECT_EQ(report.operations[reduce].last_finish, Time(20'000));
    // At 2/3 of the speed for 10,000: 6,666.7 of 8,000 are done; 1,333.3 more at full speed.
    EXPECT_EQ(report.operations[beside].last_finish, Time(21'334));
    EXPECT_EQ(report.total, Time(21'334));
    for (const system::RankRecord& rank : report.ranks) {
        EXPECT_EQ(rank.compute, Time(18'000));
        EXPECT_EQ(rank.slowed, Time(3'334));
        EXPECT_TRUE(rank.exposed.empty());
        EXPECT_EQ(rank.drain, Time(0));
    }
}

TEST(Contention, ACollectiveThatStartsMeanwhileSlowsWhatIsComputed) {
    ProgramBuilder builder(2);
    builder.program().streams = {"compute", "side"};
    const OperationId first = builder.compute_on(1, "first", Time(3'000));
    const OperationId reduce = builder.collective("reduce", all_reduce(100_B), {first});
    const OperationId beside = builder.compute("beside", Time(9'000));
    contend(builder.program(), beside, Time(15'000));
    const ExecutionReport report = execute(builder.program());
    // 3,000 at full speed; then 9,000 - 3,000 = 6,000 of work at 3/5: 10,000, just as long as it is in
    // flight.
    EXPECT_EQ(report.operations[reduce].last_finish, Time(13'000));
    EXPECT_EQ(report.operations[beside].last_finish, Time(13'000));
    EXPECT_EQ(report.ranks[0].slowed, Time(4'000));
}

TEST(Contention, TwoCollectivesSlowAsOneDoes) {
    ProgramBuilder builder(2);
    builder.program().streams = {"compute", "side"};
    builder.collective("early", all_reduce(100_B));  // 0 to 10,000
    const OperationId first = builder.compute_on(1, "first", Time(4'000));
    const OperationId late = builder.collective("late", all_reduce(100_B), {first});  // 4,000 to 14,000
    const OperationId beside = builder.compute("beside", Time(10'000));
    contend(builder.program(), beside, Time(20'000));
    const ExecutionReport report = execute(builder.program());
    EXPECT_EQ(report.operations[late].last_finish, Time(14'000));
    // Half of 14,000 is done at 14,000, and 3,000 are left.
    EXPECT_EQ(report.operations[beside].last_finish, Time(17'000));
    EXPECT_EQ(report.ranks[1].slowed, Time(7'000));
    // 'first' has no contended duration, so nothing slows it.
    EXPECT_EQ(report.ranks[1].other_streams[0].slowed, Time(0));
}

TEST(Contention, WhatMovesNothingAndOneSidedMessagesSlowNothing) {
    ProgramBuilder builder(2);
    builder.collective("nothing", all_reduce(0_B));
    const OperationId send = builder.send("send", RankId(0), RankId(1), 100_B);
    builder.receive("receive", send);
    const OperationId beside = builder.compute("beside", Time(20'000));
    contend(builder.program(), beside, Time(30'000));
    EXPECT_EQ(execute(builder.program()).operations[beside].last_finish, Time(20'000));
}

TEST(Contention, ADelayBehindACollectiveIsStillInFlight) {
    ProgramBuilder builder(2);
    system::CollectiveOperation reduce = all_reduce(100_B);
    reduce.completion_delay = Time(2'000);
    builder.collective("reduce", reduce);  // 0 to 12,000
    const OperationId beside = builder.compute("beside", Time(10'000));
    contend(builder.program(), beside, Time(20'000));
    // 6,000 are done at 12,000.
    EXPECT_EQ(execute(builder.program()).operations[beside].last_finish, Time(16'000));
}

TEST(Contention, RanksAreSlowedEachForItself) {
    ProgramBuilder builder(3);
    const system::PartitionId pair = builder.groups("pair", {{RankId(0), RankId(1)}});
    builder.collective("reduce", {.kind = CollectiveKind::kAllReduce, .partition = pair, .size = 100_B});
    const OperationId beside = builder.compute("beside", Time(5'000));
    contend(builder.program(), beside,
            PerRank<Time>(std::vector<Time>{Time(10'000), Time(6'000), Time(9'000)}));
    const ExecutionReport report = execute(builder.program());
    EXPECT_EQ(report.ranks[0].slowed, Time(5'000));
    EXPECT_EQ(report.ranks[1].slowed, Time(1'000));
    EXPECT_EQ(report.ranks[2].slowed, Time(0));  // of no collective
}

TEST(Contention, LongComputationsAreExact) {
    // A day beside a tenth of a second of collectives, at 1 - 10^-6 of the speed: 128 bits hold d·d'.
    const Time day(86'400 * kPicosecondsPerSecond);
    ProgramBuilder builder(2);
    const OperationId beside = builder.compute("beside", day);
    builder.collective("reduce", all_reduce(100_B));
    contend(builder.program(), beside, day + day / 1'000'000);
    // In flight for 10,000 ps, of which 10,000 / 1,000,001 is lost: less than a picosecond, rounded up.
    EXPECT_EQ(execute(builder.program()).ranks[0].slowed, Time(1));
}

TEST(Contention, DefectsOfProgramsAreNamed) {
    ProgramBuilder builder(2);
    const OperationId id = builder.compute("work", Time(10));
    contend(builder.program(), id, Time(9));
    EXPECT_THROW(builder.program().check(), std::logic_error);
    contend(builder.program(), id, PerRank<Time>(std::vector<Time>{Time(10)}));
    EXPECT_THROW(builder.program().check(), std::logic_error);
    contend(builder.program(), id, Time(10));
    EXPECT_NO_THROW(builder.program().check());
    // Slow ranks have a model of their own.
    FakeBackend backend(2);
    system::SystemOptions options = options_with(algorithm_of("direct"), 1, 64);
    options.compute_speeds =
        std::make_shared<const system::ComputeSpeeds>(std::vector<system::SlowRank>{{RankId(0), 0_us}});
    EXPECT_THROW(system::Executor(builder.program(), options, backend, host_of_each_rank(2)),
                 std::logic_error);
}

struct Span {
    Time from;
    Time to = Time::max();
};

RC_GTEST_PROP(Contention, TheIntegralOfTheSpeedIsTheWork, ()) {
    const auto in_range = [](std::int64_t low, std::int64_t end) {
        return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(low, end));
    };
    const auto ranks = static_cast<std::size_t>(in_range(2, 6));
    ProgramBuilder builder(ranks);
    builder.program().streams = {"compute", "side"};
    const auto operations = static_cast<std::size_t>(in_range(2, 25));
    for (std::size_t index = 0; index < operations; ++index) {
        std::vector<OperationId> after;
        for (std::size_t before = 0; before < index; ++before) {
            if (in_range(0, 5) == 0) {
                after.emplace_back(before);
            }
        }
        const std::string name = std::to_string(index);
        if (in_range(0, 2) == 0) {
            builder.collective(name, all_reduce(Bytes(in_range(0, 300))), std::move(after));
            continue;
        }
        std::vector<Time> durations;
        std::vector<Time> contended;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            durations.emplace_back(in_range(0, 30'000));
            contended.push_back(durations.back() + Time(in_range(0, 60'000)));
        }
        const OperationId id = builder.compute_on(static_cast<std::uint32_t>(in_range(0, 2)), name,
                                                  PerRank<Time>(durations), std::move(after));
        contend(builder.program(), id, PerRank<Time>(contended));
    }
    const Program& program = builder.program();
    FakeBackend backend(ranks, {.latency = Time(in_range(0, 3000)), .time_per_byte = Time(in_range(0, 90))});
    // Windows with room for all and every rank in its own order, so that a collective is in flight from its
    // issue on.
    system::SystemOptions options = options_with(algorithm_of("ring"), 3, 1000);
    options.start_order = system::StartOrder::kIndependent;
    system::Executor executor(program, options, backend, host_of_each_rank(ranks));
    std::map<std::pair<OperationId, RankId>, Span> spans;
    executor.operation_issued.connect([&](OperationId id, RankId rank, Time now) {
        spans[{id, rank}].from = now;
    });
    executor.operation_finished.connect([&](OperationId id, RankId rank, Time now) {
        spans[{id, rank}].to = now;
    });
    const ExecutionReport report = executor.run();
    RC_ASSERT(report.finished);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        Time slowed;
        for (const auto& [key, span] : spans) {
            const system::Operation& operation = program.operations[key.first];
            if (!operation.is_compute() || key.second != RankId(rank)) {
                continue;
            }
            const std::int64_t d = operation.compute().duration[RankId(rank)].count();
            const std::int64_t longer = (*operation.compute().contended)[RankId(rank)].count();
            // The work done up to `end`, in units of 1/d'.
            const auto work_until = [&, from = span.from](Time end) {
                std::int64_t work = 0;
                for (Time at = from; at < end; at += Time(1)) {
                    // Stretches of one speed: up to the next start or end of a collective.
                    Time next = end;
                    bool is_slow = false;
                    for (const auto& [other, flight] : spans) {
                        const system::Operation& collective = program.operations[other.first];
                        if (other.second != RankId(rank) || !collective.is_collective() ||
                            collective.collective().size == 0_B) {
                            continue;
                        }
                        is_slow = is_slow || (flight.from <= at && at < flight.to);
                        for (const Time edge : {flight.from, flight.to}) {
                            next = edge > at ? std::min(next, edge) : next;
                        }
                    }
                    work += (next - at).count() * (is_slow ? d : longer);
                    at = next - Time(1);
                }
                return work;
            };
            if (d == 0) {
                RC_ASSERT(span.from == span.to);
                continue;
            }
            RC_ASSERT(work_until(span.to) >= d * longer);
            RC_ASSERT(work_until(span.to - Time(1)) < d * longer);
            slowed += span.to - span.from - Time(d);
        }
        const system::RankRecord& record = report.ranks[rank];
        RC_ASSERT(record.slowed + record.other_streams[0].slowed == slowed);
    }
}

RC_GTEST_PROP(Contention, EqualDurationsChangeNothing, ()) {
    const auto size = *rc::gen::inRange<std::int64_t>(0, 500);
    const auto duration = *rc::gen::inRange<std::int64_t>(0, 50'000);
    const auto total = [&](bool contends) {
        ProgramBuilder builder(3);
        const OperationId first = builder.compute("first", Time(duration));
        builder.collective("reduce", all_reduce(Bytes(size)), {first});
        const OperationId second = builder.compute("second", Time(duration / 2 + 1));
        if (contends) {
            contend(builder.program(), first, Time(duration));
            contend(builder.program(), second, Time(duration / 2 + 1));
        }
        return execute(builder.program()).total;
    };
    RC_ASSERT(total(true) == total(false));
}

}  // namespace
}  // namespace astrolabe::testing
