// Cables torn at random times: every message arrives once or its pair is named, nothing hangs, and results
// repeat. A few runs of every network; torn_cables_long_test.cpp has the others.
#include "torn_cables.hpp"

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

constexpr std::uint64_t kRuns = 8;

class TornCables : public ::testing::TestWithParam<TornSetting> {};

TEST_P(TornCables, EveryMessageArrivesOnceOrItsPairIsNamed) {
    const TornSetting& torn = GetParam();
    const Setting whole = setting(torn.network, torn.backend, torn.ranks);
    TornRuns runs;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
        EXPECT_EQ(run_with_torn_cables(whole, seed, runs), std::nullopt) << "seed " << seed;
    }
    EXPECT_GT(runs.arrived, 0U);
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
