/// Model-A of the EuroMLSys 2024 Opera study packet by packet and at full size: tens of minutes, so labelled
/// `long`.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/run.hpp>

namespace astrolabe::testing {
namespace {

experiment::Run run_model_a(const std::vector<std::string>& overrides) {
    const experiment::Components components = experiment::builtin_components();
    const Result<experiment::Experiment> loaded =
        experiment::load_experiment(ASTROLABE_SOURCE_DIR "/examples/dlrm-opera-study/experiment-16.yaml",
                                    {overrides, std::nullopt}, components);
    if (!loaded) {
        throw std::runtime_error(render(loaded.error()));
    }
    experiment::Run run = experiment::run_experiment(*loaded, {});
    EXPECT_TRUE(run.execution.finished) << run.execution.stall;
    std::printf("%s: %.4f s, %llu timeouts, %llu packet-hops, %llu events, %.0f s, %.0f MB\n",
                overrides.front().c_str(), to_seconds(run.execution.total),
                static_cast<unsigned long long>(run.network.timeouts),
                static_cast<unsigned long long>(run.network.packet_hops),
                static_cast<unsigned long long>(run.engine.events), run.engine.wall_seconds,
                static_cast<double>(run.engine.peak_rss_bytes) / 1e6);
    return run;
}

// The study gives 28.2 s on an ideal transport and 36.8 s (ring) as published.
TEST(OperaStudyPacketsInFull, LegacyDctcpOn16Nodes) {
    const experiment::Run run =
        run_model_a({"backend={kind: packet, preset: legacy_dctcp}", "network.load_balancing=flow_hash"});
    EXPECT_GT(run.network.timeouts, 10'000U);
    EXPECT_GT(to_seconds(run.execution.total), 28.2);
}

// 1.38 TB on the wire. The study gives 3.70 s on an ideal transport; 4 GiB are the most it may take here.
TEST(OperaStudyPacketsInFull, IdealTransportOn128Nodes) {
    const experiment::Run run = run_model_a({"backend={kind: packet, mtu: 8936B, header: 64B, ack_size: 64B}",
                                             "cluster.ranks=128", "network.k=8"});
    EXPECT_EQ(run.network.drops, 0U);
    EXPECT_NEAR(to_seconds(run.execution.total), 3.70, 0.02 * 3.70);
    EXPECT_LT(run.engine.peak_rss_bytes, std::uint64_t{4} << 30);
}

}  // namespace
}  // namespace astrolabe::testing
