/// How long runs on the fluid engine and on slots were predicted to take against how long they take, in
/// processor time: within a factor of two.
#include <cstdio>
#include <ctime>

#include <example_run.hpp>
#include <gtest/gtest.h>

#include <astrolabe/experiment/run/prediction.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::testing {
namespace {

TEST(PredictionLong, TimesOfTheExamplesAreWithinAFactorOfTwo) {
    for (const char* example :
         {"quickstart/experiment", "dlrm-flat/experiment-16", "hoti20-dlrm/quarter/flat100g",
          "hoti20-dlrm/quarter/flat800g", "hoti20-dlrm/quarter/hier", "hoti20-dlrm/quarter/hieropt",
          "dlrm-model-a/experiment", "opera-dlrm/experiment-16", "opera-dlrm/opera-16"}) {
        const experiment::Experiment loaded =
            load_example(std::string(example) + ".yaml", {"backend={kind: fluid}"});
        const double predicted = experiment::predict(loaded).wall_seconds;
        const std::clock_t start = std::clock();
        (void)run_to_the_end(loaded);
        const double taken = static_cast<double>(std::clock() - start) / static_cast<double>(CLOCKS_PER_SEC);
        std::printf("%-32s predicted %8.3f s, taken %8.3f s\n", example, predicted, taken);
        // Below a tenth of a second loading pages counts as much as running.
        if (taken > 0.1) {
            EXPECT_LT(predicted, 2 * taken) << example;
            EXPECT_GT(predicted, taken / 2) << example;
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
