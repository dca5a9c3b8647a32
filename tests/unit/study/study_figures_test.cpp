/// Figures of a study: that they say what the store says (report.hpp).
#include "made_up_study.hpp"

#include <algorithm>
#include <filesystem>

#include <astrolabe/core/limits.hpp>

namespace astrolabe::study {
namespace {

TEST_F(StudyFigures, IterationTimesAreThoseOfTheStore) {
    add_grid();
    const Figure drawn = figure("iteration_time");
    EXPECT_EQ(drawn.columns, (std::vector<std::string>{"network", "cluster.ranks", "iteration_time_s"}));
    // Networks in the study's order, scales ascending.
    EXPECT_EQ(drawn.rows,
              (Rows{{"flat", "4", 4.0}, {"flat", "16", 8.0}, {"torus", "4", 2.0}, {"torus", "16", 1.0}}));
    EXPECT_EQ(drawn.chart["series"], 0);
    EXPECT_EQ(drawn.chart["x"], 1);
    EXPECT_TRUE(drawn.chart["panels"].empty());
    EXPECT_TRUE(drawn.chart["axis"]["log"]);
}

TEST_F(StudyFigures, SpeedUpsAreRatiosToTheBaseline) {
    add_grid();
    // Flat is first: 4/4 and 8/8, then 4/2 and 8/1.
    EXPECT_EQ(figure("speed_up").rows,
              (Rows{{"flat", "4", 1.0}, {"flat", "16", 1.0}, {"torus", "4", 2.0}, {"torus", "16", 8.0}}));
    // 2/4 and 1/8, then 1.
    EXPECT_EQ(figure("speed_up", {.baseline = "network=torus"}).rows,
              (Rows{{"flat", "4", 0.5}, {"flat", "16", 0.125}, {"torus", "4", 1.0}, {"torus", "16", 1.0}}));
    // Of a scale: 4/4 and 4/8, 2/2 and 2/1.
    EXPECT_EQ(figure("speed_up", {.baseline = "4"}).rows,
              (Rows{{"flat", "4", 1.0}, {"flat", "16", 0.5}, {"torus", "4", 1.0}, {"torus", "16", 2.0}}));
}

TEST_F(StudyFigures, ABaselineThatIsNoneIsRefused) {
    add_grid();
    const auto drawn = report({"speed_up"}, {.baseline = "tours"});
    ASSERT_FALSE(drawn);
    EXPECT_EQ(drawn.error()[0].code, "report.baseline");
    EXPECT_EQ(drawn.error()[0].hint, "did you mean 'torus'?");
}

TEST_F(StudyFigures, APointWhoseBaselineFailedHasNoSpeedUp) {
    add({{"network", "flat"}, {"cluster.ranks", 4}}, std::nullopt);
    add({{"network", "flat"}, {"cluster.ranks", 16}}, 6);
    add({{"network", "torus"}, {"cluster.ranks", 4}}, 2, kTorus);
    add({{"network", "torus"}, {"cluster.ranks", 16}}, 3, kTorus);
    EXPECT_EQ(figure("speed_up").rows, (Rows{{"flat", "16", 1.0}, {"torus", "16", 2.0}}));
}

TEST_F(StudyFigures, SeedsAreAveragedWithTheirRange) {
    add({{"network", "flat"}, {"seed", 1}}, 1);
    add({{"network", "flat"}, {"seed", 2}}, 3);
    add({{"network", "torus"}, {"seed", 1}}, 5, kTorus);
    add({{"network", "torus"}, {"seed", 2}}, 5, kTorus);
    const Figure drawn = figure("iteration_time");
    EXPECT_EQ(drawn.columns,
              (std::vector<std::string>{"network", "iteration_time_s", "iteration_time_s_least",
                                        "iteration_time_s_greatest", "seeds"}));
    // (1 + 3) / 2, from 1 to 3.
    EXPECT_EQ(drawn.rows, (Rows{{"flat", 2.0, 1.0, 3.0, 2}, {"torus", 5.0, 5.0, 5.0, 2}}));
}

TEST_F(StudyFigures, WhereNothingIsRandomTheySayDeterministic) {
    for (const int seed : {1, 2}) {
        add({{"network", "flat"}, {"seed", seed}}, 1);
        add({{"network", "torus"}, {"seed", seed}}, 5, kTorus);
    }
    const auto note = [this] {
        folder_.emplace();
        return figure("iteration_time").note;
    };
    EXPECT_EQ(note().find("eterministic"), std::string::npos);  // nothing is known
    for (StoredResult& result : results_) {
        result.summary["randomness"] = Json::array();
    }
    EXPECT_NE(note().find("Deterministic: nothing is random"), std::string::npos);
    results_.back().summary["randomness"] = {"network.paths"};
    EXPECT_NE(note().find("error bars"), std::string::npos);
    EXPECT_NE(note().find("Deterministic in 3 of 4 points"), std::string::npos);
}

TEST_F(StudyFigures, WhatFollowsFromOtherParametersIsNoDimension) {
    // Hosts go with ranks, and what is derived with both.
    for (const int ranks : {4, 8}) {
        for (const char* network : {"flat", "torus"}) {
            add({{"network", network},
                 {"cluster.ranks", ranks},
                 {"network.hosts", ranks},
                 {"each", 64 / ranks}},
                ranks);
        }
    }
    const auto drawn = report({"iteration_time"});
    ASSERT_TRUE(drawn);
    ASSERT_EQ(drawn->dimensions.size(), 2U);
    EXPECT_EQ(drawn->dimensions[0]["name"], "network");
    EXPECT_EQ(drawn->dimensions[1]["name"], "cluster.ranks");
}

TEST_F(StudyFigures, TheNetworkStandsForWhatGoesWithIt) {
    add({{"cluster", "A"}, {"network", "flat"}}, 1);
    add({{"cluster", "B"}, {"network", "torus"}}, 2, kTorus);
    EXPECT_EQ(figure("iteration_time").rows, (Rows{{"flat", 1.0}, {"torus", 2.0}}));
}

TEST_F(StudyFigures, QuantitiesAreOrderedByWhatTheyAre) {
    add({{"network.link.rate", "1Tbps"}}, 1);
    add({{"network.link.rate", "50Gbps"}}, 2);
    add({{"network.link.rate", "100Gbps"}}, 3);
    const auto drawn = report({"curves"});
    ASSERT_TRUE(drawn);
    EXPECT_EQ(drawn->dimensions[0]["values"], (Json{"50Gbps", "100Gbps", "1Tbps"}));
    EXPECT_EQ(drawn->dimensions[0]["numbers"], (Json{50e9, 100e9, 1e12}));
    EXPECT_EQ(drawn->figures[0].rows, (Rows{{"50Gbps", 2.0}, {"100Gbps", 3.0}, {"1Tbps", 1.0}}));
}

TEST_F(StudyFigures, QuantitiesOfEveryKindAreNumbers) {
    const auto numbers = [&](const std::vector<std::string>& values) {
        clear();
        for (const std::string& value : values) {
            add({{"it", value}}, 1);
        }
        const auto drawn = report({"iteration_time"});
        EXPECT_TRUE(drawn);
        return drawn ? drawn->dimensions[0]["numbers"] : Json();
    };
    // Ascending; seconds and bytes have no prefix, and zero needs no unit.
    EXPECT_EQ(numbers({"1us", "0", "500ns"}), (Json{0.0, 500e-9, 1e-6}));
    EXPECT_EQ(numbers({"64MB", "32MB"}), (Json{32e6, 64e6}));
    EXPECT_EQ(numbers({"15TFLOPS", "0", "312TFLOP/s"}), (Json{0.0, 15e12, 312e12}));
    EXPECT_EQ(numbers({"2GFLOP", "1GFLOP"}), (Json{1e9, 2e9}));
    // A byte is no second, and one is neither.
    EXPECT_EQ(numbers({"1us", "1MB"}), Json());
    EXPECT_EQ(numbers({"0", "1", "500ns"}), Json());
    EXPECT_EQ(numbers({"0B", "500ns"}), Json());
}

TEST_F(StudyFigures, ABreakdownSumsToTheIteration) {
    add_grid();
    const Figure drawn = figure("breakdown");
    EXPECT_EQ(drawn.columns,
              (std::vector<std::string>{"network", "cluster.ranks", "compute_s", "exposed_s.a.all_reduce",
                                        "exposed_s.b.all_to_all", "drain_s"}));
    ASSERT_EQ(drawn.rows.size(), 4U);
    // 4 s in four parts: the run's halves over two iterations.
    EXPECT_EQ(drawn.rows[0], (std::vector<Json>{"flat", "4", 1.0, 1.0, 1.0, 1.0}));
}

TEST_F(StudyFigures, ManyCausesOfWaitingGoByKind) {
    add({{"network", "flat"}}, 4);
    Json& exposed = results_[0].summary["exposed_s"];
    exposed = Json::object();
    for (int i = 0; i < 7; ++i) {
        exposed[fmt::format("layer {}", i)] = 4.0 / 7;
    }
    const Figure drawn = figure("breakdown");
    // Half a run's seconds for each kind, over two iterations.
    EXPECT_EQ(drawn.columns.size(), 4U);
    EXPECT_EQ(drawn.rows, (Rows{{1.0, 1.0, 1.0, 1.0}}));
}

TEST_F(StudyFigures, TrafficLeavesOutWhatMakesNoDifference) {
    add_grid();
    results_[0].summary["traffic_bytes"]["all_reduce"] = 2000;  // both networks at 16 ranks
    results_[2].summary["traffic_bytes"]["all_reduce"] = 2000;
    const Figure drawn = figure("traffic");
    EXPECT_EQ(drawn.columns,
              (std::vector<std::string>{"cluster.ranks", "all_reduce_bytes", "all_to_all_bytes"}));
    // Of two iterations, the bytes of one.
    EXPECT_EQ(drawn.rows, (Rows{{"4", 300.0, 100.0}, {"16", 1000.0, 100.0}}));
    EXPECT_NE(drawn.note.find("network"), std::string::npos) << drawn.note;
}

TEST_F(StudyFigures, TheFrontIsWhatNothingBeatsInBoth) {
    add_grid();
    const Figure drawn = figure("pareto");
    EXPECT_EQ(drawn.columns, (std::vector<std::string>{"network", "cluster.ranks", "network_cost_usd",
                                                       "iteration_time_s", "on_front"}));
    EXPECT_EQ(drawn.chart["groups"], Json({1}));  // one panel
    ASSERT_EQ(drawn.rows.size(), 4U);
    const auto cost = [&](std::size_t row) { return drawn.rows[row][2].get<double>(); };
    // One network costs the same at any scale of the job; the dearer one is on the front only where it is
    // faster.
    EXPECT_EQ(cost(0), cost(1));
    EXPECT_EQ(cost(2), cost(3));
    EXPECT_NE(cost(0), cost(2));
    for (const std::size_t row : {0U, 1U}) {
        const bool flat_is_cheaper = cost(0) < cost(2);
        EXPECT_EQ(drawn.rows[row][4], flat_is_cheaper ? 1 : 0);  // the torus is faster at both scales
        EXPECT_EQ(drawn.rows[row + 2][4], 1);
    }
}

TEST_F(StudyFigures, ABudgetBuysTheFastestThatItCanPay) {
    // Three flat networks that cost more and more; the second is dearer than the first and no faster.
    const auto flat = [](const char* rate) {
        return fmt::format(
            "network: {{kind: flat, hosts: 4, link: {{rate: {}, latency: 500ns}}, switch_buffer: 1GB}}\n",
            rate);
    };
    add({{"network", "flat"}, {"network.link.rate", "10Gbps"}}, 4, flat("10Gbps"));
    add({{"network", "flat"}, {"network.link.rate", "100Gbps"}}, 5, flat("100Gbps"));
    add({{"network", "flat"}, {"network.link.rate", "400Gbps"}}, 2, flat("400Gbps"));
    add({{"network", "torus"}, {"network.link.rate", "10Gbps"}}, 8, flat("400Gbps"));
    const Figure drawn = figure("equal_cost");
    EXPECT_EQ(drawn.columns, (std::vector<std::string>{"network", "network.link.rate", "budget_usd",
                                                       "least_iteration_time_s", "over_best"}));
    ASSERT_EQ(drawn.rows.size(), 3U);
    const auto cost = [&](std::size_t row) { return drawn.rows[row][2].get<double>(); };
    EXPECT_LT(cost(0), cost(1));
    EXPECT_EQ(drawn.rows[0][1], "10Gbps");
    EXPECT_EQ(drawn.rows[1][1], "400Gbps");
    EXPECT_EQ(drawn.rows[1][4], 1.0);
    // For the price of the dearest flat network the other one takes 8 s where 2 s can be had.
    EXPECT_EQ(drawn.rows[2][0], "torus");
    EXPECT_EQ(cost(2), cost(1));
    EXPECT_EQ(drawn.rows[2][3], 8.0);
    EXPECT_EQ(drawn.rows[2][4], 4.0);
}

TEST_F(StudyFigures, NetworksOfOnePriceAreComparedAtEqualPrice) {
    add({{"network", "flat"}}, 4);
    add({{"network", "other"}}, 2);  // the same parts
    EXPECT_NE(figure("pareto").note.find("at equal price"), std::string::npos);
    add({{"network", "torus"}}, 2, kTorus);
    folder_.emplace();
    EXPECT_EQ(figure("pareto").note.find("at equal price"), std::string::npos);
}

TEST_F(StudyFigures, CollectivesHaveCountsSizesAndShares) {
    add_grid();
    const Figure drawn = figure("collectives");
    EXPECT_EQ(drawn.columns, (std::vector<std::string>{"kind", "count", "bytes", "bytes_of_one", "share"}));
    // Of two iterations: 20 all-reduces of 600 bytes, 4 all-to-alls of 200; 600 of 800 are three quarters.
    EXPECT_EQ(drawn.rows,
              (Rows{{"all_reduce", 10.0, 300.0, 30.0, 0.75}, {"all_to_all", 2.0, 100.0, 50.0, 0.25}}));
    EXPECT_NE(drawn.note.find("the same whatever these are: network, ranks."), std::string::npos)
        << drawn.note;
}

TEST_F(StudyFigures, ParametersAreCalledInWordsWithTheirUnits) {
    for (const char* rate : {"100Gbps", "400Gbps"}) {
        for (const int batch : {512, 1024}) {
            for (const char* mode : {"a", "b"}) {
                add({{"network.link.rate", rate},
                     {"workload.batch.global", batch},
                     {"network.new_mode", mode}},
                    batch);
            }
        }
    }
    const auto drawn = report({"iteration_time"});
    ASSERT_TRUE(drawn);
    const Json& dimensions = drawn->dimensions;
    const auto said = [&](std::size_t i) {
        return std::pair(dimensions[i]["label"].get<std::string>(), dimensions[i]["unit"].get<std::string>());
    };
    EXPECT_EQ(said(0), std::pair(std::string("link rate"), std::string("bit/s")));  // of the values
    EXPECT_EQ(said(1), std::pair(std::string("global batch"), std::string("samples")));
    EXPECT_EQ(said(2), std::pair(std::string("new mode"), std::string()));  // no key of the list: its path
}

TEST_F(StudyFigures, KindsOfNetworksAreThoseOfTheProgramInAnyStudy) {
    const auto kinds = [&] {
        const auto drawn = report({"iteration_time"});
        EXPECT_TRUE(drawn);
        return drawn->dimensions[0]["kinds"];
    };
    const std::vector<std::string> names = components_.networks.names();
    const auto place = [&](const char* name) {
        return std::find(names.begin(), names.end(), name) - names.begin();
    };
    add({{"network", "mine"}}, 4, kTorus);
    add({{"network", "yours"}}, 2, kFlat);
    add({{"network", "failed"}}, std::nullopt);
    EXPECT_EQ(kinds(), (Json{place("torus"), place("flat"), nullptr}));
    clear();
    // Whatever it is called and wherever it stands; one over another is of the other's kind.
    add({{"network", "first"}}, 2, kFlat);
    add({{"network", "over"}}, 4,
        "network: {kind: servers, servers: {count: 2}, scale_out: {kind: torus, sizes: [2]}}\n");
    EXPECT_EQ(kinds(), (Json{place("flat"), place("torus")}));
    clear();
    add({{"cluster.ranks", 4}}, 2);
    add({{"cluster.ranks", 8}}, 2);
    EXPECT_EQ(kinds(), Json());
}

TEST_F(StudyFigures, ANetworkWithoutAPriceIsLeftOutWithTheReason) {
    add({{"network", "flat"}}, 4, "network: {kind: flat, hosts: nobody}\n");
    add({{"network", "torus"}}, 2, kTorus);
    const Figure drawn = figure("pareto");
    EXPECT_EQ(drawn.rows.size(), 1U);
    EXPECT_NE(drawn.note.find("Left out, for want of a price: "), std::string::npos) << drawn.note;
}

/// Nothing but a name.
struct NoParameters {};

TEST_F(StudyFigures, ANetworkThatIsBuiltForAJobHasACostForEachJob) {
    const network::FabricMaker maker([](const network::Demand& demand, std::uint64_t) -> ValidationErrors {
        return {{"", fmt::format("there is none for {} servers", demand.servers), ""}};
    });
    components_.networks.add<NoParameters>({"made_to_measure", "a network for one job"},
                                           [maker](const NoParameters&) { return maker; });
    for (const int ranks : {2, 4}) {
        add({{"network", "made"}, {"cluster.ranks", ranks}}, 4,
            fmt::format(R"(schema: astrolabe/1
workload:
  kind: dlrm
  model: {{dense_features: 16, bottom_mlp: [32, 8], top_mlp: [32, 1], tables: {{count: 4, rows: 100, dimension: 8, pooling: 2}}}}
  batch: {{global: 64}}
  dense_feature_gradient: true
cluster: {{ranks: {}, device: {{kind: roofline, peak: 1TFLOPS, memory_bandwidth: 100GB/s}}}}
network: {{kind: made_to_measure}}
backend: {{kind: fluid}}
)",
                        ranks));
    }
    add({{"network", "flat"}, {"cluster.ranks", 4}}, 2);
    const Figure drawn = figure("pareto");
    EXPECT_EQ(drawn.rows.size(), 1U);
    // The same network twice, for two jobs.
    for (const char* reason : {"there is none for 2 servers", "there is none for 4 servers"}) {
        EXPECT_NE(drawn.note.find(reason), std::string::npos) << drawn.note;
    }
}

TEST_F(StudyFigures, BoundsAndLinksComeFromTheSummary) {
    add_grid();
    // The bound is a quarter of the time.
    for (const auto& row : figure("above_bound").rows) {
        EXPECT_EQ(row[2], 4.0);
    }
    for (const auto& row : figure("utilization").rows) {
        EXPECT_EQ(row[2], 0.25);
        EXPECT_EQ(row[3], 0.5);
    }
}

TEST_F(StudyFigures, WhatIsDrawnUnaskedDependsOnWhatVaries) {
    const auto names = [&] {
        std::vector<std::string> drawn;
        const auto made = report({});
        EXPECT_TRUE(made);
        for (const Figure& one : made->figures) {
            drawn.push_back(one.name);
        }
        return drawn;
    };
    add({}, 4);
    EXPECT_EQ(names(), (std::vector<std::string>{"iteration_time", "breakdown", "above_bound", "utilization",
                                                 "collectives"}));
    clear();
    for (const int ranks : {4, 8, 16}) {
        add({{"network", "flat"}, {"cluster.ranks", ranks}}, ranks);
        add({{"network", "torus"}, {"cluster.ranks", ranks}}, ranks, kTorus);
    }
    EXPECT_EQ(names(), (std::vector<std::string>{"iteration_time", "speed_up", "breakdown", "pareto",
                                                 "above_bound", "utilization"}));
    // Six at most, those first that more people ask for.
    clear();
    for (const int ranks : {4, 8, 16}) {
        for (const int batch : {64, 128, 256}) {
            add({{"network", "flat"}, {"cluster.ranks", ranks}, {"workload.batch.global", batch}}, ranks);
            add({{"network", "torus"}, {"cluster.ranks", ranks}, {"workload.batch.global", batch}}, ranks,
                kTorus);
        }
    }
    EXPECT_EQ(names(), (std::vector<std::string>{"iteration_time", "speed_up", "breakdown", "pareto",
                                                 "heatmap", "above_bound"}));
}

TEST_F(StudyFigures, SlowdownsOfFlowsAreDrawnOverTheLoad) {
    for (const double load : {0.1, 0.3, 0.5}) {
        for (const char* network : {"flat", "torus"}) {
            add({{"network", network}, {"workload.load", load}}, 1, network[0] == 'f' ? kFlat : kTorus);
            const double slowdown = network[0] == 'f' ? 1 + load : 1 + 2 * load;
            const Json times{{"mean", 1.0}, {"p50", 1.0}, {"p99", 1.0}};
            results_.back().summary["flows"] = {
                {"started", 4},
                {"delivered", 4},
                {"all", {{"time_s", times}, {"slowdown", {{"mean", 1.0}, {"p50", 1.0}, {"p99", slowdown}}}}}};
        }
    }
    const auto drawn = report({});
    ASSERT_TRUE(drawn);
    ASSERT_EQ(drawn->figures.size(), 2U);
    EXPECT_EQ(drawn->figures[0].name, "flow_slowdown");
    EXPECT_EQ(drawn->figures[1].name, "utilization");
    EXPECT_EQ(drawn->figures[0].rows, (Rows{{"flat", "0.1", 1.1},
                                            {"flat", "0.3", 1.3},
                                            {"flat", "0.5", 1.5},
                                            {"torus", "0.1", 1.2},
                                            {"torus", "0.3", 1.6},
                                            {"torus", "0.5", 2.0}}));
    EXPECT_EQ(drawn->figures[0].chart["form"], "lines");
    EXPECT_EQ(drawn->figures[0].chart["x"], 1);
    EXPECT_EQ(drawn->figures[0].chart["series"], 0);
}

TEST_F(StudyFigures, WhatCannotBeDrawnSaysWhy) {
    add({}, 4);
    const auto drawn = report({"speed_up", "curves", "heatmap", "pareto", "gantt", "piechart"});
    ASSERT_TRUE(drawn);
    EXPECT_TRUE(drawn->figures.empty());
    ASSERT_EQ(drawn->omitted.size(), 6U);
    for (const auto& [name, why] : drawn->omitted) {
        EXPECT_FALSE(why.empty()) << name;
    }
}

TEST_F(StudyFigures, AStudyWithoutAFinishedPointIsRefused) {
    add({{"network", "flat"}}, std::nullopt);
    const auto drawn = report({});
    ASSERT_FALSE(drawn);
    EXPECT_EQ(drawn.error()[0].code, "report.empty");
    EXPECT_NE(drawn.error()[0].message.find("1 failed, 0 missing; point 1: no route"), std::string::npos)
        << drawn.error()[0].message;
}

TEST_F(StudyFigures, ResultsThatLackSomethingAreRefused) {
    const auto code = [&](const std::string& figure) {
        const auto drawn = report({figure});
        return drawn ? "" : drawn.error()[0].code;
    };
    add({{"network", "flat"}}, 4);
    results_[0].summary.erase("iteration_time_s");
    EXPECT_EQ(code("traffic"), "report.results");
    clear();
    add({{"network", "flat"}}, 4);
    for (int i = 0; i < 7; ++i) {
        results_[0].summary["exposed_s"][fmt::format("layer {}", i)] = 1.0;  // so that they go by kind
    }
    results_[0].summary["collectives"][0].erase("kind");
    EXPECT_EQ(code("breakdown"), "report.results");
    clear();
    add({{"network", "flat"}}, 4);
    results_[0].summary["exposed_s"] = {{"a.all_reduce", "long"}};  // which the page shows, whatever is drawn
    EXPECT_EQ(code("utilization"), "report.results");
    clear();
    add({{"network", "flat"}}, 4);
    results_[0].summary.erase("total_time_s");
    results_[0].details["ranks"] = R"({"all": 1, "step": 1, "rows": []})";
    EXPECT_EQ(code("ranks"), "report.results");
}

TEST_F(StudyFigures, FoldersWithoutResultsAreRefused) {
    const auto missing = read_report(folder_->path() / "nowhere", {}, components_);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error()[0].code, "report.folder");
    const auto empty = read_report(folder_->path(), {}, components_);
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error()[0].code, "report.folder");
    folder_->write("summary.json", "{\"name\": 3}");
    const auto broken = read_report(folder_->path(), {}, components_);
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error()[0].code, "report.summary");
}

TEST_F(StudyFigures, AFolderOfARunThatIsMoreThanARunWritesIsRefusedByItsFile) {
    const auto message = [&] {
        const auto drawn = read_report(folder_->path(), {}, components_);
        return drawn ? "" : drawn.error()[0].message;
    };
    const auto says = [&](const std::string& what) { return message().find(what) != std::string::npos; };
    const std::string nested =
        std::string(limits::kNesting + 1, '[') + std::string(limits::kNesting + 1, ']');
    folder_->write("summary.json", nested);
    EXPECT_TRUE(says("summary.json' has more than 100 lists and objects inside each other")) << message();
    const std::filesystem::path summary = folder_->path() / "summary.json";
    std::filesystem::resize_file(summary,
                                 limits::kTotalBytes + 1);  // 256 MiB = 268,435,456 bytes, none on disk
    EXPECT_TRUE(says("summary.json' has 268435457 bytes, expected at most 268435456")) << message();
    folder_->write("summary.json", summary_of(1).dump());
    EXPECT_EQ(message(), "");
    const std::filesystem::path table = folder_->write("operations.csv", "");
    std::filesystem::resize_file(table, limits::kTableBytes + 1);  // 256 MiB = 268,435,456 bytes
    EXPECT_TRUE(says("operations.csv' has 268435457 bytes, expected at most 268435456")) << message();
    // The first line is the header.
    folder_->write("operations.csv", std::string(limits::kTableRows + 2, '\n'));
    EXPECT_TRUE(says("operations.csv' has more than 4000000 rows")) << message();
}

TEST_F(StudyFigures, TablesOfARunAreReadWithQuotesAndWithoutTheirLastHalfLine) {
    folder_->write("summary.json", summary_of(1).dump());
    folder_->write("operations.csv",
                   "iteration,operation,kind,issue_s,start_s,finish_s\n"
                   "0,\"a \"\"b\"\",\nc\",compute,0,0.5,1\n"
                   "-1,d\n"
                   "0,e,compute,0,0,");
    const auto drawn = read_report(folder_->path(), {}, components_);
    ASSERT_TRUE(drawn) << render(drawn.error());
    const auto tasks = std::find_if(drawn->figures.begin(), drawn->figures.end(),
                                    [](const Figure& figure) { return figure.name == "tasks"; });
    ASSERT_NE(tasks, drawn->figures.end());
    ASSERT_EQ(tasks->rows.size(), 2U);
    const std::string rows = Json(tasks->rows).dump();
    EXPECT_NE(rows.find(R"(a \"b\",\nc)"), std::string::npos) << rows;
    EXPECT_NE(rows.find("0.5"), std::string::npos) << rows;
}

TEST_F(StudyFigures, OneOfSeveralStudiesMustBeChosen) {
    add_grid();
    ASSERT_TRUE(report({}));
    study_.name = "t";
    const auto both = report({});
    ASSERT_FALSE(both);
    EXPECT_EQ(both.error()[0].code, "report.study");
    EXPECT_TRUE(report({}, {.study = "t"}));
    EXPECT_FALSE(report({}, {.study = "u"}));
}

TEST(FigureTable, IsQuotedAndHasNoFormulas) {
    // RFC 4180: quotes are doubled within quotes. A number may begin with a sign, a text may not.
    EXPECT_EQ(to_csv({"a", "b,c"}, {{"x\"y", 0.5}, {"=1+1", nullptr}, {"-1", 3}, {"line\nbreak", "@home"}}),
              "a,\"b,c\"\n\"x\"\"y\",0.5\n'=1+1,\n-1,3\n\"line\nbreak\",'@home\n");
    // Parameters may be lists and mappings, each of which is one cell.
    const std::vector<Json> row{Json::parse("[1,2]"), Json::parse(R"({"k": "v"})"), true};
    EXPECT_EQ(to_csv({"a", "b", "c"}, {row}), "a,b,c\n\"[1,2]\",\"{\"\"k\"\":\"\"v\"\"}\",true\n");
}

}  // namespace
}  // namespace astrolabe::study
