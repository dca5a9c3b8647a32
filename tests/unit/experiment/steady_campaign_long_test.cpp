// The same of 128 ranks, which takes minutes.
#include "steady_campaign.hpp"

namespace astrolabe::testing {
namespace {

TEST(SteadyCampaignLong, RingAndDlrmOf128RanksAreRightAndTwentyTimesLess) {
    const SteadyOutcome outcome = run_steady_campaign({{128}, 160, {32, 128}}, 12, 28);
    fmt::print(
        "exact {}, but for the order {}, measured {} of 12; worst difference {:.3g} %; events {} of {}\n",
        outcome.exact, outcome.but_order, outcome.measured, 100.0 * outcome.worst, outcome.events,
        outcome.whole_events);
    // By measure seven of 160 iterations are simulated, 160 / 7 = 22.9.
    EXPECT_GT(outcome.whole_events, 20 * outcome.events);
}

}  // namespace
}  // namespace astrolabe::testing
