#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/core/config/quantity.hpp>

namespace astrolabe {
namespace {

template <class T>
std::string failure(const Parsed<T>& parsed) {
    const auto* problem = std::get_if<ParseFailure>(&parsed);
    return problem == nullptr ? "" : problem->message + " | " + problem->hint;
}

TEST(Quantity, DesignExamplesAreExact) {
    EXPECT_EQ(std::get<Bandwidth>(parse_bandwidth("100Gbps")), Bandwidth(100'000'000'000));
    EXPECT_EQ(std::get<Time>(parse_time("1us")), Time(1'000'000));
    EXPECT_EQ(std::get<Bytes>(parse_bytes("64MiB")), Bytes(67'108'864));
    EXPECT_EQ(std::get<Bytes>(parse_bytes("0.5MB")), Bytes(500'000));
    EXPECT_EQ(std::get<FlopRate>(parse_flop_rate("60TFLOPS")), FlopRate(60'000'000'000'000));
    // 900 GB/s = 900e9 · 8 bit/s.
    EXPECT_EQ(std::get<Bandwidth>(parse_bandwidth("900GB/s")), Bandwidth(7'200'000'000'000));
}

TEST(Quantity, BitsAndBytesPrefixesAndBlanks) {
    EXPECT_EQ(std::get<Bytes>(parse_bytes("16b")), Bytes(2));
    EXPECT_EQ(std::get<Bytes>(parse_bytes(" 1.5 KiB ")), Bytes(1536));
    EXPECT_EQ(std::get<Bytes>(parse_bytes("1e3B")), Bytes(1000));
    EXPECT_EQ(std::get<Bytes>(parse_bytes("1EB")), Bytes(1'000'000'000'000'000'000));
    EXPECT_EQ(std::get<Time>(parse_time("0.000001s")), Time(1'000'000));
    EXPECT_EQ(std::get<Time>(parse_time("2min")), Time(120'000'000'000'000));
    EXPECT_EQ(std::get<Time>(parse_time("0")), Time(0));
}

TEST(Quantity, WhatIsNotAQuantitySaysWhyAndWhatToWrite) {
    EXPECT_NE(failure(parse_time("12")).find("no unit"), std::string::npos);
    EXPECT_NE(failure(parse_bandwidth("100Gbsp")).find("did you mean"), std::string::npos);
    EXPECT_NE(failure(parse_time("fast")).find("is not a time"), std::string::npos);
    EXPECT_NE(failure(parse_time("0.5ps")).find("whole multiple of 1ps"), std::string::npos);
    EXPECT_NE(failure(parse_bytes("3b")).find("whole multiple of 1B"), std::string::npos);
    EXPECT_NE(failure(parse_bytes("100EB")).find("out of range"), std::string::npos);
    EXPECT_NE(failure(parse_bytes("1e999B")).find("out of range"), std::string::npos);
    EXPECT_NE(failure(parse_bytes("")).find("is not a size"), std::string::npos);
    EXPECT_NE(failure(parse_bytes("0x10B")).find("not a unit"), std::string::npos);
    EXPECT_NE(failure(parse_bytes("99999999999999999999999999999999999999999999B")).find("is not a size"),
              std::string::npos);
}

TEST(Quantity, IntegersAreDecimalAndNothingElse) {
    EXPECT_EQ(std::get<std::int64_t>(parse_integer("010")), 10);
    EXPECT_EQ(std::get<std::int64_t>(parse_integer("-3")), -3);
    for (const char* text : {"", "1.0", "0x10", "1_000", "1e3", "ten", "9223372036854775808", "--1", "1 2"}) {
        EXPECT_NE(failure(parse_integer(text)), "") << text;
    }
}

TEST(Quantity, FlagsAreTrueAndFalseAndNothingElse) {
    EXPECT_TRUE(std::get<bool>(parse_flag("true")));
    EXPECT_FALSE(std::get<bool>(parse_flag("false")));
    for (const char* text : {"yes", "no", "on", "True", "1", ""}) {
        EXPECT_NE(failure(parse_flag(text)), "") << text;
    }
}

TEST(Quantity, NumbersAreFinite) {
    EXPECT_DOUBLE_EQ(std::get<double>(parse_number("0.25")), 0.25);
    for (const char* text : {"inf", "nan", "1,5", "", "0.5x", "1e999"}) {
        EXPECT_NE(failure(parse_number(text)), "") << text;
    }
}

RC_GTEST_PROP(QuantityProperty, NoTextCrashesTheParsers, (const std::string& text)) {
    // Either a value or a failure with a message; never an exception.
    RC_ASSERT(std::holds_alternative<Time>(parse_time(text)) || !failure(parse_time(text)).empty());
    RC_ASSERT(std::holds_alternative<Bytes>(parse_bytes(text)) || !failure(parse_bytes(text)).empty());
    RC_ASSERT(std::holds_alternative<Bandwidth>(parse_bandwidth(text)) ||
              !failure(parse_bandwidth(text)).empty());
}

}  // namespace
}  // namespace astrolabe
