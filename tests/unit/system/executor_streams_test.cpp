// Several streams of computation on a rank: worked examples, and random programs against a scheduler that
// needs no events because nothing in them shares anything.

#include "program_builder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::ExecutionReport;
using system::OperationId;
using system::PerRank;
using system::RankId;
using system::StreamRecord;

constexpr std::uint32_t kHost = 1;  // 0 is the device

/// Two ranks that exchange 100 bytes: with α = 1,000 ps and β = 80 ps/B an exchange takes 9,000 ps.
class StreamsTest : public ::testing::Test {
protected:
    StreamsTest() { builder_.program().streams = {"compute", "host"}; }

    OperationId exchange(const std::string& name, const std::vector<OperationId>& after) {
        return builder_.collective(name, {.kind = CollectiveKind::kAllToAll, .size = Bytes(200)}, after);
    }
    ExecutionReport execute(std::uint64_t lose_message = 0) {
        FakeBackend backend(2,
                            {.latency = Time(1000), .time_per_byte = Time(80), .lose_message = lose_message});
        system::Executor executor(builder_.program(), options_with(algorithm_of("direct"), 1, 64), backend,
                                  host_of_each_rank(2));
        return executor.run();
    }
    static Time end_of(const ExecutionReport& report, OperationId id) {
        return report.operations[id].last_finish;
    }

    ProgramBuilder builder_{2, 2};
};

Time accounted(const StreamRecord& stream) {
    Time sum = stream.compute + stream.drain;
    for (const auto& [cause, waited] : stream.exposed) {
        sum += waited;
    }
    return sum;
}

TEST_F(StreamsTest, CollectivesThatBeginTogetherWaitForTheLastRank) {
    const OperationId late = builder_.compute("late", PerRank<Time>({Time(0), Time(5000)}));
    const OperationId early = exchange("early", {late});
    const OperationId together = builder_.collective(
        "together", {.kind = CollectiveKind::kAllToAll, .size = Bytes(200), .begins_together = true}, {late});
    const ExecutionReport report = execute();
    // Rank 0 sends at once; what begins together begins when rank 1 has issued it as well.
    EXPECT_EQ(report.operations[early].first_start, Time(0));
    EXPECT_EQ(report.operations[together].first_start, Time(5000));
    EXPECT_EQ(end_of(report, together), Time(14000));
}

TEST_F(StreamsTest, RunSideBySide) {
    const OperationId a = builder_.compute("a", Time(5000));
    const OperationId b = builder_.compute_on(kHost, "b", Time(3000));
    const OperationId c = builder_.compute("c", Time(1000), {b});
    const OperationId d = builder_.compute_on(kHost, "d", Time(2000), {a});
    const ExecutionReport report = execute();
    EXPECT_EQ(end_of(report, b), Time(3000));
    EXPECT_EQ(end_of(report, c), Time(6000));  // after a, b being over
    EXPECT_EQ(end_of(report, d), Time(7000));  // from 5,000, when a is over
    for (const system::RankRecord& rank : report.ranks) {
        EXPECT_EQ(rank.compute, Time(6000));
        EXPECT_TRUE(rank.exposed.empty());
        EXPECT_EQ(rank.drain, Time(1000));
        ASSERT_EQ(rank.other_streams.size(), 1U);
        const StreamRecord& host = rank.other_streams.front();
        EXPECT_EQ(host.compute, Time(5000));
        EXPECT_EQ(host.exposed, (std::map<std::string, Time>{{"a", Time(2000)}}));  // 3,000 to 5,000
        EXPECT_EQ(host.drain, Time(0));
    }
}

TEST_F(StreamsTest, TheHostsLaunchesGateTheDevice) {
    // Kernel i starts at max(end of kernel i - 1, 4,000 (i + 1)): a kernel takes the greater of the gap
    // between launches and its work, once the launches are behind.
    const std::vector<Time> work{Time(1000), Time(9000), Time(1000), Time(1000)};
    const std::vector<Time> ends{Time(5000), Time(17'000), Time(18'000), Time(19'000)};
    std::vector<OperationId> kernels;
    for (std::size_t i = 0; i < work.size(); ++i) {
        const std::string number = std::to_string(i);
        const OperationId launch = builder_.compute_on(kHost, "launch " + number, Time(4000));
        kernels.push_back(builder_.compute("kernel " + number, work[i], {launch}));
    }
    const ExecutionReport report = execute();
    for (std::size_t i = 0; i < work.size(); ++i) {
        EXPECT_EQ(end_of(report, kernels[i]), ends[i]) << i;
    }
    const system::RankRecord& rank = report.ranks.front();
    EXPECT_EQ(rank.compute, Time(12'000));
    EXPECT_EQ(rank.exposed,
              (std::map<std::string, Time>{{"launch 0", Time(4000)}, {"launch 1", Time(3000)}}));
    EXPECT_EQ(rank.drain, Time(0));
    EXPECT_EQ(rank.other_streams.front().compute, Time(16'000));
    EXPECT_EQ(rank.other_streams.front().drain, Time(3000));  // 19,000 - 16,000
    // Over both ranks, and of stream 0 alone.
    EXPECT_EQ(report.operations[OperationId(0)].exposed, Time(8000));
}

TEST_F(StreamsTest, ABlockedHostLaunchesNothing) {
    const OperationId launch = builder_.compute_on(kHost, "launch", Time(2000));
    const OperationId splits = exchange("splits", {launch});
    const OperationId first = builder_.compute("first", Time(1000), {launch});
    builder_.compute_on(kHost, "read splits", Time(0), {splits});
    const OperationId later = builder_.compute_on(kHost, "launch later", Time(2000));
    const OperationId second = builder_.compute("second", Time(1000), {later});
    const ExecutionReport report = execute();
    EXPECT_EQ(end_of(report, first), Time(3000));
    EXPECT_EQ(end_of(report, splits), Time(11'000));  // 2,000 + 9,000
    EXPECT_EQ(end_of(report, second), Time(14'000));  // and two launches and the kernel
    const system::RankRecord& rank = report.ranks.back();
    EXPECT_EQ(rank.exposed,
              (std::map<std::string, Time>{{"launch", Time(2000)}, {"launch later", Time(10'000)}}));
    EXPECT_EQ(rank.other_streams.front().exposed, (std::map<std::string, Time>{{"splits", Time(9000)}}));
    EXPECT_EQ(accounted(rank), Time(14'000));
    EXPECT_EQ(accounted(rank.other_streams.front()), Time(14'000));
    // The exposed time of an operation is that of stream 0, which never waits for the exchange itself.
    EXPECT_EQ(report.operations[splits].exposed, Time(0));
}

TEST_F(StreamsTest, AnIterationEndsWithStreamZeroWhereItHasAPart) {
    builder_.compute("device 0", Time(1000));
    builder_.compute_on(kHost, "host 0", Time(5000));
    builder_.next_iteration();
    builder_.compute_on(kHost, "host 1", Time(5000));
    const ExecutionReport report = execute();
    EXPECT_EQ(report.ranks.front().iteration_ends, (std::vector<Time>{Time(1000), Time(10'000)}));
}

TEST_F(StreamsTest, AStallNamesTheStreams) {
    const OperationId splits = exchange("splits", {});
    builder_.compute_on(kHost, "read splits", Time(0), {splits});
    const OperationId launch = builder_.compute_on(kHost, "launch", Time(2000));
    builder_.compute("kernel", Time(1000), {launch});
    const ExecutionReport report = execute(1);
    EXPECT_FALSE(report.finished);
    EXPECT_NE(report.stall.find("rank 1, compute: 'kernel' waits for 'launch'\n"
                                "rank 1, host: 'read splits' waits for 'splits'\n"),
              std::string::npos)
        << report.stall;
}

/// Computations on up to four streams and collectives of zero bytes, which end everywhere when the last rank
/// of their group has issued them, and a delay later.
system::Program random_program() {
    const auto ranks = *rc::gen::inRange<std::size_t>(1, 4);
    const auto streams = *rc::gen::inRange<std::uint32_t>(1, 5);
    ProgramBuilder builder(ranks);
    builder.program().streams.clear();
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
        builder.program().streams.push_back("stream " + std::to_string(stream));
    }
    const auto operations = *rc::gen::inRange(1, 40);
    for (int index = 0; index < operations; ++index) {
        std::vector<OperationId> after;
        for (int earlier = 0; earlier < index; ++earlier) {
            if (*rc::gen::inRange(0, 6) == 0) {
                after.emplace_back(static_cast<std::size_t>(earlier));
            }
        }
        const std::string name = "operation " + std::to_string(index);
        if (*rc::gen::inRange(0, 4) == 0) {
            builder.collective(name, {.completion_delay = Time(*rc::gen::inRange(0, 50))}, after);
            continue;
        }
        std::vector<Time> durations;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            durations.emplace_back(*rc::gen::inRange(0, 100));
        }
        builder.compute_on(*rc::gen::inRange<std::uint32_t>(0, streams), name,
                           PerRank<Time>(std::move(durations)), after);
    }
    return builder.program();
}

/// Ends of all operations by rank, and waits by (rank, stream, cause), in one pass in program order.
struct ReferenceSchedule {
    std::vector<std::vector<Time>> ends;
    std::map<std::pair<std::size_t, std::uint32_t>, std::map<std::string, Time>> waits;
};

ReferenceSchedule reference_schedule(const system::Program& program) {
    ReferenceSchedule schedule{
        .ends = std::vector(program.operations.size(), std::vector<Time>(program.ranks)), .waits = {}};
    std::vector free_at(program.ranks, std::vector<Time>(program.streams.size()));
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const system::Operation& operation = program.operations[OperationId(i)];
        Time last_issue;
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            Time ready;
            for (const OperationId dependency : operation.dependencies) {
                const Time end = schedule.ends[dependency.index()][rank];
                ready = std::max(ready, end);
                if (!operation.is_compute()) {
                    continue;
                }
                const std::uint32_t stream = operation.compute().stream;
                if (end > free_at[rank][stream]) {
                    schedule.waits[{rank, stream}][program.operations[dependency].name] +=
                        end - free_at[rank][stream];
                    free_at[rank][stream] = end;
                }
            }
            last_issue = std::max(last_issue, ready);
            if (operation.is_compute()) {
                Time& end = free_at[rank][operation.compute().stream];
                end += operation.compute().duration[RankId(rank)];
                schedule.ends[i][rank] = end;
            }
        }
        if (!operation.is_compute()) {
            schedule.ends[i].assign(program.ranks, last_issue + operation.collective().completion_delay);
        }
    }
    return schedule;
}

RC_GTEST_PROP(Streams, AgreeWithASchedulerWithoutEvents, ()) {
    const system::Program program = random_program();
    const std::size_t ranks = program.ranks;
    const ReferenceSchedule expected = reference_schedule(program);
    FakeBackend backend(ranks, {.latency = Time(1000), .time_per_byte = Time(80)});
    system::Executor executor(program, options_with(algorithm_of("direct"), 1, 64), backend,
                              host_of_each_rank(ranks));
    std::vector<std::vector<Time>> ends(program.operations.size(), std::vector<Time>(ranks));
    executor.operation_finished.connect(
        [&](OperationId operation, RankId rank, Time now) { ends[operation.index()][rank.index()] = now; });
    const ExecutionReport report = executor.run();
    RC_ASSERT(report.finished);
    RC_ASSERT(ends == expected.ends);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const system::RankRecord& record = report.ranks[rank];
        RC_ASSERT(record.other_streams.size() + 1 == program.streams.size());
        for (std::uint32_t stream = 0; stream < program.streams.size(); ++stream) {
            const StreamRecord& own = stream == 0 ? record : record.other_streams[stream - 1];
            const auto waits = expected.waits.find({rank, stream});
            RC_ASSERT(own.exposed ==
                      (waits == expected.waits.end() ? std::map<std::string, Time>{} : waits->second));
            RC_ASSERT(accounted(own) == report.total);
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
