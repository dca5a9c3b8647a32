// Cables torn at random times in 200 runs of every network and engine.
#include "torn_cables.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

class TornCables : public ::testing::TestWithParam<TornSetting> {};

TEST_P(TornCables, EveryMessageArrivesOnceOrItsPairIsNamedIn200Runs) {
    const TornSetting& torn = GetParam();
    const Setting whole = setting(torn.network, torn.backend, torn.ranks);
    TornRuns runs;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        EXPECT_EQ(run_with_torn_cables(whole, seed, runs), std::nullopt) << "seed " << seed;
    }
    EXPECT_GT(runs.arrived, 0U);
    // Whoever has one cable is cut off by it at times.
    EXPECT_TRUE(runs.cut > 0 || whole.fabric->out_degree(network::NodeId(0)) > 1);
    std::printf("%s on %s: %zu messages arrived, %zu were cut, %zu packets were lost\n", torn.name.c_str(),
                torn.backend.c_str(), runs.arrived, runs.cut, runs.lost);
}

INSTANTIATE_TEST_SUITE_P(Fluid, TornCables, ::testing::ValuesIn(torn_settings("{kind: fluid}")),
                         [](const auto& torn) { return torn.param.name; });
#ifdef ASTROLABE_WITH_NS3
INSTANTIATE_TEST_SUITE_P(Packet, TornCables, ::testing::ValuesIn(torn_settings("{kind: packet}")),
                         [](const auto& torn) { return torn.param.name; });
INSTANTIATE_TEST_SUITE_P(Tcp, TornCables, ::testing::ValuesIn(torn_one_path_settings("{kind: tcp}")),
                         [](const auto& torn) { return torn.param.name; });
INSTANTIATE_TEST_SUITE_P(Transports, TornCables, ::testing::ValuesIn(torn_transports()),
                         [](const auto& torn) { return torn.param.name; });
#endif

}  // namespace
}  // namespace astrolabe::testing
