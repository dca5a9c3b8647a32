/// The examples that take seconds; what the others take minutes for is in examples_over_time_long_test.cpp.
#include "examples_over_time.hpp"

namespace astrolabe::testing {
namespace {

TEST(ExamplesOverTime, OnFluid) {
    expect_true_record("quickstart/experiment.yaml", "fluid", "10us");
    expect_true_record("dlrm-flat/experiment-16.yaml", "fluid", "10us");
    expect_true_record("why/spine.yaml", "fluid", "10us");
    expect_true_record("why/nic-behind-nvlink.yaml", "fluid", "10us");
    expect_true_record("topoopt-model-a/experiment-16.yaml", "fluid", "1ms");
}

TEST(ExamplesOverTime, OnFluidWithCircuitsThatMove) {
    expect_true_record("topoopt-model-a/circuits-16.yaml", "fluid", "1ms");
}

TEST(ExamplesOverTime, OnSlots) {
    expect_true_record("why/circuits.yaml", "fluid", "100us");
}

TEST(ExamplesOverTime, OnFormulas) {
    expect_true_record("quickstart/experiment.yaml", "congestion_free", "10us");
}

#ifdef ASTROLABE_WITH_NS3
TEST(ExamplesOverTime, OnPackets) {
    expect_true_record("quickstart/experiment.yaml", "packet", "10us");
    expect_true_record("quickstart/experiment.yaml", "tcp", "10us");
    expect_true_record("why/nic-on-packets.yaml", "packet", "10us");
}

TEST(ExamplesOverTime, OnPacketsOfRotors) {
    expect_true_record("why/circuits.yaml", "packet", "100us");
}
#endif

}  // namespace
}  // namespace astrolabe::testing
