// Bounds by hand on small fabrics, and as properties of runs.
#include "experiment/src/explain/collective_work.hpp"
#include "network/src/rotor/opera.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"
#include "small_experiment.hpp"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

#include <algorithms.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/experiment/explain/bounds.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::experiment {
namespace {

using namespace literals;
using system::CollectiveKind;
using system::OperationId;

/// One collective over all hosts of a fabric, on an engine that takes its routes.
Experiment one_collective(std::shared_ptr<const network::Fabric> fabric, CollectiveKind kind,
                          std::shared_ptr<const system::CollectiveAlgorithm> algorithm, Bytes size) {
    Experiment experiment;
    experiment.cluster.ranks = fabric->host_count();
    experiment.fabric = std::move(fabric);
    experiment.cluster.options.collectives[static_cast<std::size_t>(kind)].algorithm = std::move(algorithm);
    system::Program& program = experiment.program;
    program.ranks = experiment.cluster.ranks;
    program.iterations = 1;
    const auto world = program.partitions.push_back(system::Partition::world(program.ranks));
    system::Operation operation;
    operation.name = "x";
    operation.work = system::CollectiveOperation{.kind = kind, .partition = world, .size = size};
    program.operations.push_back(operation);
    return experiment;
}

/// Hosts 0 and 1 on one switch, host 2 on another, 100 Gb/s at the hosts and 25 Gb/s between the switches;
/// every link 500 ns.
std::shared_ptr<const network::Fabric> dumbbell() {
    network::FabricBuilder builder("dumbbell");
    for (int host = 0; host < 3; ++host) {
        builder.add_host("host " + std::to_string(host));
    }
    const network::NodeId left = builder.add_switch("left 0");
    const network::NodeId right = builder.add_switch("right 0");
    const network::LinkParameters fast{100_Gbps, 500_ns, Bytes(0)};
    builder.connect(network::NodeId(0), left, fast);
    builder.connect(network::NodeId(1), left, fast);
    builder.connect(network::NodeId(2), right, fast);
    builder.connect(left, right, {25_Gbps, 500_ns, Bytes(0)});
    return std::move(builder).build();
}

/// Below by no more than the 2^-32 that bounds take off, and a picosecond for each of at most 4 messages.
void expect_near(Time bound, Time expected) {
    EXPECT_LE(bound, expected);
    EXPECT_GE(bound + expected / (std::int64_t{1} << 32) + Time(4), expected);
}

TEST(Bounds, OfARingOnADumbbellAreThoseOfTheLinkInTheMiddle) {
    // 3 MB per rank, blocks of 1 MB, 4 messages a rank to the next. Rank 1 sends its 4 MB to rank 2 over the
    // middle at 25 Gb/s: 4 MB · 0.32 ns/B = 1280 us, and 1 us of latency between hosts 0 and 1. Ports:
    // 2·2/3·3 MB = 4 MB at 100 Gb/s, 320 us.
    const Experiment ring =
        one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 3_MB);
    const Bounds bounds = certified_bounds(ring);
    EXPECT_EQ(bounds.ports, 321_us);
    expect_near(*bounds.links, 1281_us);
    EXPECT_EQ(ring.fabric->node(ring.fabric->source(*bounds.busiest)).name, "left 0");
    // There is one path only, so no routing does better, and this is known without a search.
    expect_near(bounds.any_routing->least, 1281_us);
    EXPECT_EQ(bounds.any_routing->how, "ports and switches");
    EXPECT_EQ(bounds.value(), *bounds.links);
    EXPECT_EQ(bounds.binding(), "links");
    // The collective by itself: 4 steps of 1 us; 4 messages of 1 MB at 100 Gb/s, 80 us each.
    const CollectiveBound& own = bounds.collectives[OperationId(0)];
    EXPECT_EQ(own.latency, 4_us);
    expect_near(own.chain, 324_us);
    expect_near(own.links, 1280_us);
}

TEST(Bounds, LatencyBindsWhatIsSmall) {
    // 300 B: blocks of 100 B take 32 ns in the middle, 128 ns for all 4; the steps 4 us.
    const Bounds bounds = certified_bounds(
        one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 300_B));
    EXPECT_EQ(bounds.collectives[OperationId(0)].latency, 4_us);
    // 4 messages of 100 B at 100 Gb/s: 8 ns each.
    expect_near(bounds.dependencies, 4_us + 32_ns);
}

TEST(Bounds, EndPointsBindWhereTheyCostMost) {
    Experiment ring =
        one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 300_B);
    ring.cluster.options.end_point.injection_latency = 5_us;
    // 4 steps of 5 us of copying and 1 us of latency.
    const Bounds copied = certified_bounds(ring);
    EXPECT_EQ(copied.collectives[OperationId(0)].end_points, 20_us);
    expect_near(copied.dependencies, 24_us + 32_ns);
    // Two of the four steps add 100 B: 3·100 B at 300 MB/s are 1 us each.
    ring.cluster.options.end_point = {};
    ring.cluster.options.end_point.reduction_bandwidth = Bandwidth(2'400'000'000);
    expect_near(certified_bounds(ring).collectives[OperationId(0)].end_points, 2_us);
}

TEST(Bounds, AWindowWaitsForMessagesAndABarrierForAdditions) {
    // 8 MB among 8 ranks: 7 messages of 1 MB one after the other scatter, 7 gather, each 80 us at 100 Gb/s
    // and 1 us of latency. 3·1 MB at 100 GB/s are 30 us of addition; of the 7 only the last is on the way
    // from the scatter to the gather: 7·81 + 30 + 7·81 us.
    network::LeafSpineParameters parameters;
    parameters.hosts = 8;
    parameters.hosts_per_leaf = 8;
    parameters.spines = 1;
    parameters.link = {100_Gbps, 500_ns};
    Experiment window = one_collective(network::build_leaf_spine(parameters), CollectiveKind::kAllReduce,
                                       testing::algorithm_of("windowed_direct, window: 1"), 8_MB);
    window.cluster.options.end_point.reduction_bandwidth = 800_Gbps;
    const CollectiveBound own = certified_bounds(window).collectives[OperationId(0)];
    expect_near(own.end_points, 30_us);
    EXPECT_LE(own.chain, 1164_us);
    EXPECT_GE(own.chain + 1_ns, 1164_us);
}

TEST(Bounds, OfAnOversubscribedLeafAreItsUplinks) {
    // 4 leaves of 3 hosts, one uplink of a host's rate to one spine, 3:1. An all-to-all of 12 MB: every
    // host sends 9 MB to other leaves, a leaf 27 MB at 100 Gb/s: 2160 us. Ports: 11 MB, 880 us.
    network::LeafSpineParameters parameters;
    parameters.hosts = 12;
    parameters.hosts_per_leaf = 3;
    parameters.spines = 1;
    parameters.link = {100_Gbps, 500_ns};
    parameters.oversubscription = 3;
    const Experiment exchange =
        one_collective(network::build_leaf_spine(parameters), CollectiveKind::kAllToAll,
                       testing::algorithm_of("direct"), 12_MB);
    const Bounds bounds = certified_bounds(exchange);
    EXPECT_GE(bounds.ports, 880_us);
    EXPECT_LE(bounds.ports, 881_us);
    expect_near(*bounds.links, 2161_us);
    expect_near(bounds.any_routing->least, 2161_us);
    EXPECT_EQ(
        network::Resources(*exchange.fabric).name(network::Resources(*exchange.fabric).of(*bounds.busiest)),
        "spine-leaf links");
}

TEST(Bounds, OfThousandsOfRanksThatAllExchangeCountLinks) {
    // 64 leaves of 64 hosts, 4:1: 16,773,120 pairs of ranks, 4,096 of leaves. Each host sends 63/64 of 4.096
    // MB to other leaves, a leaf 63 · 4.096 MB at 1.6 Tb/s: 1290.24 us.
    network::LeafSpineParameters parameters;
    parameters.hosts = 4096;
    parameters.hosts_per_leaf = 64;
    parameters.spines = 16;
    parameters.link = {100_Gbps, 500_ns};
    parameters.oversubscription = 4;
    parameters.load_balancing = network::LoadBalancing::kSpray;
    const Experiment exchange =
        one_collective(network::build_leaf_spine(parameters), CollectiveKind::kAllToAll,
                       testing::algorithm_of("direct"), Bytes(4'096'000));
    const Bounds bounds = certified_bounds(exchange);
    ASSERT_TRUE(bounds.links);
    expect_near(*bounds.links, 1'290'240_ns + 1_us);
    // Predictions follow paths, of which there is one for each pair.
    EXPECT_EQ(wire::CollectiveWorks(exchange).omission(), too_many_pairs());

    // 1,024 leaves of 4 hosts are 2^20 pairs of leaves, all of whose routes would be kept: 2^18 are.
    parameters.hosts_per_leaf = 4;
    const Experiment broad = one_collective(network::build_leaf_spine(parameters), CollectiveKind::kAllToAll,
                                            testing::algorithm_of("direct"), Bytes(4'096'000));
    EXPECT_FALSE(certified_bounds(broad).links);
}

// By source or by destination loads are those of products; the same sizes pair by pair are added one by one.
RC_GTEST_PROP(Bounds, SizesOfPairsAndOfSourcesOrDestinationsAreOne, ()) {
    network::LeafSpineParameters parameters;
    parameters.hosts = 12;
    parameters.hosts_per_leaf = 3;
    parameters.spines = 2;
    parameters.link = {100_Gbps, 500_ns};
    parameters.load_balancing = network::LoadBalancing::kSpray;
    const auto fabric = network::build_leaf_spine(parameters);
    const bool by_source = *rc::gen::arbitrary<bool>();
    const bool in_two_groups = *rc::gen::arbitrary<bool>();
    const std::size_t ranks = in_two_groups ? 6 : 12;
    std::vector<system::PairSizes> products;
    std::vector<system::PairSizes> pairs;
    std::vector<std::vector<system::RankId>> groups;
    for (std::size_t group = 0; group < 12 / ranks; ++group) {
        std::vector<Bytes> sizes;
        for (std::size_t i = 0; i < ranks; ++i) {
            sizes.emplace_back(
                *rc::gen::inRange<std::int64_t>(i == 0 ? 1 : 0, 1'000'000));  // something moves
        }
        std::vector<Bytes> each;
        std::vector<system::RankId> members;
        for (std::size_t i = 0; i < ranks; ++i) {
            members.emplace_back(12 / ranks * i + group);
            for (std::size_t j = 0; j < ranks; ++j) {
                each.push_back(sizes[by_source ? i : j]);
            }
        }
        groups.push_back(std::move(members));
        products.push_back(by_source ? system::PairSizes::by_source(sizes)
                                     : system::PairSizes::by_destination(sizes));
        pairs.push_back(system::PairSizes::of_pairs(ranks, std::move(each)));
    }
    const auto bounds_of = [&](std::vector<system::PairSizes> sizes) {
        Experiment exchange =
            one_collective(fabric, CollectiveKind::kAllToAll, testing::algorithm_of("direct"), Bytes(1));
        exchange.program.partitions[system::PartitionId(0)].groups = groups;
        auto& work = std::get<system::CollectiveOperation>(exchange.program.operations[OperationId(0)].work);
        work.size = std::ranges::max_element(sizes, {}, &system::PairSizes::largest_held)->largest_held();
        work.pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(std::move(sizes));
        return certified_bounds(exchange);
    };
    const Bounds together = bounds_of(products);
    const Bounds one_by_one = bounds_of(pairs);
    RC_ASSERT(together.ports == one_by_one.ports);
    RC_ASSERT(together.links.has_value());
    RC_ASSERT(together.links == one_by_one.links);
}

TEST(Bounds, OfATorusCountTheLinksThatRoutesTake) {
    // A ring of 4 hosts, two links out of each, all-reduce of 4 MB one way round: 2·3 messages of 1 MB a
    // link, 480 us, though ports have twice the rate: 240 us.
    network::TorusParameters parameters;
    parameters.sizes = {4};
    parameters.link = {{100_Gbps}, {500_ns}};
    const Bounds bounds = certified_bounds(one_collective(
        network::build_torus(parameters), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 4_MB));
    expect_near(bounds.ports, 240_us + 500_ns);
    expect_near(*bounds.links, 480_us + 500_ns);
    // The other routing sends half of every message the long way, over three links: with a part x that way a
    // link carries 1-x and 3x of its own and against it, so both directions are full alike at x = 1/4, and
    // 6 MB·3/4 a link take 360 us. No routing does better: the certificate says so within 2 %.
    EXPECT_LE(bounds.any_routing->least, 360_us + 500_ns + 1_ns);
    EXPECT_GE(to_seconds(bounds.any_routing->least), 360e-6 * 0.98);
    EXPECT_LE(to_seconds(bounds.any_routing->most), 360.5e-6 * 1.02);
    EXPECT_GE(bounds.any_routing->most, 360_us);
}

TEST(Bounds, OfRotorsAreThoseOfTheirCircuits) {
    // 4 racks of 4 hosts on 4 rotors, 100 Gb/s, H = 2: T = 2.30 + 0.62 + 10 us. All to all, 1 MB for each of
    // 16 hosts: 4 hosts of a rack have 12 MB each for others. Of its 4 uplinks one is idle, the others are
    // dark for 10 of 4 * 12.92 us: 48 MB over 3 * 12.5 GB/s * (1 - 10 / 51.68). One circuit is dark at a
    // time, so that in a part of a cycle the sum of what they carry is ahead of that or behind by less than
    // what one carries in 10 us.
    network::rotor::OperaParameters parameters;
    parameters.racks = 4;
    parameters.uplinks = 4;
    const Bounds bounds =
        certified_bounds(one_collective(network::rotor::build_opera(parameters), CollectiveKind::kAllToAll,
                                        testing::algorithm_of("direct"), 16_MB));
    const double seconds = 48e6 / (3 * 12.5e9 * (1 - 10 / 51.68));
    EXPECT_NEAR(to_seconds(bounds.any_routing->least), seconds, 10e-6);
    EXPECT_EQ(bounds.any_routing->how, "circuits of the fullest switch");
    EXPECT_EQ(bounds.any_routing->most, Time::max()) << "no routing was looked for";
    EXPECT_LT(bounds.ports, bounds.any_routing->least) << "15 MB over 12.5 GB/s are 1.2 ms";
    // Low-latency messages wait at switches for as long as they like: 48 MB over 3 * 12.5 GB/s.
    parameters.low_latency.cutoff = 1_KB;
    const Bounds at_once =
        certified_bounds(one_collective(network::rotor::build_opera(parameters), CollectiveKind::kAllToAll,
                                        testing::algorithm_of("direct"), 16_MB));
    EXPECT_NEAR(to_seconds(at_once.any_routing->least), 48e6 / (3 * 12.5e9), 1e-9);
}

TEST(Bounds, ChainsGoThroughStreams) {
    // The host launches for 30 us, then for 10; the device computes 5 us after the first and 20 after the
    // second launch: 30 + 10 + 20 us. The busiest stream has 40 us.
    Experiment experiment =
        one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 0_B);
    system::Program& program = experiment.program;
    program.streams = {"compute", "host"};
    const auto add = [&program](const char* name, Time duration, std::uint32_t stream,
                                std::vector<OperationId> dependencies) {
        system::Operation operation;
        operation.name = name;
        operation.work = system::ComputeOperation{duration, stream};
        operation.dependencies = std::move(dependencies);
        return program.operations.push_back(operation);
    };
    const OperationId first = add("launch 0", 30_us, 1, {});
    add("kernel 0", 5_us, 0, {first});
    const OperationId second = add("launch 1", 10_us, 1, {});
    add("kernel 1", 20_us, 0, {second});
    const Bounds bounds = certified_bounds(experiment);
    EXPECT_EQ(bounds.compute, 40_us);
    EXPECT_EQ(bounds.dependencies, 60_us);
    // Of one stream they would be 65 us, one after another.
    for (system::Operation& operation : program.operations) {
        if (operation.is_compute()) {
            std::get<system::ComputeOperation>(operation.work).stream = 0;
        }
    }
    EXPECT_EQ(certified_bounds(experiment).compute, 65_us);
}

TEST(Bounds, NothingIsSentInNoTime) {
    const Bounds bounds = certified_bounds(
        one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 0_B));
    EXPECT_EQ(bounds.value(), 0_ps);
    EXPECT_FALSE(bounds.any_routing);
}

TEST(Bounds, ChainsKnowWhatWaitsForWhat) {
    // 10 us of compute, then the ring of 324 us by itself, bound by the middle: 1281 us, then 5 us.
    Experiment chain =
        one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 3_MB);
    system::Operation before;
    before.name = "before";
    before.work = system::ComputeOperation{10_us};
    system::Operation after;
    after.name = "after";
    after.work = system::ComputeOperation{5_us};
    after.dependencies = {OperationId(1)};
    system::Operation collective = chain.program.operations[OperationId(0)];
    collective.dependencies = {OperationId(0)};
    chain.program.operations = {};
    chain.program.operations.push_back(before);
    chain.program.operations.push_back(collective);
    chain.program.operations.push_back(after);
    const Bounds bounds = certified_bounds(chain);
    EXPECT_EQ(bounds.compute, 15_us);
    expect_near(bounds.dependencies, 10_us + 1281_us + 5_us);
    EXPECT_EQ(bounds.binding(), "dependencies");
}

TEST(Bounds, EndWhereTimeEnds) {
    // 3 · 2^58 B in blocks of 2^58: rank 1 sends 4 of them over the middle at 0.32 ns/B, 3.7e8 s, and time
    // ends at 2^63 ps = 9.2e6 s; the latency on top of that does not overflow.
    const Bounds bounds =
        certified_bounds(one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"),
                                        Bytes(3 * (std::int64_t{1} << 58))));
    EXPECT_EQ(*bounds.links, Time::max());
    EXPECT_EQ(bounds.any_routing->least, Time::max());
    EXPECT_EQ(bounds.any_routing->most, Time::max());
    EXPECT_EQ(bounds.collectives[OperationId(0)].value, Time::max());
    EXPECT_EQ(bounds.value(), Time::max());
}

TEST(Bounds, TheLatestRankMayHaveNobodyToWaitForIt) {
    // Ranks 0 and 1 reduce 1 MB among themselves, rank 2 is by itself and comes after 100 us of compute, when
    // they are long done: nothing is sent after that.
    Experiment late =
        one_collective(dumbbell(), CollectiveKind::kAllReduce, testing::algorithm_of("ring"), 1_MB);
    system::Program& program = late.program;
    const auto parts = program.partitions.push_back(
        {"parts", {{system::RankId(0), system::RankId(1)}, {system::RankId(2)}}});
    system::Operation before;
    before.name = "before";
    before.work = system::ComputeOperation{system::PerRank<Time>({0_ps, 0_ps, 100_us})};
    system::Operation collective = program.operations[OperationId(0)];
    collective.work =
        system::CollectiveOperation{.kind = CollectiveKind::kAllReduce, .partition = parts, .size = 1_MB};
    collective.dependencies = {OperationId(0)};
    program.operations = {};
    program.operations.push_back(before);
    program.operations.push_back(collective);
    // 2 messages of 500 kB, 40 us and 1 us each: 82 us.
    EXPECT_EQ(certified_bounds(late).dependencies, 100_us);
}

TEST(Bounds, AnEngineThatSharesNoLinksIsBoundByComputationOnly) {
    const Components components = builtin_components();
    const Experiment free = *testing::load_small(components, {"backend={kind: congestion_free}"});
    const Bounds bounds = certified_bounds(free);
    EXPECT_EQ(bounds.value(), bounds.compute);
    EXPECT_EQ(bounds.ports, 0_ps);
}

/// What follows is drawn small: 4 to 12 ranks.
std::vector<std::string> some_settings() {
    const int ranks = *rc::gen::element(4, 8, 12);
    const char* balancing = *rc::gen::element("flow_hash", "spray");
    const std::string network = *rc::gen::element(
        fmt::format("network={{kind: leaf_spine, hosts: 12, hosts_per_leaf: 4, spines: 2, link: {{rate: "
                    "100Gbps, latency: 500ns}}, oversubscription: 2, load_balancing: {}}}",
                    balancing),
        fmt::format("network={{kind: torus, sizes: [3, 4], link: {{rate: 100Gbps, latency: 500ns}}, "
                    "load_balancing: {}}}",
                    balancing),
        std::string("network={kind: flat, hosts: 12, link: {rate: 100Gbps, latency: 500ns}}"));
    return {fmt::format("cluster.ranks={}", ranks),
            fmt::format("workload.batch.global={}", 48 * *rc::gen::inRange(1, 40)),
            network,
            fmt::format("cluster.collectives.all_reduce={{algorithm: {}, chunks: {}}}",
                        *rc::gen::element("ring", "direct", "double_binary_tree",
                                          "windowed_direct, window: 1", "windowed_direct, window: 3"),
                        *rc::gen::inRange(1, 5)),
            fmt::format("cluster.end_point={{{}}}",
                        *rc::gen::element("", "reduction_bandwidth: 800Gbps", "reduction_bandwidth: 4Gbps")),
            fmt::format("cluster.scheduling={}", *rc::gen::element("lifo", "fifo"))};
}

RC_GTEST_PROP(Bounds, NoRunBeatsThem, ()) {
    const Components components = builtin_components();
    std::vector<std::string> settings = some_settings();
#ifdef ASTROLABE_WITH_NS3
    settings.emplace_back(fmt::format("backend={{kind: {}}}", *rc::gen::element("fluid", "fluid", "packet")));
#endif
    const Result<Experiment> experiment = testing::load_small(components, settings);
    if (!experiment) {
        RC_FAIL(render(experiment.error()));
    }
    // Asserted inside; here each by itself.
    const auto run = run_experiment(*experiment, {});
    RC_ASSERT(run.execution.finished);
    const Time total = run.execution.total + run.execution.total / (std::int64_t{1} << 34);
    RC_ASSERT(run.bounds.compute <= total);
    RC_ASSERT(run.bounds.ports <= total);
    RC_ASSERT(run.bounds.links.value_or(0_ps) <= total);
    RC_ASSERT(run.bounds.any_routing->least <= total);
    RC_ASSERT(run.bounds.any_routing->least <= run.bounds.any_routing->most);
    RC_ASSERT(run.bounds.dependencies <= total);
    for (std::size_t i = 0; i < experiment->program.operations.size(); ++i) {
        const OperationId id(i);
        const system::OperationRecord& record = run.execution.operations[id];
        RC_ASSERT(run.bounds.collectives[id].value <=
                  record.last_finish - record.first_issue + total / (std::int64_t{1} << 34));
    }
}

RC_GTEST_PROP(Bounds, NoRunOnRotorsBeatsThem, ()) {
    // 4 racks of up to 3 hosts on 2 or 4 rotors, with slots of any length; up to some 20 cycles of traffic.
    const Components components = builtin_components();
    const int hosts = *rc::gen::inRange(1, 4);
    const bool many = *rc::gen::arbitrary<bool>();
    const std::string network = fmt::format(
        "network={{kind: {}, racks: 4, uplinks: {}, hosts_per_rack: {}, eps: {}ns, del: {}ns, "
        "reconfiguration_delay: {}ns, propagation: {}ns, seed: {}, bulk: {{intra_rack: direct, routing: "
        "{}}}}}",
        *rc::gen::element("opera", "rotornet"), many ? 4 : 2, hosts, *rc::gen::inRange(4'000, 20'000),
        *rc::gen::inRange(0, 2'000), *rc::gen::inRange(0, 10'000), *rc::gen::inRange(0, 2'000),
        *rc::gen::inRange(1, 100), *rc::gen::element("rotor_lb", "direct"));
    std::vector<std::string> settings{
        network, fmt::format("cluster.ranks={}", 4 * hosts),
        fmt::format("workload.batch.global={}", 48 * *rc::gen::inRange(1, 1'000)),
        fmt::format("cluster.collectives.all_reduce={{algorithm: {}}}",
                    *rc::gen::element("ring", "direct", "double_binary_tree"))};
#ifdef ASTROLABE_WITH_NS3
    settings.emplace_back(fmt::format("backend={{kind: {}}}", *rc::gen::element("fluid", "packet")));
#endif
    const Result<Experiment> experiment = testing::load_small(components, settings);
    if (!experiment) {
        RC_FAIL(render(experiment.error()));
    }
    const auto run = run_experiment(*experiment, {});
    RC_ASSERT(run.execution.finished);
    RC_ASSERT(run.bounds.any_routing->least <= run.execution.total);
    RC_ASSERT(run.bounds.value() <= run.execution.total);
}

RC_GTEST_PROP(Bounds, FasterLinksScaleThem, ()) {
    const Components components = builtin_components();
    std::vector<std::string> settings = some_settings();
    settings.emplace_back("network.link.latency=0");
    settings.emplace_back("cluster.device={kind: roofline, peak: 1000PFLOPS, memory_bandwidth: 1000TB/s}");
    const Bounds slow = certified_bounds(*testing::load_small(components, settings));
    settings.emplace_back("network.link.rate=400Gbps");
    const Bounds fast = certified_bounds(*testing::load_small(components, settings));
    // Rounded down to the picosecond, every bound of communication is a quarter.
    const auto is_quarter = [](Time a, Time b) {
        return std::abs(to_seconds(a) - 4 * to_seconds(b)) <= 4e-12 + 1e-9 * to_seconds(a);
    };
    RC_ASSERT(is_quarter(slow.ports, fast.ports));
    RC_ASSERT(is_quarter(*slow.links, *fast.links));
    RC_ASSERT(is_quarter(slow.any_routing->least, fast.any_routing->least));
}

}  // namespace
}  // namespace astrolabe::experiment
