/// Model-A of the EuroMLSys 2024 Opera study packet by packet (dlrm-opera-study, sections 5, 7 and 8): how
/// much of its fat-tree figures is capacity, and how much transport.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/run.hpp>

namespace astrolabe::testing {
namespace {

constexpr const char* kIdeal = "{kind: packet, mtu: 8936B, header: 64B, ack_size: 64B}";
constexpr const char* kLegacy = "{kind: packet, preset: legacy_dctcp}";

experiment::Run run_model_a(const std::string& backend, std::vector<std::string> overrides) {
    overrides.push_back("backend=" + backend);
    const experiment::Components components = experiment::builtin_components();
    const Result<experiment::Experiment> loaded =
        experiment::load_experiment(ASTROLABE_SOURCE_DIR "/examples/dlrm-opera-study/experiment-16.yaml",
                                    {overrides, std::nullopt}, components);
    if (!loaded) {
        throw std::runtime_error(render(loaded.error()));
    }
    experiment::Run run = experiment::run_experiment(*loaded, {});
    EXPECT_TRUE(run.execution.finished) << run.execution.stall;
    EXPECT_EQ(run.network.drops, 0U) << "queues of 90 MB, or without limit, hold what there is";
    std::printf(
        "%s: %.4f s, %llu timeouts, %llu retransmissions, %llu packet-hops, %llu events, %.0f s, %.0f MB\n",
        backend.c_str(), to_seconds(run.execution.total),
        static_cast<unsigned long long>(run.network.timeouts),
        static_cast<unsigned long long>(run.network.retransmissions),
        static_cast<unsigned long long>(run.network.packet_hops),
        static_cast<unsigned long long>(run.engine.events), run.engine.wall_seconds,
        static_cast<double>(run.engine.peak_rss_bytes) / 1e6);
    return run;
}

// Bytes and times over 16, as section 9 replays it; latencies and timers are what they are. The fluid engine,
// without headers (64 B of 9000) and queues, is the least; packets on an ideal transport take the headers
// longer where the network is what is waited for, 3.1 of 28.2 s (section 5: twice 1.573 s of all-to-all), and
// little else.
TEST(OperaStudyPackets, AnIdealTransportTakesTheTimeOfCapacity) {
    const double fluid = to_seconds(run_model_a("{kind: fluid}", {"workload.scale_down=16"}).execution.total);
    const experiment::Run ideal = run_model_a(kIdeal, {"workload.scale_down=16"});
    EXPECT_EQ(ideal.network.timeouts, 0U);
    const double packets = to_seconds(ideal.execution.total);
    EXPECT_GE(packets, fluid);
    const double headers = 2 * 1.573 / 16 * 64 / 8936;
    EXPECT_LT(packets, fluid + headers + 0.005 * fluid);
}

// Section 7: flows of 10^3 pairs that start together fill their host's queue for longer than the
// retransmission timer, so that tens of thousands of timers expire for packets that were never lost: 25 000
// to 67 000 in the replays at full size. Some windows collapse and their timers back off, and the iteration
// takes longer than capacity asks for.
TEST(OperaStudyPackets, LegacyDctcpTimesOutWithoutLoss) {
    const std::vector<std::string> scaled{"workload.scale_down=16", "network.load_balancing=flow_hash"};
    const experiment::Run ideal = run_model_a(kIdeal, {"workload.scale_down=16"});
    const experiment::Run legacy = run_model_a(kLegacy, scaled);
    EXPECT_GT(legacy.network.timeouts, 10'000U);
    EXPECT_GT(legacy.network.retransmissions, legacy.network.timeouts);
    EXPECT_GT(legacy.network.ecn_marks, 0U);
    EXPECT_GT(to_seconds(legacy.execution.total), to_seconds(ideal.execution.total));
}

}  // namespace
}  // namespace astrolabe::testing
