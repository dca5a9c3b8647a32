#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/network/cost/prices.hpp>

namespace astrolabe::network {
namespace {

/// 20 at 10 Gb/s, 40 at 25 Gb/s, 100 at 100 Gb/s.
Price transceiver(OtherRates other_rates) {
    return {.dollars = {},
            .by_rate = {{10_Gbps, 20.0}, {25_Gbps, 40.0}, {100_Gbps, 100.0}},
            .other_rates = other_rates,
            .source = "test"};
}

TEST(Price, OtherRatesAreRefusedUnlessSaid) {
    const Price price = transceiver(OtherRates::kRefuse);
    EXPECT_EQ(price.at(25_Gbps), 40.0);
    for (const Bandwidth rate : {1_Gbps, 40_Gbps, 200_Gbps}) {
        EXPECT_EQ(price.at(rate), std::nullopt) << to_string(rate);
    }
}

TEST(Price, LiesOnStraightLinesBetweenListedRates) {
    const Price price = transceiver(OtherRates::kInterpolate);
    EXPECT_EQ(price.at(1_Gbps), 20.0);  // the least
    EXPECT_EQ(price.at(10_Gbps), 20.0);
    EXPECT_EQ(price.at(40_Gbps), 52.0);  // 40 + 60 · 15/75
    EXPECT_EQ(price.at(100_Gbps), 100.0);
    EXPECT_EQ(price.at(400_Gbps), 400.0);  // four of 100 Gb/s
}

TEST(Price, OneForAllRates) {
    const Price price{.dollars = 45.0, .by_rate = {}, .source = "test"};
    EXPECT_EQ(price.at(1_Gbps), 45.0);
    EXPECT_EQ(price.at(1000_Gbps), 45.0);
    EXPECT_TRUE(validation_errors(price).empty());
}

std::vector<std::string> keys_of(const ValidationErrors& problems) {
    std::vector<std::string> keys;
    for (const ValidationError& problem : problems) {
        keys.push_back(problem.key);
    }
    return keys;
}

TEST(Price, ProblemsNameTheirKeys) {
    using Keys = std::vector<std::string>;
    Price price = transceiver(OtherRates::kInterpolate);
    EXPECT_EQ(keys_of(validation_errors(price)), Keys{});
    price.source.clear();
    EXPECT_EQ(keys_of(validation_errors(price)), Keys{"source"});
    price = transceiver(OtherRates::kRefuse);
    price.dollars = 1.0;
    EXPECT_EQ(keys_of(validation_errors(price)), Keys{""});
    price.by_rate.clear();
    price.dollars.reset();
    EXPECT_EQ(keys_of(validation_errors(price)), Keys{""});
    price = Price{.dollars = 1.0, .by_rate = {}, .other_rates = OtherRates::kInterpolate, .source = "test"};
    EXPECT_EQ(keys_of(validation_errors(price)), Keys{"other_rates"});
    price = transceiver(OtherRates::kRefuse);
    price.by_rate[1].rate = 10_Gbps;
    EXPECT_EQ(keys_of(validation_errors(price)), Keys{"by_rate.1.rate"});
    price = transceiver(OtherRates::kRefuse);
    price.by_rate[2].dollars = 39.0;
    EXPECT_EQ(keys_of(validation_errors(price)), Keys{"by_rate.2.dollars"});
}

TEST(PriceSchema, ReadsWhatItWrites) {
    const Result<ConfigNode> node = parse_config(
        "name: two\nhost_cables: copper\n"
        "fibre: {dollars: 45, source: a}\n"
        "transceiver: {by_rate: [{rate: 10Gbps, dollars: 20}, {rate: 100Gbps, dollars: 99}], source: b}\n",
        "prices.yaml");
    ASSERT_TRUE(node);
    ReadContext context;
    const std::optional<PriceList> list = price_schema().read(*node, context);
    ASSERT_TRUE(list) << render(context.errors());
    EXPECT_EQ(list->host_cables, HostCables::kCopper);
    EXPECT_EQ(list->of(Part::kFibre)->dollars, 45.0);
    EXPECT_EQ(list->of(Part::kTransceiver)->at(100_Gbps), 99.0);
    EXPECT_FALSE(list->of(Part::kNicPort));
    EXPECT_EQ(list->listed_rates(), (std::vector{10_Gbps, 100_Gbps}));
    const std::optional<PriceList> again = price_schema().read(price_schema().write(*list), context);
    ASSERT_TRUE(again) << render(context.errors());
    EXPECT_EQ(to_yaml(price_schema().write(*again)), to_yaml(price_schema().write(*list)));
}

TEST(PriceSchema, SaysWhereAPriceIsWrong) {
    const Result<ConfigNode> node = parse_config(
        "fibre: {dollars: -1, source: a}\n"
        "nic_port: {dollars: 1}\n"
        "rotor_ports: {dollars: 1, source: a}\n",
        "prices.yaml");
    ReadContext context;
    EXPECT_FALSE(price_schema().read(*node, context));
    const std::string text = render(context.errors());
    for (const char* words :
         {"prices.yaml:1:18: error[config.range]", "prices.yaml:2:11: error[config.missing-key]",
          "needs 'source'", "prices.yaml:3:1: error[config.unknown-key]", "did you mean 'rotor_port'"}) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    }
}

}  // namespace
}  // namespace astrolabe::network
