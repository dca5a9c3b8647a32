// Random programs on random networks, folded and whole: the same to the picosecond and the byte.

#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"
#include "program_builder.hpp"
#include "system/src/collectives/hierarchical.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/symmetry/folding.hpp>

namespace astrolabe::testing {
namespace {

using network::LoadBalancing;
using system::CollectiveKind;
using system::ExecutionReport;
using system::FoldedRanks;
using system::OperationId;
using system::PartitionId;
using system::PerRank;
using system::Position;
using system::Priority;
using system::RankId;

/// Draws one case; the same seed draws the same. A quarter of the cases may have what does not fold.
class Draw {
public:
    explicit Draw(std::uint64_t seed)
        : random_(seed),
          may_spoil_(one_in(4)) {}

    template <class T>
    T from(T least, T most) {
        return std::uniform_int_distribution<T>(least, most)(random_);
    }
    bool one_in(int count) { return from(1, count) == 1; }
    /// Whether to draw something that often keeps ranks from folding.
    bool spoils_one_in(int count) { return may_spoil_ && one_in(count); }
    template <class T>
    const T& of(const std::vector<T>& values) {
        return values[from<std::size_t>(0, values.size() - 1)];
    }

private:
    std::mt19937_64 random_;
    bool may_spoil_;
};

struct Case {
    system::Program program;
    system::SystemOptions options;
    std::shared_ptr<const network::Fabric> fabric;
};

std::size_t divisor(Draw& draw, std::size_t number) {
    std::vector<std::size_t> divisors;
    for (std::size_t candidate = 1; candidate <= number; ++candidate) {
        if (number % candidate == 0) {
            divisors.push_back(candidate);
        }
    }
    return draw.of(divisors);
}

/// Hosts for 16 ranks, of which fewer may be used.
std::shared_ptr<const network::Fabric> random_fabric(Draw& draw) {
    const network::HostLinkParameters link{.rate = 100_Gbps, .latency = Time(draw.from(0, 2'000'000))};
    switch (draw.from(0, 3)) {
        case 0:
            return network::build_flat({.hosts = 16, .link = link, .switch_buffer = {}});
        case 1: {
            network::LeafSpineParameters parameters;
            parameters.hosts = 16;
            parameters.hosts_per_leaf = draw.of<std::int64_t>({2, 4, 8});
            parameters.spines = draw.from(1, 4);
            parameters.oversubscription = draw.of<double>({1.0, 2.0, 4.0});
            parameters.link = link;
            parameters.load_balancing = LoadBalancing::kSpray;
            return network::build_leaf_spine(parameters);
        }
        case 2: {
            network::FatTreeParameters parameters;
            parameters.k = 4;
            parameters.edge_oversubscription = draw.of<double>({1.0, 4.0});
            parameters.link = link;
            parameters.load_balancing = LoadBalancing::kSpray;
            return network::build_fat_tree(parameters);
        }
        default: {
            network::TorusParameters parameters;
            parameters.sizes = draw.of<std::vector<std::int64_t>>({{4, 4}, {16}, {2, 8}, {8, 2}});
            parameters.load_balancing =
                draw.spoils_one_in(2) ? LoadBalancing::kFlowHash : LoadBalancing::kSpray;
            if (draw.one_in(2)) {
                parameters.routing = network::GridRule::kDimensionOrder;
                parameters.load_balancing = LoadBalancing::kFlowHash;
            }
            return network::build_torus(parameters);
        }
    }
}

void add_partitions(Draw& draw, system::Program& program) {
    const std::size_t size = divisor(draw, program.ranks);
    system::Partition blocks{.name = "blocks", .groups = {}};
    system::Partition strides{.name = "strides", .groups = {}};
    blocks.groups.resize(program.ranks / size);
    strides.groups.resize(size);
    for (std::size_t rank = 0; rank < program.ranks; ++rank) {
        blocks.groups[rank / size].emplace_back(rank);
        strides.groups[rank % size].emplace_back(rank);
    }
    program.partitions.push_back(blocks);
    program.partitions.push_back(strides);
}

system::EndPoint random_end_point(Draw& draw) {
    system::EndPoint end_point;
    end_point.injection_latency = Time(draw.of<std::int64_t>({0, 0, 30'000}));
    if (draw.one_in(3)) {
        end_point.reduction_bandwidth = Bandwidth(1'000'000'000'000);
    }
    if (draw.one_in(3)) {
        end_point.rendezvous_threshold = Bytes(draw.of<std::int64_t>({1, 1000, 100'000}));
    }
    if (draw.spoils_one_in(4)) {
        end_point.copy_engine = system::CopyEngine::kSerial;
    } else if (draw.one_in(3)) {
        end_point.timing = system::EndPointTiming::kAstraSim1;
    }
    return end_point;
}

system::SystemOptions random_options(Draw& draw, std::size_t ranks) {
    using Algorithm = std::shared_ptr<const system::CollectiveAlgorithm>;
    const Algorithm grid =
        system::make_hierarchical({.per_dimension = {algorithm_of("direct"), algorithm_of("ring")}});
    // One after another: compilers differ in the order of arguments, and a seed shall be one case for all.
    const std::uint32_t active_chunks = draw.from(1U, 4U);
    const std::uint32_t chunks = draw.from(1U, 5U);
    const Algorithm algorithm =
        draw.of<Algorithm>({algorithm_of("ring"), algorithm_of("direct"),
                            algorithm_of("windowed_direct, window: 2"), algorithm_of("bidirectional_ring"),
                            grid, system::make_hierarchical({.order = system::DimensionOrder::kRoundRobin})});
    system::SystemOptions options = options_with(algorithm, chunks, active_chunks);
    const auto choose = [&](CollectiveKind kind, const std::vector<Algorithm>& algorithms) {
        options.collectives[static_cast<std::size_t>(kind)].algorithm = draw.of(algorithms);
    };
    choose(CollectiveKind::kBroadcast, {algorithm_of("direct"), algorithm_of("binomial_tree")});
    if (draw.one_in(3)) {
        choose(CollectiveKind::kAllReduce,
               {algorithm_of("double_binary_tree"), algorithm_of("halving_doubling"),
                algorithm_of("recursive_doubling"), algorithm_of("barrier_direct")});
        choose(CollectiveKind::kAllToAll, {algorithm_of("bruck"), algorithm_of("pairwise")});
    }
    const std::size_t first = divisor(draw, ranks);
    options.dimensions = system::Shape(
        std::vector<Position>{static_cast<Position>(first), static_cast<Position>(ranks / first)});
    if (draw.spoils_one_in(4)) {
        options.active_chunks_per_dimension = draw.from(1U, 2U);
    }
    options.stage_order =
        draw.of<system::StageOrder>({system::StageOrder::kPriority, system::StageOrder::kSmallestChunk,
                                     system::StageOrder::kAlternate, system::StageOrder::kFewestStages});
    options.scheduling = draw.of<system::Scheduling>({system::Scheduling::kLifo, system::Scheduling::kFifo});
    options.start_order =
        draw.spoils_one_in(4) ? system::StartOrder::kIndependent : system::StartOrder::kAgreed;
    options.end_point = random_end_point(draw);
    return options;
}

/// Durations that repeat after `period` ranks.
PerRank<Time> random_durations(Draw& draw, std::size_t ranks, std::size_t period) {
    std::vector<Time> times;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        times.push_back(rank < period ? Time(draw.from(0, 5'000'000)) : times[rank - period]);
    }
    return PerRank<Time>(std::move(times));
}

/// Pairs whose sizes depend on how far apart they are.
void make_uneven(Draw& draw, const system::Program& program, system::CollectiveOperation& work) {
    auto sizes = std::make_shared<std::vector<system::PairSizes>>();
    for (const auto& group : program.partitions[work.partition].groups) {
        const std::size_t n = group.size();
        std::vector<Bytes> by_distance;
        for (std::size_t distance = 0; distance < program.ranks; ++distance) {
            by_distance.emplace_back(draw.spoils_one_in(7) ? 0 : draw.from(5, 50'000));
        }
        if (!sizes->empty()) {
            sizes->push_back(sizes->front());
            continue;
        }
        std::vector<Bytes> bytes;
        for (std::size_t pair = 0; pair < n * n; ++pair) {
            bytes.push_back(by_distance[(pair % n + n - pair / n) % n]);
        }
        sizes->push_back(system::PairSizes::of_pairs(n, std::move(bytes)));
    }
    work.size = sizes->front().largest_held();
    work.pair_sizes = sizes;
}

Case random_case(std::uint64_t seed) {
    Draw draw(seed);
    const std::size_t ranks = draw.of<std::size_t>({4, 6, 8, 12, 16, 16, 16, 16, 16, 16});
    ProgramBuilder builder(ranks, 1);
    add_partitions(draw, builder.program());
    // All ranks differ only where that may spoil the folding.
    const std::size_t period = draw.one_in(2) ? 1 : divisor(draw, draw.spoils_one_in(2) ? ranks : ranks / 2);
    const auto streams = draw.one_in(2) ? draw.from(2U, 3U) : 1U;
    for (std::uint32_t stream = 1; stream < streams; ++stream) {
        builder.program().streams.push_back("stream " + std::to_string(stream));
    }
    const int operations = draw.from(1, 12);
    for (int index = 0; index < operations; ++index) {
        std::vector<OperationId> after;
        for (int earlier = 0; earlier < index; ++earlier) {
            if (draw.one_in(3)) {
                after.emplace_back(static_cast<std::size_t>(earlier));
            }
        }
        const std::string name = "operation" + std::to_string(index);
        if (draw.one_in(3)) {
            const std::uint32_t stream = draw.from(0U, streams - 1);
            builder.compute_on(stream, name,
                               period > 1 ? random_durations(draw, ranks, period)
                                          : PerRank<Time>(Time(draw.from(0, 5'000'000))),
                               after);
            continue;
        }
        system::CollectiveOperation work{
            .kind = draw.of<CollectiveKind>({CollectiveKind::kAllReduce, CollectiveKind::kAllReduce,
                                             CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
                                             CollectiveKind::kAllToAll, CollectiveKind::kAllToAll}),
            .partition = PartitionId(draw.from(0U, 2U)),
            // A multiple of 16 and 12 ranks in up to 5 chunks, or of nothing.
            .size = Bytes(draw.spoils_one_in(3) ? draw.from(0, 100'000) : 48 * 60 * draw.from(0, 200)),
            .priority = draw.of<Priority>({Priority::kDefault, Priority::kFifo, Priority::kLifo,
                                           Priority::kExplicit, Priority::kHighest}),
            .explicit_priority = draw.from(-3, 3),
            .completion_delay = Time(draw.of<std::int64_t>({0, 0, 700'000}))};
        if (draw.spoils_one_in(4)) {
            work.kind = CollectiveKind::kBroadcast;
            work.partition = PartitionId(draw.from(1U, 2U));
        } else if (work.kind == CollectiveKind::kAllToAll && draw.one_in(3)) {
            make_uneven(draw, builder.program(), work);
        }
        builder.collective(name, work, after);
    }
    return {builder.program(), random_options(draw, ranks), random_fabric(draw)};
}

struct Outcome {
    ExecutionReport report;
    network::NetworkStatistics network;
};

Outcome execute(const Case& test, network::FluidBackend backend,
                const std::optional<network::Folding>& folding = std::nullopt) {
    system::Executor executor(test.program, test.options, backend, host_of_each_rank(test.program.ranks),
                              folding);
    ExecutionReport report = executor.run();
    return {std::move(report), backend.statistics()};
}

void expect_same_stages(const system::OperationRecord& folded, const system::OperationRecord& whole) {
    RC_ASSERT(folded.stages.size() == whole.stages.size());
    for (std::size_t i = 0; i < whole.stages.size(); ++i) {
        RC_ASSERT(folded.stages[i].stage == whole.stages[i].stage);
        RC_ASSERT(folded.stages[i].bytes_sent == whole.stages[i].bytes_sent);
        RC_ASSERT(folded.stages[i].messages == whole.stages[i].messages);
        RC_ASSERT(folded.stages[i].first_start == whole.stages[i].first_start);
        RC_ASSERT(folded.stages[i].last_finish == whole.stages[i].last_finish);
        RC_ASSERT(folded.stages[i].in_flight == whole.stages[i].in_flight);
        RC_ASSERT(folded.stages[i].waiting == whole.stages[i].waiting);
    }
}

void expect_same(const ExecutionReport& folded, const ExecutionReport& whole) {
    RC_ASSERT(folded.total == whole.total);
    RC_ASSERT(folded.request_bytes == whole.request_bytes);
    for (std::size_t i = 0; i < whole.operations.size(); ++i) {
        const system::OperationRecord& one = folded.operations[OperationId(i)];
        const system::OperationRecord& other = whole.operations[OperationId(i)];
        RC_ASSERT(one.first_issue == other.first_issue);
        RC_ASSERT(one.first_start == other.first_start);
        RC_ASSERT(one.last_finish == other.last_finish);
        RC_ASSERT(one.bytes_sent == other.bytes_sent);
        RC_ASSERT(one.messages == other.messages);
        RC_ASSERT(one.chunks == other.chunks);
        RC_ASSERT(one.exposed == other.exposed);
        expect_same_stages(one, other);
    }
    for (std::size_t i = 0; i < whole.ranks.size(); ++i) {
        RC_ASSERT(folded.ranks[i].compute == whole.ranks[i].compute);
        RC_ASSERT(folded.ranks[i].exposed == whole.ranks[i].exposed);
        RC_ASSERT(folded.ranks[i].drain == whole.ranks[i].drain);
        RC_ASSERT(folded.ranks[i].iteration_ends == whole.ranks[i].iteration_ends);
        RC_ASSERT(folded.ranks[i].end == whole.ranks[i].end);
        RC_ASSERT(folded.ranks[i].other_streams.size() == whole.ranks[i].other_streams.size());
        for (std::size_t stream = 0; stream < whole.ranks[i].other_streams.size(); ++stream) {
            const system::StreamRecord& own = folded.ranks[i].other_streams[stream];
            const system::StreamRecord& other = whole.ranks[i].other_streams[stream];
            RC_ASSERT(own.compute == other.compute);
            RC_ASSERT(own.exposed == other.exposed);
            RC_ASSERT(own.drain == other.drain);
        }
    }
}

void expect_same(const network::NetworkStatistics& folded, const network::NetworkStatistics& whole) {
    RC_ASSERT(folded.messages == whole.messages);
    RC_ASSERT(folded.bytes_delivered == whole.bytes_delivered);
    for (std::size_t i = 0; i < whole.links.size(); ++i) {
        RC_ASSERT(folded.links[network::LinkId(i)].carried == whole.links[network::LinkId(i)].carried);
    }
}

FoldedRanks fold(const Case& test) {
    return system::fold_ranks(test.program, test.options, test.fabric, host_of_each_rank(test.program.ranks));
}

Outcome execute_folded(const Case& test, const FoldedRanks& folded) {
    return execute(test, network::FluidBackend(folded.classes), folded.folding);
}

RC_GTEST_PROP(FoldedRuns, AreTheWholeRuns, ()) {
    const Case test = random_case(
        *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>())));
    const FoldedRanks folded = fold(test);
    RC_ASSERT(folded.unsupported.empty() == (folded.folding.representatives < test.program.ranks));
    const Outcome one = execute_folded(test, folded);
    RC_TAG(folded.folding.class_size(), one.report.has_tie);
    const Outcome other = execute(test, network::FluidBackend(test.fabric));
    if (one.report.has_tie) {
        return;
    }
    RC_ASSERT(one.report.finished == other.report.finished);
    if (other.report.finished) {
        expect_same(one.report, other.report);
        expect_same(one.network, other.network);
    }
}

/// Four ranks on one switch.
std::shared_ptr<const network::Fabric> one_switch() {
    return network::build_flat(
        {.hosts = 4, .link = {.rate = 100_Gbps, .latency = 1_us}, .switch_buffer = {}});
}

/// All ranks end the computation at one instant and issue `meeting`, which has no bytes and ends when the
/// last of them has issued it. If they issue `other` at that instant, too, it begins before `next`, but not
/// on the last rank: that one issues both in one notification, and `next` comes first in the program.
Case meeting_of_ranks(bool other_comes_at_once) {
    ProgramBuilder builder(4, 1);
    builder.program().partitions.push_back(
        {.name = "again", .groups = builder.program().partitions[PartitionId(0)].groups});
    const auto collective = [&](const std::string& name, std::uint32_t partition, Bytes size,
                                OperationId after) {
        const system::CollectiveOperation work{
            .kind = CollectiveKind::kAllToAll, .partition = PartitionId(partition), .size = size};
        return builder.collective(name, work, {after});
    };
    const OperationId computation = builder.compute("computation", PerRank<Time>(5_us));
    const OperationId meeting = collective("meeting", 0, Bytes(0), computation);
    collective("next", 0, Bytes(40'000), meeting);
    const OperationId before_other =
        other_comes_at_once ? computation : builder.compute("later", PerRank<Time>(1_us), {computation});
    collective("other", 1, Bytes(80'000), before_other);
    return {builder.program(), options_with(algorithm_of("direct"), 1, 1), one_switch()};
}

/// With a second chunk, every rank but the last sends of it before the barrier in the first one opens; the
/// last rank opens it, and sends of the first chunk before.
Case barrier_of_ranks(std::uint32_t chunks) {
    ProgramBuilder builder(4, 1);
    builder.collective(
        "all_reduce",
        {.kind = CollectiveKind::kAllReduce, .partition = PartitionId(0), .size = Bytes(48'000)});
    return {builder.program(), options_with(algorithm_of("barrier_direct"), chunks, 1), one_switch()};
}

/// Whether the folded run of `test` stops at a tie; else it is to be the whole one.
bool has_tie(const Case& test) {
    const FoldedRanks folded = fold(test);
    EXPECT_LT(folded.folding.representatives, test.program.ranks) << folded.unsupported;
    const ExecutionReport one = execute_folded(test, folded).report;
    if (!one.has_tie) {
        const ExecutionReport other = execute(test, network::FluidBackend(test.fabric)).report;
        for (std::size_t i = 0; i < other.operations.size(); ++i) {
            const OperationId id(i);
            EXPECT_EQ(one.operations[id].last_finish, other.operations[id].last_finish) << i;
        }
    }
    return one.has_tie;
}

TEST(FoldedRuns, StopWhereItMattersWhichRankIsTheLastOfItsGroup) {
    EXPECT_TRUE(has_tie(meeting_of_ranks(true)));
    EXPECT_FALSE(has_tie(meeting_of_ranks(false)));
    EXPECT_TRUE(has_tie(barrier_of_ranks(2)));
    EXPECT_FALSE(has_tie(barrier_of_ranks(1)));
    // Found by AreTheWholeRuns: eight equivalent ranks issue a collective without bytes at one instant.
    EXPECT_TRUE(has_tie(random_case(15742430392583175467ULL)));
}

// What is drawn above is worth comparing only if much of it folds, and to the end.
TEST(FoldedRuns, AreAtLeastAThirdOfTheCases) {
    constexpr std::uint64_t kCases = 300;
    std::uint64_t fold_to_the_end = 0;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        const Case test = random_case(seed);
        const FoldedRanks folded = fold(test);
        if (folded.folding.representatives == test.program.ranks) {
            continue;
        }
        const Outcome outcome = execute_folded(test, folded);
        fold_to_the_end += outcome.report.finished && !outcome.report.has_tie ? 1 : 0;
    }
    EXPECT_GE(3 * fold_to_the_end, kCases) << fold_to_the_end << " of " << kCases;
}

}  // namespace
}  // namespace astrolabe::testing
