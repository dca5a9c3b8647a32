/// Terms of a transport on top of ideal fluid, against their closed forms.
#include "recorder.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/fluid/fluid_backend.hpp>
#include <astrolabe/network/topologies/flat.hpp>

namespace astrolabe::network {
namespace {

/// Hosts at 100 Gb/s, 80 ps per byte, 1 us from host to host.
std::shared_ptr<const Fabric> flat(int hosts) {
    FlatParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    return build_flat(parameters);
}

constexpr Time kLatency = 1_us;

/// When one message between two hosts, alone in the network, is delivered.
Time time_of(Bytes size, const TransportParameters& transport) {
    FluidBackend backend(flat(2), {.transport = transport});
    Recorder recorder(backend);
    recorder.send(0, 0, 1, size);
    backend.run();
    return recorder.times.at(0);
}

std::vector<std::string> keys_of_problems(const TransportParameters& transport) {
    std::vector<std::string> keys;
    for (const ParameterProblem& problem : problems(transport)) {
        keys.push_back(problem.key);
    }
    return keys;
}

TEST(FluidTransport, AloneAndByDefaultAMessageIsIdealFluid) {
    EXPECT_EQ(time_of(1_MB, {}), kLatency + 80_us);
}

TEST(FluidTransport, WithoutLatencyOnlyBytesTakeTime) {
    EXPECT_EQ(time_of(1_MB, {.latency = false}), 80_us);
    EXPECT_EQ(time_of(0_B, {.latency = false}), Time(0));
}

TEST(FluidTransport, EveryPacketHasAHeader) {
    const TransportParameters transport{.mtu = 9000_B, .header = 58_B};
    // Ten full packets: 10 · 9058 B. One byte more: one header and a byte more. One byte alone: 59 B.
    EXPECT_EQ(time_of(90'000_B, transport), kLatency + 80_ps * 90'580);
    EXPECT_EQ(time_of(90'001_B, transport), kLatency + 80_ps * (90'580 + 59));
    EXPECT_EQ(time_of(1_B, transport), kLatency + 80_ps * 59);
    EXPECT_EQ(time_of(0_B, transport), kLatency);
}

TEST(FluidTransport, StatisticsCountPayload) {
    const std::shared_ptr<const Fabric> fabric = flat(2);
    FluidBackend backend(fabric, {.transport = {.mtu = 1000_B, .header = 500_B}});
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 10_KB);
    backend.run();
    const NetworkStatistics statistics = backend.statistics();
    EXPECT_EQ(statistics.bytes_delivered, 10_KB);
    EXPECT_EQ(statistics.links[fabric->first_link(NodeId(0))].carried, 10_KB);
}

TEST(FluidTransport, AWindowCapsTheRateAtWindowOverRoundTrip) {
    // 2 us there and back: 12,500 B every 2 us are 50 Gb/s, 160 ps a byte; 25,000 B are the whole 100 Gb/s.
    EXPECT_EQ(time_of(1_MB, {.window = 12'500_B}), kLatency + 160_us);
    EXPECT_EQ(time_of(1_MB, {.window = 25'000_B}), kLatency + 80_us);
    EXPECT_EQ(time_of(1_MB, {.window = 1_MB}), kLatency + 80_us);
}

TEST(FluidTransport, APacketIsPartOfTheRoundTrip) {
    // RTT = 2 us + 80 ps · (5000 + 1250) B = 2.5 us. A window of 10,000 B is 12,500 B on the wire: 40 Gb/s,
    // 200 ps a byte on the wire, of which 1 MB has 1.25 MB.
    EXPECT_EQ(time_of(1_MB, {.mtu = 5000_B, .header = 1250_B, .window = 10'000_B}), kLatency + 250_us);
}

TEST(FluidTransport, WhatAWindowLeavesGoesToOthers) {
    // Into host 3: 0 and 1, both capped at 8 · 5000 B / 2 us = 20 Gb/s. Out of host 0, to 2, another 20 Gb/s.
    FluidBackend backend(flat(4), {.transport = {.window = 5'000_B}});
    Recorder recorder(backend);
    recorder.send(0, 0, 3, 100_KB);
    recorder.send(1, 1, 3, 100_KB);
    recorder.send(2, 0, 2, 100_KB);
    backend.run();
    for (const auto& [token, time] : recorder.times) {
        EXPECT_EQ(time, kLatency + 400_ps * 100'000) << token;
    }
}

TEST(FluidTransport, SlowStartWaitsForRoundTripsUntilThePathIsFull) {
    // The path takes 25,000 B per RTT of 2 us. From 6,250 B, which take 0.5 us: wait 1.5 us; 12,500 B: 1 us;
    // then 25,000 B and no more waiting.
    const TransportParameters transport{.initial_window = 6'250_B};
    EXPECT_EQ(time_of(6'250_B, transport), kLatency + 80_ps * 6'250);
    EXPECT_EQ(time_of(6'251_B, transport), kLatency + 80_ps * 6'251 + 1'500_ns);
    EXPECT_EQ(time_of(18'750_B, transport), kLatency + 80_ps * 18'750 + 1'500_ns);
    EXPECT_EQ(time_of(18'751_B, transport), kLatency + 80_ps * 18'751 + 2'500_ns);
    EXPECT_EQ(time_of(1_MB, transport), kLatency + 80_us + 2'500_ns);
    EXPECT_EQ(time_of(1_MB, {.initial_window = 25'000_B}), kLatency + 80_us);
}

TEST(FluidTransport, SlowStartEndsAtTheWindow) {
    // The window allows 12,500 B per RTT of 2 us, 50 Gb/s: from 6,250 B, which take 1 us at that rate, wait
    // 1 us, then go on.
    EXPECT_EQ(time_of(1_MB, {.window = 12'500_B, .initial_window = 6'250_B}), kLatency + 160_us + 1_us);
}

TEST(FluidTransport, SlowStartIsPaidByWhatFindsTheConnectionIdle) {
    FluidBackend backend(flat(2), {.transport = {.initial_window = 12'500_B}});
    Recorder recorder(backend);
    // One wait of 1 us, then 80 us each; the third finds the connection idle again.
    recorder.send(0, 0, 1, 1_MB);
    recorder.send(1, 0, 1, 1_MB);
    recorder.react = [&](std::uint64_t token) {
        if (token == 1) {
            recorder.send(2, 0, 1, 1_MB);
        }
    };
    backend.run();
    EXPECT_EQ(recorder.times[0], 1_us + 80_us + kLatency);
    EXPECT_EQ(recorder.times[1], 1_us + 160_us + kLatency);
    EXPECT_EQ(recorder.times[2], recorder.times[1] + 1_us + 80_us + kLatency);
}

TEST(FluidTransport, AMessageInSlowStartIsOutstanding) {
    FluidBackend backend(flat(2), {.transport = {.initial_window = 12'500_B}});
    Recorder recorder(backend);
    recorder.send(0, 0, 1, 1_MB);
    backend.schedule(500_ns, recorder, 1);
    recorder.react = [&](std::uint64_t) { backend.stop(); };
    backend.run();
    ASSERT_EQ(backend.outstanding_messages(), 1U);
    EXPECT_EQ(backend.describe_outstanding(1).at(0).remaining, 1_MB);
    recorder.react = nullptr;
    backend.run();
    EXPECT_EQ(recorder.times[0], 1_us + 80_us + kLatency);
}

TEST(FluidTransport, TermsThatMakeNoSenseAreNamed) {
    using Keys = std::vector<std::string>;
    EXPECT_EQ(keys_of_problems({}), Keys{});
    EXPECT_EQ(keys_of_problems({.mtu = 9000_B, .header = 0_B, .window = 1_MB, .initial_window = 1_B}),
              Keys{});
    EXPECT_EQ(keys_of_problems({.mtu = 0_B, .header = 58_B}), Keys{"mtu"});
    EXPECT_EQ(keys_of_problems({.mtu = 9000_B}), Keys{"mtu"});
    EXPECT_EQ(keys_of_problems({.header = 58_B}), Keys{"header"});
    EXPECT_EQ(keys_of_problems({.window = 0_B}), Keys{"window"});
    EXPECT_EQ(keys_of_problems({.latency = false, .window = 1_MB}), Keys{"window"});
    EXPECT_EQ(keys_of_problems({.latency = false, .initial_window = 1_KB}), Keys{"initial_window"});
    EXPECT_EQ(keys_of_problems({.latency = false, .mtu = 9000_B, .header = 58_B, .window = 1_MB}), Keys{});
    EXPECT_EQ(keys_of_problems({.window = 1_KB, .initial_window = 2_KB}), Keys{"initial_window"});
}

}  // namespace
}  // namespace astrolabe::network
