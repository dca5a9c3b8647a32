/// Model-A of the EuroMLSys 2024 Opera study packet by packet and at full size: tens of minutes, so labelled
/// `long`.
#include "model_a_packets.hpp"

namespace astrolabe::testing {
namespace {

// The study gives 28.2 s on an ideal transport, and 36.8 s (ring) as published.
TEST(OperaStudyPacketsInFull, LegacyDctcpOn16Nodes) {
    const experiment::Run run = run_model_a(kLegacyTransport, kStudyFabric);
    EXPECT_GT(run.network.timeouts, 10'000U);
    EXPECT_GT(to_seconds(run.execution.total), 28.2);
}

// 1.38 TB on the wire. The study gives 3.70 s on an ideal transport; 4 GiB are the most it may take here.
TEST(OperaStudyPacketsInFull, IdealTransportOn128Nodes) {
    const experiment::Run run = run_model_a(kIdealTransport, {"cluster.ranks=128", "network.k=8"});
    EXPECT_EQ(run.network.drops, 0U);
    EXPECT_NEAR(to_seconds(run.execution.total), 3.70, 0.02 * 3.70);
    EXPECT_LT(run.engine.peak_rss_bytes, std::uint64_t{4} << 30);
}

}  // namespace
}  // namespace astrolabe::testing
