#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/config/config.hpp>

namespace astrolabe {
namespace {

class Folder {
public:
    Folder()
        : path_(std::filesystem::path(testing::TempDir()) /
                (std::string("config_") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name) << text;
    }
    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

std::string first_error(const Result<ConfigNode>& result) {
    return result ? "" : result.error().front().render();
}

TEST(Config, ScalarsStayTextAndKnowTheirPlace) {
    const Result<ConfigNode> root = parse_config("a: 010\nb: no\nc: [1, two]\n", "x.yaml");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->find("a")->text, "010");
    EXPECT_EQ(root->find("b")->text, "no");
    EXPECT_EQ(root->find_path("c.1")->text, "two");
    EXPECT_EQ(root->find_path("c.1")->where.to_string(), "x.yaml:3:8");
    EXPECT_EQ(root->find_path("c.2"), nullptr);
    EXPECT_EQ(root->find_path("a.b"), nullptr);
}

TEST(Config, EveryDuplicateKeyIsNamedWithBothPlaces) {
    const Result<ConfigNode> root = parse_config("a: 1\nb: {c: 1, c: 2}\na: 2\n", "x.yaml");
    ASSERT_FALSE(root);
    ASSERT_EQ(root.error().size(), 2u);
    EXPECT_EQ(root.error()[0].where.to_string(), "x.yaml:2:11");
    EXPECT_EQ(root.error()[1].where.to_string(), "x.yaml:3:1");
    EXPECT_EQ(root.error()[1].notes.front().first.to_string(), "x.yaml:1:1");
}

TEST(Config, WhatIsNotOnePlainDocumentIsRefused) {
    const Result<ConfigNode> nothing = parse_config("", "x");
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().front().code, "config.empty");
    EXPECT_EQ(nothing.error().front().where.to_string(), "x:1:1");  // where the first key is missing
    EXPECT_NE(first_error(parse_config("# only a comment\n", "x")).find("config.empty"), std::string::npos);
    EXPECT_NE(first_error(parse_config("a: [1, 2\n", "x")).find("config.syntax"), std::string::npos);
    EXPECT_NE(first_error(parse_config("a: 1\n---\nb: 2\n", "x")).find("config.documents"),
              std::string::npos);
    EXPECT_NE(first_error(parse_config("a: !!python/object 1\n", "x")).find("config.tag"), std::string::npos);
    EXPECT_NE(first_error(parse_config("? [1, 2]\n: 3\n", "x")).find("config.key"), std::string::npos);
    EXPECT_NE(first_error(parse_config(std::string("a: 1\0b", 6), "x")).find("NUL"), std::string::npos);
    EXPECT_NE(first_error(parse_config("a: &x [*x]\n", "x")).find("config."), std::string::npos);
}

TEST(Config, AliasBombsAreRefusedAndPlainAliasesWork) {
    const Result<ConfigNode> plain = parse_config("a: &x {k: 1}\nb: *x\n", "x");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->find_path("b.k")->text, "1");
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int level = 1; level < 9; ++level) {
        const std::string below = "*a" + std::to_string(level - 1);
        bomb += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + below;
        for (int i = 1; i < 10; ++i) {
            bomb += ", " + below;
        }
        bomb += "]\n";
    }
    EXPECT_NE(first_error(parse_config(bomb, "x")).find("expected at most 1,000,000"), std::string::npos);
}

TEST(Config, NestingTooDeepIsAnErrorNotACrash) {
    EXPECT_FALSE(parse_config(std::string(100'000, '['), "x"));
}

TEST(Config, IncludesMergeBelowWhatStandsBesideThem) {
    const Folder folder;
    folder.write("base.yaml",
                 "schema: astrolabe/1\nkind: flat\nhosts: 8\nlink: {rate: 100Gbps, latency: 500ns}\n");
    folder.write("top.yaml", "network:\n  include: base.yaml\n  hosts: 16\n  link: {latency: 1us}\n");
    const Result<ConfigNode> root = load_config(folder / "top.yaml");
    ASSERT_TRUE(root) << first_error(root);
    EXPECT_EQ(root->find_path("network.kind")->text, "flat");
    EXPECT_EQ(root->find_path("network.hosts")->text, "16");
    EXPECT_EQ(root->find_path("network.link.rate")->text, "100Gbps");
    EXPECT_EQ(root->find_path("network.link.latency")->text, "1us");
    EXPECT_EQ(root->find_path("network.include"), nullptr);
    EXPECT_EQ(root->find_path("network.schema"), nullptr);
    // A value from the included file knows that file.
    EXPECT_EQ(root->find_path("network.kind")->where.source->name, (folder / "base.yaml").string());
}

TEST(Config, OfSeveralIncludesTheLastWins) {
    const Folder folder;
    folder.write("a.yaml", "x: 1\ny: 1\n");
    folder.write("b.yaml", "x: 2\n");
    folder.write("top.yaml", "include: [a.yaml, b.yaml]\n");
    const Result<ConfigNode> root = load_config(folder / "top.yaml");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->find("x")->text, "2");
    EXPECT_EQ(root->find("y")->text, "1");
}

TEST(Config, IncludeCyclesMissingFilesAndFoldersAreNamed) {
    const Folder folder;
    folder.write("a.yaml", "include: b.yaml\n");
    folder.write("b.yaml", "include: a.yaml\n");
    EXPECT_NE(first_error(load_config(folder / "a.yaml")).find("config.include-cycle"), std::string::npos);
    folder.write("model.yaml", "a: 1\n");
    folder.write("c.yaml", "x:\n  include: modle.yaml\n");
    const Result<ConfigNode> missing = load_config(folder / "c.yaml");
    EXPECT_NE(first_error(missing).find("c.yaml:2:12"), std::string::npos) << first_error(missing);
    EXPECT_NE(first_error(missing).find("did you mean 'model.yaml'?"), std::string::npos);
    folder.write("d.yaml", "include: .\n");
    EXPECT_NE(first_error(load_config(folder / "d.yaml")).find("is a folder"), std::string::npos);
    EXPECT_NE(first_error(load_config(folder / "none" / "e.yaml")).find("there is no folder"),
              std::string::npos);
}

TEST(Config, OverridesReplaceAndMakeWhatTheyName) {
    Result<ConfigNode> root = parse_config("a: {b: 1}\nlist: [1, 2]\n", "x");
    ASSERT_TRUE(root);
    EXPECT_TRUE(apply_override(*root, "a.b=2").empty());
    EXPECT_TRUE(apply_override(*root, "new.deep=hello").empty());
    EXPECT_TRUE(apply_override(*root, "list.1={k: 3}").empty());
    EXPECT_EQ(root->find_path("a.b")->text, "2");
    EXPECT_EQ(root->find_path("new.deep")->text, "hello");
    EXPECT_EQ(root->find_path("list.1.k")->text, "3");
}

TEST(Config, WrongOverridesPointIntoTheArgument) {
    Result<ConfigNode> root = parse_config("a: {b: 1}\nlist: [1, 2]\n", "x");
    ASSERT_TRUE(root);
    for (const char* assignment : {"a.b", "=1", "a.b=", "a.b= ", "a..b=1", "a.b.c=1", "list.7=1", "list.x=1",
                                   "a.b=[1", "a.b={c: 1, c: 2}"}) {
        const Diagnostics errors = apply_override(*root, assignment);
        ASSERT_FALSE(errors.empty()) << assignment;
        EXPECT_EQ(errors.front().where.to_string().substr(0, 8), "--set:1:") << assignment;
    }
}

TEST(Config, WrittenYamlReadsBackToTheSameTree) {
    const std::string text =
        "a: 010\nempty: \"\"\nnested: {list: [x, \"y: z\", \"#no\"], deep: [{k: v}, {k: w}]}\nquoted: "
        "\"a\\nb\"\nnone: []\nmap: {}\n";
    const Result<ConfigNode> once = parse_config(text, "x");
    ASSERT_TRUE(once);
    const std::string written = to_yaml(*once);
    const Result<ConfigNode> twice = parse_config(written, "y");
    ASSERT_TRUE(twice) << first_error(twice) << written;
    EXPECT_EQ(to_yaml(*twice), written);
    EXPECT_EQ(twice->find_path("nested.list.1")->text, "y: z");
    EXPECT_EQ(twice->find("quoted")->text, "a\nb");
    EXPECT_TRUE(twice->find("empty")->text.empty());
}

RC_GTEST_PROP(ConfigProperty, AnyTextGivesATreeOrAnError, ()) {
    // Random cuts and swaps of a real file reach deeper into the reader than random bytes.
    std::string text =
        "schema: astrolabe/1\nnetwork: {kind: flat, hosts: 8, link: {rate: 100Gbps}}\nlist:\n  - a: 1\n  - "
        "\"b\"\n";
    const int edits = *rc::gen::inRange(0, 6);
    for (int i = 0; i < edits; ++i) {
        const auto at = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(text.size())));
        const char c = *rc::gen::element(' ', '\n', '{', '}', '[', ']', ':', '-', '&', '*', '!', '"', '\'',
                                         '#', '|', '\t', 'x', '\x80');
        text[at] = c;
    }
    const Result<ConfigNode> root = parse_config(text, "x");
    if (!root) {
        for (const Diagnostic& error : root.error()) {
            RC_ASSERT(!error.message.empty());
            RC_ASSERT(!error.render().empty());
        }
    }
}

}  // namespace
}  // namespace astrolabe
