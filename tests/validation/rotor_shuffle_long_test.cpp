/// The shuffle of the Opera paper's artefact on the slot engine (opera, section 10): 108 racks of six hosts,
/// 10 Gb/s, 100 kB from every host to all hosts of other racks.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rotor_fabric.hpp>
#include <rotor_traffic.hpp>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/opera/slot_engine.hpp>

namespace astrolabe::network::opera {
namespace {

TEST(RotorShuffle, HasTheCompletionTimesOfTheArtefact) {
    SlotEngine engine(build_rotor_fabric(drawn_rotor_network(108, 6, 10_Gbps, 5)));
    const std::vector<HostPair> pairs = pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; });
    ASSERT_EQ(pairs.size(), 416'016U);
    RotorTraffic traffic(engine, pairs, 100_KB);
    engine.run();
    EXPECT_EQ(traffic.delivered, pairs.size());
    EXPECT_NEAR(to_seconds(traffic.percentile(0.50)), 59.1e-3, 0.03 * 59.1e-3);
    EXPECT_NEAR(to_seconds(traffic.percentile(0.99)), 64.4e-3, 0.03 * 64.4e-3);
    // 64.6 ms there. Here a message in three thousand has a packet that relayed ones keep out of the ninth
    // circuit of its racks, and that waits for the tenth, within a cycle of 108 · 60.5 us.
    EXPECT_NEAR(to_seconds(traffic.percentile(0.999)), 64.6e-3, 0.03 * 64.6e-3);
    EXPECT_LT(to_seconds(traffic.last()), 64.6e-3 + 6.534e-3);
    // Section 9: 36 · 70 packets of a pair of racks at 6 · 48 per circuit are 8.75 cycles.
    EXPECT_GT(to_seconds(traffic.last()), 8 * 6.534e-3);
}

TEST(RotorShuffle, SmallMessages) {
    // 10 kB, 7 packets each: 252 of 288 fit into the first circuit of a pair of racks, so nearly all arrive
    // within a cycle and a slot, 6.9 ms, and what relayed packets displace a cycle or two later.
    SlotEngine engine(build_rotor_fabric(drawn_rotor_network(108, 6, 10_Gbps, 5)));
    RotorTraffic traffic(engine, pairs_where(648, [](auto i, auto j) { return i / 6 != j / 6; }), 10_KB);
    engine.run();
    EXPECT_EQ(engine.outstanding_messages(), 0U);
    EXPECT_LT(to_seconds(traffic.last()), 3 * 6.534e-3);
}

}  // namespace
}  // namespace astrolabe::network::opera
