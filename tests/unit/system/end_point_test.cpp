/// What messages cost where they leave and where they arrive: copies, additions, rendezvous, and the timing
/// of ASTRA-sim 1.0.
#include "program_builder.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "system/src/program/traffic.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::CopyEngine;
using system::EndPoint;
using system::EndPointTiming;
using system::ExecutionReport;
using system::Executor;
using system::OperationId;
using system::PerRank;
using system::Position;
using system::SystemOptions;

constexpr FakeBackendOptions kNetwork{.latency = Time(1000), .time_per_byte = Time(80)};
constexpr Time kCopy = Time(500);        // d
constexpr Bytes kRequest = Bytes(8192);  // of a rendezvous

constexpr Time message_time(Bytes size) {
    return kNetwork.latency + kNetwork.time_per_byte * size.count();
}
constexpr Time kRequestTime = message_time(kRequest);

/// One collective, issued by rank i at `issue[i]`, or by all at 0.
system::Program alone(CollectiveKind kind, std::size_t ranks, Bytes size, std::vector<Time> issue = {}) {
    ProgramBuilder builder(ranks);
    std::vector<OperationId> after;
    if (!issue.empty()) {
        after = {builder.compute("before", PerRank<Time>(std::move(issue)))};
    }
    builder.collective("alone", {.kind = kind, .size = size}, after);
    return builder.program();
}

ExecutionReport execute(const system::Program& program, const SystemOptions& options) {
    FakeBackend backend(program.ranks, kNetwork);
    Executor executor(program, options, backend, host_of_each_rank(program.ranks));
    return executor.run();
}

SystemOptions with(const std::shared_ptr<const system::CollectiveAlgorithm>& algorithm,
                   const EndPoint& end_point, std::uint32_t chunks = 1, std::uint32_t active_chunks = 64) {
    SystemOptions options = options_with(algorithm, chunks, active_chunks);
    options.end_point = end_point;
    return options;
}

Time time_of(const system::Program& program, const SystemOptions& options) {
    const ExecutionReport report = execute(program, options);
    EXPECT_TRUE(report.finished) << report.stall;
    return report.total;
}

/// (time, source, destination) of everything that enters the network.
using Departures = std::vector<std::tuple<Time, std::uint32_t, std::uint32_t>>;

Departures departures(const system::Program& program, const SystemOptions& options) {
    Departures departures;
    const FakeBackend* clock = nullptr;
    FakeBackend backend(program.ranks, [&](const network::Message& message) {
        departures.emplace_back(clock->now(), message.source.index(), message.destination.index());
        return message_time(message.size);
    });
    clock = &backend;
    Executor executor(program, options, backend, host_of_each_rank(program.ranks));
    EXPECT_TRUE(executor.run().finished);
    return departures;
}

const EndPoint kSerial{.injection_latency = kCopy, .copy_engine = CopyEngine::kSerial};

TEST(SerialCopies, OfARankFollowOneAnother) {
    // A direct all_to_all of C chunks: every rank has C(N-1) messages ready at 0, the last of which leaves
    // after C(N-1)d. Copies that overlap take d together.
    for (const std::size_t n : {2U, 5U, 8U}) {
        for (const std::uint32_t chunks : {1U, 3U}) {
            const Bytes block(100);
            const auto program = alone(CollectiveKind::kAllToAll, n, block * n * chunks);
            EXPECT_EQ(time_of(program, with(algorithm_of("direct"), kSerial, chunks)),
                      kCopy * (chunks * (n - 1)) + message_time(block));
            EXPECT_EQ(time_of(program, with(algorithm_of("direct"), {.injection_latency = kCopy}, chunks)),
                      kCopy + message_time(block));
        }
    }
}

TEST(SerialCopies, LeaveInTheOrderInWhichTheyBecameReady) {
    // Rank r sends to r+1, r+2, r+3 at d, 2d, 3d; the copy engines of ranks work side by side.
    Departures expected;
    for (std::uint32_t distance = 1; distance < 4; ++distance) {
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            expected.emplace_back(kCopy * distance, rank, (rank + distance) % 4);
        }
    }
    EXPECT_EQ(
        departures(alone(CollectiveKind::kAllToAll, 4, Bytes(400)), with(algorithm_of("direct"), kSerial)),
        expected);
}

TEST(SerialCopies, CostNothingMoreWhereARankHasOneMessageAtATime) {
    for (const EndPoint& end_point : {kSerial, EndPoint{.injection_latency = kCopy}}) {
        EXPECT_EQ(
            time_of(alone(CollectiveKind::kAllReduce, 6, Bytes(600)), with(algorithm_of("ring"), end_point)),
            (kCopy + message_time(Bytes(100))) * 10);  // 2(N-1) steps
    }
}

TEST(SerialCopies, TakeOneTimerEach) {
    const auto program = alone(CollectiveKind::kAllToAll, 4, Bytes(400));
    FakeBackend backend(4, kNetwork);
    Executor executor(program, with(algorithm_of("direct"), kSerial), backend, host_of_each_rank(4));
    ASSERT_TRUE(executor.run().finished);
    EXPECT_EQ(backend.events_processed(), 2 * 12U);  // 4 · 3 copies and deliveries
}

TEST(Additions, LengthenTheStepsThatReduce) {
    // 100 B are read twice and written once at 87.5 B/ns: 3428.57… ps, rounded up.
    const EndPoint end_point{.reduction_bandwidth = 700_Gbps};
    constexpr Time kAddition(3429);
    const Bytes block(100);
    for (std::size_t n = 2; n <= 9; ++n) {
        const Time step = message_time(block);
        const auto ring = with(algorithm_of("ring"), end_point);
        EXPECT_EQ(time_of(alone(CollectiveKind::kReduceScatter, n, block * n), ring),
                  (step + kAddition) * (n - 1));
        EXPECT_EQ(time_of(alone(CollectiveKind::kAllGather, n, block), ring), step * (n - 1));
        EXPECT_EQ(time_of(alone(CollectiveKind::kAllReduce, n, block * n), ring),
                  step * (2 * (n - 1)) + kAddition * (n - 1));
        // A rank adds the N-1 blocks that it receives at one time all at once.
        EXPECT_EQ(time_of(alone(CollectiveKind::kReduceScatter, n, block * n),
                          with(algorithm_of("direct"), end_point)),
                  step + kAddition);
    }
}

TEST(Additions, BeginWhenTheRankHasStarted) {
    // Rank 0's block reaches rank 1 at 9000, long before rank 1 starts at 50,000 and adds it; its own arrives
    // at 59,000. 3 · 100 B at 50 B/ns: 6000.
    const auto report = execute(alone(CollectiveKind::kReduceScatter, 2, Bytes(200), {Time(0), Time(50'000)}),
                                with(algorithm_of("direct"), {.reduction_bandwidth = 400_Gbps}));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.ranks[0].end, Time(65'000));
    EXPECT_EQ(report.ranks[1].end, Time(56'000));
}

TEST(Additions, BeginWhenWhatTheReceiveWaitsForIsComplete) {
    // Recursive doubling adds to what it sends, so it adds once the send has been delivered: at rank 0, whose
    // message takes 5000, at 5000, although rank 1's is there at 1000. 3 · 100 B at 50 B/ns: 6000.
    const auto program = alone(CollectiveKind::kAllReduce, 2, Bytes(100));
    FakeBackend backend(2, [](const network::Message& message) {
        return message.source == network::HostId(0) ? Time(5000) : Time(1000);
    });
    Executor executor(program, with(algorithm_of("recursive_doubling"), {.reduction_bandwidth = 400_Gbps}),
                      backend, host_of_each_rank(2));
    const ExecutionReport report = executor.run();
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.ranks[0].end, Time(11'000));
    EXPECT_EQ(report.ranks[1].end, Time(11'000));
}

TEST(Additions, ThatWouldEndAfterTheEndOfTimeNeverEnd) {
    // 3 · 2^40 B at 1 bit/s take 2.6e25 ps; time ends at 9.2e18.
    const auto program = alone(CollectiveKind::kReduceScatter, 2, Bytes(1LL << 41));
    FakeBackend backend(2, [](const network::Message&) { return Time(1); });
    Executor executor(program, with(algorithm_of("direct"), {.reduction_bandwidth = Bandwidth(1)}), backend,
                      host_of_each_rank(2));
    const ExecutionReport report = executor.run();
    EXPECT_FALSE(report.finished);
    EXPECT_EQ(report.total, Time(1));
}

TEST(Rendezvous, PaysForTheRequestsOnce) {
    // All receives of a ring are posted at the start, so its steps wait for the first request only.
    for (std::size_t n = 2; n <= 8; ++n) {
        const Bytes block(100);
        const auto program = alone(CollectiveKind::kAllReduce, n, block * n);
        FakeBackend backend(n, kNetwork);
        Executor executor(program, with(algorithm_of("ring"), {.rendezvous_threshold = block}), backend,
                          host_of_each_rank(n));
        const ExecutionReport report = executor.run();
        ASSERT_TRUE(report.finished) << report.stall;
        EXPECT_EQ(report.total, kRequestTime + message_time(block) * (2 * (n - 1)));
        // Requests are no payload, but the network carries them: one for each of the 2N(N-1) messages.
        const std::size_t messages = 2 * n * (n - 1);
        EXPECT_EQ(report.operations[OperationId(0)].messages, messages);
        EXPECT_EQ(report.operations[OperationId(0)].bytes_sent, block * messages);
        EXPECT_EQ(report.request_bytes, kRequest * messages);
        EXPECT_EQ(backend.statistics().bytes_delivered, (block + kRequest) * messages);
        EXPECT_EQ(backend.statistics().messages, 2 * messages);
    }
}

TEST(Rendezvous, IsForMessagesOfTheThresholdAndAbove) {
    // 401 B over four blocks: the first block of a rank has 101 B, the others 100 B. Only what rank 0
    // receives is that long, and it arrives later by the request.
    const auto report = execute(alone(CollectiveKind::kAllToAll, 4, Bytes(401)),
                                with(algorithm_of("direct"), {.rendezvous_threshold = Bytes(101)}));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.request_bytes, kRequest * 3);
    EXPECT_EQ(report.ranks[0].end, kRequestTime + message_time(Bytes(101)));
    // The others have handed over their messages to rank 0 when its requests have come.
    EXPECT_EQ(report.ranks[1].end, std::max(kRequestTime, message_time(Bytes(100))));
}

TEST(Rendezvous, WaitsForTheReceiverToStart) {
    // Rank 1 starts at 900,000. Rank 0 has asked long before, so rank 1's message leaves at once; rank 1's
    // request reaches rank 0 at 900,000 + r.
    constexpr Time kLate(900'000);
    const auto report = execute(alone(CollectiveKind::kAllToAll, 2, Bytes(200), {Time(0), kLate}),
                                with(algorithm_of("direct"), {.rendezvous_threshold = Bytes(1)}));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.ranks[0].end, kLate + std::max(kRequestTime, message_time(Bytes(100))));
    EXPECT_EQ(report.ranks[1].end, kLate + kRequestTime + message_time(Bytes(100)));
}

TEST(Rendezvous, AWaitingMessageDoesNotHoldTheCopyEngine) {
    // Rank 1 starts at 9,000,000. What rank 0 has for it is ready first and leaves last; requests leave at
    // once.
    constexpr Time kLate(9'000'000);
    EndPoint end_point = kSerial;
    end_point.rendezvous_threshold = Bytes(1);
    const Departures left =
        departures(alone(CollectiveKind::kAllToAll, 3, Bytes(300), {Time(0), kLate, Time(0)}),
                   with(algorithm_of("direct"), end_point));
    const auto first = [&](Time from, std::uint32_t source, std::uint32_t destination) {
        return std::find(left.begin(), left.end(), std::tuple(from, source, destination)) != left.end();
    };
    EXPECT_TRUE(first(Time(0), 0, 2));               // request
    EXPECT_TRUE(first(kRequestTime + kCopy, 0, 2));  // data, as soon as 2's request is there
    EXPECT_TRUE(first(kLate, 1, 0));                 // request
    EXPECT_TRUE(first(kLate + kRequestTime + kCopy, 0, 1));
    EXPECT_EQ(left.size(), 12U);  // six messages and their requests
}

TEST(Rendezvous, WhatIsAddedIsPostedAtTheStart) {
    // Both ends of a step of recursive doubling wait for their own send before they add. They would wait for
    // one another if that held back their requests.
    for (const std::size_t n : {2U, 4U, 16U}) {
        EXPECT_EQ(time_of(alone(CollectiveKind::kAllReduce, n, Bytes(100)),
                          with(algorithm_of("recursive_doubling"), {.rendezvous_threshold = Bytes(1)})),
                  kRequestTime + message_time(Bytes(100)) * std::countr_zero(n));
    }
}

/// An all_gather of two ranks in which rank 0 stores only after it has sent; rank 1 either answers, or does
/// as rank 0 does.
class StoreAfterSend final : public system::CollectiveAlgorithm {
public:
    explicit StoreAfterSend(bool both)
        : both_(both) {}
    [[nodiscard]] std::optional<std::string> unsupported(CollectiveKind /*kind*/,
                                                         const system::Shape& /*shape*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] unsigned variants(CollectiveKind /*kind*/, const system::Shape& /*shape*/) const override {
        return 1;
    }
    [[nodiscard]] system::CollectiveSchedule schedule(CollectiveKind kind, const system::Shape& shape,
                                                      unsigned /*variant*/) const override {
        system::ScheduleBuilder builder(kind, shape.ranks(), 2, system::Symmetry::kNone);
        for (const Position rank : {0U, 1U}) {
            const system::BlockReference own{.block = rank};
            const system::BlockReference other{.block = 1 - rank};
            if (rank == 0 || both_) {
                const system::ActionIndex sent = builder.send(rank, 1 - rank, {&own, 1}, {});
                builder.receive(rank, 1 - rank, {&other, 1}, {&sent, 1}, false);
            } else {
                const system::ActionIndex received = builder.receive(rank, 1 - rank, {&other, 1}, {}, false);
                builder.send(rank, 1 - rank, {&own, 1}, {&received, 1});
            }
        }
        return std::move(builder).build();
    }

private:
    bool both_;
};

TEST(Rendezvous, WhatIsStoredIsPostedWhenItsDependenciesAreComplete) {
    // Rank 0 asks when its own block has been delivered, at r + t; rank 1's leaves r later.
    EXPECT_EQ(time_of(alone(CollectiveKind::kAllGather, 2, Bytes(100)),
                      with(std::make_shared<StoreAfterSend>(false), {.rendezvous_threshold = Bytes(1)})),
              (kRequestTime + message_time(Bytes(100))) * 2);
}

TEST(Rendezvous, LocksUpWhereBothEndsSendBeforeTheyPost) {
    // As two blocking sends facing one another do; without rendezvous the same exchange ends.
    const auto program = alone(CollectiveKind::kAllGather, 2, Bytes(100));
    const auto algorithm = std::make_shared<StoreAfterSend>(true);
    EXPECT_EQ(time_of(program, with(algorithm, {})), message_time(Bytes(100)));
    const ExecutionReport report = execute(program, with(algorithm, {.rendezvous_threshold = Bytes(1)}));
    EXPECT_FALSE(report.finished);
    EXPECT_NE(report.stall.find("rank 0: 'alone' chunk 1 of 1 waits for 100B from rank 1"), std::string::npos)
        << report.stall;
}

TEST(AstraSimTiming, IsTheTickFormula) {
    // T = C · [2(N-1)t + (2N-1)d + (N-1)p] for C chunks one after another. m = 100 B at 30 B/ns are 3.33… ns,
    // cut off to 3: p = 9 ns.
    const EndPoint end_point{
        .injection_latency = kCopy, .reduction_bandwidth = 240_Gbps, .timing = EndPointTiming::kAstraSim1};
    const Bytes block(100);
    const Time t = message_time(block);
    constexpr Time p = 9_ns;
    for (std::size_t n = 2; n <= 9; ++n) {
        for (const std::uint32_t chunks : {1U, 4U}) {
            const auto ring = with(algorithm_of("ring"), end_point, chunks, 1);
            EXPECT_EQ(time_of(alone(CollectiveKind::kAllReduce, n, block * n * chunks), ring),
                      (t * (2 * (n - 1)) + kCopy * (2 * n - 1) + p * (n - 1)) * chunks);
            EXPECT_EQ(time_of(alone(CollectiveKind::kReduceScatter, n, block * n * chunks), ring),
                      (t * (n - 1) + kCopy * n + p * (n - 1)) * chunks);
            EXPECT_EQ(time_of(alone(CollectiveKind::kAllGather, n, block * chunks), ring),
                      (t * (n - 1) + kCopy * n) * chunks);
        }
    }
}

TEST(EndPointCosts, ArePaidInEveryStage) {
    // An all_reduce of 400 B in each of the two dimensions of a 2 x 2 grid, by a ring of two steps of 200 B.
    // Two reads and a write at 50 B/ns take 12 ns.
    system::HierarchicalOptions baseline;
    baseline.optimisation = system::HierarchicalOptimisation::kBaseline;
    const auto time = [&](const EndPoint& end_point) {
        SystemOptions options = with(system::make_hierarchical(baseline), end_point);
        options.dimensions = system::Shape({2, 2});
        return time_of(alone(CollectiveKind::kAllReduce, 4, Bytes(400)), options);
    };
    const Time step = message_time(Bytes(200));
    EXPECT_EQ(time(kSerial), (step + kCopy) * 4);
    EXPECT_EQ(time({.reduction_bandwidth = 400_Gbps}), (step * 2 + 12_ns) * 2);
    EXPECT_EQ(time({.rendezvous_threshold = Bytes(200)}), (kRequestTime + step * 2) * 2);
    EXPECT_EQ(time({.injection_latency = kCopy,
                    .reduction_bandwidth = 400_Gbps,
                    .timing = EndPointTiming::kAstraSim1}),
              (step * 2 + kCopy * 3 + 12_ns) * 2);
}

TEST(AstraSimTiming, TakesWhatCameEarlyOnceTheStartIsPaid) {
    // Rank 1 starts at 50,000, pays d, then d for rank 0's message, which has waited since 500 + 9000. Its
    // own leaves at 50,500.
    const EndPoint end_point{.injection_latency = kCopy, .timing = EndPointTiming::kAstraSim1};
    const auto report = execute(alone(CollectiveKind::kAllToAll, 2, Bytes(200), {Time(0), Time(50'000)}),
                                with(algorithm_of("direct"), end_point));
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.ranks[1].end, Time(50'000) + kCopy * 2);
    EXPECT_EQ(report.ranks[0].end, Time(50'000) + kCopy + message_time(Bytes(100)) + kCopy);
}

TEST(EndPointOptions, ThatMeanNothingAreRefused) {
    const auto program = alone(CollectiveKind::kAllReduce, 2, Bytes(8));
    const auto is_refused = [&](const EndPoint& end_point, const std::string& key) {
        const ValidationErrors found = validation_errors(end_point);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found.front().key, key);
        FakeBackend backend(2, kNetwork);
        EXPECT_THROW(Executor(program, with(algorithm_of("ring"), end_point), backend, host_of_each_rank(2)),
                     std::logic_error);
    };
    is_refused({.injection_latency = Time(-1)}, "injection_latency");
    is_refused({.reduction_bandwidth = Bandwidth(0)}, "reduction_bandwidth");
    is_refused({.rendezvous_threshold = Bytes(0)}, "rendezvous_threshold");
    is_refused({.copy_engine = CopyEngine::kSerial, .timing = EndPointTiming::kAstraSim1}, "copy_engine");
    EXPECT_TRUE(validation_errors(EndPoint{}).empty());
    EXPECT_TRUE(validation_errors(kSerial).empty());
}

RC_GTEST_PROP(EndPointProperty, CostsOnlyDelayAndLoseNothing, ()) {
    struct Choice {
        std::shared_ptr<const system::CollectiveAlgorithm> algorithm;
        CollectiveKind kind;
    };
    const Choice choice = *rc::gen::elementOf(
        std::vector<Choice>{{algorithm_of("ring"), CollectiveKind::kAllReduce},
                            {algorithm_of("ring"), CollectiveKind::kAllToAll},
                            {algorithm_of("direct"), CollectiveKind::kAllReduce},
                            {algorithm_of("direct"), CollectiveKind::kAllToAll},
                            {algorithm_of("halving_doubling"), CollectiveKind::kAllReduce},
                            {algorithm_of("recursive_doubling"), CollectiveKind::kAllReduce},
                            {algorithm_of("double_binary_tree"), CollectiveKind::kAllReduce}});
    const auto ranks = *rc::gen::inRange<std::size_t>(2, 14);
    const auto chunks = *rc::gen::inRange<std::uint32_t>(1, 6);
    const Bytes size(*rc::gen::inRange<std::int64_t>(1, 20'000));
    std::vector<Time> issue;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        issue.emplace_back(*rc::gen::inRange<std::int64_t>(0, 100'000));
    }
    const auto program = alone(choice.kind, ranks, size, issue);

    EndPoint end_point;
    end_point.injection_latency = Time(*rc::gen::inRange<std::int64_t>(0, 3000));
    if (*rc::gen::arbitrary<bool>()) {
        end_point.reduction_bandwidth = Bandwidth(*rc::gen::inRange<std::int64_t>(1, 1000) * 1'000'000'000);
    }
    if (*rc::gen::arbitrary<bool>()) {
        end_point.rendezvous_threshold = Bytes(*rc::gen::inRange<std::int64_t>(1, 2000));
    }
    if (*rc::gen::arbitrary<bool>()) {
        end_point.timing = EndPointTiming::kAstraSim1;
    } else if (*rc::gen::arbitrary<bool>()) {
        end_point.copy_engine = CopyEngine::kSerial;
    }

    FakeBackend backend(ranks, kNetwork);
    Executor executor(program, with(choice.algorithm, end_point, chunks), backend, host_of_each_rank(ranks));
    const ExecutionReport report = executor.run();
    RC_ASSERT(report.finished);
    const system::OperationRecord& record = report.operations[OperationId(1)];
    RC_ASSERT(backend.statistics().bytes_delivered == record.bytes_sent + report.request_bytes);
    RC_ASSERT(report.request_bytes % kRequest == Bytes(0));
    RC_ASSERT(backend.statistics().messages ==
              record.messages + static_cast<std::uint64_t>(report.request_bytes / kRequest));
    const ExecutionReport free = execute(program, with(choice.algorithm, {}, chunks));
    RC_ASSERT(record.bytes_sent == free.operations[OperationId(1)].bytes_sent);
    if (chunks == 1) {  // messages of several chunks may change places on a pair
        RC_ASSERT(report.total >= free.total);
    }
    // The same again gives the same.
    RC_ASSERT(execute(program, with(choice.algorithm, end_point, chunks)).total == report.total);
}

}  // namespace
}  // namespace astrolabe::testing
