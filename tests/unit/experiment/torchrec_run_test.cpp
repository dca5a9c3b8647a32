/// Runs of `training: torchrec`: the worked example to the picosecond, and what each pipeline hides.
#include "small_experiment.hpp"
#include "tests/unit/workload/torchrec_golden.hpp"
#include "workload/src/dlrm/torchrec/torchrec_loop.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {
namespace {

using namespace astrolabe::literals;

// Ranks on one switch, 1 ns a byte and 1 us a message, whatever others send: an exchange takes 1 us and 1 ns
// for each byte of its longest message; an all-reduce of S bytes on 4 ranks twice S/4. A FLOP takes 1 ps.
TEST(TorchrecRun, TheWorkedExampleTakesItsTimeToThePicosecond) {
    const Components parts = builtin_components();
    Result<Experiment> experiment =
        testing::load_small(parts, {"network.link.rate=8Gbps", "backend={kind: congestion_free}",
                                    "cluster.collectives.all_reduce.algorithm=direct",
                                    "cluster.collectives.reduce_scatter.algorithm=direct",
                                    "cluster.collectives.all_gather.algorithm=direct"});
    ASSERT_TRUE(experiment) << render(experiment.error());
    const workload::testing::GoldenExample golden;
    experiment->program = workload::torchrec::torchrec_loop(
        golden.plan(), workload::TorchrecPipeline::kSparseDist, golden.device);
    const experiment::Run run = run_experiment(*experiment, {});

    const Time splits = 1096_ns;                    // 12 numbers of 8 bytes
    const Time lengths = 4 * 1008_ns;               // 2 of 4 bytes, of A, B, C and D
    const Time values = 2 * 1024_ns + 2 * 1016_ns;  // 3 of 8 bytes of A and B, 2 of C and D
    const Time input = splits + lengths + values;   // 9.208 us
    EXPECT_EQ(input, 9208_ns);
    // One after the other on the group of all ranks: A 16·4 bytes, B and C 8·4. D's are beside them: 16·4
    // bytes inside its host from 32 FLOP after its values are there, 8·4 across.
    const Time forward = 1064_ns + 1032_ns + 1032_ns;
    EXPECT_GT(forward, 32_ps + 1064_ns + 1032_ns);
    // Top_0 on 2 samples: 2·2·32 FLOP forward, as many for each gradient.
    const Time top = 3 * 128_ps;
    // Backward, the last group first: C, B, A, beside D's. B's 8·4 bytes from rank 2 to rank 3 are sent when
    // D's 16·4 are, inside the host, and messages of a pair keep their order: 64 ns. A's update of 256 FLOP
    // and Bottom_0's gradient of 2·2·16 are done before E's 12 values are reduced: 12 bytes to each rank,
    // twice.
    const Time backward = 1032_ns + 1064_ns + 1064_ns;
    const Time replicas = 2 * 1012_ns;
    EXPECT_GT(replicas, 256_ps + 64_ps);
    // 53 values of the dense layers: 53 bytes to each rank, twice.
    const Time dense = 2 * 1053_ns;
    EXPECT_EQ(run.execution.total, input + forward + top + backward + replicas + dense);
    EXPECT_EQ(run.execution.total, 19'626'384_ps);
}

/// Two ranks with a table of 10 columns each, a bottom and a top layer, measured times; no time of the host
/// unless given. On one switch with 1 ns a byte and 1 us a message an exchange takes 1 us + 1 ns a byte:
///     splits 24 B 1.024 us, lengths 1,000·4 B 5 us, values 1,000·8 B 9 us, pooled 1,000·10·4 B 41 us,
///     all-reduce of 4·6 + 26 = 50 values, twice 100 B, 2.2 us
/// bottom 10 us forward, 20 backward; top 30 forward, 60 backward; lookup 5, update 7.
class Pipelines : public ::testing::Test {
protected:
    /// Time from the end of one iteration to the end of the next, when the pipeline is full.
    [[nodiscard]] Time period(const std::string& pipeline, const std::string& host = "") {
        const testing::TemporaryFolder folder;
        const auto file = folder.write("torchrec.yaml", R"(schema: astrolabe/1
workload:
  kind: dlrm
  model:
    dense_features: 4
    bottom_mlp: [6]
    top_mlp: [1]
    interaction: concatenation
    element_size: 4B
    tables: {count: 2, rows: 100, dimension: 10, pooling: 1}
  batch: {local: 1000}
  iterations: 8
  sharding: {plan: round_robin}
  training: {kind: torchrec, pipeline: )" + pipeline + R"(}
cluster:
  ranks: 2
  device:
    kind: measured
    layers:
      Bottom_0: {forward: 10us, input_gradient: 0us, weight_gradient: 20us}
      Top_0: {forward: 30us, input_gradient: 30us, weight_gradient: 30us}
    tables: {samples: 2000, forward: [5us], backward: [7us]}
)" + host + R"(  collectives:
    all_reduce: {algorithm: direct, chunks: 1}
    all_to_all: {algorithm: direct, chunks: 1}
network:
  kind: flat
  hosts: 2
  link: {rate: 8Gbps, latency: 500ns}
backend: {kind: fluid}
)");
        const Result<Experiment> experiment = load_experiment(file, {}, components_);
        if (!experiment) {
            ADD_FAILURE() << render(experiment.error());
            return Time(0);
        }
        const experiment::Run run = run_experiment(*experiment, {});
        const std::vector<Time>& ends = run.execution.ranks.front().iteration_ends;
        EXPECT_EQ(ends[4] - ends[3], ends[3] - ends[2]);
        return ends[4] - ends[3];
    }

    const Components components_ = builtin_components();
    static constexpr Time kBottom = 10_us;
    static constexpr Time kLookup = 5_us;
    static constexpr Time kPooled = 41_us;
    /// Lookup to the last all-reduce, nothing of it hidden: lookup, pooled, top, gradients, update, bottom.
    static constexpr Time kFromLookup =
        kLookup + kPooled + 30_us + 60_us + kPooled + 7_us + 20_us + Time(2'200'000);
    static constexpr Time kSplits = Time(1'024'000);
    static constexpr Time kIndices = 5_us + 9_us;
};

TEST_F(Pipelines, BaseHidesNothing) {
    EXPECT_EQ(period("base"), kBottom + kSplits + kIndices + kFromLookup);
    EXPECT_EQ(period("base"), Time(231'224'000));
}

TEST_F(Pipelines, LiteHidesTheBottomMlpBehindTheIndices) {
    // The host launches the bottom MLP when the splits are there; lengths and values take longer than it.
    EXPECT_EQ(period("sparse_dist_lite"), kSplits + kIndices + kFromLookup);
}

TEST_F(Pipelines, SparseDistHidesTheIndicesOfTheNextBatch) {
    EXPECT_EQ(period("sparse_dist"), kBottom + kFromLookup);
    EXPECT_EQ(period("sparse_dist_2023"), kBottom + kFromLookup);
}

TEST_F(Pipelines, FusedHidesBottomMlpsAndLookup) {
    // From the update of one iteration to that of the next. The lookup runs beside the bottom MLP's backward
    // pass; its exchange follows the last all-reduce, 20 + 2.2 us after the update, and hides the bottom MLP.
    EXPECT_EQ(period("fused_sparse_dist"), kFromLookup - kLookup);
}

TEST_F(Pipelines, SemiSyncHidesTheForwardExchange) {
    // The next batch's lookup is on the compute stream, its exchange beside the dense backward pass.
    EXPECT_EQ(period("semi_sync"), kBottom + kFromLookup - kPooled);
}

TEST_F(Pipelines, PrefetchWaitsForTheSplitsBeforeItsForwardPass) {
    // They were issued behind the last all-reduce; lengths and values then hide behind bottom MLP and lookup.
    EXPECT_EQ(period("prefetch"), kSplits + kBottom + kFromLookup);
}

TEST_F(Pipelines, ASlowHostIsTheStep) {
    // 41 kernels forward: bottom 2, permutation 9, lookup 8, concatenations 2, interaction 1, top 3, loss 16;
    // 8 of the input; 33 backward: loss 6, top 3, interaction 2, splitting 4, division 1, update 14,
    // bottom 3. Splits, lengths, values, two of pooled values, one all-reduce; waits for indices, for both
    // exchanges of pooled values and for the bucket.
    const Time host = 41 * 50_us + 8 * 100_us + 33 * 40_us + 6 * 80_us + 4 * 4_us + 200_us + 1400_us;
    EXPECT_EQ(
        period("sparse_dist",
               "    host: {forward_launch: 50us, input_launch: 100us, backward_launch: 40us, collective: "
               "80us, wait: 4us, iteration: 200us, batch: 1.4ms}\n"),
        host);
}

TEST_F(Pipelines, AFastHostCostsNothingButItsFirstLaunch) {
    // A launch of 1 ns: the device is behind, and the host runs ahead of it.
    EXPECT_EQ(period("sparse_dist", "    host: {forward_launch: 1ns, backward_launch: 1ns}\n"),
              kBottom + kFromLookup);
}

TEST_F(Pipelines, KernelsHaveALeastTime) {
    // 4 us a kernel: bottom 2 → 10 us as measured; permutation aside; lookup 8 → 32; concatenations 8;
    // interaction 4; top 3 → 30; loss 64; backward loss 24; top's input gradient 1 → 30, weights 2 → 30;
    // interaction 8; splitting 16; division 4; update 14 → 56; bottom 3 → 20.
    const Time device = 10_us + 32_us + kPooled + 8_us + 4_us + 30_us + 64_us + 24_us + 60_us + 8_us + 16_us +
                        kPooled + 4_us + 56_us + 20_us + Time(2'200'000);
    // The permutation of 9 kernels, 36 us on data_dist, is over before the bottom MLP where its indices are.
    EXPECT_EQ(period("sparse_dist", "    kernel: 4us\n"), device);
}

}  // namespace
}  // namespace astrolabe::experiment
