/// Jobs on servers over scale-out networks: closed forms, dimensions, placement and folding.
///
/// Unless a test says otherwise, servers have 4 GPUs on NVSwitch at 450 GB/s with 250 ns a cable, a PCIe
/// cable of 250 ns to the NIC, and NICs at 400 Gb/s = 50 GB/s with 500 ns a cable; 1 MiB at 50 GB/s takes
/// 20,971.52 ns, and 8 MiB at 450 GB/s 18,641.351 ns.
#include "collective_time.hpp"
#include "small_experiment.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/network/analysis/graph_drawing.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/server_layout.hpp>

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

/// Rails of leaves with a NIC of every server each.
struct RailShape {
    int servers;
    int gpus;
    std::string nics;  ///< of a server beside rate and latency
    int sharing;       ///< GPUs of a NIC
};
std::vector<RailShape> rail_shapes() {
    return {{2, 4, "", 1},
            {4, 8, "", 1},
            {8, 2, "", 1},
            {16, 2, "", 1},
            {4, 4, ", per: pair", 2},
            {2, 8, ", per: pair", 2},
            {4, 4, ", per: server", 4}};
}
std::string rails_of(const RailShape& shape) {
    return leaf_spine(fmt::format("{{count: {}, gpus: {}, nics: {{rate: 400Gbps, latency: 500ns{}}}}}",
                                  shape.servers, shape.gpus, shape.nics),
                      "rails: aligned", shape.servers, 1);
}

TEST(ServersRun, HierarchicalAllReduceOnRailsTakesItsClosedForm) {
    for (const RailShape& shape : rail_shapes()) {
        // Of 1 MiB a rank: inside 2 (g - 1) steps of s MiB over 2 cables of 250 ns, across 2 (s - 1) steps of
        // 1 MiB, which as many GPUs as share a NIC send at once.
        const int s = shape.servers;
        const int g = shape.gpus;
        const auto run = request(rails_of(shape), "all_reduce", "hierarchical", fmt::format("{}MiB", s * g));
        SCOPED_TRACE(fmt::format("{} servers of {}{}", s, g, shape.nics));
        expect_time(time_of(run), 2 * (g - 1) * (s * 1'048'576 / 450.0 + 500) +
                                      2 * (s - 1) * (shape.sharing * 20'971.52 + 1'500));
    }
}

TEST(ServersRun, AllToAllOnRailsTakesWhatANicSendsToItsRail) {
    for (const RailShape& shape : rail_shapes()) {
        if (shape.sharing > 1 || !shape.nics.empty()) {
            continue;
        }
        // NIC k sends what g GPUs have for GPU k of s - 1 servers, over NVLink first.
        const int s = shape.servers;
        const int g = shape.gpus;
        const auto run = request(rails_of(shape), "all_to_all", "direct", fmt::format("{}MiB", s * g));
        SCOPED_TRACE(fmt::format("{} servers of {}", s, g));
        expect_time(time_of(run), g * (s - 1) * 20'971.52 + 2'000);
    }
}

TEST(ServersRun, HierarchicalNetworksAreServersWithNicsInGpusOnAFlatNetwork) {
    struct Case {
        int hosts;
        int package;
        std::string kind;       ///< of scale_up, hierarchical
        std::string as_server;  ///< the same of servers
    };
    for (const Case& which : {Case{16, 4, "switch", "switch"}, Case{16, 8, "switch", "switch"},
                              Case{12, 3, "fully_connected", "mesh"}, Case{8, 2, "fully_connected", "mesh"},
                              Case{8, 1, "switch", "switch"}, Case{8, 8, "switch", "switch"}}) {
        const std::string short_form = fmt::format(
            "{{kind: hierarchical, hosts: {}, hosts_per_package: {}, scale_up: {{kind: {}, rate: 300GB/s, "
            "latency: 200ns}}, scale_out: {{rate: 100Gbps, latency: 500ns}}}}",
            which.hosts, which.package, which.kind);
        const std::string servers = fmt::format(
            "{{kind: servers, servers: {{count: {}, gpus: {}, scale_up: {{kind: {}, rate: 300GB/s, latency: "
            "200ns}}, nics: {{attach: integrated, rate: 100Gbps, latency: 500ns}}}}, scale_out: {{kind: "
            "flat}}}}",
            which.hosts / which.package, which.package, which.as_server);
        for (const auto& [kind, algorithm] :
             {std::pair<std::string, std::string>{"all_reduce", "ring"}, {"all_to_all", "direct"}}) {
            SCOPED_TRACE(
                fmt::format("{} in packages of {}, {}, {}", which.hosts, which.package, which.kind, kind));
            auto one = request(short_form, kind, algorithm, fmt::format("{}MiB", which.hosts));
            auto other = request(servers, kind, algorithm, fmt::format("{}MiB", which.hosts));
            other.dimensions = fmt::format("{}", which.hosts);
            const auto expected = testing::run_collective(one).run;
            const auto got = testing::run_collective(other).run;
            EXPECT_EQ(got.execution.total, expected.execution.total);
            EXPECT_EQ(got.fingerprint, expected.fingerprint);
        }
    }
}

TEST(ServersRun, AThousandGpusFoldIntoAServer) {
    // 128 servers of 8, a MiB for each of 1,024 GPUs: the closed forms above.
    const std::string network = rails_of({128, 8, "", 1});
    const auto reduced = testing::run_collective(request(network, "all_reduce", "hierarchical", "1GiB")).run;
    EXPECT_EQ(reduced.engine.simulated_ranks, 8U) << reduced.engine.folding_refusal;
    expect_time(reduced.execution.total, 14 * (128 * 1'048'576 / 450.0 + 500) + 254 * (20'971.52 + 1'500));
    const auto exchanged = testing::run_collective(request(network, "all_to_all", "direct", "1GiB")).run;
    EXPECT_EQ(exchanged.engine.simulated_ranks, 8U) << exchanged.engine.folding_refusal;
    expect_time(exchanged.execution.total, 8 * 127 * 20'971.52 + 2'000);
}

TEST(ServersRun, FoldedRunsAreTheWholeOnes) {
    for (const std::string rails : {"rails: none", "rails: aligned"}) {
        for (const auto& [kind, algorithm] :
             {std::pair<std::string, std::string>{"all_reduce", "hierarchical"}, {"all_to_all", "direct"}}) {
            SCOPED_TRACE(rails + ", " + kind);
            auto run =
                request(leaf_spine("{count: 8, gpus: 8, nics: {rate: 400Gbps, latency: 500ns}}", rails, 8, 2),
                        kind, algorithm, "64MiB");
            const auto folded = testing::run_collective(run).run;
            run.overrides = {"folding=off"};
            const auto whole = testing::run_collective(run).run;
            // Ranks 0 to 7 of one server stand for all.
            EXPECT_LE(folded.engine.simulated_ranks, 8U) << folded.engine.folding_refusal;
            EXPECT_EQ(whole.engine.simulated_ranks, 64U);
            EXPECT_EQ(folded.fingerprint, whole.fingerprint);
        }
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

TEST(ServersRun, TcpTakesNoLessThanTheFluidEngine) {
    for (const std::string rails : {"rails: none", "rails: aligned"}) {
        auto run = request(
            "{kind: servers, servers: {count: 2, gpus: 2, nics: {rate: 100Gbps, latency: 500ns}}, " + rails +
                ", scale_out: {kind: leaf_spine, hosts_per_leaf: 2, spines: 1, uplink: "
                "{latency: 500ns}, load_balancing: flow_hash}}",
            "all_reduce", "hierarchical", "4MiB");
        const double fluid = to_nanoseconds(time_of(run));
        run.backend = "tcp";
        const double tcp = to_nanoseconds(time_of(run));
        // Headers take some 4 % of 1,448 B segments; each of 4 messages in a row opens its window anew.
        EXPECT_GE(tcp, fluid) << rails;
        EXPECT_LE(tcp, 2 * fluid) << rails;
        RecordProperty("tcp over fluid, " + rails, fmt::format("{:.3f}", tcp / fluid));
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

/// A server of four GPUs on an NVSwitch and two PCIe switches with a NIC each; rates are NCCL's.
const char* const kTopology = R"(<system version="1">
  <cpu numaid="0">
    <pci busid="0:b0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0:00" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="80"><nvlink target="0:f0" count="12" tclass="0x068000"/></gpu></pci>
      <pci busid="0:01" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="80"><nvlink target="0:f0" count="12" tclass="0x068000"/></gpu></pci>
      <pci busid="0:a0" class="0x020000" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic><net name="n0" dev="0" speed="100000"/></nic></pci>
    </pci>
    <pci busid="0:b1" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0:02" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="2" sm="80"><nvlink target="0:f0" count="12" tclass="0x068000"/></gpu></pci>
      <pci busid="0:03" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="3" sm="80"><nvlink target="0:f0" count="12" tclass="0x068000"/></gpu></pci>
      <pci busid="0:a1" class="0x020000" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic><net name="n1" dev="1" speed="100000"/></nic></pci>
    </pci>
  </cpu>
</system>
)";

TEST_F(ServersExperiment, ATopologyFileTakesAsLongAsTheSameServersByKeys) {
    const testing::TemporaryFolder folder;
    const std::string file = folder.write("server.xml", kTopology).string();
    const std::string rest = "}, scale_out: {kind: flat, link: {latency: 500ns}}}";
    // 16 GT/s x 16 = 24 GB/s; 12 · 20 GB/s.
    const Experiment by_file =
        load({"network={kind: servers, servers: {count: 2, topology: " + file + rest, "cluster.ranks=8"});
    const Experiment by_keys =
        load({"network={kind: servers, servers: {count: 2, gpus: 4, scale_up: {rate: 240GB/s}, pcie: {rate: "
              "24GB/s}, nics: {per: pair, attach: pcie, rate: 100Gbps}" +
                  rest,
              "cluster.ranks=8"});
    const auto run = run_experiment(by_file, {});
    EXPECT_EQ(run.iteration_times, run_experiment(by_keys, {}).iteration_times);
    EXPECT_EQ(run.iteration_times.size(), 2U);
}

TEST_F(ServersExperiment, AwsServersWithTwoGpusOnANicAreReadAndRun) {
    const std::string folder = ASTROLABE_SOURCE_DIR "/../../shared/data/networks/nccl/";
    const std::string beside = ASTROLABE_SOURCE_DIR "/../shared/data/networks/nccl/";
    const std::string nccl = std::filesystem::exists(folder) ? folder : beside;
    if (!std::filesystem::exists(nccl)) {
        GTEST_SKIP() << "no public topologies at hand";
    }
    const auto servers = [&](const std::string& file, const std::string& keys) {
        return "network={kind: servers, servers: {count: 2, topology: " + nccl + file + keys +
               "}, scale_out: {kind: flat, link: {latency: 500ns}}}";
    };
    // The file has no NVLinks: 12 of NVLink 3, and four NICs of 100 Gb/s.
    const std::string nvswitch = ", scale_up: {kind: switch, rate: 300GB/s}, nics: {rate: 100Gbps}";
    const std::vector<std::string> job{"workload={kind: collective, collective: all_to_all, size: 16MiB}",
                                       "cluster.ranks=16", servers("p4d-24xl-topo.xml", nvswitch)};
    const Experiment experiment = load(job);
    ASSERT_NE(experiment.fabric, nullptr);
    const network::ServerLayout& layout = *experiment.fabric->family().servers();
    EXPECT_EQ(layout.nic_count(), 8U);
    EXPECT_EQ(layout.hosts_per_server(), 8U);
    for (std::size_t gpu = 0; gpu < 16; ++gpu) {
        ASSERT_EQ(layout.nics_of(network::HostId(gpu)).size(), 1U);
        EXPECT_EQ(layout.nics_of(network::HostId(gpu)).front().index(), gpu / 2);
    }
    EXPECT_FALSE(network::draw_graph(*experiment.fabric).empty());
    // 2 GPUs of a NIC send 8 blocks of 1 MiB each to the other server, at 12 GB/s of PCIe 3.0 as NCCL
    // reckons, 87,381.333 ns a block; over four PCIe cables of 250 ns and two of 500 ns.
    expect_time(run_experiment(experiment, {}).execution.total, 16 * 1'048'576 / 12.0 + 4 * 250 + 2 * 500);
    const auto refusal = [&](const std::string& network) {
        const Result<Experiment> loaded = testing::load_small(components_, {network, "cluster.ranks=16"});
        return loaded ? "" : render(loaded.error());
    };
    EXPECT_NE(refusal(servers("p4d-24xl-topo.xml", "")).find("says nothing of NVLinks"), std::string::npos);
    EXPECT_NE(refusal(servers("g5.48xl-topo.xml", ""))
                  .find("g5.48xl-topo.xml:14:6: error[network.servers]: device '0000:00:16.0' says neither"),
              std::string::npos)
        << refusal(servers("g5.48xl-topo.xml", ""));
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
           "{kind: opera, racks: 8, uplinks: 2, hosts_per_rack: 2, eps: 20us" +
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
