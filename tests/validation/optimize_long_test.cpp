/// A search of Model-A on 128 nodes: issue of the search, "it must show".
#include <cstdio>

#include <gtest/gtest.h>

#include <astrolabe/experiment/optimization.hpp>

namespace astrolabe::experiment {
namespace {

TEST(OptimizeModelA, BeatsDataParallelMlpsWithRoundRobinTables) {
    const Components components = builtin_components();
    const Result<SearchStudy> study =
        load_search_study(ASTROLABE_SOURCE_DIR "/examples/optimize/model-a-128.yaml", {}, components);
    ASSERT_TRUE(study) << render(study.error());
    const Result<Optimization> found = optimize(*study, components, {.jobs = 1});
    ASSERT_TRUE(found) << render(found.error());
    EXPECT_EQ(found->steps.size(), 1000u);
    EXPECT_LT(found->best_seconds, found->base_seconds);
    // 1000 tables on 128 nodes: one has 8 of them, whatever the plan.
    EXPECT_GE(found->bound_seconds, 8 * (0.034 + 0.3758));
    EXPECT_LE(found->bound_seconds, found->best_seconds);
    std::printf("%s", optimization_text(*study, *found).c_str());
}

}  // namespace
}  // namespace astrolabe::experiment
