/// Ten thousand random experiments, which take some forty minutes.
#include "campaign.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

constexpr std::uint64_t kFirst = 100'001;
constexpr std::uint64_t kExperiments = 10'000;

TEST(RandomExperimentsLong, KeepTheirInvariants) {
    const Campaign campaign = run_campaign(kFirst, kFirst + kExperiments - 1);
    std::fputs(campaign_text(campaign).c_str(), stdout);
    EXPECT_EQ(campaign_problems(campaign), "");
}

}  // namespace
}  // namespace astrolabe::testing
