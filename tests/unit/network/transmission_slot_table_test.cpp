/// What is looked up is what would be divided: transmission_slot_table.hpp.
#include "network/src/engines/slots/transmission_slot_table.hpp"

#include <cstdint>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>

namespace astrolabe::network::rotor {
namespace {

TEST(TransmissionSlotTable, SaysForEveryPacketOfEveryGrantWhatTheTimingSays) {
    const SlotTiming timing(eight_rack_network());
    const TransmissionSlotTable turns(timing);
    for (std::uint32_t n = 1; n <= timing.packets_per_slot(); ++n) {
        for (std::uint32_t k = 0; k < n; ++k) {
            ASSERT_EQ(turns.transmission_slot_of(k, n), timing.transmission_slot_of(k, n))
                << k << " of " << n;
        }
    }
}

TEST(TransmissionSlotTable, SlotsOfManyPacketsAreDivided) {
    RotorNetwork network = eight_rack_network();
    network.bulk.payload = 100_B;
    network.bulk.header = 0_B;
    const SlotTiming timing(network);
    const TransmissionSlotTable turns(timing);
    // 52.74 us, and turns of 4 times 8 ns.
    ASSERT_EQ(timing.packets_per_slot(), 1'648U);
    for (const std::uint32_t n : {1U, 511U, 512U, 1'648U}) {
        EXPECT_EQ(turns.transmission_slot_of(n - 1, n), timing.transmission_slot_of(n - 1, n)) << n;
    }
    EXPECT_EQ(turns.transmission_slot_of(1'647, 1'648), 1'647U);
}

}  // namespace
}  // namespace astrolabe::network::rotor
