/// Counts that are kept are those that would be worked out: relay_counts.hpp.
#include "network/src/engines/slots/relay_counts.hpp"

#include <cstdint>
#include <span>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

namespace astrolabe::network::rotor {
namespace {

/// By the model of slot_timing.hpp, packet by packet.
std::uint32_t counted(const SlotTiming& timing, std::uint32_t packets, std::uint32_t rank, Time after) {
    std::uint32_t there = 0;
    for (std::uint32_t k = 0; k < packets; ++k) {
        there += timing.transmission_slot_of(k, packets) + rank <= timing.last_transmission_slot_for(after)
                     ? 1
                     : 0;
    }
    return there;
}

TEST(RelayCounts, AreThoseOfPacketAfterPacketWhoeverCameBefore) {
    const RotorNetwork network = eight_rack_network();
    const SlotTiming timing(network);
    const Time superslice = network.schedule.timing().superslice();
    const auto horizon = static_cast<std::uint64_t>(timing.longest() / superslice) + 1;
    RelayCounts counts(timing, superslice, horizon);
    // A grant of 2 packets and rank 0 shares its place with one of 1 packet and rank 37.
    for (int again = 0; again < 2; ++again) {
        for (std::uint32_t rank = 0; rank < 40; ++rank) {
            for (std::uint32_t packets = 1; packets * (rank + 1) <= timing.packets_per_slot(); ++packets) {
                const std::span<const std::uint32_t> found = counts.of(packets, rank);
                ASSERT_EQ(found.size(), horizon + 1);
                for (std::uint64_t later = 0; later <= horizon; ++later) {
                    ASSERT_EQ(found[later], counted(timing, packets, rank, superslice * later))
                        << packets << " packets of rank " << rank << ", superslice " << later;
                }
                ASSERT_EQ(found.back(), packets) << "all are there in the end";
            }
        }
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
