// SPDX-License-Identifier: GPL-2.0-only
/// The shuffle of the Opera paper's artefact packet by packet (docs/theory/opera.md, "Golden numbers"): 108
/// racks of six hosts, 10 Gb/s, from every host to all hosts of other racks; against the artefact's figures
/// and the slot engine's.
#include "network/src/engines/slots/slot_engine.hpp"
#include "opera/opera_packet_backend.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>
#include <paper_shuffle.hpp>
#include <rotor_traffic.hpp>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network::rotor {
namespace {

struct Completion {
    double p50;
    double p99;
    double last;
};

template <class Backend>
Completion shuffle(const std::shared_ptr<const Fabric>& fabric, Bytes size) {
    Backend backend(fabric);
    const std::vector<HostPair> pairs = pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; });
    RotorTraffic traffic(backend, pairs, size);
    backend.run();
    EXPECT_EQ(traffic.delivered, 416'016U);
    const Completion completion{to_seconds(traffic.percentile(0.50)), to_seconds(traffic.percentile(0.99)),
                                to_seconds(traffic.last())};
    std::printf("p50 %.2f ms, p99 %.2f ms, last %.2f ms\n", 1e3 * completion.p50, 1e3 * completion.p99,
                1e3 * completion.last);
    return completion;
}

TEST(OperaShufflePackets, HasTheCompletionTimesOfTheArtefactAndOfSlots) {
    const auto fabric = build_rotor_fabric(paper_network());
    const Completion slots = shuffle<SlotEngine>(fabric, 100_KB);
    const Completion packets = shuffle<ns3::OperaPacketBackend>(fabric, 100_KB);
    EXPECT_NEAR(packets.p50, 59.1e-3, 0.01 * 59.1e-3);
    EXPECT_NEAR(packets.p99, 64.4e-3, 0.01 * 64.4e-3);
    EXPECT_NEAR(packets.last, 64.6e-3, 0.01 * 64.6e-3);
    EXPECT_NEAR(packets.p50, slots.p50, 0.005 * slots.p50);
    EXPECT_NEAR(packets.p99, slots.p99, 0.005 * slots.p99);
    EXPECT_NEAR(packets.last, slots.last, 0.005 * slots.last);
}

TEST(OperaShufflePackets, SmallMessages) {
    // 10 kB, 7 packets each: 252 of 288 fit into the first circuit of a pair of racks.
    const auto fabric = build_rotor_fabric(drawn_rotor_network(108, 6, 10_Gbps, 5));
    const Completion slots = shuffle<SlotEngine>(fabric, 10_KB);
    const Completion packets = shuffle<ns3::OperaPacketBackend>(fabric, 10_KB);
    // Packets wait for those of other hosts at switches: p50 of 4.5 ms is up to 1 in 50 later.
    EXPECT_NEAR(packets.p50, slots.p50, 0.02 * slots.p50);
    EXPECT_NEAR(packets.p99, slots.p99, 0.02 * slots.p99);
    EXPECT_LT(packets.last, 3 * 6.534e-3);
}

}  // namespace
}  // namespace astrolabe::network::rotor
