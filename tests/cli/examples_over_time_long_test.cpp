/// The examples that take longer.
#include "examples_over_time.hpp"

namespace astrolabe::testing {
namespace {

TEST(ExamplesOverTimeLong, OnFluid) {
    for (const char* system : {"flat100g", "flat800g", "hier", "hieropt"}) {
        expect_true_record(std::string("hoti20-dlrm/quarter/") + system + ".yaml", "fluid", "100us");
    }
    expect_true_record("dlrm-flat/experiment.yaml", "fluid", "100us");
    expect_true_record("dlrm-model-a/experiment.yaml", "fluid", "1ms", "60MB");
    expect_true_record("opera-dlrm/experiment-16.yaml", "fluid", "10ms");
}

TEST(ExamplesOverTimeLong, OnSlots) {
    expect_true_record("opera-dlrm/opera-16.yaml", "fluid", "1ms");
    expect_true_record("opera-shuffle/experiment.yaml", "fluid", "1ms", "200MB");
}

}  // namespace
}  // namespace astrolabe::testing
