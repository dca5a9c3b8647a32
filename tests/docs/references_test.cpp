/// Every reference in a comment and every link in the documentation leads to something.
#include "references.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace astrolabe::docs {
namespace {

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    return text;
}

std::vector<std::string> names(const std::vector<Mention>& mentions) {
    std::vector<std::string> result;
    for (const Mention& mention : mentions) {
        result.push_back(mention.name);
    }
    return result;
}

using Names = std::vector<std::string>;

TEST(References, LeadToSomething) {
    Repository repository(ASTROLABE_SOURCE_DIR);
    ASSERT_GT(repository.files().count("docs/README.md"), 0U) << "not the root of the repository";
    std::vector<std::string> missing;
    for (const std::string& file : repository.files()) {
        const std::vector<std::string> of_file = repository.missing_in(file);
        missing.insert(missing.end(), of_file.begin(), of_file.end());
    }
    EXPECT_TRUE(missing.empty()) << joined(missing);
}

TEST(Comments, AreFoundBesideStringsAndDigitSeparators) {
    const std::vector<Passage> found = comments(
        "auto s = \"// no\"; int n = 1'000;  // one\n"
        "auto r = R\"x(/* no */)\" )x\"; char c = '\"';\n"
        "/* two\n * three */ int m;\n",
        CommentStyle::kCpp);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].text, "one");
    EXPECT_EQ(found[1].text, "two\nthree ");
    EXPECT_EQ(found[1].line_at(found[1].text.find("three")), 4U);
}

TEST(Comments, OfConsecutiveLinesAreOnePassage) {
    const std::vector<Passage> found = comments("/// a\n/// b\n\n/// c\n", CommentStyle::kCpp);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].text, "a\nb");
    EXPECT_EQ(comments("key: a#b  # see x.md\n", CommentStyle::kHash).at(0).text, "see x.md");
}

TEST(Documents, HaveSectionsBehindThemAlsoOnTheNextLine) {
    const std::vector<Passage> found =
        comments("// Slots (docs/theory/opera.md,\n// \"Time\n// slots\", \"Two\" and \"Three\") or a.md.\n",
                 CommentStyle::kCpp);
    const std::vector<Mention> mentions = documents_in(found.at(0));
    ASSERT_EQ(mentions.size(), 2U);
    EXPECT_EQ(mentions[0].name, "docs/theory/opera.md");
    EXPECT_EQ(mentions[0].sections, (Names{"Time slots", "Two", "Three"}));
    EXPECT_EQ(mentions[0].line, 1U);
    EXPECT_EQ(mentions[1].name, "a.md");
    EXPECT_TRUE(mentions[1].sections.empty());
}

TEST(Sources, AreNamesButNoPatternsAndNoForeignHeaders) {
    const Passage text = prose(
        "`system/symmetry/folding.hpp`, a_test.cpp; *_test.cpp, <name>.hpp, <ns3/packet.h>, "
        "<astrolabe/core/units.hpp>, "
        "config.h.in, schedule.hpp's, 10.h.h, x.headers\n"
        "```\nin_a_block.cpp\n```\n"
        "last.cc\n");
    const std::vector<Mention> found = sources_in(text);
    EXPECT_EQ(names(found), (Names{"system/symmetry/folding.hpp", "a_test.cpp", "astrolabe/core/units.hpp",
                                   "schedule.hpp", "last.cc"}));
    EXPECT_EQ(found.back().line, 5U);
}

TEST(Links, AreThoseOutsideCode) {
    const Passage text = prose(
        "[a](b.md#c) ![d](e.svg \"title\") [over\ntwo lines](f.md) [g](https://example.org) `[no](no.md)`\n"
        "```\n[no](no.md)\n```\n[h](#i)\n");
    const std::vector<Mention> found = links_in(text);
    EXPECT_EQ(names(found), (Names{"b.md#c", "e.svg", "f.md", "#i"}));
    EXPECT_EQ(found[2].line, 2U);
    EXPECT_EQ(found[3].line, 6U);
}

TEST(Anchors, FollowGitHub) {
    EXPECT_EQ(slug("Rotor networks, slot by slot"), "rotor-networks-slot-by-slot");
    EXPECT_EQ(slug("`packet`: the lean_engine"), "packet-the-lean_engine");
    EXPECT_EQ(slug("k × n – α²"), "k--n--α");
    const std::string page =
        "# A\n## Limits\n```\n# no heading\n```\n### Limits\n#no heading\n## [b](c.md) *d*\n";
    EXPECT_EQ(anchors_of(page), (std::set<std::string>{"a", "limits", "limits-1", "b-d"}));
    EXPECT_EQ(headings_of(page), (Names{"A", "Limits", "Limits", "b d"}));
}

/// A folder of the test's own with a page and a source, and what is missing in it.
class SmallRepository : public testing::Test {
protected:
    void SetUp() override {
        root_ = std::filesystem::path(testing::TempDir()) /
                ("references-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        std::filesystem::remove_all(root_);
        write("docs/page.md", "# Page\n\n## Two words\n\n**In bold.** And **not**.\n");
        write("core/src/units.cpp", "");
        write("build/stale.cpp", "// gone.hpp\n");
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text;
    }
    std::vector<std::string> missing(const std::string& file, const std::string& text) const {
        write(file, text);
        return Repository(root_).missing_in(file);
    }

private:
    std::filesystem::path root_;
};

TEST_F(SmallRepository, WhatIsThereIsNotReported) {
    EXPECT_EQ(missing("a.cpp", "// docs/page.md, \"Two words\" and \"In bold\"; units.cpp, src/units.cpp\n"),
              Names{});
    EXPECT_EQ(missing("docs/b.md", "# B\n[x](page.md#two-words) [y](#b) [z](../core) `core/src/units.cpp`\n"),
              Names{});
    EXPECT_EQ(missing("core/c.yaml", "# ../docs/page.md\n"), Names{});
}

TEST_F(SmallRepository, WhatIsMissingIsReportedWithItsLine) {
    EXPECT_EQ(missing("a.cpp", "int i;\n// docs/page.md, \"Three words\"\n\n// docs/other.md\n"),
              (Names{"a.cpp:2: docs/page.md has no section \"Three words\"",
                     "a.cpp:4: there is no document docs/other.md"}));
    EXPECT_EQ(missing("a.cpp", "// unit.cpp\n// lib/units.cpp\n"),
              (Names{"a.cpp:1: there is no file unit.cpp",
                     "a.cpp:2: no path ends in lib/units.cpp, but there is core/src/units.cpp"}));
    EXPECT_EQ(missing("docs/b.md", "[x](page.md#three)\n[y](other.md)\ngone.hpp\n"),
              (Names{"docs/b.md:3: there is no file gone.hpp",
                     "docs/b.md:1: docs/page.md has no heading for #three",
                     "docs/b.md:2: the link leads to docs/other.md, which is not there"}));
    EXPECT_EQ(missing("a.cpp", "// stale.cpp\n"), Names{"a.cpp:1: there is no file stale.cpp"});
}

}  // namespace
}  // namespace astrolabe::docs
