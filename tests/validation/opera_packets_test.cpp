/// Model-A of the EuroMLSys 2024 Opera study packet by packet (docs/theory/opera-dlrm-study.md, "Traffic",
/// "Networks compared" and "Published times"): how much of its fat-tree figures is capacity, and how much
/// transport. Bytes and times over 16, as the study replays it ("How an iteration is composed"); latencies
/// and timers are what they are.
#include "model_a_packets.hpp"

namespace astrolabe::testing {
namespace {

// The fluid engine, without headers (64 B of 9000) and queues, is the least; packets on an ideal transport
// take the headers longer where the network is what is waited for, 3.1 of 28.2 s ("Traffic": twice 1.573 s of
// all-to-all), and little else.
TEST(OperaStudyPackets, AnIdealTransportTakesTheTimeOfCapacity) {
    const experiment::Run fluid = run_model_a("{kind: fluid}", {"workload.scale_down=16"});
    const experiment::Run ideal = run_model_a(kIdealTransport, {"workload.scale_down=16"});
    EXPECT_EQ(ideal.network.drops, 0U);
    EXPECT_EQ(ideal.network.timeouts, 0U);
    const double least = to_seconds(fluid.execution.total);
    const double headers = 2 * 1.573 / 16 * 64 / 8936;
    EXPECT_GE(to_seconds(ideal.execution.total), least);
    EXPECT_LT(to_seconds(ideal.execution.total), least + headers + 0.005 * least);
}

// docs/theory/opera-dlrm-study.md, "Networks compared": flows of 10^3 pairs that start together fill their
// host's queue for longer than the retransmission timer, so that tens of thousands of timers expire for
// packets that were never lost: 25 000 to 67 000 in the replays at full size. Some windows collapse and their
// timers back off, and the iteration takes longer than capacity asks for.
TEST(OperaStudyPackets, LegacyDctcpTimesOutByItself) {
    std::vector<std::string> scaled = kStudyFabric;
    scaled.emplace_back("workload.scale_down=16");
    const experiment::Run ideal = run_model_a(kIdealTransport, {"workload.scale_down=16"});
    const experiment::Run legacy = run_model_a(kLegacyTransport, scaled);
    EXPECT_GT(legacy.network.timeouts, 10'000U);
    EXPECT_GT(legacy.network.retransmissions, legacy.network.drops) << "most was not lost";
    EXPECT_GT(legacy.network.ecn_marks, 0U);
    EXPECT_GT(to_seconds(legacy.execution.total), to_seconds(ideal.execution.total));
    EXPECT_EQ(legacy.network.bytes_delivered, ideal.network.bytes_delivered);
}

// On Opera itself, bytes and times over 256: slots count packets that queues at switches delay by some packet
// times, of 0.12 us, in slots of 41 us. The two may be 5 % apart.
TEST(OperaStudyPackets, SlotsTakeTheTimeOfPackets) {
    const std::vector<std::string> opera{
        "network={kind: opera, racks: 4, radix: 8, bulk: {intra_rack: two_hops}}", "workload.scale_down=256"};
    const experiment::Run slots = run_model_a("{kind: fluid}", opera);
    const experiment::Run packets = run_model_a("{kind: packet}", opera);
    EXPECT_EQ(packets.network.messages, slots.network.messages);
    EXPECT_EQ(packets.network.bytes_delivered, slots.network.bytes_delivered);
    EXPECT_EQ(packets.network.drops, 0U);
    EXPECT_NEAR(to_seconds(packets.execution.total), to_seconds(slots.execution.total),
                0.05 * to_seconds(slots.execution.total));
}

}  // namespace
}  // namespace astrolabe::testing
