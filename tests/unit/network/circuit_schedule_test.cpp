#include "network/src/engines/fluid/fluid_backend.hpp"
#include "recorder.hpp"
#include "transfers.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/circuit_schedule.hpp>

namespace astrolabe::network {
namespace {

CircuitSchedule three_intervals() {
    // Links 0 and 2 switch, link 1 never does. Period 10 + 5 + 20 = 35 ns.
    return {3, {{10_ns, {LinkId(2), LinkId(0)}}, {5_ns, {}}, {20_ns, {LinkId(2)}}}};
}

TEST(CircuitSchedule, WithoutIntervalsIsStatic) {
    const CircuitSchedule schedule;
    EXPECT_TRUE(schedule.is_static());
    EXPECT_FALSE(schedule.is_circuit(LinkId(0)));
    EXPECT_TRUE(schedule.exists(LinkId(0), 0));
    EXPECT_EQ(schedule.at(5_ns).end, Time::max());
}

TEST(CircuitSchedule, FindsTheIntervalOfATime) {
    const CircuitSchedule schedule = three_intervals();
    EXPECT_EQ(schedule.period(), 35_ns);
    const auto expect_at = [&](Time time, std::size_t interval, Time end) {
        EXPECT_EQ(schedule.at(time).interval, interval);
        EXPECT_EQ(schedule.at(time).end, end);
    };
    expect_at(0_ns, 0, 10_ns);
    expect_at(10_ns - 1_ps, 0, 10_ns);
    expect_at(10_ns, 1, 15_ns);  // an interval includes its begin, not its end
    expect_at(34_ns, 2, 35_ns);
    expect_at(35_ns, 0, 45_ns);
    expect_at(35'000_ns + 12_ns, 1, 35'000_ns + 15_ns);
}

TEST(CircuitSchedule, KnowsWhichLinksExist) {
    const CircuitSchedule schedule = three_intervals();
    EXPECT_TRUE(schedule.is_circuit(LinkId(0)));
    EXPECT_FALSE(schedule.is_circuit(LinkId(1)));
    EXPECT_TRUE(schedule.exists(LinkId(0), 0));
    EXPECT_FALSE(schedule.exists(LinkId(0), 2));
    EXPECT_TRUE(schedule.exists(LinkId(2), 2));
    EXPECT_FALSE(schedule.exists(LinkId(2), 1));
    EXPECT_TRUE(schedule.exists(LinkId(1), 1));
}

TEST(CircuitSchedule, ListsTheIntervalsOfALink) {
    const CircuitSchedule schedule = three_intervals();
    const auto listed = [&](LinkId link) {
        const auto intervals = schedule.intervals_of(link);
        return std::vector<std::uint32_t>(intervals.begin(), intervals.end());
    };
    EXPECT_EQ(listed(LinkId(0)), (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(listed(LinkId(2)), (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(schedule.begin(2), 15_ns);
    EXPECT_EQ(schedule.end(2), 35_ns);
}

TEST(CircuitSchedule, FindsTheNextPresenceOfALink) {
    const CircuitSchedule schedule = three_intervals();
    const auto expect_presence = [&](LinkId link, Time time, Time begin, Time end) {
        const CircuitSchedule::Presence presence = schedule.next_presence(link, time);
        EXPECT_EQ(presence.begin, begin) << "at " << time.count() << " ps";
        EXPECT_EQ(presence.end, end) << "at " << time.count() << " ps";
    };
    expect_presence(LinkId(1), 7_ns, 0_ns, Time::max());
    expect_presence(LinkId(0), 0_ns, 0_ns, 10_ns);
    expect_presence(LinkId(0), 9_ns, 0_ns, 10_ns);
    expect_presence(LinkId(0), 10_ns, 35_ns, 45_ns);
    // Link 2 exists from 15 ns of a period to 10 ns of the next: two intervals that follow one another.
    expect_presence(LinkId(2), 5_ns, 0_ns, 10_ns);
    expect_presence(LinkId(2), 10_ns, 15_ns, 45_ns);
    expect_presence(LinkId(2), 40_ns, 15_ns, 45_ns);
    expect_presence(LinkId(2), 45_ns, 50_ns, 80_ns);
}

TEST(CircuitSchedule, ALinkOfAllIntervalsIsAlwaysPresent) {
    const CircuitSchedule schedule(1, {{1_ns, {LinkId(0)}}, {2_ns, {LinkId(0)}}});
    EXPECT_EQ(schedule.next_presence(LinkId(0), 5_ns).end, Time::max());
}

TEST(CircuitSchedule, RefusesIntervalsThatDoNotLast) {
    EXPECT_THROW(CircuitSchedule(1, {{0_ns, {LinkId(0)}}}), std::logic_error);
}

TEST(CircuitSchedule, RefusesLinksOutsideTheFabric) {
    EXPECT_THROW(CircuitSchedule(1, {{1_ns, {LinkId(1)}}}), std::logic_error);
}

/// Two hosts joined by one circuit cable, 100 Gb/s, 1 us, that exists as given.
std::shared_ptr<const Fabric> one_circuit(Time up, Time down) {
    FabricBuilder builder("test");
    const HostId a = builder.add_host("a");
    const HostId b = builder.add_host("b");
    const FabricBuilder::Cable cable =
        builder.connect(NodeId(a.index()), NodeId(b.index()), {100_Gbps, 1_us, Bytes(0)});
    builder.set_circuits(up + down, {{up, {cable.forward, cable.backward}}, {down, {}}});
    return std::move(builder).build();
}

TEST(FluidCircuits, AMessageWaitsWhileItsCircuitIsDown) {
    // Up for 60 us, down for 40 us. 1 MB takes 80 us of service: 0…60 us and 100…120 us.
    FluidBackend backend(one_circuit(60_us, 40_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1_MB);
    backend.run();
    EXPECT_EQ(recorder.times[0], 120_us + 1_us);
}

TEST(FluidCircuits, AMessageSentInTheDarkStartsWithTheNextInterval) {
    // Asked for at 270 us, in the third dark time (260…300 us): 12,500 B take 1 us from 300 us on.
    FluidBackend backend(one_circuit(60_us, 40_us));
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        if (token == 9) {
            recorder.send(0, 0, 1, 12'500_B);
        }
    };
    backend.schedule(270_us, recorder, 9);
    backend.run();
    EXPECT_EQ(recorder.times[0], 300_us + 1_us + 1_us);
    // The timer, the service and the delivery: no event for any boundary.
    EXPECT_EQ(backend.events_processed(), 3U);
}

TEST(FluidCircuits, WhatEndsWithTheIntervalStillGetsThrough) {
    // 750,000 B take exactly the 60 us of the first interval; the byte behind them waits for the second.
    FluidBackend backend(one_circuit(60_us, 40_us));
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 750'000_B);
    recorder.send(1, 0, 1, 1_B);
    backend.run();
    EXPECT_EQ(recorder.times[0], 60_us + 1_us);
    EXPECT_EQ(recorder.times[1], 100_us + 80_ps + 1_us);
}

TEST(FluidCircuits, TrafficSharesWhatEachIntervalOffers) {
    // h0 and h1 send to h2 over a switch: h0's cable is a circuit, up 40 us, down 40 us. The port of h2 is
    // shared while it is up. 1 MB each: in 0…40 us each gets 250,000 B; 40…80 us h1 alone 500,000 B (750,000
    // so far); 80…120 us each 250,000 B: h1 done at 120 us, h0 at 500,000 B; dark until 160 us; then 40 us
    // alone at full rate 500,000 B: done at 200 us, the end of the interval.
    FluidBackend backend(star_with_a_circuit(40_us, 40_us, 500_ns));
    Recorder recorder(backend);
    recorder.send(0, 0, 2, 1_MB);
    recorder.send(1, 1, 2, 1_MB);
    backend.run();
    EXPECT_EQ(recorder.times[1], 120_us + 1_us);
    EXPECT_EQ(recorder.times[0], 200_us + 1_us);
}

TEST(FluidCircuits, APathThatIsNeverWholeIsAStall) {
    // a - hub - b, the two cables up in turns and never together: run returns with the message outstanding.
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    const NodeId hub = builder.add_switch("hub");
    const LinkParameters link{100_Gbps, 500_ns, Bytes(0)};
    const FabricBuilder::Cable first = builder.connect(NodeId(0), hub, link);
    const FabricBuilder::Cable second = builder.connect(NodeId(1), hub, link);
    builder.set_circuits(
        20_us, {{10_us, {first.forward, first.backward}}, {10_us, {second.forward, second.backward}}});
    FluidBackend backend(std::move(builder).build());
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1000_B);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 1U);
    const std::vector<OutstandingMessage> outstanding = backend.describe_outstanding(5);
    ASSERT_EQ(outstanding.size(), 1U);
    EXPECT_EQ(outstanding[0].remaining, 1000_B);
    EXPECT_TRUE(recorder.order.empty());
}

TEST(FluidCircuits, HostsWithoutAPathStallEvenForEmptyMessages) {
    FabricBuilder builder("test");
    builder.add_host("a");
    builder.add_host("b");
    FluidBackend backend(std::move(builder).build());
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 0_B);
    recorder.send(1, 0, 1, 10_B);
    backend.run();
    EXPECT_EQ(backend.outstanding_messages(), 2U);
    EXPECT_EQ(backend.describe_outstanding(5).size(), 2U);
}

}  // namespace
}  // namespace astrolabe::network
