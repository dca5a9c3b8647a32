#include "fabric_structure.hpp"
#include "network/src/topologies/hierarchical.hpp"
#include "parameter_keys.hpp"
#include "transfers.hpp"

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

constexpr Bandwidth kScaleUp = 1200_Gbps;  // 150 GB/s
constexpr Bandwidth kScaleOut = 100_Gbps;  // 80 ps per byte

HierarchicalParameters hierarchical(std::int64_t hosts, std::int64_t hosts_per_package,
                                    ScaleUpKind kind = ScaleUpKind::kSwitch) {
    HierarchicalParameters parameters;
    parameters.hosts = hosts;
    parameters.hosts_per_package = hosts_per_package;
    parameters.scale_up = {kind, kScaleUp, 500_ns};
    parameters.scale_out = {kScaleOut, 500_ns};
    return parameters;
}

using Distribution = std::map<std::size_t, int>;

TEST(HierarchicalTopology, PackagesAroundAScaleUpSwitch) {
    HierarchicalParameters parameters = hierarchical(128, 16);
    parameters.switch_buffer = 1_GB;
    const std::shared_ptr<const Fabric> fabric = build_hierarchical(parameters);
    EXPECT_EQ(fabric->kind(), "hierarchical");
    EXPECT_EQ(fabric->host_count(), 128U);
    EXPECT_EQ(fabric->node_count(), 128U + 8U + 1U);
    // Every host has a cable to the switch of its package and one to the scale-out switch.
    EXPECT_EQ(fabric->link_count(), 2U * 2U * 128U);
    EXPECT_EQ(fabric->node(NodeId(128)).name, "scale-up 0");
    EXPECT_EQ(fabric->node(NodeId(136)).name, "scale-out");
    for (std::uint32_t i = 0; i < 137; ++i) {
        EXPECT_EQ(fabric->out_degree(NodeId(i)), i < 128 ? 2U : i < 136 ? 16U : 128U);
        EXPECT_EQ(fabric->node(NodeId(i)).buffer, i < 128 ? Bytes(0) : 1_GB);
    }
    EXPECT_EQ(hop_distribution(*fabric, 40), (Distribution{{2, 127}}));
    EXPECT_EQ(fabric->egress_rate(HostId(7)), kScaleUp + kScaleOut);
    // Four packages to four packages: 64 network interfaces.
    EXPECT_EQ(bisection_rate(*fabric), 64 * kScaleOut.count());
}

TEST(HierarchicalTopology, PackagesOfFullyConnectedHosts) {
    const std::shared_ptr<const Fabric> fabric =
        build_hierarchical(hierarchical(32, 8, ScaleUpKind::kFullyConnected));
    EXPECT_EQ(fabric->node_count(), 32U + 1U);
    // 4 packages of 8·7/2 cables, 32 to the scale-out switch.
    EXPECT_EQ(fabric->link_count(), 2U * (4U * 28U + 32U));
    EXPECT_EQ(fabric->out_degree(NodeId(9)), 7U + 1U);
    EXPECT_EQ(hop_distribution(*fabric, 9), (Distribution{{1, 7}, {2, 24}}));
    EXPECT_EQ(fabric->egress_rate(HostId(9)), 7 * kScaleUp + kScaleOut);
    EXPECT_EQ(bisection_rate(*fabric), 16 * kScaleOut.count());
}

TEST(HierarchicalTopology, HalvesOfAPackageAreJoinedByBothNetworks) {
    EXPECT_EQ(bisection_rate(*build_hierarchical(hierarchical(8, 8))), 4 * (kScaleUp + kScaleOut).count());
    EXPECT_EQ(bisection_rate(*build_hierarchical(hierarchical(8, 8, ScaleUpKind::kFullyConnected))),
              16 * kScaleUp.count() + 4 * kScaleOut.count());
}

TEST(HierarchicalTopology, APackageOfOneHostHasNoScaleUpNetwork) {
    for (const ScaleUpKind kind : {ScaleUpKind::kSwitch, ScaleUpKind::kFullyConnected}) {
        const std::shared_ptr<const Fabric> fabric = build_hierarchical(hierarchical(8, 1, kind));
        EXPECT_EQ(fabric->node_count(), 9U);
        EXPECT_EQ(fabric->link_count(), 16U);
        EXPECT_EQ(fabric->egress_rate(HostId(0)), kScaleOut);
    }
}

/// Every pair has one path: within a package over scale-up links, else out of the one's own network interface
/// and into the other's.
void expect_networks_kept_apart(const HierarchicalParameters& parameters) {
    ASSERT_NE(parameters.scale_up.rate, parameters.scale_out.rate);  // tells the links apart
    const std::shared_ptr<const Fabric> fabric = build_hierarchical(parameters);
    const bool direct = parameters.scale_up.kind == ScaleUpKind::kFullyConnected;
    for (std::int64_t a = 0; a < parameters.hosts; ++a) {
        for (std::int64_t b = 0; b < parameters.hosts; ++b) {
            if (a == b) {
                continue;
            }
            const bool local = a / parameters.hosts_per_package == b / parameters.hosts_per_package;
            const HostId destination(static_cast<std::size_t>(b));
            ASSERT_EQ(path_count(*fabric, NodeId(static_cast<std::size_t>(a)), destination), 1U);
            const Route route = fabric->routing().route(HostId(static_cast<std::size_t>(a)), destination);
            ASSERT_EQ(route.legs.size(), local && direct ? 1U : 2U);
            for (const RouteLeg& leg : route.legs) {
                EXPECT_EQ(fabric->link(leg.link).rate,
                          local ? parameters.scale_up.rate : parameters.scale_out.rate)
                    << a << " to " << b;
            }
        }
    }
}

TEST(HierarchicalTopology, LocalTrafficStaysInThePackageAndTheRestLeavesByItsOwnInterface) {
    for (const ScaleUpKind kind : {ScaleUpKind::kSwitch, ScaleUpKind::kFullyConnected}) {
        for (const std::int64_t package : {1, 2, 3, 8, 24}) {
            expect_networks_kept_apart(hierarchical(24, package, kind));
        }
    }
}

TEST(HierarchicalTopology, TheNetworksAreKeptApartWhateverTheirRatesAndLatencies) {
    for (const ScaleUpKind kind : {ScaleUpKind::kSwitch, ScaleUpKind::kFullyConnected}) {
        HierarchicalParameters parameters = hierarchical(16, 4, kind);
        parameters.scale_up.rate = 1_Gbps;
        parameters.scale_up.latency = 1_s;
        expect_networks_kept_apart(parameters);
        parameters.scale_up = {kind, 1200_Gbps, Time(0)};
        parameters.scale_out = {1_Gbps, 1_s};
        expect_networks_kept_apart(parameters);
    }
}

/// All-to-all within every package, `local` bytes per pair, and between the hosts of the same place in all
/// packages, `remote` bytes per pair.
std::vector<Transfer> both_phases(int hosts, int package, Bytes local, Bytes remote) {
    std::vector<Transfer> transfers;
    for (int first = 0; first < hosts; first += package) {
        const std::vector<Transfer> inside = all_pairs(package, local, first);
        transfers.insert(transfers.end(), inside.begin(), inside.end());
    }
    for (int place = 0; place < package; ++place) {
        const std::vector<Transfer> across = all_pairs(hosts / package, remote, place, package);
        transfers.insert(transfers.end(), across.begin(), across.end());
    }
    return transfers;
}

TEST(HierarchicalTransfers, BothPhasesOfAnAllToAllAtOnce) {
    // The all-to-all of the study, 4 MiB per GPU: 26.21 us over the scale-up and 293.60 us over the scale-out
    // network for packages of 16, 24.47 us and 314.57 us for packages of 8, and 1 us of latency each.
    struct Case {
        int package;
        Time local;
        Time remote;
    };
    const Case cases[] = {
        // 15/16·4,194,304 B = 3,932,160 B in 8/1200 ns each; 7/8·4,194,304 B = 3,670,016 B in 80 ps each.
        {16, 1_us + Time(26'214'400), 1_us + 80_ps * 3'670'016},
        // 3,670,016 B in 8/1200 ns each, rounded up; 3,932,160 B in 80 ps each.
        {8, 1_us + Time(24'466'774), 1_us + 80_ps * 3'932'160}};
    for (const Case& c : cases) {
        const Bytes local = 4_MiB / c.package;
        const Bytes remote = 4_MiB / (128 / c.package);
        const std::vector<Transfer> transfers = both_phases(128, c.package, local, remote);
        const std::vector<Time> times =
            deliver_together(build_hierarchical(hierarchical(128, c.package)), transfers);
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            const bool inside = transfers[i].source / c.package == transfers[i].destination / c.package;
            EXPECT_EQ(times[i], inside ? c.local : c.remote);
        }
    }
}

TEST(HierarchicalTransfers, FullyConnectedPackagesHaveACablePerPair) {
    const std::vector<Transfer> transfers = both_phases(16, 4, 3_MiB, 1_MiB);
    const std::vector<Time> times =
        deliver_together(build_hierarchical(hierarchical(16, 4, ScaleUpKind::kFullyConnected)), transfers);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const bool inside = transfers[i].source / 4 == transfers[i].destination / 4;
        // 3 MiB in 8/1200 ns each is 1 MiB in 20 ps each; 3 messages of 1 MiB share a network interface.
        EXPECT_EQ(times[i], inside ? 500_ns + 20_ps * (1 << 20) : 1_us + 80_ps * (3 << 20));
    }
}

TEST(HierarchicalParameters, AcceptsDefaultsWithCounts) {
    HierarchicalParameters p;
    p.hosts = 16;
    p.hosts_per_package = 8;
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
}

TEST(HierarchicalParameters, RejectsMissingCounts) {
    EXPECT_EQ(keys(validation_errors(HierarchicalParameters{})), (Keys{"hosts", "hosts_per_package"}));
    EXPECT_THROW((void)build_hierarchical(HierarchicalParameters{}), std::logic_error);
}

TEST(HierarchicalParameters, RejectsMoreHostsThanTheLimit) {
    EXPECT_EQ(keys(validation_errors(hierarchical(kMaxHosts + 1, 1))), Keys{"hosts"});
}

TEST(HierarchicalParameters, RejectsHostsThatDoNotFillThePackages) {
    ASSERT_EQ(keys(validation_errors(hierarchical(33, 8))), Keys{"hosts"});
    EXPECT_EQ(validation_errors(hierarchical(33, 8))[0].hint, "the next multiple of hosts_per_package is 40");
}

TEST(HierarchicalParameters, RejectsMoreCablesThanTheLimit) {
    // 2^20 hosts in packages of 32: 2^20·(1 + 31/2) = 16.5·2^20 cables; the limit is 16·2^20.
    EXPECT_EQ(keys(validation_errors(hierarchical(kMaxHosts, 32))), Keys{});
    EXPECT_EQ(keys(validation_errors(hierarchical(kMaxHosts, 32, ScaleUpKind::kFullyConnected))),
              Keys{"hosts_per_package"});
}

TEST(HierarchicalParameters, RejectsAScaleUpNetworkWithoutRate) {
    HierarchicalParameters p = hierarchical(16, 4);
    p.scale_up.rate = Bandwidth(0);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"scale_up.rate"});
}

TEST(HierarchicalParameters, RejectsARateAboveTheLimit) {
    HierarchicalParameters p = hierarchical(16, 4);
    p.scale_up.rate = kMaxLinkRate + 1_bps;
    p.scale_out.rate = kMaxLinkRate + 1_bps;
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"scale_up.rate", "scale_out.rate"}));
}

TEST(HierarchicalParameters, RejectsANegativeScaleUpLatency) {
    HierarchicalParameters p = hierarchical(16, 4);
    p.scale_up.latency = Time(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"scale_up.latency"});
}

TEST(HierarchicalParameters, RejectsAScaleOutNetworkWithoutRate) {
    HierarchicalParameters p = hierarchical(16, 4);
    p.scale_out.rate = Bandwidth(0);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"scale_out.rate"});
}

TEST(HierarchicalParameters, RejectsANegativeScaleOutLatency) {
    HierarchicalParameters p = hierarchical(16, 4);
    p.scale_out.latency = Time(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"scale_out.latency"});
}

TEST(HierarchicalParameters, RejectsANegativeBuffer) {
    HierarchicalParameters p = hierarchical(16, 4);
    p.switch_buffer = Bytes(-1);
    EXPECT_EQ(keys(validation_errors(p)), Keys{"switch_buffer"});
}

}  // namespace
}  // namespace astrolabe::network
