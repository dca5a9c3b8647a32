/// Price lists in files, and what is printed of a cost.
#include "network/src/topologies/flat.hpp"
#include "process.hpp"

#include <string>

#include <gtest/gtest.h>

#include <astrolabe/experiment/explain/network_cost.hpp>

namespace astrolabe::experiment {
namespace {

using network::Part;

std::shared_ptr<const network::Fabric> flat(std::int64_t hosts) {
    network::FlatParameters parameters;
    parameters.hosts = hosts;
    return network::build_flat(parameters);
}

TEST(PriceFile, BuiltInPricesAreThoseOfTheInputs) {
    const Result<PriceFile> file = load_prices(ASTROLABE_SOURCE_DIR "/inputs/costs/default.yaml");
    ASSERT_TRUE(file) << render(file.error());
    const auto schema = network::price_schema();
    EXPECT_EQ(to_yaml(schema.write(default_prices().list)), to_yaml(schema.write(file->list)));
    EXPECT_EQ(default_prices().list.name, "default");
    // Every part but copper cables and what is inside servers, at every rate.
    for (std::size_t i = 0; i < network::kParts; ++i) {
        const auto part = static_cast<Part>(i);
        for (const Bandwidth rate : {1_Gbps, 40_Gbps, 150_Gbps, 800_Gbps, 3000_Gbps}) {
            EXPECT_EQ(file->list.of(part).has_value(), part != Part::kCopperCable && !is_inside_server(part))
                << key_of(part);
            EXPECT_TRUE(!file->list.of(part) || file->list.of(part)->at(rate)) << key_of(part);
        }
    }
}

TEST(PriceFile, IsNamedAfterItselfUnlessItHasAName) {
    const testing::TemporaryFolder folder;
    const auto file = folder.write("mine.yaml", "fibre: {dollars: 1, source: t}\n");
    const Result<PriceFile> prices = load_prices(file);
    ASSERT_TRUE(prices) << render(prices.error());
    EXPECT_EQ(prices->list.name, "mine");
    EXPECT_FALSE(load_prices(folder.path() / "none.yaml"));
    const auto other = folder.write("other.yaml", "schema: astrolabe/2\n");
    EXPECT_NE(render(load_prices(other).error()).find("other.yaml:1:9: error[config.schema]"),
              std::string::npos);
}

TEST(PriceFile, MissingPricesAreSaidAtTheirPlaces) {
    const testing::TemporaryFolder folder;
    const auto file = folder.write("mine.yaml",
                                   "fibre: {dollars: 1, source: t}\n"
                                   "switch_port: {by_rate: {rate: 10Gbps, dollars: 1}, source: t}\n");
    const Result<network::NetworkCost> cost = network_cost(*flat(4), {}, *load_prices(file));
    ASSERT_FALSE(cost);
    const std::string text = render(cost.error());
    for (const char* words :
         {"mine.yaml:2:24: error[config.inconsistent]: 'switch_port.by_rate': the network has 4 of 100Gbps",
          "there are prices of 10Gbps", "the network has 4 x nic_port, which has no price",
          "add transceiver: {dollars: "}) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    }
}

TEST(NetworkCost, IsPrintedPartByPart) {
    // 2,000 hosts on one switch, per host 659 + 2 x 99 + 45 + 187 = 1089.
    const PriceFile prices = default_prices();
    const Result<network::NetworkCost> cost = network_cost(*flat(2'000), {}, prices);
    ASSERT_TRUE(cost) << render(cost.error());
    const nlohmann::ordered_json json = cost_json(*cost, prices.list);
    EXPECT_EQ(json["prices"], "default");
    EXPECT_EQ(json["total_usd"], 2'000.0 * 1'089.0);
    EXPECT_EQ(json["per_host_usd"], 1'089.0);
    ASSERT_EQ(json["parts"].size(), 4U);
    EXPECT_EQ(json["parts"][1], (nlohmann::ordered_json{{"part", "transceiver"},
                                                        {"rate_bps", 100'000'000'000},
                                                        {"count", 4'000},
                                                        {"price_usd", 99.0},
                                                        {"cost_usd", 396'000.0}}));
    const std::string text = cost_text(*cost, prices.list);
    for (const char* words : {"$2,178,000, $1,089 per host (prices: default)", "396,000", "transceiver"}) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
    }
}

}  // namespace
}  // namespace astrolabe::experiment
