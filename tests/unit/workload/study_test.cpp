/// The numbers of the HOTI 2020 study: docs/theory/hoti20-study.md, "Model", "Lower bounds" and "Profiles".
/// Times are printed there rounded to the nearest unit of their last digit.

#include "study.hpp"

#include "workload/src/dlrm/dlrm_training.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using system::CollectiveKind;
using system::RankId;
using testing::Profile;

constexpr RankId kAnyRank(0);

TrainingPlan plan_of(const Profile& profile) {
    return dlrm_training_plan(profile.model, profile.training, profile.device, profile.ranks);
}

DlrmSummary summary_of(const Profile& profile) {
    return summarise(profile.model, profile.training, profile.device, profile.ranks);
}

Bytes traffic(const DlrmSummary& summary, CollectiveKind kind) {
    return summary.traffic[static_cast<std::size_t>(kind)];
}

/// In units of `unit`, rounded to the nearest.
constexpr std::int64_t rounded(Time time, Time unit) {
    return (time + unit / 2) / unit;
}
constexpr std::int64_t nanoseconds(Time time) {
    return rounded(time, 1_ns);
}

struct MlpRow {
    std::string name;
    std::int64_t nanoseconds;
    std::int64_t bytes;
};

/// Layers `first` … of the plan are exactly the rows: three equal times and an all-reduce.
void expect_mlp_rows(const TrainingPlan& plan, std::size_t first, const std::vector<MlpRow>& rows) {
    ASSERT_EQ(plan.layers.size(), first + rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const TrainingLayer& layer = plan.layers[first + i];
        SCOPED_TRACE(rows[i].name);
        EXPECT_EQ(layer.name, rows[i].name);
        EXPECT_EQ(nanoseconds(layer.forward[kAnyRank]), rows[i].nanoseconds);
        EXPECT_EQ((*layer.input_gradient)[kAnyRank], layer.forward[kAnyRank]);
        EXPECT_EQ((*layer.weight_gradient)[kAnyRank], layer.forward[kAnyRank]);
        EXPECT_FALSE(layer.forward_communication);
        EXPECT_FALSE(layer.input_gradient_communication);
        ASSERT_TRUE(layer.weight_gradient_communication);
        EXPECT_EQ(layer.weight_gradient_communication->kind, CollectiveKind::kAllReduce);
        EXPECT_EQ(layer.weight_gradient_communication->size, Bytes(rows[i].bytes));
        EXPECT_EQ(layer.update_delay, 0_ps);
    }
}

/// Time of the iteration's all-reduces over that of its MLP compute, when each byte crosses a port of `rate`
/// twice (2·S/rate: the double binary tree's bound, and every algorithm's for many ranks;
/// docs/theory/hoti20-study.md, "Lower bounds"). More than 1 cannot be hidden.
double all_reduce_to_compute_ratio(const DlrmSummary& summary, Bandwidth rate) {
    const Bytes size = summary.traffic[static_cast<std::size_t>(system::CollectiveKind::kAllReduce)];
    return to_seconds(2 * size / rate) / to_seconds(summary.mlp_compute);
}

TEST(Study, Section4TableOfPaper128) {
    // Time = 2·512·k·n / 60e12 s, bytes = 2·k·n.
    std::vector<MlpRow> rows{{"Bottom_0", 27962, 3276800}};  // 1600 × 1024
    for (int i = 1; i <= 5; ++i) {
        rows.push_back({"Bottom_" + std::to_string(i), 17896, 2097152});  // 1024 × 1024
    }
    rows.push_back({"Bottom_6", 1118, 131072});  // 1024 × 64
    rows.push_back({"Top_0", 74938, 8781824});   // 2144 × 2048
    for (int i = 1; i <= 10; ++i) {
        rows.push_back({"Top_" + std::to_string(i), 71583, 8388608});  // 2048 × 2048
    }
    rows.push_back({"Top_11", 35, 4096});  // 2048 × 1
    expect_mlp_rows(plan_of(testing::paper128()), 1, rows);
}

TEST(Study, Section4EmbeddingOfPaper128) {
    const TrainingLayer embedding = plan_of(testing::paper128()).layers.front();
    EXPECT_EQ(embedding.name, "Embedding");
    // 65536·60·32 additions, 2 bytes each: 251,658,240 B at 900 GB/s = 279,620.27 ns; the update twice that,
    // 559,240.53 ns (the study doubles the rounded value).
    EXPECT_EQ(embedding.forward[kAnyRank], 279620267_ps);
    EXPECT_EQ((*embedding.weight_gradient)[kAnyRank], 559240534_ps);
    EXPECT_FALSE(embedding.input_gradient);
    ASSERT_TRUE(embedding.forward_communication);
    EXPECT_EQ(embedding.forward_communication->kind, CollectiveKind::kAllToAll);
    EXPECT_EQ(embedding.forward_communication->size, 4194304_B);  // 512·64·64·2
    ASSERT_TRUE(embedding.input_gradient_communication);
    EXPECT_EQ(embedding.input_gradient_communication->kind, CollectiveKind::kAllToAll);
    EXPECT_EQ(embedding.input_gradient_communication->size, 4194304_B);
    EXPECT_FALSE(embedding.weight_gradient_communication);
}

TEST(Study, Section41EmbeddingByFlops) {
    Profile profile = testing::paper128();
    profile.training.embedding_time = EmbeddingTime::kFlops;
    // 125,829,120 additions / 60e12 = 2097.152 ns exactly.
    EXPECT_EQ(plan_of(profile).layers.front().forward[kAnyRank], 2097152_ps);
}

TEST(Study, Section4SumsOfPaper128) {
    const DlrmSummary summary = summary_of(testing::paper128());
    EXPECT_EQ(summary.global_batch, 65536);
    EXPECT_EQ(summary.mlp_parameters, 53282816);
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllReduce), 106565632_B);  // 2 · 53,282,816
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllToAll), 8388608_B);     // 2 · 4,194,304
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllGather), 0_B);
    EXPECT_EQ(traffic(summary, CollectiveKind::kReduceScatter), 0_B);
    EXPECT_EQ(nanoseconds(summary.mlp_compute), 2728080);  // 6·512·53,282,816 / 60e12 s

    Time bottom;
    Time top;
    const TrainingPlan plan = plan_of(testing::paper128());
    for (std::size_t i = 1; i < plan.layers.size(); ++i) {
        (i <= 7 ? bottom : top) += plan.layers[i].forward[kAnyRank];
    }
    EXPECT_EQ(nanoseconds(bottom), 118559);        // 118.559 us
    EXPECT_EQ(nanoseconds(top), 790801);           // 790.801 us
    EXPECT_EQ(nanoseconds(bottom + top), 909360);  // 909.360 us
}

TEST(Study, Section4WithConcatenation) {
    Profile profile = testing::paper128();
    profile.model.interaction = Interaction::kConcatenation;
    EXPECT_EQ(interaction_width(profile.model), 4160);  // 65·64
    const TrainingLayer top = plan_of(profile).layers[8];
    EXPECT_EQ(top.name, "Top_0");
    EXPECT_EQ(nanoseconds(top.forward[kAnyRank]), 145403);
    EXPECT_EQ(top.weight_gradient_communication->size, 17039360_B);
    const DlrmSummary summary = summary_of(profile);
    EXPECT_EQ(nanoseconds(summary.mlp_compute), 2939473);  // 2939.473 us
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllReduce), 114823168_B);
}

TEST(Study, Section41InteractionWork) {
    Profile profile = testing::paper128();
    EXPECT_EQ(512 * interaction_work(profile.model), 276889600);  // 2·65²·64·512
    profile.training.interaction_time = true;
    // 276,889,600 / 60e12 = 4614.83 ns forward, as much backward.
    EXPECT_EQ(nanoseconds(plan_of(profile).layers[8].forward[kAnyRank]), 4615);
    EXPECT_EQ(nanoseconds(summary_of(profile).interaction_compute), 9230);
}

TEST(Study, Section5AllReduceOverCompute) {
    const DlrmSummary summary = summary_of(testing::paper128());
    // (2·2·8/R)/(6·512/F), R = 100 Gb/s, F = 60 TFLOPS: 3.2e-10 / 5.12e-11 = 6.25; 800 Gb/s: 0.78125. Compute
    // is rounded up by less than 1 ps in each of 57 operations: relative 57e-12 / 2.7e-3 = 2.1e-8.
    EXPECT_NEAR(all_reduce_to_compute_ratio(summary, 100_Gbps), 6.25, 6.25 * 2.1e-8);
    EXPECT_NEAR(all_reduce_to_compute_ratio(summary, 800_Gbps), 0.78125, 0.78125 * 2.1e-8);
}

TEST(Study, Section5BoundsThatAreWorkloadNumbers) {
    const DlrmSummary summary = summary_of(testing::paper128());
    const Bytes reduced = traffic(summary, CollectiveKind::kAllReduce);
    const Bytes exchanged = traffic(summary, CollectiveKind::kAllToAll) / 2;
    constexpr Time kDigit = 10_ns;  // the table gives microseconds with two digits
    EXPECT_EQ(rounded(2 * reduced / 100_Gbps, kDigit), 1705050);              // 17 050.50
    EXPECT_EQ(rounded(2 * reduced / 800_Gbps, kDigit), 213131);               // 2 131.31
    EXPECT_EQ(rounded(2 * reduced * 127 / 128 / 100_Gbps, kDigit), 1691729);  // 16 917.29
    EXPECT_EQ(rounded(exchanged * 127 / 128 / 100_Gbps, kDigit), 33292);      // 332.92
    EXPECT_EQ(rounded(exchanged * 127 / 128 / 800_Gbps, kDigit), 4162);       // 41.62
}

TEST(Study, WideGradientsDoubleTheAllReduces) {
    Profile profile = testing::paper128();
    profile.model.gradient_element_size = 4_B;
    const DlrmSummary summary = summary_of(profile);
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllReduce), 213131264_B);
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllToAll), 8388608_B);
    // docs/theory/hoti20-study.md, "Lower bounds".
    EXPECT_NEAR(all_reduce_to_compute_ratio(summary, 100_Gbps), 12.5, 12.5 * 2.1e-8);
}

struct ProfileRow {
    Profile profile;
    std::int64_t interaction;
    std::int64_t all_to_all_bytes;  // one way
    std::int64_t all_reduce_bytes;
    std::int64_t compute;          // of the MLPs per iteration, ns
    std::int64_t all_reduce_time;  // 2S at 100 Gb/s, ns
    double ratio;
};

void expect_profile(const ProfileRow& row) {
    const DlrmSummary summary = summary_of(row.profile);
    EXPECT_EQ(interaction_width(row.profile.model), row.interaction);
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllToAll), Bytes(2 * row.all_to_all_bytes));
    EXPECT_EQ(traffic(summary, CollectiveKind::kAllReduce), Bytes(row.all_reduce_bytes));
    EXPECT_EQ(nanoseconds(summary.mlp_compute), row.compute);
    EXPECT_EQ(nanoseconds(2 * traffic(summary, CollectiveKind::kAllReduce) / 100_Gbps), row.all_reduce_time);
    // Rounding up adds less than 1 ps to each compute operation, at most 57 in 37 us: relative 1.5e-6.
    EXPECT_NEAR(all_reduce_to_compute_ratio(summary, 100_Gbps), row.ratio, row.ratio * 1.5e-6);
}

// Compute = 6·m·parameters/F, all-reduce time = 4·parameters·8/R.
TEST(Study, Section8Paper128) {
    expect_profile({testing::paper128(), 2144, 4194304, 106565632, 2728080, 17050501, 6.25});
}
TEST(Study, Section8Mid32) {
    // 14,844,928 parameters: 3040.241 us, 4750.377 us, 32/100e9 / (6·512/15e12) = 1.5625.
    expect_profile({testing::mid32(), 2144, 4194304, 29689856, 3040241, 4750377, 1.5625});
}
TEST(Study, Section8Mini16) {
    // 1,401,344 parameters: 71.749 us, 448.430 us, 32/100e9 / (6·128/15e12) = 6.25.
    expect_profile({testing::mini16(), 200, 262144, 2802688, 71749, 448430, 6.25});
}
TEST(Study, Section8Mini8) {
    // 197,888 parameters: 37.994 us, 63.324 us, 32/100e9 / (6·128/4e12) = 1.6667.
    expect_profile({testing::mini8(), 100, 131072, 395776, 37994, 63324, 5.0 / 3});
}

TEST(Study, Section8LayersOfMini16) {
    // 2·128·k·n / 15e12 s.
    expect_mlp_rows(plan_of(testing::mini16()), 1,
                    {{"Bottom_0", 1748, 204800},
                     {"Bottom_1", 1118, 131072},
                     {"Bottom_2", 1118, 131072},
                     {"Bottom_3", 280, 32768},
                     {"Top_0", 1748, 204800},
                     {"Top_1", 4474, 524288},
                     {"Top_2", 4474, 524288},
                     {"Top_3", 4474, 524288},
                     {"Top_4", 4474, 524288},
                     {"Top_5", 9, 1024}});
}

}  // namespace
}  // namespace astrolabe::workload
