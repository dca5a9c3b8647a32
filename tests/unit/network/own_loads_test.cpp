#include "network/src/engines/fluid/own_loads.hpp"

#include "random_seed.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

std::map<std::uint32_t, double> contents(const OwnLoads& loads) {
    std::map<std::uint32_t, double> all;
    loads.for_each(
        [&](std::uint32_t link, const ExactSum& load) { RC_ASSERT(all.emplace(link, load.value()).second); });
    return all;
}

TEST(OwnLoads, OneWithoutFlowsIsNotVisited) {
    OwnLoads loads;
    EXPECT_TRUE(loads.empty());
    loads.add(7, 0.5);
    loads.add(7, 0.25);
    loads.add(9, 1.0);
    EXPECT_EQ(contents(loads), (std::map<std::uint32_t, double>{{7, 0.75}, {9, 1.0}}));
    loads.take(9, 1.0);
    EXPECT_EQ(contents(loads), (std::map<std::uint32_t, double>{{7, 0.75}}));
    loads.clear();
    EXPECT_TRUE(loads.empty());
}

RC_GTEST_PROP(OwnLoadsProperty, IsAMapOfSums, ()) {
    // Loads are quarters, so that sums are exact; links lie apart by powers of two or follow each other.
    std::mt19937_64 random(random_seed());
    const std::uint32_t stride = 1U << random() % 12;
    const std::size_t links = 1 + random() % 300;
    OwnLoads loads;
    std::vector<std::pair<std::uint32_t, double>> flows;
    for (int step = 0; step < 2'000; ++step) {
        if (flows.empty() || random() % 5 < 3) {
            const auto link = static_cast<std::uint32_t>(random() % links) * stride;
            flows.emplace_back(link, 0.25 * static_cast<double>(1 + random() % 8));
            loads.add(flows.back().first, flows.back().second);
        } else {
            std::swap(flows[random() % flows.size()], flows.back());
            loads.take(flows.back().first, flows.back().second);
            flows.pop_back();
        }
    }
    std::map<std::uint32_t, double> expected;
    for (const auto& [link, load] : flows) {
        expected[link] += load;
    }
    RC_ASSERT(contents(loads) == expected);
    RC_ASSERT(loads.size() >= expected.size());
}

}  // namespace
}  // namespace astrolabe::network
