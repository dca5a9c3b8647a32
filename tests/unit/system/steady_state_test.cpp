// Iterations that repeat: the report of a run that left some out is that of the full run.
#include "program_builder.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/steady_state.hpp>

namespace astrolabe::testing {
namespace {

using system::ExecutionReport;
using system::Program;
using system::SkippedPeriods;

constexpr Time kLatency(1000);
constexpr Time kPerByte(80);

/// Leaves out what repeats exactly, on a network that remembers nothing.
class Skipper final : public system::IterationObserver {
public:
    Skipper(const Program& program, system::Executor& executor, bool with_order)
        : program_(program),
          executor_(executor),
          with_order_(with_order) {
        executor.observe_iterations(*this);
    }

    void iterations_ended(int count) override { ended.push_back(count); }
    bool at_rest(int finished) override {
        const std::optional<system::StateAtRest> state = executor_.state_at_rest();
        if (!state || skipped) {
            return true;
        }
        const auto [known, is_new] = rests_.try_emplace(
            std::pair(state->state, with_order_ ? state->order : 0), std::pair(finished, executor_.so_far()));
        const int length = finished - known->second.first;
        if (!is_new && length <= program_.iterations - executor_.begun_iterations()) {
            const int periods = (program_.iterations - executor_.begun_iterations()) / length;
            skipped = SkippedPeriods{known->second.first, finished, periods, known->second.second,
                                     executor_.so_far()};
            executor_.end_before(program_.iterations - skipped->iterations());
        }
        return true;
    }

    std::optional<SkippedPeriods> skipped;
    std::vector<int> ended;

private:
    const Program& program_;
    system::Executor& executor_;
    bool with_order_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<int, system::AccountsSoFar>> rests_;
};

struct Both {
    ExecutionReport whole;
    ExecutionReport spliced;
    std::optional<SkippedPeriods> skipped;
};

Both run_both(const Program& program, std::uint32_t chunks = 1, bool with_order = true) {
    const auto options = options_with(algorithm_of("direct"), chunks, 2);
    Both both;
    {
        FakeBackend backend(program.ranks, {.latency = kLatency, .time_per_byte = kPerByte});
        system::Executor executor(program, options, backend, host_of_each_rank(program.ranks));
        both.whole = executor.run();
    }
    FakeBackend backend(program.ranks, {.latency = kLatency, .time_per_byte = kPerByte});
    system::Executor executor(program, options, backend, host_of_each_rank(program.ranks));
    Skipper skipper(program, executor, with_order);
    both.spliced = executor.run();
    both.skipped = skipper.skipped;
    if (both.skipped) {
        both.spliced = system::with_skipped(program, both.spliced, *both.skipped);
    }
    return both;
}

void expect_equal(const system::StreamRecord& a, const system::StreamRecord& b) {
    EXPECT_EQ(a.compute, b.compute);
    EXPECT_EQ(a.exposed, b.exposed);
    EXPECT_EQ(a.drain, b.drain);
    EXPECT_EQ(a.slowed, b.slowed);
}

void expect_equal(const ExecutionReport& a, const ExecutionReport& b) {
    ASSERT_TRUE(a.finished && b.finished) << a.stall << b.stall;
    EXPECT_EQ(a.total, b.total);
    EXPECT_EQ(a.request_bytes, b.request_bytes);
    for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
        expect_equal(a.ranks[rank], b.ranks[rank]);
        EXPECT_EQ(a.ranks[rank].iteration_ends, b.ranks[rank].iteration_ends);
        EXPECT_EQ(a.ranks[rank].end, b.ranks[rank].end);
        for (std::size_t stream = 0; stream < a.ranks[rank].other_streams.size(); ++stream) {
            expect_equal(a.ranks[rank].other_streams[stream], b.ranks[rank].other_streams[stream]);
        }
    }
    for (std::size_t index = 0; index < a.operations.size(); ++index) {
        const system::OperationRecord& one = a.operations[system::OperationId(index)];
        const system::OperationRecord& other = b.operations[system::OperationId(index)];
        EXPECT_EQ(one.first_issue, other.first_issue) << index;
        EXPECT_EQ(one.first_start, other.first_start) << index;
        EXPECT_EQ(one.last_finish, other.last_finish) << index;
        EXPECT_EQ(one.bytes_sent, other.bytes_sent) << index;
        EXPECT_EQ(one.messages, other.messages) << index;
        EXPECT_EQ(one.exposed, other.exposed) << index;
        ASSERT_EQ(one.stages.size(), other.stages.size()) << index;
        for (std::size_t stage = 0; stage < one.stages.size(); ++stage) {
            EXPECT_EQ(one.stages[stage].in_flight, other.stages[stage].in_flight);
            EXPECT_EQ(one.stages[stage].last_finish, other.stages[stage].last_finish);
        }
    }
}

/// Every iteration computes 10 ns and gathers what the next one waits for before it computes.
Program gathering(int iterations) {
    ProgramBuilder builder(2, iterations);
    std::vector<system::OperationId> before;
    for (int i = 0; i < iterations; ++i) {
        const auto work = builder.compute("work", Time(10'000), before);
        before = {builder.collective(
            "gather", {.kind = system::CollectiveKind::kAllGather, .size = Bytes(100)}, {work})};
        builder.next_iteration();
    }
    return builder.program();
}

TEST(SteadyState, LeavesOutWhatRepeats) {
    // An iteration: 10 ns of work, and a message of 100 B that takes 1 ns and 100 · 80 ps. The next work
    // begins when it has come, so the period is 10 + 1 + 8 = 19 ns. The first rest after an iteration is the
    // end of the next work: 29, 48 ns, after iterations 1 and 2, of which 0, 1 and 2 have begun. Of 20, 17
    // are left out, and the run ends with the gathering of the last, at 20 · 19 ns.
    const Both both = run_both(gathering(20), 1, false);
    ASSERT_TRUE(both.skipped);
    EXPECT_EQ(both.skipped->from, 1);
    EXPECT_EQ(both.skipped->to, 2);
    EXPECT_EQ(both.skipped->time(), Time(19'000));
    EXPECT_EQ(both.skipped->iterations(), 17);
    EXPECT_EQ(both.spliced.total, Time(20 * 19'000));
    EXPECT_EQ(both.spliced.ranks[0].compute, Time(20 * 10'000));
    EXPECT_EQ(both.spliced.ranks[1].exposed.at("gather"), Time(19 * 9'000));
    EXPECT_EQ(both.spliced.ranks[1].drain, Time(9'000));
    expect_equal(both.whole, both.spliced);
}

TEST(SteadyState, TheOrderOfOneInstantIsPartOfTheState) {
    // As above, but the rank that ends its work first sends first, so the other has its message first and
    // ends its next work first: the order is the same after two iterations. 16 of 20 are left out in twos.
    const Both both = run_both(gathering(20));
    ASSERT_TRUE(both.skipped);
    EXPECT_EQ(both.skipped->length(), 2);
    EXPECT_EQ(both.skipped->time(), Time(2 * 19'000));
    EXPECT_EQ(both.skipped->iterations(), 16);
    expect_equal(both.whole, both.spliced);
}

TEST(SteadyState, AStreamThatHasNothingMoreToDoDecidesNothing) {
    // As the first, with 5 ns on a second stream in iteration 0 alone: since when that stream is idle, 24 and
    // then 43 ns, is not compared. Iterations 1 and 2 are alike, so the first rest of these is after 2.
    ProgramBuilder builder(2, 20);
    builder.program().streams = {"compute", "side"};
    std::vector<system::OperationId> before;
    for (int i = 0; i < 20; ++i) {
        if (i == 0) {
            builder.compute_on(1, "aside", Time(5'000), {});
        }
        const auto work = builder.compute("work", Time(10'000), before);
        before = {builder.collective(
            "gather", {.kind = system::CollectiveKind::kAllGather, .size = Bytes(100)}, {work})};
        builder.next_iteration();
    }
    const Both both = run_both(builder.program(), 1, false);
    ASSERT_TRUE(both.skipped);
    EXPECT_EQ(both.skipped->length(), 1);
    EXPECT_EQ(both.spliced.ranks[0].other_streams.at(0).drain, Time(20 * 19'000 - 5'000));
    expect_equal(both.whole, both.spliced);
}

TEST(SteadyState, TellsEveryIterationOnce) {
    const Program program = gathering(4);
    FakeBackend backend(2, {.latency = kLatency, .time_per_byte = kPerByte});
    system::Executor executor(program, options_with(algorithm_of("direct"), 1, 2), backend,
                              host_of_each_rank(2));
    Skipper skipper(program, executor, true);
    ASSERT_TRUE(executor.run().finished);
    // The state after 3 iterations is that after 1, but the fourth and last has begun by then.
    EXPECT_FALSE(skipper.skipped);
    EXPECT_EQ(skipper.ended, (std::vector<int>{1, 2, 3, 4}));
}

TEST(SteadyState, FindsNoRestWhileSomethingIsInFlight) {
    // The gathering, 1 + 1000 · 0.08 = 81 ns, is never waited for, and the work takes 10 ns: some gathering
    // is in flight at every end of work.
    ProgramBuilder builder(2, 8);
    for (int i = 0; i < 8; ++i) {
        const auto work = builder.compute("work", Time(10'000));
        builder.collective("gather", {.kind = system::CollectiveKind::kAllGather, .size = Bytes(1000)},
                           {work});
        builder.next_iteration();
    }
    const Both both = run_both(builder.program());
    EXPECT_FALSE(both.skipped);
    expect_equal(both.whole, both.spliced);
}

TEST(SteadyState, SeesWhereIterationsDiffer) {
    Program program = gathering(6);
    // The first waits for nothing, so the others are alike.
    EXPECT_EQ(system::alike_from(program), 1);
    const auto work = [&](int iteration) -> system::ComputeOperation& {
        return std::get<system::ComputeOperation>(
            program.operations[system::first_of_iteration(program, iteration)].work);
    };
    work(3).duration = Time(11'000);
    EXPECT_EQ(system::alike_from(program), 4);
    work(5).duration = Time(11'000);
    EXPECT_EQ(system::alike_from(program), 5);
    std::swap(program.operations[system::OperationId(0)], program.operations[system::OperationId(5)]);
    EXPECT_EQ(system::alike_from(program), std::nullopt);
}

TEST(SteadyState, NamesWhatItDoesNotKnow) {
    const Program program = gathering(2);
    auto options = options_with(algorithm_of("direct"), 1, 2);
    EXPECT_EQ(system::unknown_state(program, options), std::nullopt);
    options.end_point.timing = system::EndPointTiming::kAstraSim1;
    EXPECT_NE(system::unknown_state(program, options), std::nullopt);
}

/// Iterations of some layers, each with work and a collective of its own, which the same layer of the next
/// iteration waits for, or the next layer, on two streams.
Program layers() {
    const int iterations = *rc::gen::inRange(6, 24);
    const int count = *rc::gen::inRange(1, 5);
    struct Layer {
        Time work;
        Bytes bytes;
        std::uint32_t stream;
        bool blocks;
        bool is_uneven;
    };
    std::vector<Layer> all;
    for (int i = 0; i < count; ++i) {
        all.push_back({Time(*rc::gen::inRange(1, 60) * 1000), Bytes(*rc::gen::inRange(0, 400)),
                       static_cast<std::uint32_t>(*rc::gen::inRange(0, 2)), *rc::gen::arbitrary<bool>(),
                       *rc::gen::arbitrary<bool>()});
    }
    ProgramBuilder builder(3, iterations);
    builder.program().streams = {"compute", "side"};
    std::map<int, system::OperationId> last;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        std::vector<system::OperationId> blocking;
        for (int i = 0; i < count; ++i) {
            const Layer& layer = all[static_cast<std::size_t>(i)];
            std::vector<system::OperationId> after = std::exchange(blocking, {});
            if (const auto known = last.find(i); known != last.end()) {
                after.push_back(known->second);
            }
            system::PerRank<Time> duration = layer.work;
            if (layer.is_uneven) {
                duration = system::PerRank<Time>(
                    std::vector<Time>{layer.work, layer.work + Time(3'000), layer.work + Time(1'000)});
            }
            const std::string name = "layer" + std::to_string(i);
            const auto work = builder.compute_on(i == 0 ? 0 : layer.stream, name, std::move(duration), after);
            const auto reduced = builder.collective(
                name + ".reduce", {.kind = system::CollectiveKind::kAllReduce, .size = layer.bytes}, {work});
            if (layer.blocks) {
                blocking = {reduced};
            } else {
                blocking = {work};
            }
            last.insert_or_assign(i, reduced);
        }
        builder.next_iteration();
    }
    return builder.program();
}

RC_GTEST_PROP(SteadyStateProperty, TheReportIsThatOfTheFullRun, ()) {
    const Program program = layers();
    const Both both = run_both(program, *rc::gen::element(1U, 3U));
    RC_CLASSIFY(both.skipped.has_value(), "skipped");
    expect_equal(both.whole, both.spliced);
    RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace astrolabe::testing
