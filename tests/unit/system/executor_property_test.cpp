// Random programs on random networks: they end, nothing is lost, and the same run twice is the same.

#include "program_builder.hpp"
#include "system/src/collectives/hierarchical.hpp"
#include "system/src/program/traffic.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
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
using system::Executor;
using system::OperationId;
using system::PartitionId;
using system::PerRank;
using system::Position;
using system::Priority;
using system::RankId;

/// Spread over the whole range whatever RapidCheck's size: small first cases would leave most of it untried.
template <class T>
rc::Gen<T> in_range(T low, T end) {
    return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, end));
}

/// Everything that decides a run.
struct Case {
    system::Program program;
    system::SystemOptions options;
    std::vector<Time> cost;  // of a message by (source, destination), on top of its size
};

std::vector<OperationId> some_of(std::size_t count) {
    std::vector<OperationId> chosen;
    for (std::size_t index = 0; index < count; ++index) {
        if (*in_range(0, 4) == 0) {
            chosen.emplace_back(index);
        }
    }
    return chosen;
}

/// Consecutive blocks of ranks and, crossing them, every size-th rank; or, nested in them, blocks of half the
/// size.
void add_partitions(system::Program& program) {
    const auto size = *in_range<std::size_t>(1, program.ranks + 1);
    const bool crossing = *in_range(0, 2) == 0;
    system::Partition blocks{.name = "blocks", .groups = {}};
    system::Partition second{.name = crossing ? "strides" : "halves", .groups = {}};
    for (std::size_t rank = 0; rank < program.ranks; ++rank) {
        blocks.groups.resize(rank / size + 1);
        blocks.groups[rank / size].emplace_back(rank);
        if (crossing) {
            second.groups.resize(std::max(second.groups.size(), rank % size + 1));
            second.groups[rank % size].emplace_back(rank);
        } else if (rank % size == 0 || rank % size == (size + 1) / 2) {
            second.groups.push_back({RankId(rank)});
        } else {
            second.groups.back().emplace_back(rank);
        }
    }
    program.partitions.push_back(blocks);
    program.partitions.push_back(second);
}

/// A grid of all ranks: two divisors and the rest.
system::Shape random_shape(std::size_t ranks) {
    const auto divisor_of = [](Position number) {
        std::vector<Position> divisors;
        for (Position divisor = 1; divisor <= number; ++divisor) {
            if (number % divisor == 0) {
                divisors.push_back(divisor);
            }
        }
        return *rc::gen::elementOf(divisors);
    };
    const auto all = static_cast<Position>(ranks);
    const Position first = divisor_of(all);
    const Position second = divisor_of(all / first);
    return system::Shape(std::vector<Position>{first, second, all / first / second});
}

system::SystemOptions random_options(std::size_t ranks) {
    system::SystemOptions options = options_with(
        *rc::gen::element(
            algorithm_of("ring"), algorithm_of("direct"), algorithm_of("bidirectional_ring"),
            algorithm_of("windowed_direct, window: 2"),
            system::make_hierarchical({.per_dimension = {algorithm_of("direct"), algorithm_of("ring")}}),
            system::make_hierarchical({.optimisation = system::HierarchicalOptimisation::kBaseline,
                                       .order = system::DimensionOrder::kRoundRobin})),
        *in_range<std::uint32_t>(1, 9), *in_range<std::uint32_t>(1, 5));
    const auto choice = [&](CollectiveKind kind) -> auto& {
        return options.collectives[static_cast<std::size_t>(kind)].algorithm;
    };
    choice(CollectiveKind::kBroadcast) = choice(CollectiveKind::kReduce) =
        *rc::gen::element(algorithm_of("direct"), algorithm_of("binomial_tree"));
    if (*in_range(0, 2) == 0) {
        choice(CollectiveKind::kAllReduce) =
            *rc::gen::element(algorithm_of("double_binary_tree"), algorithm_of("halving_doubling"),
                              algorithm_of("recursive_doubling"));
        choice(CollectiveKind::kAllToAll) =
            *rc::gen::element(algorithm_of("bruck"), algorithm_of("pairwise"));
    }
    options.dimensions = random_shape(ranks);
    options.active_chunks_per_dimension = *rc::gen::element<std::optional<std::uint32_t>>(std::nullopt, 1, 2);
    options.stage_order =
        *rc::gen::element(system::StageOrder::kPriority, system::StageOrder::kSmallestChunk,
                          system::StageOrder::kAlternate, system::StageOrder::kFewestStages);
    options.scheduling = *rc::gen::element(system::Scheduling::kLifo, system::Scheduling::kFifo);
    options.end_point.injection_latency = Time(*rc::gen::element(0, 300));
    return options;
}

/// For the collective `work`, an uneven all_to_all in every second case; its size follows.
void make_uneven(const system::Program& program, system::CollectiveOperation& work) {
    if (work.kind != CollectiveKind::kAllToAll || *in_range(0, 2) == 0) {
        return;
    }
    auto sizes = std::make_shared<std::vector<system::PairSizes>>();
    work.size = Bytes(0);
    for (const auto& group : program.partitions[work.partition].groups) {
        const std::vector<Bytes> bytes = *rc::gen::container<std::vector<Bytes>>(
            group.size() * group.size(),
            rc::gen::map(in_range<std::int64_t>(-100, 300),
                         [](std::int64_t count) { return Bytes(std::max<std::int64_t>(count, 0)); }));
        sizes->push_back(system::PairSizes::of_pairs(group.size(), bytes));
        work.size = std::max(work.size, sizes->back().largest_held());
    }
    work.pair_sizes = sizes;
}

Case random_case() {
    const auto ranks = *in_range<std::size_t>(1, 13);
    ProgramBuilder builder(ranks);
    add_partitions(builder.program());
    builder.program().compute_order =
        *rc::gen::element(system::ComputeOrder::kProgram, system::ComputeOrder::kFirstCome);
    const auto streams = builder.program().compute_order == system::ComputeOrder::kProgram
                             ? *in_range<std::uint32_t>(1, 4)
                             : std::uint32_t{1};
    for (std::uint32_t stream = 1; stream < streams; ++stream) {
        builder.program().streams.push_back("stream " + std::to_string(stream));
    }
    const auto operations = *in_range(1, 25);
    for (int index = 0; index < operations; ++index) {
        const std::vector<OperationId> after = some_of(static_cast<std::size_t>(index));
        const std::string name = "operation" + std::to_string(index);
        if (*in_range(0, 2) == 0) {
            builder.compute_on(*in_range<std::uint32_t>(0, streams), name,
                               PerRank<Time>(*rc::gen::container<std::vector<Time>>(
                                   ranks, rc::gen::map(in_range<std::int64_t>(0, 5000),
                                                       [](std::int64_t count) { return Time(count); }))),
                               after);
        } else {
            system::CollectiveOperation work{
                .kind = *rc::gen::element(CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                          CollectiveKind::kAllGather, CollectiveKind::kAllToAll,
                                          CollectiveKind::kBroadcast, CollectiveKind::kReduce),
                .partition = PartitionId(*in_range(0, 3)),
                .size = Bytes(*in_range<std::int64_t>(0, 3000)),
                .priority = *rc::gen::element(Priority::kDefault, Priority::kFifo, Priority::kLifo,
                                              Priority::kExplicit, Priority::kHighest),
                .explicit_priority = *in_range(-3, 4),
                .completion_delay = Time(*rc::gen::element(0, 0, 700))};
            make_uneven(builder.program(), work);
            builder.collective(name, work, after);
        }
    }
    const system::SystemOptions options = random_options(ranks);
    const std::vector<Time> cost = *rc::gen::container<std::vector<Time>>(
        ranks * ranks,
        rc::gen::map(in_range<std::int64_t>(0, 3000), [](std::int64_t count) { return Time(count); }));
    return {builder.program(), options, cost};
}

ExecutionReport execute(const Case& test, FakeBackend& backend) {
    Executor executor(test.program, test.options, backend, host_of_each_rank(test.program.ranks));
    return executor.run();
}

FakeBackend backend_of(const Case& test) {
    const std::size_t ranks = test.program.ranks;
    return FakeBackend(ranks, [cost = test.cost, ranks](const network::Message& message) {
        return cost[message.source.index() * ranks + message.destination.index()] +
               Time(message.size.count());
    });
}

RC_GTEST_PROP(RandomPrograms, EndWithNothingLost, ()) {
    const Case test = random_case();
    FakeBackend backend = backend_of(test);
    const ExecutionReport report = execute(test, backend);
    RC_ASSERT(report.stall == "");
    RC_ASSERT(report.finished);

    Bytes sent;
    std::uint64_t messages = 0;
    for (std::size_t index = 0; index < test.program.operations.size(); ++index) {
        const OperationId id(index);
        const system::Operation& operation = test.program.operations[id];
        sent += report.operations[id].bytes_sent;
        messages += report.operations[id].messages;
        RC_ASSERT(report.operations[id].first_issue <= report.operations[id].first_start);
        RC_ASSERT(report.operations[id].first_start <= report.operations[id].last_finish);
        if (operation.is_compute()) {
            continue;
        }
        const auto& work = operation.collective();
        const auto& choice = test.options.collectives[static_cast<std::size_t>(work.kind)];
        const std::uint32_t chunks =
            system::chunk_count(work.size, test.options.minimum_chunk, choice.chunks);
        Bytes expected;
        std::uint64_t expected_messages = 0;
        const auto& groups = test.program.partitions[work.partition].groups;
        for (std::size_t group = 0; group < groups.size(); ++group) {
            const system::Shape shape = system::shape_of(groups[group], *test.options.dimensions);
            const system::Traffic traffic =
                work.is_uneven()
                    ? system::traffic_of(*choice.algorithm, shape, (*work.pair_sizes)[group], chunks)
                    : system::traffic_of(*choice.algorithm, work.kind, shape, work.size, chunks);
            expected += traffic.bytes();
            expected_messages += traffic.messages();
        }
        RC_ASSERT(report.operations[id].bytes_sent == expected);
        RC_ASSERT(report.operations[id].messages == expected_messages);
    }
    RC_ASSERT(backend.statistics().bytes_delivered == sent);
    RC_ASSERT(backend.statistics().messages == messages);
    RC_ASSERT(backend.outstanding_messages() == 0U);

    for (const system::RankRecord& rank : report.ranks) {
        std::vector<system::StreamRecord> streams = rank.other_streams;
        streams.push_back(rank);
        RC_ASSERT(streams.size() == test.program.streams.size());
        for (const system::StreamRecord& stream : streams) {
            Time accounted = stream.compute + stream.drain;
            for (const auto& [cause, waited] : stream.exposed) {
                accounted += waited;
            }
            RC_ASSERT(accounted == report.total);
        }
        RC_ASSERT(rank.end <= report.total);
    }
}

RC_GTEST_PROP(RandomPrograms, EndInIndependentOrdersWhereThereIsRoomForAll, ()) {
    Case test = random_case();
    FakeBackend agreed_backend = backend_of(test);
    RC_ASSERT(execute(test, agreed_backend).finished);
    test.options.start_order = system::StartOrder::kIndependent;
    test.options.active_chunks = 1'000'000;
    test.options.active_chunks_per_dimension =
        *rc::gen::element<std::optional<std::uint32_t>>(std::nullopt, 1'000'000);
    FakeBackend backend = backend_of(test);
    const ExecutionReport report = execute(test, backend);
    RC_ASSERT(report.stall == "");
    RC_ASSERT(backend.statistics().bytes_delivered == agreed_backend.statistics().bytes_delivered);
    RC_ASSERT(backend.statistics().messages == agreed_backend.statistics().messages);
}

RC_GTEST_PROP(RandomPrograms, AreRepeatable, ()) {
    const Case test = random_case();
    FakeBackend first_backend = backend_of(test);
    FakeBackend second_backend = backend_of(test);
    const ExecutionReport first = execute(test, first_backend);
    const ExecutionReport second = execute(test, second_backend);
    RC_ASSERT(first.total == second.total);
    RC_ASSERT(first_backend.events_processed() == second_backend.events_processed());
    for (std::size_t index = 0; index < test.program.operations.size(); ++index) {
        const OperationId id(index);
        RC_ASSERT(first.operations[id].first_start == second.operations[id].first_start);
        RC_ASSERT(first.operations[id].last_finish == second.operations[id].last_finish);
    }
    for (std::size_t rank = 0; rank < test.program.ranks; ++rank) {
        RC_ASSERT(first.ranks[rank].exposed == second.ranks[rank].exposed);
        RC_ASSERT(first.ranks[rank].end == second.ranks[rank].end);
    }
}

RC_GTEST_PROP(RandomPrograms, WaitForTheirDependenciesOnEveryRank, ()) {
    const Case test = random_case();
    FakeBackend backend = backend_of(test);
    Executor executor(test.program, test.options, backend, host_of_each_rank(test.program.ranks));
    std::map<std::pair<std::uint32_t, std::uint32_t>, Time> finished;            // by (operation, rank)
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> computing;  // by (rank, stream)
    const auto count_computing = [&](OperationId operation, RankId rank) -> std::uint32_t& {
        return computing[{rank.index(), test.program.operations[operation].compute().stream}];
    };
    executor.operation_finished.connect([&](OperationId operation, RankId rank, Time time) {
        RC_ASSERT(finished.emplace(std::pair{operation.index(), rank.index()}, time).second);
        if (test.program.operations[operation].is_compute()) {
            --count_computing(operation, rank);
        }
    });
    executor.operation_issued.connect([&](OperationId operation, RankId rank, Time time) {
        for (const OperationId dependency : test.program.operations[operation].dependencies) {
            const auto entry = finished.find({dependency.index(), rank.index()});
            RC_ASSERT(entry != finished.end());
            RC_ASSERT(entry->second <= time);
        }
        if (test.program.operations[operation].is_compute()) {
            RC_ASSERT(++count_computing(operation, rank) == 1U);  // one at a time
        }
    });
    RC_ASSERT(executor.run().finished);
    RC_ASSERT(finished.size() == test.program.operations.size() * test.program.ranks);
}

}  // namespace
}  // namespace astrolabe::testing
