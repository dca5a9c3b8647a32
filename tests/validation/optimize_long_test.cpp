/// A search of Model-A on 128 nodes: what it finds, what bounds and limits spare it, and what it costs.
#include <cstdio>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <astrolabe/study/search/optimization.hpp>

namespace astrolabe::study {
namespace {

/// Of chains that have ended: they run in processes of their own.
double processor_seconds_of_chains() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

TEST(OptimizeModelA, BeatsDataParallelMlpsWithRoundRobinTables) {
    const experiment::Components components = experiment::builtin_components();
    const Result<SearchStudy> study =
        load_search_study(ASTROLABE_SOURCE_DIR "/examples/optimize/model-a-128.yaml", {}, components);
    ASSERT_TRUE(study) << render(study.error());
    const Result<Optimization> found = optimize(*study, components, {.jobs = 1});
    ASSERT_TRUE(found) << render(found.error());
    EXPECT_EQ(found->steps.size(), 1000u);
    EXPECT_LT(found->best_seconds, found->base_seconds);
    // 1000 tables on 128 nodes: one has 8 of them, whatever the plan.
    EXPECT_GE(found->bound_seconds, 8 * (0.034 + 0.3696));
    EXPECT_LE(found->bound_seconds, found->best_seconds);
    // Ranks wait where a plan is slow, before the gradients of tables: all that is rejected is given up
    // there.
    EXPECT_GT(found->count(Outcome::kGivenUp), 0u);
    for (const SearchStep& step : found->steps) {
        EXPECT_TRUE(step.accepted || step.result.outcome != Outcome::kSimulated) << step.move;
    }
    std::printf("%s  1000 evaluations took %.0f s of one processor\n",
                optimization_text(*study, *found).c_str(), processor_seconds_of_chains());
}

}  // namespace
}  // namespace astrolabe::study
