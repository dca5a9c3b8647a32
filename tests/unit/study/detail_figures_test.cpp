/// Figures of single runs, from details that are made up (run_details.hpp).
#include "made_up_study.hpp"

#include <algorithm>
#include <map>

namespace astrolabe::study {
namespace {

class DetailFigures : public StudyFigures {
protected:
    /// A point with what `kind` is drawn from.
    void add_detail(const std::string& kind, const Json& content) {
        add({{"cluster.ranks", results_.size() + 1}}, 4);
        results_.back().details[kind] = content.dump();
    }
};

/// Of each kind the least there can be.
const std::map<std::string, Json> kDetails{
    {"ranks", {{"all", 1}, {"step", 1}, {"rows", {{0, 1.0, 2.0, 3.0}}}}},
    {"links", {{"all", 1}, {"step", 1}, {"busiest", 0}, {"rows", {{0, 0, 1, 0.5}}}, {"nodes", {"a", "b"}}}},
    {"tasks",
     {{"all", 1},
      {"step", 1},
      {"rows", {{0, 0, 1.0, 2.0, 3.0, 0}}},
      {"kinds", {"compute"}},
      {"names", {"first"}}}},
    {"gantt",
     {{"all", 1},
      {"step", 1},
      {"ranks", 1},
      {"simulated", 1},
      {"drawn", 1},
      {"rank_step", 1},
      {"iterations", 1},
      {"kept", {0}},
      {"rows", {{0, 0, 1.0, 2.0}}},
      {"names", {"first"}},
      {"kinds", {"compute"}},
      {"of", {0}}}},
    {"exchanges", {{"all", 2}, {"step", 1}, {"rows", {{0, 30.0, 10.0}, {1, 10.0, 30.0}}}}}};

TEST_F(DetailFigures, AreOfTheFirst48Points) {
    for (int i = 0; i < 50; ++i) {
        add_detail("ranks", kDetails.at("ranks"));
    }
    const Figure drawn = figure("ranks");
    EXPECT_EQ(drawn.chart["frames"].size(), 48U);
    ASSERT_EQ(drawn.rows.size(), 48U);
    EXPECT_EQ(drawn.rows.back(), (std::vector<Json>{48, 0, 1.0, 2.0, 3.0}));
    EXPECT_NE(drawn.note.find("The first 48 of 50 points."), std::string::npos) << drawn.note;
}

TEST_F(DetailFigures, OfPointsThatAreNotDrawnNothingIsRead) {
    for (int i = 0; i < 49; ++i) {
        add_detail("ranks", kDetails.at("ranks"));
    }
    results_.back().details["ranks"] = "no JSON";
    EXPECT_EQ(figure("ranks").rows.size(), 48U);
}

TEST_F(DetailFigures, TellWhichRanksATimelineIsOf) {
    const auto remark = [&](int ranks, int simulated, int drawn, int step) {
        clear();
        Json content = kDetails.at("gantt");
        content.update({{"ranks", ranks}, {"simulated", simulated}, {"drawn", drawn}, {"rank_step", step}});
        add_detail("gantt", content);
        return figure("gantt").chart["frames"][0]["remark"].get<std::string>();
    };
    EXPECT_EQ(remark(16, 16, 16, 1), "");
    EXPECT_EQ(remark(64, 64, 16, 4), "one in 4 of 64 ranks");
    EXPECT_EQ(remark(64, 8, 8, 1), "8 of 64 ranks were simulated, the others are like these");
    EXPECT_EQ(remark(64, 32, 16, 1),
              "32 of 64 ranks were simulated, the others are like these; the first 16 are drawn");
}

TEST_F(DetailFigures, ATimelineHasAPictureForEachIterationThatWasKept) {
    // Of ten iterations the first and the last two.
    Json content = kDetails.at("gantt");
    content.update({{"iterations", 10}, {"kept", {0, 8, 9}}, {"of", {0, 8, 9}}});
    content["names"] = {"a", "b", "c"};
    content["kinds"] = {"compute", "compute", "compute"};
    content["rows"] = {{0, 0, 0.0, 1.0}, {0, 1, 8.0, 9.5}, {0, 2, 9.0, 10.0}};
    add_detail("gantt", content);
    const Figure drawn = figure("gantt");
    const Json& frames = drawn.chart["frames"];
    ASSERT_EQ(frames.size(), 3U);
    // The last comes first, and has the files of the point.
    EXPECT_EQ(frames[0]["iteration"], 9);
    EXPECT_FALSE(frames[0].contains("file"));
    EXPECT_EQ(frames[0]["label"], "iteration 9 of 0 to 9");
    EXPECT_EQ(frames[0]["remark"], "");
    // What was before the eighth is not known; before the first there is nothing.
    EXPECT_EQ(frames[1]["file"], "1-iteration-8");
    EXPECT_EQ(frames[1]["remark"], "what hangs over from the iteration before it was not kept");
    EXPECT_EQ(frames[2]["file"], "1-iteration-0");
    EXPECT_EQ(frames[2]["remark"], "");
    // Each operation once, with its iteration: the eighth ends at 9.5, within the ninth.
    EXPECT_EQ(drawn.rows, (Rows{{1, 0, 0, "a", "compute", 0.0, 1.0},
                                {1, 8, 0, "b", "compute", 8.0, 9.5},
                                {1, 9, 0, "c", "compute", 9.0, 10.0}}));
}

TEST_F(DetailFigures, PointsThatExchangeTheSameShareAPicture) {
    add_detail("exchanges", kDetails.at("exchanges"));
    Json other = kDetails.at("exchanges");
    other["rows"][0][1] = 31.0;
    add_detail("exchanges", other);
    add_detail("exchanges", kDetails.at("exchanges"));
    const Figure drawn = figure("exchanges");
    ASSERT_EQ(drawn.chart["frames"].size(), 2U);
    EXPECT_EQ(drawn.chart["frames"][0]["points"], (Json{1, 3}));
    EXPECT_EQ(drawn.chart["frames"][1]["points"], (Json{2}));
    ASSERT_EQ(drawn.rows.size(), 6U);  // 3 points of 2 ranks
    EXPECT_EQ(drawn.rows[2], (std::vector<Json>{2, 0, 31.0, 10.0}));
}

TEST_F(DetailFigures, OfTheManyLinksOfARunEveryKthAndTheBusiestAreDrawn) {
    std::string links = "link,source,destination,utilization\n";
    for (int link = 0; link < 3000; ++link) {
        links += fmt::format("{},a{},b,{}\n", link, link, link % 2 == 1 && link > 2000 ? 0.5 : 0.25);
    }
    folder_->write("summary.json", summary_of(4).dump());
    folder_->write("links.csv", links);
    const auto drawn = read_report(folder_->path(), {}, components_);
    ASSERT_TRUE(drawn);
    const auto figure = std::find_if(drawn->figures.begin(), drawn->figures.end(),
                                     [](const Figure& one) { return one.name == "links"; });
    ASSERT_NE(figure, drawn->figures.end());
    // At most 2048 of 3000 are every second one: 1500. Of the odd ones those from 2001 on are the busiest.
    ASSERT_EQ(figure->rows.size(), 1500U + 256U);
    EXPECT_EQ(figure->rows[1], (std::vector<Json>{1, 2, "a2", "b", 0.25}));
    // 1000 even links up to 1998, then 2000, 2001, 2002.
    EXPECT_EQ(figure->rows[1001], (std::vector<Json>{1, 2001, "a2001", "b", 0.5}));
    // The 256th odd one from 2001 on is 2001 + 2 * 255; after it come even ones alone.
    EXPECT_EQ(figure->rows[1000 + 512], (std::vector<Json>{1, 2512, "a2512", "b", 0.25}));
    EXPECT_EQ(figure->rows[1000 + 511], (std::vector<Json>{1, 2511, "a2511", "b", 0.5}));
    EXPECT_NE(figure->note.find("Drawn: one in 2 of 3000 links. And the 256 busiest."), std::string::npos)
        << figure->note;
}

TEST_F(DetailFigures, AreRefusedWhereAnythingIsMissing) {
    add({}, 4);
    for (const auto& [kind, whole] : kDetails) {
        const auto code = [&, name = kind](const Json& content) {
            results_[0].details = {{name, content.dump()}};
            const auto drawn = report({name});
            return drawn ? "" : drawn.error()[0].code;
        };
        EXPECT_EQ(code(whole), "") << kind;
        for (const auto& [key, value] : whole.items()) {
            Json damaged = whole;
            damaged.erase(key);
            EXPECT_EQ(code(damaged), "report.results") << kind << " without " << key;
            if (value.is_array() && key != "rows") {  // which name places there
                damaged = whole;
                damaged[key] = Json::array();
                EXPECT_EQ(code(damaged), "report.results") << kind << " with no " << key;
            }
        }
        Json damaged = whole;
        damaged["rows"][0].erase(damaged["rows"][0].size() - 1);
        EXPECT_EQ(code(damaged), "report.results") << kind << " with a short row";
    }
}

}  // namespace
}  // namespace astrolabe::study
