/// The published baseline of the EuroMLSys 2024 Opera study, Model-A (dlrm-opera-study, sections 8 and 10):
/// one number is calibrated, the others are predicted. docs/opera-study.md has what this prints.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <example_run.hpp>
#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

double iteration(const std::string& file, const std::vector<std::string>& overrides) {
    return to_seconds(run_example(file, overrides).execution.total);
}

double on_opera(int nodes, std::vector<std::string> overrides = {}) {
    overrides.push_back("cluster.ranks=" + std::to_string(nodes));
    overrides.push_back("network=" ASTROLABE_SOURCE_DIR "/inputs/networks/opera-study-" +
                        std::to_string(nodes) + ".yaml");
    return iteration("opera-dlrm/opera-16.yaml", overrides);
}

/// On an ideal transport, with the backward time of the example on Opera.
double on_fat_tree(int nodes, const std::string& all_reduce) {
    const std::map<int, std::string> arity{{16, "4"}, {128, "8"}, {1024, "16"}};
    return iteration(
        nodes == 1024 ? "opera-dlrm/experiment-1024.yaml" : "opera-dlrm/experiment-16.yaml",
        {"workload.embedding.backward=369.6ms", "cluster.ranks=" + std::to_string(nodes),
         "network.k=" + arity.at(nodes), "cluster.collectives.all_reduce.algorithm=" + all_reduce});
}

/// With the backward time of the example on Opera, which this example has too.
double on_topoopt(int nodes, const std::string& network) {
    return iteration("topoopt-model-a/experiment-16.yaml",
                     {"cluster.ranks=" + std::to_string(nodes), "network." + network});
}

void report(const char* network, int nodes, double simulated, double published) {
    std::printf("| %s | %d | %.3f s | %.3f s | %+.1f %% |\n", network, nodes, simulated, published,
                100 * (simulated / published - 1));
}

TEST(OperaComparison, OneNumberIsCalibratedAndTheOthersOnOperaFollow) {
    // 63 tables one after the other: 0.1 ms of the fitted 369.6 ms move this by 6.3 ms, 0.02 %.
    const double calibrated = on_opera(16);
    report("Opera, direct", 16, calibrated, 30.763466);
    EXPECT_NEAR(calibrated, 30.763466, 0.0002 * 30.763466);
    // 5 % was hoped for; what it is, docs/opera-study.md prints, so who moves it has to say so there.
    const double predicted = on_opera(128);
    report("Opera, direct", 128, predicted, 4.162758);
    EXPECT_NEAR(100 * (predicted / 4.162758 - 1), -5.3, 0.1);
}

TEST(OperaComparison, AnIdealFatTreeIsFasterThanThePublishedOneByItsTransport) {
    // The published runs are of TCP whose timers expire for packets that were never lost (section 7), the
    // most with the ring, where each step waits for the slowest connection; here the transport is ideal.
    // These are the errors of leaving it out. Nothing in the runs is random, so they are held to the tenth of
    // a percent that docs/opera-study.md prints: who moves them has to say so there.
    struct Case {
        const char* network;
        const char* algorithm;
        int nodes;
        double published;
        double error;  ///< percent
    };
    for (const Case& study : {Case{"fat-tree, ring", "ring", 16, 36.818028, -24.5},
                              Case{"fat-tree, direct", "barrier_direct", 16, 29.826309, -6.5},
                              Case{"fat-tree, ring", "ring", 128, 4.730327, -23.3},
                              Case{"fat-tree, direct", "barrier_direct", 128, 4.083509, -8.3},
                              Case{"fat-tree, ring", "ring", 1024, 0.723328, -24.2}}) {
        const double simulated = on_fat_tree(study.nodes, study.algorithm);
        report(study.network, study.nodes, simulated, study.published);
        EXPECT_NEAR(100 * (simulated / study.published - 1), study.error, 0.1);
    }
}

TEST(OperaComparison, TopoOptIsFasterThanThePublishedOneByItsTransportAndFasterStillWhenBalanced) {
    struct Case {
        int nodes;
        double published;
        double error;  ///< percent, as docs/opera-study.md prints
    };
    for (const Case& study : {Case{16, 31.051509, -10.6}, Case{128, 4.741643, -14.9}}) {
        const double released = on_topoopt(study.nodes, "mode=released");
        report("TopoOpt, released", study.nodes, released, study.published);
        EXPECT_NEAR(100 * (released / study.published - 1), study.error, 0.1);
        // The same cables; the busiest carries 9 instead of 15 routes on 16 nodes, 189 instead of 266 on 128.
        const double balanced = on_topoopt(study.nodes, "routing=balanced");
        report("TopoOpt, balanced", study.nodes, balanced, study.published);
        EXPECT_LT(balanced, released);
        report("TopoOpt, paper", study.nodes, on_topoopt(study.nodes, "mode=paper"), study.published);
    }
}

TEST(OperaComparison, OnOperaTimeIsAffineInTheBatchAndNoLessThanOnAFatTree) {
    // Section 10, item 5. Rows per GPU are 4,096 and more, where the rate of products no longer changes.
    const double once = on_opera(16);
    const double twice = on_opera(16, {"workload.batch=1048576"});
    const double four_times = on_opera(16, {"workload.batch=2097152"});
    EXPECT_NEAR(four_times - twice, 2 * (twice - once), 0.005 * (four_times - twice));
    EXPECT_LE(on_fat_tree(16, "barrier_direct"), once);
}

}  // namespace
}  // namespace astrolabe::testing
