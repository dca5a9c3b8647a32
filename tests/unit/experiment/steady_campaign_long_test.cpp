// The same of 128 ranks, which takes minutes.
#include "steady_campaign.hpp"

namespace astrolabe::testing {
namespace {

TEST(SteadyCampaignLong, RingAndDlrmOf128RanksAreRightAndTwentyTimesLess) {
    const SteadyOutcome outcome = run_steady_campaign({{128}, 100, {32, 128}}, 4, 28);
    fmt::print(
        "exact {}, but for the order {}, measured {} of 4; worst difference {:.3g} %; events {} of {}\n",
        outcome.exact, outcome.but_order, outcome.measured, 100.0 * outcome.worst, outcome.events,
        outcome.whole_events);
    // Two or three iterations to find the period and one or two to end with, seven by measure, of 100.
    EXPECT_GT(outcome.whole_events, 12 * outcome.events);
}

}  // namespace
}  // namespace astrolabe::testing
