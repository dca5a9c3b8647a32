/// Sharding plans of TorchRec, read and written (planner/torchrec_plan.hpp).
#include "workload/src/dlrm/planner/torchrec_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <astrolabe/workload/components.hpp>

namespace astrolabe::workload::planner {
namespace {

using namespace astrolabe::literals;
using Numbers = std::vector<std::int64_t>;

/// The diagnostics of a plan, or "" and the plan.
std::pair<std::string, ReadPlan> read(const std::string& text) {
    const Result<ConfigNode> root = parse_config(text, "plan.json");
    if (!root) {
        return {render(root.error()), {}};
    }
    ReadContext context;
    std::optional<ReadPlan> plan = read_torchrec_plan(*root, context);
    return {render(context.errors()), plan ? *std::move(plan) : ReadPlan{}};
}

// Five tables on four ranks, two to a host: 100 rows of 8 on rank 1; 60 of 8 in halves on ranks 0 and 3; 10
// of 4 over all, 3, 3, 3 and 1; 8 of 4 on the second host; a copy of 3 of 4 everywhere.
constexpr const char* kPlan = R"({"plan": {"model.ebc": {
 "a": {"sharding_type": "table_wise", "compute_kernel": "fused", "ranks": [1],
       "sharding_spec": {"shards": [{"shard_offsets": [0, 0], "shard_sizes": [100, 8], "placement": "rank:1/cuda:1"}]}},
 "b": {"sharding_type": "column_wise", "compute_kernel": "fused", "ranks": [0, 3],
       "sharding_spec": {"shards": [{"shard_offsets": [0, 0], "shard_sizes": [60, 4], "placement": "rank:0/cuda:0"},
                                    {"shard_offsets": [0, 4], "shard_sizes": [60, 4], "placement": "rank:3/cuda:1"}]}},
 "c": {"sharding_type": "row_wise", "compute_kernel": "fused", "ranks": [0, 1, 2, 3],
       "sharding_spec": {"shards": [{"shard_offsets": [0, 0], "shard_sizes": [3, 4], "placement": "rank:0/cuda:0"},
                                    {"shard_offsets": [3, 0], "shard_sizes": [3, 4], "placement": "rank:1/cuda:1"},
                                    {"shard_offsets": [6, 0], "shard_sizes": [3, 4], "placement": "rank:2/cuda:0"},
                                    {"shard_offsets": [9, 0], "shard_sizes": [1, 4], "placement": "rank:3/cuda:1"}]}},
 "d": {"sharding_type": "table_row_wise", "compute_kernel": "fused", "ranks": [2, 3],
       "sharding_spec": {"shards": [{"shard_offsets": [0, 0], "shard_sizes": [4, 4], "placement": "rank:2/cuda:0"},
                                    {"shard_offsets": [4, 0], "shard_sizes": [4, 4], "placement": "rank:3/cuda:1"}]}},
 "e": {"sharding_type": "data_parallel", "compute_kernel": "dense", "ranks": [0, 1, 2, 3], "sharding_spec": null}
}}})";

class TorchRecPlan : public ::testing::Test {
protected:
    TorchRecPlan() {
        model_.tables = {{.count = 5,
                          .rows = TableValues(Numbers{100, 60, 10, 8, 3}),
                          .dimension = TableValues(Numbers{8, 8, 4, 4, 4})}};
        sharding_.plan = ShardingMethod::kExplicit;
    }
    void import(const ReadPlan& plan) {
        sharding_.plan_file = "plan.json";
        sharding_.imported = plan.tables;
        sharding_.ranks_per_host = plan.ranks_per_host;
    }
    [[nodiscard]] std::vector<std::string> messages(std::size_t ranks) const {
        std::vector<std::string> found;
        for (const ValidationError& error : validation_errors(sharding_, model_, ranks)) {
            EXPECT_EQ(error.key, "sharding.plan_file");
            found.push_back(error.message);
        }
        return found;
    }
    [[nodiscard]] std::vector<TablePlace> places() const {
        return places_of(
            plan_sharding(sharding_, model_, 4, 2, [](std::size_t, std::int64_t, std::int64_t, std::int64_t) {
                return 1_ns;
            }).plan);
    }

    DlrmModel model_;
    Sharding sharding_;
};

TEST_F(TorchRecPlan, IsReadTableByTable) {
    const auto [errors, plan] = read(kPlan);
    ASSERT_EQ(errors, "");
    ASSERT_EQ(plan.tables.size(), 5U);
    EXPECT_EQ(plan.ranks_per_host, 2);
    EXPECT_EQ(plan.tables[1].name, "b");
    EXPECT_EQ(plan.tables[1].rows, 60);
    EXPECT_EQ(plan.tables[1].columns, 8);
    import(plan);
    ASSERT_TRUE(messages(4).empty());
    const std::vector<TablePlace> expected{{.ranks = {1}},
                                           {.sharding = TableSharding::kColumnWise, .ranks = {0, 3}},
                                           {.sharding = TableSharding::kRowWise},
                                           {.sharding = TableSharding::kTableRowWise, .hosts = {1}},
                                           {.sharding = TableSharding::kDataParallel}};
    EXPECT_EQ(places(), expected);
}

TEST_F(TorchRecPlan, WhatIsWrittenReadsBackToTheSamePlaces) {
    model_.tables = {{.count = 7,
                      .rows = TableValues(Numbers{100, 60, 10, 8, 3, 7, 9}),
                      .dimension = TableValues(Numbers{8, 7, 4, 4, 4, 12, 6})}};
    const std::vector<TablePlace> places{{.ranks = {3}},
                                         {.sharding = TableSharding::kColumnWise, .ranks = {0, 3, 1}},
                                         {.sharding = TableSharding::kRowWise},
                                         {.sharding = TableSharding::kTableRowWise, .hosts = {1}},
                                         {.sharding = TableSharding::kDataParallel},
                                         {.sharding = TableSharding::kGrid, .hosts = {1, 0}},
                                         {.sharding = TableSharding::kTableColumnWise, .hosts = {0}}};
    const nlohmann::ordered_json json = torchrec_plan(model_, places, 4, 2);
    const auto& tables = json["plan"]["sparse_arch.embedding_bag_collection"];
    // 7 columns in three: 3, 2, 2. A grid: columns 0 to 5 on ranks 2 and 3, 4 rows of 7 and 3.
    EXPECT_EQ(tables["table_1"]["sharding_spec"]["shards"][1].dump(),
              R"({"shard_offsets":[0,3],"shard_sizes":[60,2],"placement":"rank:3/cuda:1"})");
    EXPECT_EQ(tables["table_5"]["sharding_type"], "grid_shard");
    EXPECT_EQ(tables["table_5"]["ranks"].dump(), "[2,3,0,1]");
    EXPECT_EQ(tables["table_5"]["sharding_spec"]["shards"][1].dump(),
              R"({"shard_offsets":[4,0],"shard_sizes":[3,6],"placement":"rank:3/cuda:1"})");
    const auto [errors, plan] = read(json.dump(2));
    ASSERT_EQ(errors, "");
    import(plan);
    ASSERT_TRUE(messages(4).empty());
    EXPECT_EQ(this->places(), places);
}

TEST_F(TorchRecPlan, ShortFormsAreReadAsWell) {
    const auto [errors, plan] = read(R"({"a": {"sharding_type": "table_wise", "ranks": [2]},
        "b": {"sharding_type": "column_wise", "ranks": [1, 0], "sharding_spec": null}})");
    ASSERT_EQ(errors, "");
    EXPECT_EQ(plan.tables[1].rule.ranks, (Numbers{1, 0}));
    EXPECT_EQ(plan.tables[1].rows, 0);  // it does not say
}

TEST_F(TorchRecPlan, BrokenPlansAreRefusedWithTheLine) {
    const auto expect = [](std::string from, const std::string& to, const std::string& message) {
        std::string text = kPlan;
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
        text.replace(at, from.size(), to);
        const std::string errors = read(text).first;
        EXPECT_NE(errors.find(message), std::string::npos) << errors;
        EXPECT_NE(errors.find("plan.json:" + std::to_string(line)), std::string::npos) << line << "\n"
                                                                                       << errors;
    };
    expect("\"row_wise\"", "\"row_wisely\"", "'row_wisely' is no sharding_type");
    expect("[60, 4], \"placement\": \"rank:0", "[60, 5], \"placement\": \"rank:0",
           "expected offsets [0, 0], sizes [60, 4]");
    expect("\"rank:0/cuda:0\"}", "\"gpu 0\"}", "'gpu 0' is no placement");
    expect("{\"shard_offsets\": [3, 0]", "{\"shard_offsets\": [4, 0]", "expected offsets [3, 0]");
    expect("{\"shard_offsets\": [0, 0], \"shard_sizes\": [100, 8], ", "{", "a shard needs shard_offsets");
    expect("\"rank:3/cuda:1\"}]}},\n \"c\"", "\"rank:2/cuda:1\"}]}},\n \"c\"", "placed on rank 2");
    expect("\"fused\", \"ranks\": [1]", "\"fused_uvm\", \"ranks\": [1]", "compute_kernel 'fused_uvm'");
    EXPECT_NE(read("{}").first.find("no table"), std::string::npos);
    EXPECT_NE(read("{\"a\": ").first, "");
}

TEST_F(TorchRecPlan, MustBeOfTheModelAndTheRanks) {
    import(read(kPlan).second);
    ASSERT_EQ(messages(8).size(), 1U);
    EXPECT_NE(messages(8)[0].find("is row_wise on 4 ranks, and there are 8"), std::string::npos)
        << messages(8)[0];
    model_.tables[0].rows = TableValues(Numbers{100, 61, 10, 8, 3});
    ASSERT_EQ(messages(4).size(), 1U);
    EXPECT_NE(messages(4)[0].find("plan.json:4:"), std::string::npos) << messages(4)[0];
    EXPECT_NE(messages(4)[0].find("has 60 rows of 8"), std::string::npos) << messages(4)[0];
    model_.tables = {{.count = 4, .rows = 100, .dimension = 8}};
    ASSERT_EQ(messages(4).size(), 1U);
    EXPECT_NE(messages(4)[0].find("has 5 tables"), std::string::npos) << messages(4)[0];
    sharding_.plan = ShardingMethod::kRoundRobin;
    EXPECT_NE(messages(4).at(0).find("only the explicit plan"), std::string::npos);
}

/// Through the keys of an experiment: the plan of a search, written and read as explicit, is the same.
TEST(TorchRecPlanFile, APlanThatWasFoundIsReadBack) {
    Registry<Job> registry("workload");
    register_builtin_workloads(registry);
    const Device device{.peak = 60_TFLOPS, .memory_bandwidth = Bandwidth(8'000'000'000'000)};
    constexpr std::size_t kRanks = 8;
    const auto read_job = [&](const std::string& sharding, const std::string& directory) {
        const Result<ConfigNode> node = parse_config(
            "kind: dlrm\nmodel:\n  dense_features: 4\n  bottom_mlp: [8]\n  top_mlp: [1]\n"
            "  interaction: concatenation\n"
            "  tables: {count: 6, rows: [1000, 10, 5000, 80, 3, 20000], dimension: [64, 16, 128, 8, 32, 64], "
            "pooling: [1, 2, 40, 1, 1, 9]}\nbatch: {local: 16}\nsharding: " +
                sharding + "\n",
            directory + "/job.yaml", directory);
        EXPECT_TRUE(node);
        ReadContext context;
        const auto configured = registry.read(*node, context);
        EXPECT_TRUE(configured) << render(context.errors());
        return configured->make();
    };
    const std::filesystem::path directory =
        std::filesystem::temp_directory_path() / ("astrolabe-plan-" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory);
    const Job found = read_job(
        "{plan: planner, search: full, ranks_per_host: 4, link_rate: {inside: 300GB/s, across: 25GB/s}}",
        directory.string());
    ASSERT_TRUE(found.validation_errors(device, kRanks).empty());
    std::ofstream(directory / "plan.json") << found.torchrec_plan(device, kRanks).dump(2);
    const auto again =
        read_job("{plan: explicit, plan_file: plan.json, ranks_per_host: 4}", directory.string());
    EXPECT_TRUE(again.validation_errors(device, kRanks).empty());
    const auto places = [&](const Job& job) {
        return std::get<PlacedTables>(job.tables(device, kRanks)).places;
    };
    EXPECT_EQ(places(again), places(found));
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace astrolabe::workload::planner
