/// Random experiments with fixed seeds, as many as take half a minute. ASTROLABE_PROPERTY_SEEDS="17" or
/// "1000-1999" runs others, and ASTROLABE_PROPERTY_LOG=FILE keeps what each gave.
#include "campaign.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sanitizers.hpp>

namespace astrolabe::testing {
namespace {

constexpr std::uint64_t kFirst = 1;
constexpr auto kLast = up_to<std::uint64_t>(200, 100);

TEST(RandomExperiments, KeepTheirInvariants) {
    std::uint64_t first = kFirst;
    std::uint64_t last = kLast;
    if (const char* const seeds = std::getenv("ASTROLABE_PROPERTY_SEEDS")) {
        const std::string text = seeds;
        const std::size_t dash = text.find('-');
        first = std::stoull(text.substr(0, dash));
        last = dash == std::string::npos ? first : std::stoull(text.substr(dash + 1));
    }
    const Campaign campaign = run_campaign(first, last);
    std::fputs(campaign_text(campaign).c_str(), stdout);
    EXPECT_EQ(campaign_problems(campaign), "");
}

}  // namespace
}  // namespace astrolabe::testing
