// Fifty random experiments with `steady_state` against the full run.
#include "steady_campaign.hpp"

namespace astrolabe::testing {
namespace {

TEST(SteadyCampaign, FiftyExperimentsAreRightWithinOnePercent) {
    const SteadyOutcome outcome = run_steady_campaign({{4, 8}, 24, {8, 32, 128}}, 50, 28);
    RecordProperty("worst", fmt::format("{}", outcome.worst));
    fmt::print(
        "exact {}, but for the order {}, measured {} of 50; worst difference {:.3g} %; events {} of {}\n",
        outcome.exact, outcome.but_order, outcome.measured, 100.0 * outcome.worst, outcome.events,
        outcome.whole_events);
    EXPECT_GE(outcome.measured, 5);
    EXPECT_GE(outcome.exact + outcome.but_order, 5);
}

}  // namespace
}  // namespace astrolabe::testing
