/// What engines cost, and when another one is suggested (run/engine_cost.hpp).
#include "small_experiment.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/run/engine_cost.hpp>

namespace astrolabe::experiment {
namespace {

Prediction predicted(double events, double messages, double pairs, double seconds, bool was_looked_at) {
    Prediction prediction;
    prediction.events = events;
    prediction.messages = messages;
    prediction.pairs = pairs;
    prediction.wall_seconds = seconds;
    prediction.was_looked_at = was_looked_at;
    return prediction;
}

TEST(EngineCost, PacketsAreWithinAFactorOfWhatTheirBeginningSays) {
    const EngineCost seen = engine_cost("packet", true, predicted(1e8, 1e6, 1e4, 50, true));
    EXPECT_EQ(seen.kind, "packet");
    EXPECT_DOUBLE_EQ(seen.seconds, 50);
    EXPECT_DOUBLE_EQ(seen.least, 20);  // 0.4 · 50
    EXPECT_DOUBLE_EQ(seen.most, 125);  // 2.5 · 50
    const EngineCost unseen = engine_cost("packet", true, predicted(1e8, 1e6, 1e4, 70, false));
    EXPECT_DOUBLE_EQ(unseen.least, 7);
    EXPECT_DOUBLE_EQ(unseen.most, 700);
}

TEST(EngineCost, FlowsAreBetweenTheirEventsAndAllConnectionsAtEveryUpdate) {
    // As of Model-A on 256 ranks and a hashed leaf-spine, with rates by connection:
    // E · 0.1 us = 4.02 s is less than 11,500 / 50 = 230 s, and E · 1.6 us + 2·M·U · 0.4 ns =
    // 64.32 s + 2 · 20.1 M · 65,280 · 0.4 ns = 64.32 s + 1049.7024 s is less than 5 · 11,500 s.
    const EngineCost hashed = engine_cost("fluid", false, predicted(4.02e7, 2.01e7, 65'280, 11'500, true));
    EXPECT_DOUBLE_EQ(hashed.least, 230);
    EXPECT_NEAR(hashed.most, 1114.0224, 1e-6);
    EXPECT_DOUBLE_EQ(hashed.seconds, hashed.most);
    // On one switch the beginning says 1.6 s for 128 ranks: 5 · 1.6 s is less than 16 s + 65.2 s, and
    // E · 0.1 us = 1 s more than 1.6 s / 50.
    const EngineCost flat = engine_cost("fluid", false, predicted(1e7, 5.007e6, 16'256, 1.6, true));
    EXPECT_DOUBLE_EQ(flat.least, 1);
    EXPECT_DOUBLE_EQ(flat.most, 8);
    EXPECT_DOUBLE_EQ(flat.seconds, 1.6);
    // Without a look both ends are counted: 1 s, and 16 s + 2 · 5.007 M · 16,256 · 0.4 ns = 81.1 s.
    const EngineCost unseen = engine_cost("fluid", false, predicted(1e7, 5.007e6, 16'256, 7, false));
    EXPECT_DOUBLE_EQ(unseen.least, 1);
    EXPECT_NEAR(unseen.most, 16 + 65.1150336, 1e-6);
    // A look so fast that even the fewest events would take longer bounds both.
    const EngineCost fast = engine_cost("fluid", false, predicted(1e7, 5e6, 16'256, 0.1, true));
    EXPECT_DOUBLE_EQ(fast.least, 0.5);
    EXPECT_DOUBLE_EQ(fast.most, 0.5);
}

TEST(EngineCost, OnlyIntervalsApartAreWorthAWord) {
    const EngineCost fluid{"fluid", 337, 230, 1114};
    EXPECT_TRUE(is_cheaper({"packet", 50, 20, 125}, fluid));
    EXPECT_TRUE(is_cheaper({"packet", 91, 36.4, 229}, fluid));
    EXPECT_FALSE(is_cheaper({"packet", 92, 36.8, 230}, fluid));  // they touch
    EXPECT_FALSE(is_cheaper(fluid, {"packet", 50, 20, 125}));
    // Who saves less than five seconds does not care.
    EXPECT_FALSE(is_cheaper({"fluid", 0.01, 0.001, 0.05}, {"packet", 4.9, 2, 12}));
    EXPECT_TRUE(is_cheaper({"fluid", 0.01, 0.001, 0.05}, {"packet", 5, 2, 12}));
}

class CheaperEngineTest : public ::testing::Test {
protected:
    /// As if the run took so long.
    std::optional<EngineSuggestion> suggestion(std::vector<std::string> overrides, double seconds) {
        const Result<Experiment> loaded = testing::load_small(components_, std::move(overrides));
        EXPECT_TRUE(loaded) << render(loaded.error());
        Prediction prediction = predict(*loaded);
        prediction.wall_seconds = seconds;
        prediction.was_looked_at = true;
        return cheaper_engine(*loaded, prediction, components_);
    }

    Components components_ = builtin_components();
};

#ifdef ASTROLABE_WITH_NS3  // packets
TEST_F(CheaperEngineTest, IsTheCheapestThatRunsTheExperiment) {
    // A thousand events of four ranks take less than 0.4 · 1000 s on any machine.
    const auto found = suggestion({"backend={kind: packet}"}, 1000);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->own.kind, "packet");
    EXPECT_DOUBLE_EQ(found->own.least, 400);
    EXPECT_EQ(found->cheaper.kind, "fluid");
    EXPECT_LT(found->cheaper.most, 400);
    const std::string text = engine_suggestion_text(*found);
    EXPECT_EQ(text.find("fluid takes "), 0U) << text;
    EXPECT_NE(text.find(" of a processor, where packet takes 400 s to 2.5e+03 s: --set backend.kind=fluid"),
              std::string::npos)
        << text;
    const nlohmann::ordered_json json = engine_suggestion_json(*found);
    EXPECT_EQ(json.at("cheaper").at("kind"), "fluid");
    EXPECT_EQ(json.at("own").at("cpu_s_between"), (nlohmann::ordered_json{400.0, 2500.0}));
}

TEST_F(CheaperEngineTest, SegmentsOfTcpAreEventsOfPackets) {
    // 0.4 · 1000 s, as of packets, though TCP reports none.
    const auto found = suggestion({"backend={kind: tcp}"}, 1000);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->own.kind, "tcp");
    EXPECT_DOUBLE_EQ(found->own.least, 400);
}

TEST_F(CheaperEngineTest, IsNotSaidOfShortRuns) {
    EXPECT_FALSE(suggestion({"backend={kind: packet}"}, 4.9));
}
#endif

TEST_F(CheaperEngineTest, IsNotSaidOfAFluidThatHasLittleToDo) {
    // The few events of this run take two milliseconds at most by their number, whatever the look said.
    EXPECT_FALSE(suggestion({}, 1000));
}

TEST_F(CheaperEngineTest, IsNotSaidWhereNothingIsKnownOfCosts) {
    EXPECT_FALSE(suggestion(
        {"network={kind: opera, racks: 4, uplinks: 4, hosts_per_rack: 1}", "backend={kind: fluid}"}, 1000));
}

}  // namespace
}  // namespace astrolabe::experiment
