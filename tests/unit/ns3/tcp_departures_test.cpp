// SPDX-License-Identifier: GPL-2.0-only
/// Where the backend departs from hosts and switches as ns-3's helpers make them: each departure can be
/// switched off or does the same by itself, and does what it is there for.
#include "tcp_fixture.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace astrolabe::ns3 {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

const Attributes kPlainHostQueue = {{"ns3::FabricHostQueue::HeadersFirst", "false"},
                                    {"ns3::FabricHostQueue::DestinationsInTurn", "false"}};

// 33 kB a port for 5 senders: connection requests, data and acknowledgements are lost and sent again, timers
// run out, and still every segment reaches the same socket at the same time as with one TCP a host.
TEST(TcpDepartures, OneTcpForEachPeerChangesNothing) {
    const auto run = [](const Attributes& attributes) {
        TcpOptions options;
        options.attributes = attributes;
        TcpBackend backend(star(6, 200'000_B), options);
        Recorder recorder(backend);
        for (int source = 0; source < 6; ++source) {
            for (int destination = 0; destination < 6; ++destination) {
                if (source != destination) {
                    recorder.send(source, destination, destination == 0 ? 300_KB : 30_KB,
                                  static_cast<std::uint64_t>(source * 6 + destination));
                }
            }
        }
        backend.run();
        const auto statistics = backend.statistics();
        return std::tuple(recorder.tokens, recorder.times, statistics.events, statistics.packets,
                          statistics.drops, statistics.retransmissions, statistics.timeouts);
    };
    const auto separate = run({});
    EXPECT_EQ(std::get<0>(separate).size(), 30U);
    EXPECT_GT(std::get<4>(separate), 0U);
    EXPECT_EQ(separate, run({{"ns3::TcpPeerDemux::PerPeer", "false"}}));
}

// Between two hosts stands a switch, or a third host whose IP stack forwards: the same to the picosecond.
TEST(TcpDepartures, ForwardingByFrameTakesTheTimeOfTheIpStack) {
    const auto run = [](bool by_host) {
        network::FabricBuilder builder("line");
        builder.add_host("a");
        builder.add_host("b");
        const NodeId middle(2);
        if (by_host) {
            builder.add_host("c");
        } else {
            builder.add_switch("switch");
        }
        builder.connect(NodeId(0), middle, kLink);
        builder.connect(NodeId(1), middle, {40_Gbps, 700_ns, Bytes(0)});
        TcpOptions options;
        options.attributes = kPlainHostQueue;
        TcpBackend backend(std::move(builder).build(), options);
        Recorder recorder(backend);
        recorder.send(0, 1, 1_MiB, 1);
        recorder.send(1, 0, 3_MiB, 2);
        backend.run();
        return std::tuple(recorder.tokens, recorder.times, backend.statistics().packet_hops);
    };
    const auto by_switch = run(false);
    EXPECT_EQ(std::get<0>(by_switch).size(), 2U);
    EXPECT_EQ(by_switch, run(true));
}

// Host 0 has 16 windows of 500 kB in its queue when host 17 starts sending to it. In one queue for all, an
// acknowledgement waits behind them, 640 us; first, it does not. Slow start sends 15, 29, 58, … kB a round
// trip, so that 2 MiB take more than two of them, or their 173 us on the wire.
TEST(TcpDepartures, AcknowledgementsFirstKeepReceivingFromWaitingForSending) {
    const auto incoming = [](const Attributes& attributes) {
        TcpOptions options;
        options.attributes = attributes;
        TcpBackend backend(star(18), options);
        Recorder recorder(backend);
        for (int destination = 1; destination <= 16; ++destination) {
            recorder.send(0, destination, 2_MiB, 1);
        }
        recorder.then = [&](std::uint64_t token) {
            if (token == 2) {
                recorder.send(17, 0, 2_MiB, 3);
            }
        };
        backend.schedule(200_us, recorder, 2);
        backend.run();
        const auto at = std::find(recorder.tokens.begin(), recorder.tokens.end(), 3U);
        return at == recorder.tokens.end()
                   ? Time(0)
                   : recorder.times[static_cast<std::size_t>(at - recorder.tokens.begin())] - 200_us;
    };
    EXPECT_GT(incoming({{"ns3::FabricHostQueue::HeadersFirst", "false"}}), 2 * 640_us);
    const Time usual = incoming({});
    EXPECT_GE(usual, wire_time(2_MiB, 1, {}));
    EXPECT_LT(usual, 2 * wire_time(2_MiB, 1, {}));
}

// Four windows of 500 kB are in the queue of host 0, 160 us, when a message of one segment for another host
// joins them: it has its turn after four segments, or leaves last.
TEST(TcpDepartures, TurnsKeepSmallMessagesFromWaitingForLargeOnes) {
    const auto small = [](const Attributes& attributes) {
        TcpOptions options;
        options.attributes = attributes;
        TcpBackend backend(star(6), options);
        Recorder recorder(backend);
        for (int destination = 1; destination <= 4; ++destination) {
            recorder.send(0, destination, 1_MiB, 1);
        }
        recorder.send(0, 5, 0_B, 2);  // opens the connection
        recorder.then = [&](std::uint64_t token) {
            if (token == 3) {
                recorder.send(0, 5, 1000_B, 4);
            }
        };
        backend.schedule(200_us, recorder, 3);
        backend.run();
        const auto at = std::find(recorder.tokens.begin(), recorder.tokens.end(), 4U);
        return at == recorder.tokens.end()
                   ? Time(0)
                   : recorder.times[static_cast<std::size_t>(at - recorder.tokens.begin())] - 200_us;
    };
    EXPECT_GT(small({{"ns3::FabricHostQueue::DestinationsInTurn", "false"}}), 100_us);
    const Time usual = small({});
    EXPECT_GT(usual, 1_us);
    EXPECT_LT(usual, 3_us);
}

}  // namespace
}  // namespace astrolabe::ns3
