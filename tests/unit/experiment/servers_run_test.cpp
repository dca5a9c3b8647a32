/// Jobs on servers over scale-out networks: closed forms, dimensions, placement and folding.
///
/// Unless a test says otherwise, servers have 4 GPUs on NVSwitch at 450 GB/s with 250 ns a cable, a PCIe
/// cable of 250 ns to the NIC, and NICs at 400 Gb/s = 50 GB/s with 500 ns a cable; 1 MiB at 50 GB/s takes
/// 20,971.52 ns, and 8 MiB at 450 GB/s 18,641.351 ns.
#include "collective_time.hpp"
#include "small_experiment.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

/// Servers of four over a leaf-spine network with leaves of `hosts_per_leaf`, sprayed.
std::string leaf_spine(const std::string& servers, const std::string& rails, int hosts_per_leaf,
                       double oversubscription) {
    return fmt::format(
        "{{kind: servers, servers: {}, {}, scale_out: {{kind: leaf_spine, hosts_per_leaf: {}, spines: 2, "
        "oversubscription: {}, uplink: {{latency: 500ns}}, load_balancing: spray}}}}",
        servers, rails, hosts_per_leaf, oversubscription);
}
std::string eight_of_four(const std::string& nics = "") {
    return "{count: 8, gpus: 4, nics: {rate: 400Gbps, latency: 500ns" + nics + "}}";
}

CollectiveRequest request(const std::string& network, const std::string& kind, const std::string& algorithm,
                          const std::string& size) {
    CollectiveRequest request;
    request.kind = kind;
    request.algorithm = algorithm;
    request.sizes = {size};
    request.network = network;
    request.chunks = 1;
    return request;
}
Time time_of(const CollectiveRequest& request) {
    return testing::run_collective(request).run.execution.total;
}
/// 32 GPUs, each with 32 blocks of 1 MiB.
CollectiveRequest all_to_all(const std::string& network) {
    return request(network, "all_to_all", "direct", "32MiB");
}
void expect_time(Time time, double nanoseconds) {
    EXPECT_NEAR(to_nanoseconds(time), nanoseconds, 1.0);
}

TEST(ServersRun, AllToAllTakesWhatTheNicOfAGpuSendsToOtherServers) {
    // 28 of 32 blocks leave the server; the farthest way is 250 + 4 * 500 + 250 ns.
    const auto run = all_to_all(leaf_spine(eight_of_four(), "rails: none", 4, 1));
    expect_time(time_of(run), 28 * 20'971.52 + 2'500);
}

TEST(ServersRun, GpusThatShareANicHaveHalfOfItEach) {
    // Leaves of two NICs, one server each: 2 * 28 blocks through each NIC.
    const auto run = all_to_all(leaf_spine(eight_of_four(", per: pair"), "rails: none", 2, 1));
    expect_time(time_of(run), 2 * 28 * 20'971.52 + 2'500);
}

TEST(ServersRun, OverNvlinkFirstAnOversubscribedSpineIsNotUsed) {
    // NIC k carries what the 4 GPUs of its server send to GPU k of 7 others: 28 blocks, below leaf k. Over
    // NVLink, PCIe, two cables of the leaf and PCIe: 2 * 250 + 250 + 2 * 500 + 250 ns.
    const auto rails = all_to_all(leaf_spine(eight_of_four(), "rails: aligned", 8, 4));
    expect_time(time_of(rails), 28 * 20'971.52 + 2'000);
    // Across the spine 8 NICs of a leaf send 7 * 3 blocks each to others, over 8 * 50 / 4 = 100 GB/s.
    const auto spine = all_to_all(leaf_spine(eight_of_four(), "rails: aligned, rail_policy: spine", 8, 4));
    expect_time(time_of(spine), 8 * 21 * 20'971.52 / 2 + 2'500);
}

TEST(ServersRun, UnequalServersWaitForTheOneThatSendsMost) {
    // Of 12 GPUs each of the 4 sends 8 blocks of 1 MiB to the server of 8.
    const std::string unequal =
        "{kind: servers, servers: [{count: 1, gpus: 8, nics: {rate: 400Gbps, latency: 500ns}}, {count: 1, "
        "gpus: 4, nics: {rate: 400Gbps, latency: 500ns}}], scale_out: {kind: flat}}";
    const auto run = request(unequal, "all_to_all", "direct", "12MiB");
    expect_time(time_of(run), 8 * 20'971.52 + 250 + 2 * 500 + 250);
}

TEST(ServersRun, HierarchicalAllReduceGoesInsideThenAlongRailsWithoutBeingTold) {
    // Rings: reduce-scatter inside, 3 steps of 8 MiB; all-reduce across, 14 steps of 1 MiB; all-gather inside
    // as the first. Inside 2 * 250 ns a step, on the rail's leaf 250 + 2 * 500 + 250 ns.
    auto run =
        request(leaf_spine(eight_of_four(), "rails: aligned", 8, 1), "all_reduce", "hierarchical", "32MiB");
    const double expected = 6 * (8 * 1'048'576 / 450.0 + 500) + 14 * (20'971.52 + 1'500);
    expect_time(time_of(run), expected);
    run.dimensions = "4x8";
    expect_time(time_of(run), expected);
    // One dimension is one ring of 32: 62 steps of 1 MiB, each as slow as that between servers.
    run.dimensions = "32";
    EXPECT_GT(to_nanoseconds(time_of(run)), 62 * 20'971.52);
}

TEST(ServersRun, FoldedRunsAreTheWholeOnes) {
    for (const std::string rails : {"rails: none", "rails: aligned"}) {
        auto run =
            request(leaf_spine("{count: 8, gpus: 8, nics: {rate: 400Gbps, latency: 500ns}}", rails, 8, 2),
                    "all_reduce", "hierarchical", "64MiB");
        const auto folded = testing::run_collective(run).run;
        run.overrides = {"folding=off"};
        const auto whole = testing::run_collective(run).run;
        // Ranks 0 to 7 of one server stand for all.
        EXPECT_LE(folded.engine.simulated_ranks, 8U) << rails << ": " << folded.engine.folding_refusal;
        EXPECT_EQ(whole.engine.simulated_ranks, 64U);
        EXPECT_EQ(folded.fingerprint, whole.fingerprint) << rails;
    }
}

#ifdef ASTROLABE_WITH_NS3
TEST(ServersRun, PacketsTakeNoLessThanTheFluidEngineAndLittleMore) {
    for (const std::string rails : {"rails: none", "rails: aligned"}) {
        auto run = request(leaf_spine(eight_of_four(), rails, 8, 1), "all_reduce", "hierarchical", "8MiB");
        const double fluid = to_nanoseconds(time_of(run));
        run.backend = "packet";
        const double packets = to_nanoseconds(time_of(run));
        EXPECT_GE(packets, fluid) << rails;
        // Headers are below 3 % of a packet, and every step stores one packet at each of at most 7 hops.
        EXPECT_LE(packets, 1.1 * fluid) << rails;
    }
}
#endif

class ServersExperiment : public ::testing::Test {
protected:
    [[nodiscard]] Experiment load(std::vector<std::string> overrides) const {
        Result<Experiment> loaded = testing::load_small(components_, std::move(overrides));
        if (!loaded) {
            ADD_FAILURE() << render(loaded.error());
            return {};
        }
        return *std::move(loaded);
    }
    [[nodiscard]] std::string shape(std::vector<std::string> overrides) const {
        overrides.insert(overrides.begin(), {"workload={kind: collective, collective: all_reduce, size: 8MB}",
                                             "cluster.ranks=8"});
        const Experiment experiment = load(std::move(overrides));
        return experiment.cluster.options.dimensions ? experiment.cluster.options.dimensions->text() : "";
    }

    Components components_ = builtin_components();
    const std::string two_of_four_ =
        "network={kind: servers, servers: {count: 2, gpus: 4}, scale_out: {kind: flat}}";
};

TEST_F(ServersExperiment, EqualServersGiveRanksTheirDimensions) {
    EXPECT_EQ(shape({two_of_four_}), "4 x 2");
    EXPECT_EQ(shape({two_of_four_, "cluster.dimensions=[8]"}), "8");
    EXPECT_EQ(shape({two_of_four_, "cluster.placement=random"}), "");
    EXPECT_EQ(shape({two_of_four_, "cluster.ranks=4"}), "");  // within one server
    EXPECT_EQ(shape({two_of_four_, "cluster.ranks=6"}), "");
    EXPECT_EQ(shape({"network={kind: servers, servers: [{count: 1, gpus: 6}, {count: 1, gpus: 2}], "
                     "scale_out: {kind: flat}}"}),
              "");
    EXPECT_EQ(shape({"network.hosts=8"}), "");
}

TEST_F(ServersExperiment, TheResolvedFileSaysTheSame) {
    const Experiment first = load({two_of_four_, "cluster.ranks=8"});
    const Result<Experiment> second = read_experiment(first.resolved, {}, first.name, {}, components_);
    ASSERT_TRUE(second) << render(second.error());
    EXPECT_EQ(to_yaml(second->resolved), to_yaml(first.resolved));
    EXPECT_EQ(second->cluster.options.dimensions, first.cluster.options.dimensions);
    EXPECT_EQ(run_experiment(*second, {}).fingerprint, run_experiment(first, {}).fingerprint);
}

TEST_F(ServersExperiment, RoundRobinDealsRanksToServers) {
    const Experiment experiment = load({two_of_four_, "cluster.ranks=8", "cluster.placement=round_robin"});
    std::vector<std::size_t> hosts;
    for (const network::HostId host : experiment.placement.hosts_of(8)) {
        hosts.push_back(host.index());
    }
    EXPECT_EQ(hosts, (std::vector<std::size_t>{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST_F(ServersExperiment, TheCompositionTakesAsLongAsTheSameNetworkDrawnByHand) {
    // examples/own-network/servers.yaml: its NICs are parts of GPUs, and rails meet at the spines, which
    // carry half of what the GPUs of a leaf send: 4 * 400 / 2 = 2 * 400 Gb/s.
    const std::string composed =
        "network={kind: servers, servers: {count: 4, gpus: 4, scale_up: {rate: 3600Gbps, latency: 200ns}, "
        "nics: {attach: integrated, rate: 400Gbps, latency: 500ns}}, rails: aligned, rail_policy: spine, "
        "scale_out: {kind: leaf_spine, hosts_per_leaf: 4, spines: 2, oversubscription: 2, uplink: {latency: "
        "500ns}, load_balancing: spray}}";
    const std::string file = ASTROLABE_SOURCE_DIR "/examples/own-network/experiment.yaml";
    const Result<Experiment> by_hand = load_experiment(file, {}, components_);
    // Without `dimensions`, which the servers say themselves.
    const Result<Experiment> servers =
        load_experiment(file, {{composed, "cluster.dimensions=[]"}, std::nullopt}, components_);
    ASSERT_TRUE(by_hand) << render(by_hand.error());
    ASSERT_TRUE(servers) << render(servers.error());
    EXPECT_EQ(servers->fabric->link_count(), by_hand->fabric->link_count());
    const auto expected = run_experiment(*by_hand, {});
    const auto got = run_experiment(*servers, {});
    EXPECT_EQ(got.iteration_times, expected.iteration_times);
}

/// 16 GPUs in four servers over an Opera network of eight racks with two uplinks.
std::string over_opera(const std::string& rates) {
    return "{kind: servers, servers: {count: 4, gpus: 4, nics: {rate: 100Gbps, latency: 500ns}}, scale_out: "
           "{kind: opera, racks: 8, uplinks: 2, hosts_per_rack: 2, groups: 1" +
           rates + "}}";
}

TEST(ServersRun, OverOperaPacketsTakeWhatSlotsDo) {
    for (const std::string rates : {"", ", uplink_rate: 200Gbps", ", uplink_rate: 50Gbps"}) {
        SCOPED_TRACE(rates);
        CollectiveRequest run = request(over_opera(rates), "all_to_all", "direct", "8MiB");
        const Time slots = time_of(run);
        run.backend = "packet";
        const Time packets = time_of(run);
        // Slots leave out what waits in a rack for packets of the same transmission slot.
        EXPECT_NEAR(to_seconds(packets) / to_seconds(slots), 1.0, 0.05);
        // Each GPU sends 12 blocks of 512 KiB to other servers: at 12.5 GB/s no sooner than
        EXPECT_GT(to_nanoseconds(slots), 12 * 524'288 / 12.5);
    }
}

TEST(ServersRun, UplinksOfARateOfTheirOwnChangeWhatTheyBind) {
    const auto time = [](const std::string& rates) {
        return to_seconds(time_of(request(over_opera(rates), "all_to_all", "direct", "64MiB")));
    };
    // Two uplinks of a rack carry what its two NICs send; of half the rate they carry half of it.
    const double one_rate = time("");
    EXPECT_NEAR(time(", uplink_rate: 50Gbps") / one_rate, 2.0, 0.1);
}

}  // namespace
}  // namespace astrolabe::experiment
