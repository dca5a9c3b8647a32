// Cost of the executor by itself: collectives over a network that delivers every message after a nanosecond,
// in the order sent. Counters: messages and chunks per second of wall time. run_trees/128 is a part of the
// load of the published DLRM study: double binary trees over 128 ranks, 1,024 chunks, 64 at a time.
// run_hierarchical goes through five stages over 4 x 4 x N/16 ranks, with and without slots in dimensions.

#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/flat.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "tests/support/algorithms.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe {
namespace {

using system::CollectiveKind;

/// Every message takes a nanosecond, so arrivals are in the order sent and a queue is all there is.
class QueueBackend final : public network::NetworkBackend {
public:
    [[nodiscard]] Time now() const override { return now_; }
    void send(const network::Message& message) override {
        messages_.push_back({now_ + Time(1000), message.on_delivered, message.token});
    }
    void schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) override {
        timers_.push_back({now_ + delay, &handler, token});
    }
    void run() override {
        while (!messages_.empty() || !timers_.empty()) {
            // All timers of a run have one delay, so they are in order too.
            const bool timer_first =
                !timers_.empty() && (messages_.empty() || timers_.front().time <= messages_.front().time);
            std::deque<Event>& queue = timer_first ? timers_ : messages_;
            const Event event = queue.front();
            queue.pop_front();
            now_ = event.time;
            ++events_;
            event.handler->notify(event.token);
        }
    }
    void stop() override {}
    [[nodiscard]] std::uint64_t outstanding_messages() const override { return messages_.size(); }
    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(std::size_t) const override {
        return {};
    }
    [[nodiscard]] std::uint64_t events_processed() const override { return events_; }
    [[nodiscard]] network::NetworkStatistics statistics() const override { return {}; }

private:
    struct Event {
        Time time;
        network::NotificationHandler* handler;
        std::uint64_t token;
    };
    std::deque<Event> messages_;
    std::deque<Event> timers_;
    Time now_;
    std::uint64_t events_ = 0;
};

system::Program collectives(std::size_t ranks, int count, Bytes size, CollectiveKind kind) {
    system::Program program;
    program.ranks = ranks;
    program.iterations = 1;
    program.partitions.push_back(system::Partition::world(ranks));
    for (int index = 0; index < count; ++index) {
        const std::string name = "collective" + std::to_string(index);
        program.operations.push_back(
            {.name = name, .layer = name, .work = system::CollectiveOperation{.kind = kind, .size = size}});
    }
    return program;
}

struct Load {
    std::shared_ptr<const system::CollectiveAlgorithm> algorithm;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    int operations = 1;
    std::uint32_t chunks = 1;
    Time injection_latency{};
    std::vector<system::Position> inner_dimensions{};  // the last one follows from the ranks
    std::optional<std::uint32_t> slots{};              // in every dimension
};

std::optional<system::Shape> shape_of(std::vector<system::Position> inner, std::size_t ranks) {
    if (inner.empty()) {
        return std::nullopt;
    }
    inner.push_back(static_cast<system::Position>(ranks) / system::Shape(inner).ranks());
    return system::Shape(inner);
}

void execute(benchmark::State& state, const Load& load) {
    const auto ranks = static_cast<std::size_t>(state.range(0));
    const system::Program program = collectives(ranks, load.operations, Bytes(8 << 20), load.kind);
    system::SystemOptions options;
    options.collectives.fill({load.algorithm, load.chunks});
    options.active_chunks = 64;
    options.end_point.injection_latency = load.injection_latency;
    options.dimensions = shape_of(load.inner_dimensions, ranks);
    options.active_chunks_per_dimension = load.slots;
    std::vector<network::HostId> placement;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        placement.emplace_back(rank);
    }
    std::uint64_t messages = 0;
    std::uint64_t chunks = 0;
    for (auto _ : state) {
        QueueBackend backend;
        system::Executor executor(program, options, backend, placement);
        const system::ExecutionReport report = executor.run();
        if (!report.finished) {
            state.SkipWithError(report.stall.c_str());
        }
        for (const system::OperationRecord& record : report.operations) {
            messages += record.messages;
            chunks += record.chunks;
        }
    }
    state.counters["messages/s"] =
        benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
    state.counters["chunks/s"] = benchmark::Counter(static_cast<double>(chunks), benchmark::Counter::kIsRate);
    state.counters["messages"] =
        benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kAvgIterations);
}

void run_ring(benchmark::State& state) {
    execute(state, {.algorithm = testing::algorithm_of("ring"), .chunks = 64});
}
/// With a state of the chunks larger than a cache.
void run_ring_of_few_chunks(benchmark::State& state) {
    execute(state, {.algorithm = testing::algorithm_of("ring"), .chunks = 4});
}
void run_direct(benchmark::State& state) {
    execute(state, {.algorithm = testing::algorithm_of("direct"), .chunks = 16});
}
void run_direct_all_to_all(benchmark::State& state) {
    execute(state,
            {.algorithm = testing::algorithm_of("direct"), .kind = CollectiveKind::kAllToAll, .chunks = 16});
}
void run_trees(benchmark::State& state) {
    execute(state,
            {.algorithm = testing::algorithm_of("double_binary_tree"), .operations = 4, .chunks = 1024});
}
void run_trees_with_injection(benchmark::State& state) {
    execute(state, {.algorithm = testing::algorithm_of("double_binary_tree"),
                    .operations = 4,
                    .chunks = 1024,
                    .injection_latency = Time(10'000)});
}

void run_hierarchical(benchmark::State& state) {
    execute(state, {.algorithm = system::make_hierarchical(), .chunks = 64, .inner_dimensions = {4, 4}});
}
void run_hierarchical_with_slots(benchmark::State& state) {
    execute(state,
            {.algorithm = system::make_hierarchical(), .chunks = 64, .inner_dimensions = {4, 4}, .slots = 2});
}

/// Rings of ranks that start apart, over the fluid engine on one switch: event by event, or ahead of events
/// (forwarder.hpp), with the same report. To be compared in one run.
void rings_on_fluid(benchmark::State& state, network::RatesKept rates_kept) {
    const auto ranks = static_cast<std::size_t>(state.range(0));
    system::Program program = collectives(ranks, 4, Bytes(8 << 20), CollectiveKind::kAllReduce);
    std::vector<Time> times;
    std::vector<network::HostId> placement;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        times.emplace_back(static_cast<std::int64_t>(rank * 7919 % ranks) * 1'000'000);
        placement.emplace_back(rank);
    }
    program.operations.push_back({.name = "first",
                                  .layer = "first",
                                  .work = system::ComputeOperation{system::PerRank<Time>(times), 0}});
    std::rotate(program.operations.begin(), program.operations.end() - 1, program.operations.end());
    for (std::size_t index = 1; index < program.operations.size(); ++index) {
        program.operations[system::OperationId(index)].dependencies = {system::OperationId(0)};
    }
    system::SystemOptions options;
    options.collectives.fill({testing::algorithm_of("ring"), 4});
    options.active_chunks = 64;
    network::FlatParameters parameters;
    parameters.hosts = static_cast<std::int64_t>(ranks);
    const auto classes = std::make_shared<const network::LinkClasses>(build_flat(parameters));
    std::uint64_t messages = 0;
    std::uint64_t forwarded = 0;
    for (auto _ : state) {
        network::FluidBackend backend(classes, {.rates_kept = rates_kept});
        system::Executor executor(program, options, backend, placement);
        if (const system::ExecutionReport report = executor.run(); !report.finished) {
            state.SkipWithError(report.stall.c_str());
        }
        messages += backend.statistics().messages;
        forwarded += backend.forwarded_messages();
    }
    state.counters["messages/s"] =
        benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
    state.counters["forwarded"] = static_cast<double>(forwarded) / static_cast<double>(messages);
}
void rings_by_events(benchmark::State& state) {
    rings_on_fluid(state, network::RatesKept::kByConnection);
}
void rings_ahead_of_events(benchmark::State& state) {
    rings_on_fluid(state, network::RatesKept::kByLink);
}

void build(benchmark::State& state, const system::CollectiveAlgorithm& algorithm) {
    const auto ranks = static_cast<system::Position>(state.range(0));
    for (auto _ : state) {
        benchmark::DoNotOptimize(algorithm.schedule(CollectiveKind::kAllReduce, ranks, 0));
    }
    state.SetComplexityN(state.range(0));
}
void build_ring(benchmark::State& state) {
    build(state, *testing::algorithm_of("ring"));
}
void build_direct(benchmark::State& state) {
    build(state, *testing::algorithm_of("direct"));
}
void build_trees(benchmark::State& state) {
    build(state, *testing::algorithm_of("double_binary_tree"));
}

/// What bounds ask of a schedule, several times: with a barrier of N - 1 actions on N - 1 others.
void chain_of_direct(benchmark::State& state) {
    const system::CollectiveSchedule schedule = testing::algorithm_of("direct")->schedule(
        CollectiveKind::kAllReduce, static_cast<system::Position>(state.range(0)), 0);
    for (auto _ : state) {
        benchmark::DoNotOptimize(schedule.heaviest_chain(
            [](system::Position, const system::Action& action) -> std::uint64_t { return action.peer; }));
    }
    state.SetComplexityN(state.range(0));
}

BENCHMARK(run_ring)->Arg(16)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(run_ring_of_few_chunks)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(run_direct)->Arg(16)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(run_direct_all_to_all)->Arg(16)->Arg(128)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK(run_trees)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(run_trees_with_injection)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(run_hierarchical)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(run_hierarchical_with_slots)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(rings_by_events)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(rings_ahead_of_events)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(build_ring)->RangeMultiplier(4)->Range(16, 1024)->Complexity();
BENCHMARK(build_direct)->RangeMultiplier(4)->Range(16, 1024)->Complexity();
BENCHMARK(chain_of_direct)->RangeMultiplier(8)->Range(128, 8192)->Complexity();
BENCHMARK(build_trees)->RangeMultiplier(4)->Range(16, 1024)->Complexity();

}  // namespace
}  // namespace astrolabe
