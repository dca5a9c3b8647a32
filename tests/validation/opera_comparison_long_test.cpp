/// Model-A of the EuroMLSys 2024 Opera study beyond its published times (docs/theory/opera-dlrm-study.md,
/// "Checks"): docs/opera-study.md has what this prints. Those times are in examples/opera-dlrm, whose record
/// is tested.
#include <cstdio>
#include <string>
#include <vector>

#include <example_run.hpp>
#include <gtest/gtest.h>

namespace astrolabe::testing {
namespace {

double iteration(const std::string& file, const std::vector<std::string>& overrides) {
    return to_seconds(run_example(file, overrides).execution.total);
}

double on_opera(const std::vector<std::string>& overrides = {}) {
    return iteration("opera-dlrm/opera-16.yaml", overrides);
}

/// On an ideal transport.
double on_fat_tree() {
    return iteration("opera-dlrm/experiment-16.yaml",
                     {"cluster.collectives.all_reduce.algorithm=barrier_direct"});
}

double on_topoopt(int nodes, const std::string& network) {
    return iteration("topoopt-model-a/experiment-16.yaml",
                     {"cluster.ranks=" + std::to_string(nodes), "network." + network});
}

void report(const char* network, int nodes, double simulated, double published) {
    std::printf("| %s | %d | %.3f s | %.3f s | %+.1f %% |\n", network, nodes, simulated, published,
                100 * (simulated / published - 1));
}

TEST(OperaComparison, TopoOptIsFasterThanThePublishedOneAndFasterStillWhenBalanced) {
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
    // docs/theory/opera-dlrm-study.md, "Checks", item 3. Rows per GPU are 4,096 and more, where the rate of
    // products no longer changes.
    const double once = on_opera();
    const double twice = on_opera({"workload.batch=1048576"});
    const double four_times = on_opera({"workload.batch=2097152"});
    EXPECT_NEAR(four_times - twice, 2 * (twice - once), 0.005 * (four_times - twice));
    EXPECT_LE(on_fat_tree(), once);
}

TEST(OperaComparison, WithAllReducesOfAllNodesTheTimeOfModelIIsAffineInTheBatchToo) {
    // Model-I on 128 nodes. Where a node starts an all-reduce as soon as it has its own gradient, its shards
    // are queued before slices of nodes that are not as far, and slices within racks, which have what others
    // leave, wait for them; with the smallest batch for all of them.
    const auto time = [](const std::string& start, const std::string& batch) {
        return on_opera({"cluster.ranks=128", "network.racks=32", "workload.batch=" + batch,
                         "workload.model=" ASTROLABE_SOURCE_DIR "/inputs/models/dlrm-opera-study-i.yaml",
                         "workload.replay.all_reduce_start=" + start});
    };
    for (const bool is_replay : {true, false}) {
        const std::string start = is_replay ? "all_gradients" : "own_gradient";
        const double once = time(start, "524288");
        const double twice = time(start, "1048576");
        const double four_times = time(start, "2097152");
        // The second step is twice the first.
        const double off = (four_times - twice) / (2 * (twice - once)) - 1;
        std::printf("%s: %.3f, %.3f, %.3f s, second step %+.2f %% of what is affine\n", start.c_str(), once,
                    twice, four_times, 100 * off);
        if (is_replay) {
            EXPECT_NEAR(off, 0, 0.005);
        } else {
            EXPECT_GT(off, 0.05);
        }
    }
}

}  // namespace
}  // namespace astrolabe::testing
