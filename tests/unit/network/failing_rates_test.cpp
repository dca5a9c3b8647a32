// Links that fail under the fluid engine, by arithmetic.
#include "network/src/engines/fluid/fluid_backend.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"
#include "recorder.hpp"

#include <failing_fabrics.hpp>
#include <gtest/gtest.h>

namespace astrolabe::network {
namespace {

/// Hosts at 100 Gb/s, 80 ps a byte, 1 us from host to host.
std::shared_ptr<const Fabric> flat(int hosts) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    return build_flat(parameters);
}

constexpr Bytes kSize(1'000'000);  // 80 us at 100 Gb/s
constexpr Time kAlone = 81_us;     // and 1 us of latency

std::vector<LinkFailure> nic_failure(const Fabric& fabric, int host, Time from, Time until,
                                     double factor = 0) {
    return cable_failure(fabric, fabric.first_link(NodeId(host)), from, until, factor);
}

TEST(FailingRates, ACableThatIsDownOnTheOnlyWayAddsThatTime) {
    const auto whole = flat(2);
    for (const Time detection : {Time(0), 3_us, 1_ms}) {
        FluidBackend backend(failing(whole, nic_failure(*whole, 0, 20_us, 50_us), detection));
        Recorder recorder(backend);
        recorder.send(0, 0, 1, kSize);
        backend.run();
        EXPECT_EQ(recorder.times[0], kAlone + 30_us);  // 50 - 20
        EXPECT_EQ(backend.statistics().links[whole->first_link(NodeId(0))].carried, kSize);
    }
}

TEST(FailingRates, ASlowCableTakesLongerWhileItIsSlow) {
    const auto whole = flat(2);
    // Half the rate from 20 to 50 us: 15 us of service are missing, made up for at the full rate.
    FluidBackend backend(failing(whole, nic_failure(*whole, 1, 20_us, 50_us, 0.5), 0_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, kSize);
    backend.run();
    EXPECT_EQ(recorder.times[0], kAlone + 15_us);
}

TEST(FailingRates, OthersTakeWhatAStandingFlowLeaves) {
    // 0 -> 2 and 1 -> 2 share a port, 50 Gb/s each, until the cable of host 0 is down from 40 us on for 60
    // us. At 40 us each has 80 - 20 = 60 us of the whole port left; 1 has them by 100 us, and 0 then by 160
    // us.
    const auto whole = flat(3);
    FluidBackend backend(failing(whole, nic_failure(*whole, 0, 40_us, 100_us), 5_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 2, kSize);
    recorder.send(1, 1, 2, kSize);
    backend.run();
    EXPECT_EQ(recorder.times[1], 101_us);
    EXPECT_EQ(recorder.times[0], 161_us);
}

TEST(FailingRates, AMessageWithoutBytesWaitsForItsCable) {
    const auto whole = flat(2);
    FluidBackend backend(failing(whole, nic_failure(*whole, 0, 0_us, 7_us), 0_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, Bytes(0));
    backend.run();
    EXPECT_EQ(recorder.times[0], 8_us);
}

TEST(FailingRates, RoutesLeadAroundAfterDetectionAndBack) {
    // Two leaves of one host, two spines, uplinks of 50 Gb/s, sprayed: 100 Gb/s on both.
    // From 20 us spine 0 is down: the flow stands still until 30 us, runs at 50 Gb/s over spine 1, and over
    // both again from 70 + 10 us on. Served: 20 us + 50 us / 2 = 45 us of 80; the rest ends 35 us later.
    LeafSpineParameters parameters;
    parameters.hosts = 2;
    parameters.hosts_per_leaf = 1;
    parameters.spines = 2;
    parameters.link = {100_Gbps, 500_ns};
    parameters.uplink = {50_Gbps, 500_ns};
    parameters.load_balancing = LoadBalancing::kSpray;
    const auto whole = build_leaf_spine(parameters);
    std::vector<LinkFailure> failures;
    for (const char* const leaf : {"leaf 0", "leaf 1"}) {
        const auto cable = cable_failure(*whole, link_between(*whole, leaf, "spine 0"), 20_us, 70_us);
        failures.insert(failures.end(), cable.begin(), cable.end());
    }
    FluidBackend backend(failing(whole, failures, 10_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, kSize);
    backend.run();
    EXPECT_EQ(recorder.times[0], 80_us + 35_us + 2_us);
    // Over spine 0 half of 55 us of the whole rate, 80 ps a byte; over spine 1 that and 25 us.
    const NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.links[link_between(*whole, "leaf 0", "spine 0")].carried, Bytes(343'750));
    EXPECT_EQ(statistics.links[link_between(*whole, "leaf 0", "spine 1")].carried, Bytes(656'250));
}

TEST(FailingRates, ATornRingIsCrossedTheOtherWay) {
    // 0 -> 1 of a ring of 5, 100 Gb/s, 500 ns a link. Torn at 40 us for ever, known 10 us later: the last 40
    // us of service follow from 50 us on, over 4 links.
    TorusParameters parameters;
    parameters.sizes = {5};
    const auto whole = build_torus(parameters);
    FluidBackend backend(failing(
        whole, cable_failure(*whole, link_between(*whole, "host 0", "host 1"), 40_us, Time::max()), 10_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, kSize);
    backend.run();
    EXPECT_EQ(recorder.times[0], 90_us + 2_us);
}

TEST(FailingRates, APairThatIsCutForEverIsNamed) {
    const auto whole = flat(3);
    FluidBackend backend(failing(whole, nic_failure(*whole, 1, 20_us, Time::max()), 1_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, kSize);
    recorder.send(1, 0, 2, kSize);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    // 20 us at half the port, then alone: 2 ends when 0's cable has carried 10 + 70 us.
    EXPECT_EQ(recorder.times[1], 91_us);
    EXPECT_NE(backend.explain_stall().find("host 0 -> host 1"), std::string::npos) << backend.explain_stall();
}

TEST(FailingRates, FailuresWhileNothingIsSentAreMadeUpFor) {
    const auto whole = flat(2);
    FluidBackend backend(failing(whole, nic_failure(*whole, 0, 10_us, 20_us), 0_us));
    Recorder recorder(backend);
    Recorder timer(backend);
    timer.react = [&](std::uint64_t) { recorder.send(0, 0, 1, kSize); };
    backend.schedule(15_us, timer, 0);
    backend.run();
    EXPECT_EQ(recorder.times[0], 20_us + kAlone);
}

}  // namespace
}  // namespace astrolabe::network
