/// Figures of single runs, from details that are made up (run_details.hpp).
#include "made_up_study.hpp"

namespace astrolabe::experiment {
namespace {

class DetailFigures : public StudyFigures {
protected:
    /// A point with what `kind` is drawn from.
    void add_detail(const std::string& kind, const Json& content) {
        add({{"cluster.ranks", results_.size() + 1}}, 4);
        results_.back().details.push_back({kind, content.dump()});
    }
};

TEST_F(DetailFigures, AreOfTheFirst48Points) {
    for (int i = 0; i < 50; ++i) {
        add_detail("ranks", {{"all", 1}, {"step", 1}, {"rows", {{0, 1.0, 2.0, 3.0}}}});
    }
    const Figure drawn = figure("ranks");
    EXPECT_EQ(drawn.chart["frames"].size(), 48U);
    ASSERT_EQ(drawn.rows.size(), 48U);
    EXPECT_EQ(drawn.rows.back(), (std::vector<Json>{48, 0, 1.0, 2.0, 3.0}));
    EXPECT_NE(drawn.note.find("The first 48 of 50 points."), std::string::npos) << drawn.note;
}

TEST_F(DetailFigures, OfPointsThatAreNotDrawnNothingIsRead) {
    for (int i = 0; i < 49; ++i) {
        add_detail("ranks", {{"all", 1}, {"step", 1}, {"rows", {{0, 1.0, 2.0, 3.0}}}});
    }
    results_.back().details[0].content = "no JSON";
    EXPECT_EQ(figure("ranks").rows.size(), 48U);
}

}  // namespace
}  // namespace astrolabe::experiment
