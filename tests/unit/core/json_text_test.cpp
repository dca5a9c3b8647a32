#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/json_text.hpp>

namespace astrolabe {
namespace {

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonText, NestsAsDeepAsTheLimitAndNoDeeper) {
    EXPECT_EQ(place_of_deep_nesting(nested(limits::kNesting)), std::nullopt);
    EXPECT_EQ(place_of_deep_nesting(nested(limits::kNesting + 1)), limits::kNesting);
    EXPECT_TRUE(parse_json<nlohmann::json>(nested(limits::kNesting)).is_array());
    EXPECT_TRUE(parse_json<nlohmann::json>(nested(1'000'000)).is_discarded());
    EXPECT_TRUE(parse_json<nlohmann::json>("[1,").is_discarded());
    // Lists beside each other are not inside each other, and what is in a text is no list.
    std::string beside = "[0";
    for (int i = 0; i < 1000; ++i) {
        beside += ",[]";
    }
    EXPECT_TRUE(parse_json<nlohmann::json>(beside + "]").is_array());
    const std::string text = '"' + std::string(1000, '{') + R"(\")" + std::string(1000, '[') + '"';
    EXPECT_TRUE(parse_json<nlohmann::json>(text).is_string());
    // A text that does not end, and more ends than beginnings.
    EXPECT_EQ(place_of_deep_nesting("\"\\"), std::nullopt);
    EXPECT_EQ(place_of_deep_nesting("]]]" + nested(limits::kNesting + 1)), limits::kNesting + 3);
}

TEST(JsonText, WholeNumbersFitOrAreRefused) {
    const auto number = [](const char* text) { return nlohmann::json::parse(text); };
    EXPECT_EQ(whole_in<int>(number("-2147483648")), -2'147'483'647 - 1);
    EXPECT_EQ(whole_in<std::uint64_t>(number("18446744073709551615")), ~std::uint64_t{0});
    for (const char* text : {"2147483648", "-9223372036854775808", "1.0", "1e3", "18446744073709551616",
                             "null", "\"1\"", "[]"}) {
        EXPECT_THROW(static_cast<void>(whole_in<int>(number(text))), std::out_of_range) << text;
    }
    EXPECT_THROW(static_cast<void>(whole_in<std::uint64_t>(number("-1"))), std::out_of_range);
}

}  // namespace
}  // namespace astrolabe
