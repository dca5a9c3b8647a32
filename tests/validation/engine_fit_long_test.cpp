/// Fifty random experiments on three engines.
#include "engine_fit.hpp"

#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

TEST(EngineFitLong, SaysWhatDiffersAndNothingWhereEnginesAgree) {
    const Fit fit = judge(compare_engines(2026, 50));
    EXPECT_GE(fit.differing, 25);
    EXPECT_GE(fit.agreeing, 15);
    EXPECT_GE(fit.named, kNamed * fit.differing);
    EXPECT_GE(fit.quiet, kQuiet * fit.agreeing);
}

}  // namespace
}  // namespace astrolabe::testing
