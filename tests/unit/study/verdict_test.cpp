/// The answer of a study: who wins where, by how much, why, and what would change it.
#include "made_up_study.hpp"

#include <cmath>

namespace astrolabe::study {
namespace {

class Verdict : public StudyFigures {
protected:
    [[nodiscard]] Json answer(ReportOptions options = {}) {
        const Result<StudyReport> drawn = report({"iteration_time"}, std::move(options));
        EXPECT_TRUE(drawn);
        return drawn ? drawn->answer : Json();
    }
    /// Whatever networks cost.
    [[nodiscard]] Json verdict() { return answer()["verdicts"][0]; }

    /// The last point's critical path, in shares of its time.
    void set_path(const std::vector<std::pair<std::string, double>>& shares) {
        Json resources = Json::array();
        for (const auto& [resource, share] : shares) {
            resources.push_back({{"resource", resource}, {"share", share}});
        }
        results_.back().summary["critical_path"] = {{"follows_causes", true}, {"by_resource", resources}};
    }

    /// Four networks would be as many columns; two, over a batch.
    void add_line(const std::vector<double>& flat, const std::vector<double>& torus) {
        for (std::size_t i = 0; i < flat.size(); ++i) {
            add({{"network", "flat"}, {"workload.batch", 1024 << i}}, flat[i]);
            add({{"network", "torus"}, {"workload.batch", 1024 << i}}, torus[i], kTorus);
        }
    }
};

std::vector<std::string> winners_of(const Json& verdict) {
    std::vector<std::string> winners;
    for (const Json& setting : verdict["settings"]) {
        winners.push_back(setting["contenders"][0]["name"]);
    }
    return winners;
}

TEST_F(Verdict, OneWinnerIsSaidOnceWithItsMargins) {
    add_grid();
    const Json said = verdict();
    EXPECT_EQ(winners_of(said), (std::vector<std::string>{"torus", "torus"}));
    // 4 s against 2, 8 s against 1.
    EXPECT_EQ(said["settings"][0]["margin"], 1.0);
    EXPECT_EQ(said["settings"][1]["margin"], 7.0);
    EXPECT_EQ(
        said["headline"],
        "torus is the fastest network in all 2 settings: the next best takes 2.00 to 8.00 times as long.");
    ASSERT_EQ(said["regions"].size(), 1U);
    EXPECT_EQ(said["regions"][0]["boxes"][0]["values"]["cluster.ranks"], (Json{"4", "16"}));
    EXPECT_TRUE(said["crossovers"].empty());
}

TEST_F(Verdict, AWinnerGivesWayWhereTheRatioOfTimesIsOne) {
    // Logarithms of the ratio are -ln 2 and ln 2: half-way between 1024 and 4096, which is 2048.
    add({{"network", "flat"}, {"workload.batch", 1024}}, 1);
    add({{"network", "torus"}, {"workload.batch", 1024}}, 2, kTorus);
    add({{"network", "flat"}, {"workload.batch", 4096}}, 4);
    add({{"network", "torus"}, {"workload.batch", 4096}}, 2, kTorus);
    const Json said = verdict();
    ASSERT_EQ(said["crossovers"].size(), 1U);
    const Json& crossover = said["crossovers"][0];
    EXPECT_EQ(crossover["parameter"], "workload.batch");
    EXPECT_EQ(crossover["below"], "1024");
    EXPECT_EQ(crossover["above"], "4096");
    EXPECT_EQ(crossover["winner_below"], "flat");
    EXPECT_EQ(crossover["winner_above"], "torus");
    EXPECT_NEAR(crossover["estimate"].get<double>(), 2048, 1e-9);
    EXPECT_EQ(said["headline"], "No network is fastest everywhere: of 2 settings, flat in 1 and torus in 1.");
    EXPECT_EQ(said["would_change"][0].get<std::string>().find("Between "), 0U);
}

TEST_F(Verdict, ACrossingNeedsBothOnBothSides) {
    add({{"network", "flat"}, {"workload.batch", 1024}}, 1);
    add({{"network", "flat"}, {"workload.batch", 4096}}, 4);
    add({{"network", "torus"}, {"workload.batch", 4096}}, 2, kTorus);
    const Json said = verdict();
    ASSERT_EQ(said["crossovers"].size(), 1U);
    EXPECT_TRUE(said["crossovers"][0]["estimate"].is_null());
    EXPECT_EQ(said["settings"][0]["certainty"], "alone");
}

TEST_F(Verdict, EachContenderRunsWithItsBestChoice) {
    const auto add_with = [this](const char* network, const char* algorithm, double seconds) {
        add({{"network", network}, {"cluster.collectives.all_reduce", algorithm}}, seconds);
    };
    add_with("flat", "ring", 5);
    add_with("flat", "direct", 3);
    add_with("torus", "ring", 4);
    add_with("torus", "direct", 9);
    const Json all = answer();
    EXPECT_EQ(all["choices"], (Json{"cluster.collectives.all_reduce"}));
    EXPECT_TRUE(all["circumstances"].empty());
    const Json& setting = all["verdicts"][0]["settings"][0];
    // 3 against 4: a third longer.
    EXPECT_EQ(setting["contenders"][0]["name"], "flat");
    EXPECT_EQ(setting["contenders"][0]["with"]["cluster.collectives.all_reduce"], "direct");
    EXPECT_EQ(setting["contenders"][1]["with"]["cluster.collectives.all_reduce"], "ring");
    EXPECT_NEAR(setting["margin"].get<double>(), 1.0 / 3, 1e-12);
}

TEST_F(Verdict, WhatIsComparedFollowsFromTheParameters) {
    struct Case {
        std::vector<std::pair<const char*, std::vector<const char*>>> vary;
        const char* contested;
        std::vector<std::string> circumstances;
    };
    const std::vector<Case> cases{
        {{{"workload.batch", {"1", "2"}}, {"network", {"a", "b"}}}, "network", {"workload.batch"}},
        // The best of several rates is the highest, which nobody chooses.
        {{{"network", {"a", "b"}}, {"network.link.rate", {"1Gbps", "2Gbps"}}},
         "network",
         {"network.link.rate"}},
        {{{"network.link.rate", {"1Gbps", "2Gbps"}},
          {"cluster.collectives.all_reduce.algorithm", {"a", "b"}}},
         "cluster.collectives.all_reduce.algorithm",
         {"network.link.rate"}},
        {{{"network.link.rate", {"1Gbps", "2Gbps"}}, {"workload.gradient_buckets.size", {"1MB", "5MB"}}},
         "workload.gradient_buckets.size",
         {"network.link.rate"}},
        {{{"workload.batch", {"1", "2"}}, {"network.k", {"4", "8"}}}, "network.k", {"workload.batch"}},
    };
    for (const Case& one : cases) {
        clear();
        const auto& [first, firsts] = one.vary[0];
        const auto& [second, seconds] = one.vary[1];
        for (const char* a : firsts) {
            for (const char* b : seconds) {
                add({{first, a}, {second, b}}, 1);
            }
        }
        const Json said = answer();
        EXPECT_EQ(said["contested"], one.contested);
        EXPECT_EQ(said["circumstances"], Json(one.circumstances));
    }
}

TEST_F(Verdict, WhatIsComparedCanBeNamed) {
    add_grid();
    const Json said = answer({.contest = "cluster.ranks"});
    EXPECT_EQ(said["contested"], "cluster.ranks");
    // Each with its best network, the torus: 2 s of 4 ranks, 1 s of 16.
    EXPECT_EQ(said["choices"], (Json{"network"}));
    EXPECT_EQ(winners_of(said["verdicts"][0]), (std::vector<std::string>{"16"}));
    const auto wrong = report({"iteration_time"}, {.contest = "cluster.rank"});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error()[0].code, "report.contest");
    EXPECT_EQ(wrong.error()[0].hint, "did you mean 'cluster.ranks'?");
}

TEST_F(Verdict, CertaintyGoesByTheMargin) {
    // Ties are up to 1 %, close is up to 5 %.
    add_line({1, 1, 1, 1}, {1.009, 1.011, 1.049, 1.051});
    const Json said = verdict();
    const std::vector<std::string> expected{"tie", "close", "close", "clear"};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(said["settings"][i]["certainty"], expected[i]) << i;
    }
    EXPECT_NE(
        said["headline"].get<std::string>().find("In 1 of 4 settings the first two are within 1 %, a tie."),
        std::string::npos);
}

TEST_F(Verdict, SeedsWhoseRangesOverlapLeaveItOpen) {
    const auto add_seeds = [this](const char* network, std::vector<double> seconds) {
        for (std::size_t seed = 0; seed < seconds.size(); ++seed) {
            add({{"network", network}, {"seed", seed + 1}}, seconds[seed]);
        }
    };
    add_seeds("flat", {1, 3});       // mean 2
    add_seeds("torus", {2.5, 3.5});  // mean 3, and 2.5 < 3
    EXPECT_EQ(verdict()["settings"][0]["certainty"], "seeds");
    clear();
    add_seeds("flat", {1, 3});
    add_seeds("torus", {3.1, 3.5});
    EXPECT_EQ(verdict()["settings"][0]["certainty"], "clear");
}

TEST_F(Verdict, BoxesHoldWhatTheWinnerWinsAndNothingElse) {
    // Over batch and tables: flat (f) wins below a staircase.
    //   t t t
    //   f f t
    //   f f f
    const std::vector<std::string> map{"fff", "fft", "ttt"};
    for (std::size_t y = 0; y < 3; ++y) {
        for (std::size_t x = 0; x < 3; ++x) {
            const bool flat = map[y][x] == 'f';
            const Json at{{"workload.batch", 1 << x}, {"workload.tables", 1 << y}};
            Json one = at;
            one["network"] = "flat";
            add(one, flat ? 1 : 2);
            one["network"] = "torus";
            add(one, flat ? 2 : 1, kTorus);
        }
    }
    const Json said = verdict();
    for (const Json& region : said["regions"]) {
        std::set<std::pair<std::string, std::string>> covered;
        for (const Json& box : region["boxes"]) {
            for (const Json& batch : box["values"]["workload.batch"]) {
                for (const Json& tables : box["values"]["workload.tables"]) {
                    covered.emplace(batch, tables);
                }
            }
        }
        std::set<std::pair<std::string, std::string>> won;
        for (const Json& setting : said["settings"]) {
            if (setting["contenders"][0]["name"] == region["winner"]) {
                won.emplace(setting["at"]["workload.batch"], setting["at"]["workload.tables"]);
            }
        }
        EXPECT_EQ(covered, won) << region["winner"];
    }
    // Two boxes each: a row and the square of four; a row and the corner above it.
    ASSERT_EQ(said["regions"].size(), 2U);
    EXPECT_EQ(said["regions"][0]["winner"], "flat");
    EXPECT_EQ(said["regions"][0]["boxes"].size(), 2U);
    EXPECT_EQ(said["regions"][1]["boxes"].size(), 2U);
    // Across at tables 2 and up at batch 4 winners change: three changes along tables, one along batch.
    EXPECT_EQ(said["crossovers"].size(), 4U);
}

TEST_F(Verdict, LossesSumToTheDifferenceOfTimes) {
    add({{"network", "flat"}}, 2);
    set_path({{"compute", 0.5}, {"host-switch links", 0.5}});  // 1 s and 1 s
    add({{"network", "torus"}}, 5, kTorus);
    set_path({{"compute", 0.2}, {"host-host links", 0.7}, {"latency", 0.1}});  // 1, 3.5 and 0.5 s
    const Json setting = verdict()["settings"][0];
    // 3.5 more for the links of hosts, 0.5 for latency, 1 less for those of the switch: 3 in all.
    ASSERT_EQ(setting["because"].size(), 4U);
    EXPECT_EQ(setting["because"][0]["part"], "host-host links");
    EXPECT_NEAR(setting["because"][0]["extra_s"].get<double>(), 3.5, 1e-12);
    double sum = 0;
    for (const Json& part : setting["because"]) {
        sum += part["extra_s"].get<double>();
    }
    EXPECT_NEAR(sum, 5 - 2, 1e-12);
    // To catch up 3.5 s of links must become 0.5: seven times as fast. Latency, 0.5 s, is too little.
    EXPECT_EQ(setting["catches_up"]["resource"], "host-host links");
    EXPECT_NEAR(setting["catches_up"]["factor"].get<double>(), 7, 1e-9);
    // And 1 s of links must become 4.
    EXPECT_EQ(setting["falls_behind"]["resource"], "host-switch links");
    EXPECT_NEAR(setting["falls_behind"]["factor"].get<double>(), 4, 1e-9);
    EXPECT_EQ(setting["contenders"][1]["bound"]["part"], "host-host links");
    EXPECT_NEAR(setting["contenders"][1]["bound"]["share"].get<double>(), 0.7, 1e-12);
}

TEST_F(Verdict, WhereNoResourceSufficesItSaysSo) {
    add({{"network", "flat"}}, 2);
    set_path({{"host-switch links", 1}});
    add({{"network", "torus"}}, 9, kTorus);
    set_path({{"compute", 0.8}, {"host-host links", 0.2}});  // 7.2 s and 1.8 s, of which 7 would have to go
    const Json said = verdict();
    EXPECT_TRUE(said["settings"][0]["catches_up"].is_null());
    EXPECT_NE(said["would_change"].dump().find(
                  "No single resource of torus, however fast, lets it catch up with flat"),
              std::string::npos);
}

TEST_F(Verdict, WithoutCausesTimesAreThoseOfRanks) {
    add_grid();
    // Of four, two compute... a quarter of the run's two iterations, half of it waits: summary_of.
    const Json setting = verdict()["settings"][0];
    // 4 ranks: flat 4 s, torus 2 s; each computes a quarter, waits a quarter for either collective, and
    // drains a quarter.
    double sum = 0;
    for (const Json& part : setting["because"]) {
        EXPECT_NEAR(part["extra_s"].get<double>(), 0.5, 1e-12) << part;
        sum += part["extra_s"].get<double>();
    }
    EXPECT_NEAR(sum, 2, 1e-12);
    EXPECT_FALSE(setting["contenders"][0]["bound"]["of_path"]);
    EXPECT_TRUE(setting["catches_up"].is_null());
}

TEST_F(Verdict, BudgetsAreFromWhereOthersWin) {
    // The torus has four links a host of a quarter of the rate, and is faster here.
    add_grid();
    const Json said = answer();
    const Json& contenders = said["verdicts"][0]["settings"][0]["contenders"];
    const double torus = contenders[0]["usd_per_host"];
    const double flat = contenders[1]["usd_per_host"];
    ASSERT_NE(torus, flat);
    if (torus < flat) {
        EXPECT_EQ(said["verdicts"].size(), 1U);  // who is fastest is cheapest
        return;
    }
    ASSERT_EQ(said["verdicts"].size(), 2U);
    const Json& frugal = said["verdicts"][1];
    EXPECT_GE(frugal["at_most_usd_per_host"].get<double>(), flat);
    EXPECT_LT(frugal["at_most_usd_per_host"].get<double>(), torus);
    EXPECT_EQ(winners_of(frugal), (std::vector<std::string>{"flat", "flat"}));
}

TEST_F(Verdict, WhereNothingCompetesItSurveys) {
    add({{"workload.batch", 1024}}, 1);
    add({{"workload.batch", 2048}}, 3);
    const Json said = answer();
    EXPECT_TRUE(said["contested"].is_null());
    EXPECT_EQ(said["verdicts"][0]["headline"].get<std::string>().find(
                  "Nothing competes in this study. An iteration takes from 1 s ("),
              0U);
}

TEST_F(Verdict, LimitsTellWhatWasNotRun) {
    add({{"network", "flat"}, {"workload.batch", 1024}}, 1);
    add({{"network", "torus"}, {"workload.batch", 1024}}, std::nullopt, kTorus);
    add({{"network", "flat"}, {"workload.batch", 4096}}, 4);
    add({{"network", "torus"}, {"workload.batch", 4096}}, 2, kTorus);
    const std::string limits = answer()["limits"].dump();
    EXPECT_NE(limits.find("Of 4 points 1 failed and 0 have not been run"), std::string::npos);
    EXPECT_NE(limits.find("Not run, of 2 settings: torus in 1."), std::string::npos);
}

TEST_F(Verdict, TheMapHasARowForEachSetting) {
    add_line({1, 4}, {2, 2});
    const Result<StudyReport> drawn = report({"iteration_time"});
    ASSERT_TRUE(drawn && drawn->winner);
    const Figure& map = *drawn->winner;
    std::size_t rows = 0;
    for (const auto& row : map.rows) {
        rows += row[1].is_null() ? 1 : 0;
    }
    EXPECT_EQ(rows, 2U);
    EXPECT_EQ(map.columns[0], "workload.batch");
    EXPECT_EQ(map.rows[0], (std::vector<Json>{"1024", Json(), "flat", 1.0, "torus", 2.0, 1.0, "clear", 1}));
    EXPECT_EQ(map.rows[1], (std::vector<Json>{"2048", Json(), "torus", 2.0, "flat", 4.0, 1.0, "clear", 4}));
}

TEST_F(Verdict, InWordsItIsTheSame) {
    add_grid();
    const Result<StudyReport> drawn = report({"iteration_time"});
    ASSERT_TRUE(drawn);
    const std::string text = answer_text(*drawn);
    EXPECT_EQ(text.find(drawn->answer["verdicts"][0]["headline"].get<std::string>()), 0U);
    for (const Json& limit : drawn->answer["limits"]) {
        EXPECT_NE(text.find(limit.get<std::string>()), std::string::npos);
    }
}

}  // namespace
}  // namespace astrolabe::study
