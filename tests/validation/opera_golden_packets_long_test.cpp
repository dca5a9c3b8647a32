// SPDX-License-Identifier: GPL-2.0-only
/// The reference simulator's rows of 32 racks (rotor_reference.hpp), packet by packet: 12 million packets
/// each, so labelled `long`.
#include "opera/opera_packet_backend.hpp"

#include <cstdio>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_reference.hpp>

namespace astrolabe::network::rotor {
namespace {

TEST(OperaGoldenPackets, ThirtyTwoRacks) {
    for (const ReferenceTraffic& row : large_reference_traffic()) {
        const double last =
            last_seconds(durations<ns3::OperaPacketBackend>(row.network, row.pairs, row.size));
        std::printf("%s: %.2f ms, reference %.2f ms\n", row.name.c_str(), 1e3 * last, 1e3 * row.last_s);
        EXPECT_NEAR(last, row.last_s, row.share * row.last_s) << row.name;
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
