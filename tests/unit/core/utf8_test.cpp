#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/source_text.hpp>
#include <astrolabe/core/utf8.hpp>

namespace astrolabe {
namespace {

using namespace std::string_literals;

TEST(Utf8, TheEndsOfEveryLengthAreTextAndTheirNeighboursAreNot) {
    // RFC 3629: U+0000, U+007F, U+0080, U+07FF, U+0800, U+D7FF, U+E000, U+FFFF, U+10000, U+10FFFF.
    for (const std::string& text :
         {""s, "\0"s, "\x7F"s, "\xC2\x80"s, "\xDF\xBF"s, "\xE0\xA0\x80"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s,
          "\xEF\xBF\xBF"s, "\xF0\x90\x80\x80"s, "\xF4\x8F\xBF\xBF"s}) {
        EXPECT_EQ(first_byte_not_utf8(text), std::nullopt) << testing::PrintToString(text);
        EXPECT_EQ(first_byte_not_utf8("12345678" + text + "12345678"), std::nullopt);
    }
    // Stray continuations, overlong forms, surrogates, above U+10FFFF, bytes that never occur, sequences cut
    // short.
    for (const std::string& text :
         {"\x80"s, "\xBF"s, "\xC0\x80"s, "\xC1\xBF"s, "\xE0\x9F\xBF"s, "\xED\xA0\x80"s, "\xED\xBF\xBF"s,
          "\xF0\x8F\xBF\xBF"s, "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFE"s, "\xFF"s, "\xC2"s,
          "\xE1\x80"s, "\xF1\x80\x80"s,
          "\xC2"
          "a"s,
          "\xE1\x80"
          "a"s}) {
        EXPECT_EQ(first_byte_not_utf8(text), 0u) << testing::PrintToString(text);
        EXPECT_EQ(first_byte_not_utf8("123456789" + text + "12345678"), 9u);
    }
}

RC_GTEST_PROP(Utf8, EveryCodePointIsTextAndCutShortIsNot, ()) {
    const auto point = static_cast<std::uint32_t>(*rc::gen::suchThat(
        rc::gen::inRange(0x80, 0x110000), [](int value) { return value < 0xD800 || value > 0xDFFF; }));
    std::string text;
    if (point < 0x800) {
        text = {static_cast<char>(0xC0 | point >> 6)};
    } else if (point < 0x10000) {
        text = {static_cast<char>(0xE0 | point >> 12), static_cast<char>(0x80 | (point >> 6 & 0x3F))};
    } else {
        text = {static_cast<char>(0xF0 | point >> 18), static_cast<char>(0x80 | (point >> 12 & 0x3F)),
                static_cast<char>(0x80 | (point >> 6 & 0x3F))};
    }
    RC_ASSERT(first_byte_not_utf8(text) == std::optional<std::size_t>(0));
    text += static_cast<char>(0x80 | (point & 0x3F));
    RC_ASSERT(first_byte_not_utf8(text) == std::nullopt);
}

TEST(Utf8, AConfigurationIsRefusedAtTheByteAndTheExcerptIsText) {
    const Result<ConfigNode> root = parse_config("schema: astrolabe/1\nname: caf\xE9 au lait\n", "x.yaml");
    ASSERT_FALSE(root);
    const Diagnostic& error = root.error().front();
    EXPECT_EQ(error.code, "config.encoding");
    EXPECT_EQ(error.where.to_string(), "x.yaml:2:10");
    EXPECT_NE(error.message.find("byte 0xe9 at offset 29 is not UTF-8"), std::string::npos) << error.message;
    EXPECT_NE(error.render().find("name: caf? au lait"), std::string::npos);
    EXPECT_EQ(first_byte_not_utf8(error.render()), std::nullopt);
    EXPECT_TRUE(parse_config("name: café au lait\n", "x.yaml"));
}

TEST(Utf8, WhatIsRenderedIsTextWhateverWasFound) {
    const Diagnostic error{"trace.json", {}, "last read: '\xFF'", "did you mean 'caf\xE9'?", {}};
    EXPECT_EQ(error.render(), "error[trace.json]: last read: '?'\n  hint: did you mean 'caf?'?\n");
}

TEST(Utf8, OverridesAndFilesOfOtherToolsAreRefusedAtTheByte) {
    ConfigNode root = ConfigNode::mapping();
    const Diagnostics value = apply_override(root, "name=a\xFFz");
    ASSERT_EQ(value.size(), 1u);
    EXPECT_EQ(value.front().where.to_string(), "--set:1:7");
    const Diagnostics key = apply_override(root, "n\xFFme=a");
    ASSERT_EQ(key.size(), 1u);
    EXPECT_EQ(key.front().where.to_string(), "--set:1:2");
    EXPECT_TRUE(root.entries.empty());

    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "utf8_test.xml";
    std::ofstream(path) << "<system>\n<cpu name=\"\xB5\"/>\n</system>\n";
    const auto source = read_source(path, "schedule.file");
    std::filesystem::remove(path);
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().front().code, "schedule.file");
    EXPECT_EQ(source.error().front().where.to_string(), path.string() + ":2:12");
}

}  // namespace
}  // namespace astrolabe
