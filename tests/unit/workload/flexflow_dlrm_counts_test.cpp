/// Counts of the two models of the EuroMLSys 2024 Opera study (docs/theory/opera-dlrm-study.md, "Workloads",
/// "Task graph" and "Traffic").
#include "flexflow_dlrm_study.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::workload {
namespace {

using namespace astrolabe::literals;
using testing::model_a;
using testing::model_i;
using testing::opera_study_training;

constexpr FlexflowReplay kTcpReplay{.packet = Bytes(9000), .least_flow = Bytes(8936)};
constexpr FlexflowReplay kOperaReplay{.packet = Bytes(1500), .least_flow = Bytes(0)};

ReplayTraffic traffic_of_replay(const FlexflowModel& model, std::size_t nodes, const FlexflowReplay& replay) {
    FlexflowTraining training = opera_study_training();
    training.replay = replay;
    return replay_traffic(model, training, nodes);
}

TEST(FlexflowModel, SizesMakeOneLayerLessAndTheFirstTopSizeIsIgnored) {
    FlexflowModel model{.tables = 3, .dimension = 5, .bottom_mlp = {7, 4, 2}, .top_mlp = {9, 6, 1}};
    const std::vector<MlpLayer> bottom = bottom_layers(model);
    ASSERT_EQ(bottom.size(), 2U);
    EXPECT_EQ(bottom[0].name, "Bottom_0");
    EXPECT_EQ(bottom[0].parameters(), 7 * 4);
    EXPECT_EQ(bottom[1].parameters(), 4 * 2);
    const std::vector<MlpLayer> top = top_layers(model);
    ASSERT_EQ(top.size(), 2U);
    EXPECT_EQ(top[0].name, "Top_0");
    EXPECT_EQ(top[0].input_width, 2 + 3 * 5);  // W + T·D
    EXPECT_EQ(top[0].output_width, 6);
    EXPECT_EQ(top[1].parameters(), 6 * 1);
    EXPECT_EQ(dense_parameters(model), (7 + 1) * 4 + (4 + 1) * 2 + (17 + 1) * 6 + (6 + 1) * 1);
    model.top_mlp.front() = 1000;
    EXPECT_EQ(dense_parameters(model), (7 + 1) * 4 + (4 + 1) * 2 + (17 + 1) * 6 + (6 + 1) * 1);
}

TEST(OperaStudyCounts, ShapesOfTheModels) {
    EXPECT_EQ(bottom_layers(model_a()).size(), 19U);
    EXPECT_EQ(top_layers(model_a()).size(), 20U);
    EXPECT_EQ(concatenation_width(model_a()), 83'375);  // 3375 + 1000·80
    EXPECT_EQ(concatenation_width(model_a(40)), 43'375);
    EXPECT_EQ(concatenation_width(model_a(93)), 96'375);
    EXPECT_EQ(bottom_layers(model_i()).size(), 42U);
    EXPECT_EQ(top_layers(model_i()).size(), 43U);
    EXPECT_EQ(concatenation_width(model_i()), 33'894);  // 682 + 361·92
}

TEST(OperaStudyCounts, Parameters) {
    // 37 square layers of 3375·3376, (3375 + T·D + 1)·3375 and 3375 + 1.
    EXPECT_EQ(dense_parameters(model_a()), 702'975'376);
    EXPECT_EQ(dense_parameters(model_a(40)), 567'975'376);
    EXPECT_EQ(dense_parameters(model_a(93)), 746'850'376);
    // 83 square layers of 682·683, 33,895·682 and 682 + 1.
    EXPECT_EQ(dense_parameters(model_i()), 61'778'971);
    EXPECT_EQ(embedding_parameters(model_a()), 800'000'000'000);  // 1000·10^7·80
    EXPECT_EQ(embedding_parameters(model_i()), 332'120'000'000);  // 361·10^7·92
}

TEST(OperaStudyCounts, Tasks) {
    const auto tasks = [](const FlexflowModel& model, std::size_t nodes) {
        return count(model, opera_study_training(), nodes).tasks;
    };
    // 2N(nb+nt+1) + 2T + 2T(N-1) + 2(nb+nt) + T; 34,358 is also in the study's log.
    EXPECT_EQ(tasks(model_a(), 16), 34'358);       // 1280 + 2000 + 30,000 + 78 + 1000
    EXPECT_EQ(tasks(model_a(), 128), 267'318);     // 10,240 + 2000 + 254,000 + 78 + 1000
    EXPECT_EQ(tasks(model_a(), 1024), 2'130'998);  // 81,920 + 2000 + 2,046,000 + 78 + 1000
    EXPECT_EQ(tasks(model_i(), 16), 14'835);       // 2752 + 722 + 10,830 + 170 + 361
    EXPECT_EQ(tasks(model_i(), 128), 114'963);     // 22,016 + 722 + 91,694 + 170 + 361
    EXPECT_EQ(tasks(model_i(), 1024), 915'987);    // 176,128 + 722 + 738,606 + 170 + 361
}

TEST(OperaStudyCounts, Slices) {
    const auto counts = [](const FlexflowModel& model, std::size_t nodes) {
        return count(model, opera_study_training(), nodes);
    };
    // (524,288/N)·80·8 bytes.
    EXPECT_EQ(counts(model_a(), 16).slice, 20'971'520_B);
    EXPECT_EQ(counts(model_a(), 128).slice, 2'621'440_B);
    EXPECT_EQ(counts(model_a(), 1024).slice, 327'680_B);
    EXPECT_EQ(counts(model_a(), 16).slices, 30'000);  // 2·1000·15
    // (524,288/N)·92·8 bytes, 2·361·(N-1) times.
    EXPECT_EQ(counts(model_i(), 16).slice_traffic, 722 * 15 * 24'117'248_B);
    EXPECT_EQ(counts(model_i(), 128).slice_traffic, 722 * 127 * 3'014'656_B);
    EXPECT_EQ(counts(model_i(), 1024).slice_traffic, 722 * 1023 * 376'832_B);
}

TEST(OperaStudyCounts, ShardAndRoundsOfASquareKernel) {
    const Bytes kernel = 3375 * 3375 * 4_B;  // 45,562,500 bytes
    for (const auto& [nodes, shard] :
         {std::pair{16, 2'847'656_B}, std::pair{128, 355'957_B}, std::pair{1024, 44'494_B}}) {
        const ReplayRing ring = replay_ring(kernel, static_cast<std::size_t>(nodes), kTcpReplay);
        EXPECT_EQ(ring.flow, shard);              // ⌊45,562,500/N⌋
        EXPECT_EQ(ring.rounds, 2 * (nodes - 1));  // 30, 254, 2046
    }
}

TEST(ReplayRing, StopsAfterOneRoundAtTheThreshold) {
    // N = 4, m = 100: at least m·N = 400 bytes stay what they are; up to m·2(N-1) = 600 take one round.
    const FlexflowReplay rules{.packet = 100_B, .least_flow = 0_B};
    EXPECT_EQ(replay_ring(600_B, 4, rules).rounds, 1);
    EXPECT_EQ(replay_ring(600_B, 4, rules).flow, 150_B);
    EXPECT_EQ(replay_ring(601_B, 4, rules).rounds, 6);
    EXPECT_EQ(replay_ring(601_B, 4, rules).flow, 150_B);
    // 399 bytes become ⌊399·6/4⌋ = 598, a flow ⌊598/4⌋.
    EXPECT_EQ(replay_ring(399_B, 4, rules).rounds, 1);
    EXPECT_EQ(replay_ring(399_B, 4, rules).flow, 149_B);
    // Not less than N bytes: ⌊4·6/4⌋ = 6, a flow ⌊6/4⌋.
    EXPECT_EQ(replay_ring(1_B, 4, rules).flow, 1_B);
    EXPECT_EQ(replay_ring(1_B, 4, {.packet = 100_B, .least_flow = 90_B}).flow, 90_B);
}

TEST(OperaStudyCounts, PublishedShareOfAllReduceTrafficToEveryDigit) {
    for (const auto& [nodes, all_reduce, slices, share] :
         {std::tuple{16, 84'346'964'480_B, 629'145'600'000_B, 0.11821701960057965},
          std::tuple{128, 714'134'963'712_B, 665'845'760'000_B, 0.5174963326959043},
          std::tuple{1024, 5'752'390'246'400_B, 670'433'280'000_B, 0.8956170479783089}}) {
        const auto n = static_cast<std::size_t>(nodes);
        const ReplayTraffic traffic = traffic_of_replay(model_a(), n, kTcpReplay);
        EXPECT_EQ(traffic.all_reduce, all_reduce) << nodes << " nodes";
        EXPECT_EQ(count(model_a(), opera_study_training(), n).slice_traffic, slices) << nodes << " nodes";
        EXPECT_EQ(traffic.all_reduce_share, share) << nodes << " nodes";
    }
}

TEST(OperaStudyCounts, RingTrafficOfModelITensorByTensor) {
    const auto bytes = [](std::size_t nodes, const FlexflowReplay& rules) {
        return traffic_of_replay(model_i(), nodes, rules).all_reduce;
    };
    // 83 kernels of 682²·4 = 1,860,496 bytes, one of 33,894·682·4 = 92,462,832; 85 biases and the last kernel
    // have at most 2728 bytes and take one round.
    // 16 nodes: 1,860,496 > 9000·30, so 30 rounds.
    EXPECT_EQ(bytes(16, kTcpReplay), 16 * (83 * 30 * 116'281_B + 30 * 5'778'927_B + 86 * 8936_B));
    // 128 nodes: 9000·128 <= 1,860,496 <= 9000·254: the square kernels go around once only.
    EXPECT_EQ(bytes(128, kTcpReplay), 128 * (83 * 14'535_B + 254 * 722'365_B + 86 * 8936_B));
    // 1024 nodes: 1,860,496 < 9000·1024 becomes ⌊1,860,496·2046/1024⌋ = 3,717,358, ⌊/1024⌋ = 3630 < 8936.
    EXPECT_EQ(bytes(1024, kTcpReplay), 1024 * (83 * 8936_B + 2046 * 90'295_B + 86 * 8936_B));
    // Opera's packets of 1500 bytes, no least flow, 128 nodes: 1,860,496 > 1500·254, so all 254 rounds; 2728
    // becomes ⌊2728·254/128⌋ = 5413, a flow of 42; the last bias is taken as 128 bytes: 254, a flow of 1.
    EXPECT_EQ(bytes(128, kOperaReplay), 128 * (83 * 254 * 14'535_B + 254 * 722'365_B + 85 * 42_B + 1 * 1_B));
}

TEST(OperaStudyCounts, WithoutRoundingTheShareIsALittleLarger) {
    // 2(N-1)·4·P bytes; of them Model-A's rounding loses 0.012 to 0.014 %: floors of shards, biases once
    // around only.
    for (const std::size_t nodes : {16, 128, 1024}) {
        const FlexflowCounts counts = count(model_a(), opera_study_training(), nodes);
        const ReplayTraffic replay = traffic_of_replay(model_a(), nodes, kTcpReplay);
        EXPECT_EQ(counts.all_reduce, 2 * (static_cast<std::int64_t>(nodes) - 1) * 702'975'376 * 4_B);
        EXPECT_LT(replay.all_reduce, counts.all_reduce);
        EXPECT_GT(static_cast<double>(replay.all_reduce.count()),
                  0.9998 * static_cast<double>(counts.all_reduce.count()));
        EXPECT_LT(replay.all_reduce_share, counts.all_reduce_share);
        EXPECT_NEAR(replay.all_reduce_share, counts.all_reduce_share, 4e-5);
    }
}

TEST(OperaStudyCounts, OneNodeSendsNothing) {
    const FlexflowCounts counts = count(model_a(), opera_study_training(), 1);
    EXPECT_EQ(counts.slice_traffic + counts.all_reduce, 0_B);
    EXPECT_EQ(counts.all_reduce_share, 0.0);
    EXPECT_EQ(traffic_of_replay(model_a(), 1, kTcpReplay).all_reduce, 0_B);
}

/// The task graph (docs/theory/opera-dlrm-study.md, "Task graph") written out, one name a task.
std::set<std::string> explicit_tasks(std::size_t bottom, std::size_t top, std::int64_t tables,
                                     std::int64_t nodes) {
    std::set<std::string> tasks;
    const auto dense = [&](const std::string& layer) {
        for (std::int64_t node = 0; node < nodes; ++node) {
            tasks.insert(fmt::format("{} forward on {}", layer, node));
            tasks.insert(fmt::format("{} backward on {}", layer, node));
        }
    };
    const auto dense_layers = [&](const std::string& mlp, std::size_t layers) {
        for (std::size_t layer = 0; layer < layers; ++layer) {
            dense(fmt::format("{} {}", mlp, layer));
            tasks.insert(fmt::format("all-reduce of {} {}, kernel", mlp, layer));
            tasks.insert(fmt::format("all-reduce of {} {}, bias", mlp, layer));
        }
    };
    dense_layers("bottom", bottom);
    dense("concatenation");
    dense_layers("top", top);
    for (std::int64_t table = 0; table < tables; ++table) {
        const std::int64_t owner = table % nodes;
        tasks.insert(fmt::format("table {} forward on {}", table, owner));
        tasks.insert(fmt::format("table {} backward on {}", table, owner));
        tasks.insert(fmt::format("all-reduce of table {}", table));
        for (std::int64_t node = 0; node < nodes; ++node) {
            if (node != owner) {
                tasks.insert(fmt::format("slice of table {} to {}", table, node));
                tasks.insert(fmt::format("gradients of table {} from {}", table, node));
            }
        }
    }
    return tasks;
}

RC_GTEST_PROP(FlexflowCounts, TasksAreThoseOfTheGraphWrittenOut, ()) {
    const auto tables = *rc::gen::inRange<std::int64_t>(1, 30);
    const auto nodes = *rc::gen::inRange<std::int64_t>(1, 12);
    const auto bottom = *rc::gen::inRange<std::size_t>(1, 6);
    const auto top = *rc::gen::inRange<std::size_t>(1, 6);
    FlexflowModel model{.tables = tables, .dimension = 4};
    model.bottom_mlp.assign(bottom + 1, 3);
    model.top_mlp.assign(top + 1, 3);
    FlexflowTraining training;
    training.batch = 8 * nodes;
    RC_ASSERT(count(model, training, static_cast<std::size_t>(nodes)).tasks ==
              static_cast<std::int64_t>(explicit_tasks(bottom, top, tables, nodes).size()));
}

}  // namespace
}  // namespace astrolabe::workload
