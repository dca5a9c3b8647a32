/// How long runs on the fluid engine were predicted to take against how long they take, in processor time:
/// within a factor of two.
#include <cstdio>
#include <ctime>

#include <gtest/gtest.h>

#include <astrolabe/experiment/prediction.hpp>
#include <astrolabe/experiment/run.hpp>

namespace astrolabe::testing {
namespace {

TEST(PredictionLong, TimesOfTheExamplesAreWithinAFactorOfTwo) {
    const experiment::Components components = experiment::builtin_components();
    for (const char* example :
         {"quickstart/experiment", "dlrm-flat/experiment-16", "hoti20/flat100g", "hoti20/flat800g",
          "hoti20/hier", "hoti20/hieropt", "dlrm-model-a/experiment", "dlrm-opera-study/experiment-16"}) {
        const Result<experiment::Experiment> loaded =
            experiment::load_experiment(std::string(ASTROLABE_SOURCE_DIR "/examples/") + example + ".yaml",
                                        {{"backend={kind: fluid}"}, std::nullopt}, components);
        ASSERT_TRUE(loaded) << example;
        const double predicted = experiment::predict(*loaded).wall_seconds;
        const std::clock_t start = std::clock();
        const auto run = experiment::run_experiment(*loaded, {});
        const double taken = static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
        std::printf("%-32s predicted %8.3f s, taken %8.3f s\n", example, predicted, taken);
        EXPECT_TRUE(run.execution.finished);
        // Below a tenth of a second loading pages counts as much as running.
        if (taken > 0.1) {
            EXPECT_LT(predicted, 2 * taken) << example;
            EXPECT_GT(predicted, taken / 2) << example;
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
