/// What the reader of configurations refuses by its limits, and that its time grows as the text does.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/limits.hpp>

namespace astrolabe {
namespace {

class ReaderLimits : public testing::Test {
protected:
    ReaderLimits()
        : folder_(std::filesystem::path(testing::TempDir()) /
                  fmt::format("limits_{}", testing::UnitTest::GetInstance()->current_test_info()->name())) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~ReaderLimits() override { std::filesystem::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

    std::filesystem::path folder_;
};

/// Of the processor, which others may use meanwhile.
double seconds_of(const auto& action) {
    const std::clock_t start = std::clock();
    action();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// The only error, which is one of limits.
const Diagnostic& limit_error(const Result<ConfigNode>& result) {
    static const Diagnostic none;
    EXPECT_FALSE(result);
    if (result) {
        return none;
    }
    EXPECT_EQ(result.error().size(), 1u) << render(result.error());
    EXPECT_EQ(result.error().front().code, "config.limit");
    EXPECT_FALSE(result.error().front().hint.empty());
    return result.error().front();
}

TEST_F(ReaderLimits, AChainOfIncludingFilesEndsAtTheLink) {
    constexpr std::size_t kFiles = 2000;
    for (std::size_t i = 0; i < kFiles; ++i) {
        write(fmt::format("{}.yaml", i),
              i + 1 < kFiles ? fmt::format("include: {}.yaml\n", i + 1) : "a: 1\n");
    }
    // File 0 includes 1 and so on: file 32 is the last that may be read, and names the one too many.
    const Result<ConfigNode> root = load_config(path("0.yaml"));
    const Diagnostic& error = limit_error(root);
    EXPECT_EQ(error.where.to_string(),
              fmt::format("{}:1:10", path(fmt::format("{}.yaml", limits::kIncludeDepth))));
    EXPECT_NE(error.message.find("33.yaml' is included through 33 files, expected at most 32"),
              std::string::npos)
        << error.message;
    // The longest chain that may be: the last 33 files.
    const Result<ConfigNode> last =
        load_config(path(fmt::format("{}.yaml", kFiles - 1 - limits::kIncludeDepth)));
    ASSERT_TRUE(last) << render(last.error());
    EXPECT_EQ(last->find("a")->text, "1");
}

TEST_F(ReaderLimits, FilesThatIncludeTheNextTwiceEndAtAThousandInclusions) {
    constexpr int kFiles = 27;
    for (int i = 0; i < kFiles; ++i) {
        write(fmt::format("{}.yaml", i),
              i + 1 < kFiles ? fmt::format("include: [{0}.yaml, {0}.yaml]\n", i + 1) : "a: 1\n");
    }
    // 2^26 inclusions would take hours. 2^9 - 2 = 510 of the last nine files, each the next twice, are not
    // too many.
    const Result<ConfigNode> root = load_config(path("0.yaml"));
    const Diagnostic& error = limit_error(root);
    EXPECT_GT(error.where.line, 0);
    EXPECT_NE(error.message.find("is inclusion 1,001, expected at most 1,000"), std::string::npos)
        << error.message;
    EXPECT_TRUE(load_config(path(fmt::format("{}.yaml", kFiles - 9))));
}

TEST_F(ReaderLimits, NestingCountsOverFiles) {
    const std::string deep(limits::kNesting, '[');
    const std::string closed = deep + std::string(limits::kNesting, ']');
    EXPECT_TRUE(parse_config(closed, "x"));
    const Result<ConfigNode> deeper = parse_config("[" + closed + "]", "x");
    EXPECT_EQ(limit_error(deeper).where.to_string(), fmt::format("x:1:{}", limits::kNesting + 1));
    EXPECT_NE(
        limit_error(deeper).message.find("101 lists and mappings inside each other, expected at most 100"),
        std::string::npos);
    // A mapping at the root of a file that is included is the mapping that includes it: 1 level here, 100
    // there.
    write("inner.yaml", "a: " + std::string(98, '[') + std::string(98, ']') + "\n");
    write("one.yaml", "b:\n  include: inner.yaml\n");
    EXPECT_TRUE(load_config(path("one.yaml")));
    write("two.yaml", "c:\n  b:\n    include: inner.yaml\n");
    const Result<ConfigNode> two = load_config(path("two.yaml"));
    EXPECT_EQ(limit_error(two).where.to_string(), fmt::format("{}:1:{}", path("inner.yaml"), 3 + 98));
    // Aliases that wrap each other are as deep as what they stand for.
    std::string aliases = "a0: &a0 [x]\n";
    for (std::size_t i = 1; i < limits::kNesting; ++i) {
        aliases += fmt::format("a{}: &a{} [*a{}]\n", i, i, i - 1);
    }
    const Result<ConfigNode> wrapped = parse_config(aliases, "x");
    EXPECT_EQ(limit_error(wrapped).where.line, 100) << "the root, 99 lists around the one of line 1";
}

TEST_F(ReaderLimits, AliasesCountInFullAndTheOneTooManyIsNamed) {
    std::string text = "a: &a " + std::string(1'000'000, 'x') + "\nb:\n";
    for (int i = 0; i < 20'000; ++i) {
        text += "  - *a\n";
    }
    // 20 GB of text. 2^28 = 268,435,456 bytes hold the file of 1,140,010, the copy that the anchor keeps and
    // 266 aliases of a million each: the 267th, on line 2 + 267, is too many.
    const Result<ConfigNode> root = parse_config(text, "x.yaml");
    EXPECT_EQ(limit_error(root).where.to_string(), "x.yaml:269:5");
    EXPECT_NE(limit_error(root).message.find("expected at most 268,435,456"), std::string::npos);

    std::string levels = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int level = 1; level < 9; ++level) {
        levels += fmt::format("a{}: &a{} [", level, level);
        for (int i = 0; i < 10; ++i) {
            levels += fmt::format("{}*a{}", i == 0 ? "" : ", ", level - 1);
        }
        levels += "]\n";
    }
    // a4 has 111,111 values and its anchor as many; line 6 repeats a4: its fifth at the latest ends it.
    const Result<ConfigNode> bomb = parse_config(levels, "y.yaml");
    EXPECT_EQ(limit_error(bomb).where.line, 6);
    EXPECT_GT(limit_error(bomb).where.column, 1);
}

TEST_F(ReaderLimits, AFileTooLargeIsRefusedWhereItIsNamed) {
    write("large.yaml", "a: 1\n");
    std::filesystem::resize_file(path("large.yaml"), limits::kFileBytes + 1);
    write("top.yaml", "x: 1\ninclude: large.yaml\n");
    const Result<ConfigNode> top = load_config(path("top.yaml"));
    EXPECT_EQ(limit_error(top).where.to_string(), path("top.yaml") + ":2:10");
    const Result<ConfigNode> first = load_config(path("large.yaml"));
    EXPECT_EQ(limit_error(first).where.to_string(), path("large.yaml") + ":1:1");
}

TEST_F(ReaderLimits, AnAliasInsideWhatItNamesCountsAsAValue) {
    write("inside.yaml", "a: &a [*a, *a, *a]\n");
    // The key is a value, and so is each alias: with room for three the third alias, at column 7 + 2 * 4 + 1,
    // is too many.
    ReadUsage usage{limits::kValues - 3, 0};
    const Result<ConfigNode> root = load_config(path("inside.yaml"), usage);
    ASSERT_FALSE(root);
    ASSERT_EQ(root.error().size(), 3u) << render(root.error());
    EXPECT_EQ(root.error()[1].code, "config.alias");
    EXPECT_EQ(root.error()[2].code, "config.limit");
    EXPECT_EQ(root.error()[2].where.to_string(), path("inside.yaml") + ":1:16");
}

TEST_F(ReaderLimits, ReadingsThatBelongTogetherShareTheLimits) {
    write("a.yaml", "a: [1, 2, 3]\n");
    ReadUsage usage;
    ASSERT_TRUE(load_config(path("a.yaml"), usage));
    EXPECT_EQ(usage.values, 6u) << "a mapping, its key, a list and three numbers";
    EXPECT_EQ(usage.bytes, 13u);
    usage.values = limits::kValues - 6;
    EXPECT_TRUE(load_config(path("a.yaml"), usage));
    EXPECT_FALSE(usage.is_exceeded());
    for (int again = 0; again < 2; ++again) {
        const Result<ConfigNode> more = load_config(path("a.yaml"), usage);
        EXPECT_EQ(limit_error(more).where.to_string(), path("a.yaml") + ":1:1");
        EXPECT_TRUE(usage.is_exceeded());
    }
    ReadUsage of_bytes{0, limits::kTotalBytes - 12};
    const Result<ConfigNode> large = load_config(path("a.yaml"), of_bytes);
    EXPECT_NE(limit_error(large).message.find("268,435,457 bytes up to here, expected at most 268,435,456"),
              std::string::npos);
}

TEST_F(ReaderLimits, OverridesReachNoDeeperThanFiles) {
    std::string deepest = "a";
    for (std::size_t i = 1; i < limits::kNesting; ++i) {
        deepest += ".a";
    }
    ConfigNode root = ConfigNode::mapping();
    EXPECT_TRUE(apply_override(root, deepest + "=1").empty());
    EXPECT_EQ(root.find_path(deepest)->text, "1");
    ConfigNode untouched = ConfigNode::mapping();
    const Diagnostics errors = apply_override(untouched, "a." + deepest + "=1");
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors.front().code, "config.limit");
    EXPECT_EQ(errors.front().where.to_string(), "--set:1:1");
    EXPECT_EQ(errors.front().message, "a path of 101 steps, expected at most 100");
    EXPECT_TRUE(untouched.entries.empty());
}

std::string distinct_keys(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += fmt::format("key{}: {}\n", i, i);
    }
    return text;
}

TEST_F(ReaderLimits, DistinctKeysTakeLinearTime) {
    // A search through all earlier keys takes 16 times as long for four times the keys; 8 leaves room for
    // caches.
    const double some = seconds_of([] { ASSERT_TRUE(parse_config(distinct_keys(50'000), "x")); });
    const double many = seconds_of([] { ASSERT_TRUE(parse_config(distinct_keys(200'000), "x")); });
    fmt::print("50,000 keys {:.3f} s, 200,000 keys {:.3f} s\n", some, many);
    EXPECT_LT(many, 8 * some + 0.5);
}

TEST_F(ReaderLimits, IncludedKeysMergeInLinearTime) {
    write("base.yaml", distinct_keys(200'000));
    write("top.yaml", "include: base.yaml\n" + distinct_keys(200'000));
    const double taken = seconds_of([&] { ASSERT_TRUE(load_config(path("top.yaml"))); });
    fmt::print("200,000 keys over 200,000 keys {:.3f} s\n", taken);
    EXPECT_LT(taken, 20.0) << "a search for each through all takes 4e10 comparisons";
}

struct OneKey {
    std::int64_t hosts = 1;
};

TEST_F(ReaderLimits, OfManyErrorsTheFirstAreShownAndTheOthersCounted) {
    Schema<OneKey> schema("one", "a schema of one key");
    schema.optional("hosts", &OneKey::hosts, "number of hosts");
    const Result<ConfigNode> root = parse_config(distinct_keys(20'000), "x.yaml");
    ASSERT_TRUE(root);
    ReadContext context;
    const double taken = seconds_of([&] { EXPECT_FALSE(schema.read(*root, context)); });
    ASSERT_EQ(context.error_count(), 20'000u);
    const std::string text = render(context.errors());
    const auto count = [&text](std::string_view word) {
        std::size_t found = 0;
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            ++found;
        }
        return found;
    };
    EXPECT_EQ(count("error[config.unknown-key]"), limits::kErrorsShown);
    EXPECT_NE(text.find("x.yaml:50:1"), std::string::npos);
    EXPECT_EQ(text.find("x.yaml:51:1"), std::string::npos);
    EXPECT_TRUE(text.ends_with("and 19950 more, which are not shown\n")) << text.substr(text.size() - 200);
    EXPECT_LT(taken, 5.0);
}

}  // namespace
}  // namespace astrolabe
