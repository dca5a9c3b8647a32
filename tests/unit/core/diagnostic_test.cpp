#include <gtest/gtest.h>

#include <astrolabe/core/diagnostic.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe {
namespace {

TEST(Diagnostic, RendersPlaceExcerptCaretAndHint) {
    const auto source =
        std::make_shared<const SourceText>(SourceText{"a.yaml", "network:\n  reconfig_dealy: 20us\n"});
    const Diagnostic diagnostic{"config.unknown-key",
                                {source, 2, 3, 14},
                                "'reconfig_dealy' is not a key of opera",
                                "did you mean 'reconfig_delay'?",
                                {}};
    EXPECT_EQ(diagnostic.render(),
              "a.yaml:2:3: error[config.unknown-key]: 'reconfig_dealy' is not a key of opera\n"
              "  2 |   reconfig_dealy: 20us\n"
              "    |   ^~~~~~~~~~~~~~\n"
              "  hint: did you mean 'reconfig_delay'?\n");
}

TEST(Diagnostic, NotesNameTheOtherPlace) {
    const auto source = std::make_shared<const SourceText>(SourceText{"a.yaml", "ranks: 64\nhosts: 48\n"});
    const Diagnostic diagnostic{
        "config.ranks", {source, 1, 8, 2}, "64 ranks need 64 hosts", "", {{{source, 2, 8, 2}, "48 hosts"}}};
    EXPECT_NE(diagnostic.render().find("  a.yaml:2:8: note: 48 hosts\n"), std::string::npos);
}

TEST(Diagnostic, AnExcerptOutsideTheTextIsLeftOut) {
    const auto source = std::make_shared<const SourceText>(SourceText{"a.yaml", "x\n"});
    EXPECT_EQ((Diagnostic{"c", {source, 9, 9, 1}, "m", "", {}}).render(), "a.yaml:9:9: error[c]: m\n");
}

TEST(Diagnostic, LongLinesAreShownAroundTheCaret) {
    const auto source = std::make_shared<const SourceText>(
        SourceText{"a.yaml", std::string(5000, 'a') + "X" + std::string(5000, 'b')});
    const std::string text = Diagnostic{"c", {source, 1, 5001, 1}, "m", "", {}}.render();
    EXPECT_LT(text.size(), 400u);
    EXPECT_NE(text.find("aX"), std::string::npos);
}

TEST(NearestNames, FindsTyposSwapsAndNothingFarAway) {
    const std::vector<std::string> names{"latency", "rate", "buffer"};
    EXPECT_EQ(nearest_names("latecny", names), std::vector<std::string>{"latency"});  // one swap
    EXPECT_EQ(nearest_names("rat", names), std::vector<std::string>{"rate"});
    EXPECT_TRUE(nearest_names("colour", names).empty());
    EXPECT_EQ(suggest("colour", names), "one of: 'latency', 'rate' or 'buffer'");
    EXPECT_TRUE(nearest_names(std::string(100'000, 'x'), names).empty());
}

TEST(NearestNames, ManyAndLongCandidatesAreBounded) {
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i) {
        names.push_back("name" + std::to_string(i));
    }
    // 100 of 1000 are listed.
    const std::string hint = suggest("colour", names);
    EXPECT_NE(hint.find("'name98' or 'name99' (and 900 more)"), std::string::npos) << hint;
    // A table of 64 by 100,000 would take 50 MB, and the name is too long to list.
    const std::string word(64, 'x');
    EXPECT_EQ(suggest(word, std::vector{std::string(100'000, 'y')}), "");
    EXPECT_EQ(suggest(word, std::vector{std::string("rate"), std::string(100'000, 'y')}),
              "one of: 'rate' (and 1 more)");
    // The longest that can be near: 64 letters and 32 more are 96, a third of which is 32.
    const std::vector<std::string> longer{word + std::string(32, 'y'), word + std::string(33, 'y')};
    EXPECT_EQ(nearest_names(word, longer), std::vector{longer.front()});
    // Of many that are as long as the word 5000 are compared.
    std::vector<std::string> many(5000, "aaaaa");
    many.back() = "zzzzy";
    EXPECT_EQ(nearest_names("zzzzz", many), std::vector<std::string>{"zzzzy"});
    many.insert(many.begin(), "aaaaa");
    EXPECT_TRUE(nearest_names("zzzzz", many).empty());
}

TEST(Result, HoldsAValueOrAllErrors) {
    const Result<int> good = 3;
    EXPECT_EQ(*good, 3);
    const Result<int> bad = Diagnostics{{"a", {}, "first", "", {}}, {"b", {}, "second", "", {}}};
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().size(), 2u);
    EXPECT_THROW(static_cast<void>(bad.value()), std::logic_error);
    EXPECT_THROW(static_cast<void>(Result<int>(Diagnostics{})), std::logic_error);
}

}  // namespace
}  // namespace astrolabe
