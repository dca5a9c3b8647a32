// A DLRM on 16 ranks with no algorithm named, against the best of 108 to 154 plans that name one for each
// kind.

#include "choice_networks.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

TEST(AlgorithmChoice, IsWithinFivePercentOfTheBestPlan) {
    const experiment::Components components = experiment::builtin_components();
    for (const int batch : {256, 2048, 16384}) {
        for (const ChoiceNetwork& network : choice_networks()) {
            const ExhaustiveChoice best = exhaustive_choice(components, network, batch, {1, 16});
            const double chosen = choice_seconds(components, network, batch, "{}");
            std::printf(
                "%s, batch %d: chosen %.2f us, best of %zu plans %.2f us (ratio %.4f, at most 1.05): %s\n",
                network.name.c_str(), batch, chosen * 1e6, best.plans, best.seconds * 1e6,
                chosen / best.seconds, best.collectives.c_str());
            EXPECT_GE(best.plans, 108U);
            EXPECT_LE(chosen, 1.05 * best.seconds) << network.name << ", batch " << batch;
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
