#include "network/src/engines/fluid/link_levels.hpp"

#include "random_seed.hpp"
#include "sharing_scenarios.hpp"
#include "textbook_rates.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace astrolabe::network {
namespace {

std::vector<ClassLeg> path(std::initializer_list<int> links) {
    std::vector<ClassLeg> legs;
    for (const int link : links) {
        legs.push_back({static_cast<std::uint32_t>(link), 1.0});
    }
    return legs;
}

/// Flows 0, 1, …, all started.
LinkLevels started(std::vector<double> capacities, const std::vector<std::vector<ClassLeg>>& routes,
                   double slack = 0.0) {
    LinkLevels levels(std::move(capacities), slack);
    for (std::uint32_t flow = 0; flow < routes.size(); ++flow) {
        levels.add_flow(routes[flow]);
        levels.start(flow);
    }
    levels.update();
    return levels;
}

TEST(LinkLevels, AFlowAloneGetsItsSlowestLink) {
    const LinkLevels levels = started({10.0, 4.0, 7.0}, {path({0, 1, 2})});
    EXPECT_EQ(levels.rate(0), 4.0);
    EXPECT_EQ(levels.bottleneck(0), 1U);
    EXPECT_EQ(levels.counters().alone, 1U);
    ASSERT_EQ(levels.moved().size(), 1U);
    EXPECT_EQ(levels.moved()[0].from, LinkLevels::kNone);
}

TEST(LinkLevels, TheTextbookParkingLot) {
    // Links 0 and 1 of capacity 1: 1/2 each for the long and the short flow. Link 2 of capacity 2: the long
    // flow holds 1/2, the two others share 3/2.
    const LinkLevels levels =
        started({1.0, 1.0, 2.0}, {path({0, 1, 2}), path({0}), path({1}), path({2}), path({2})});
    for (const std::uint32_t flow : {0U, 1U, 2U}) {
        EXPECT_EQ(levels.rate(flow), 0.5) << flow;
    }
    EXPECT_EQ(levels.rate(3), 0.75);
    EXPECT_EQ(levels.rate(4), 0.75);
    EXPECT_EQ(levels.level(2), 0.75);
    EXPECT_EQ(levels.limited(2), 2U);
}

TEST(LinkLevels, AStopReachesFlowsThatShareNoLinkWithIt) {
    // Link 0 (capacity 2): a, b. Link 1 (capacity 3): b, c. Both on link 0 get 1, so c gets 3 - 1 = 2.
    // Without a, b is bound by link 1: b = c = 3/2. It moves there, and only the level of link 1 changes.
    LinkLevels levels = started({2.0, 3.0}, {path({0}), path({0, 1}), path({1})});
    EXPECT_EQ(levels.rate(1), 1.0);
    EXPECT_EQ(levels.rate(2), 2.0);
    levels.stop(0);
    levels.update();
    EXPECT_EQ(levels.rate(0), 0.0);
    EXPECT_EQ(levels.rate(1), 1.5);
    EXPECT_EQ(levels.rate(2), 1.5);
    ASSERT_EQ(levels.moved().size(), 1U);
    EXPECT_EQ(levels.moved()[0].flow, 1U);
    EXPECT_EQ(levels.moved()[0].from, 0U);
    EXPECT_EQ(std::vector<std::uint32_t>(levels.changed().begin(), levels.changed().end()),
              (std::vector<std::uint32_t>{1}));
}

TEST(LinkLevels, AChangeOfLevelTouchesNoFlow) {
    // 100 flows on one link of capacity 9900: 99 each, and 100 when one stops.
    LinkLevels levels = started({9900.0}, std::vector<std::vector<ClassLeg>>(100, path({0})));
    EXPECT_EQ(levels.rate(7), 99.0);
    levels.stop(0);
    levels.update();
    EXPECT_EQ(levels.rate(7), 100.0);
    EXPECT_TRUE(levels.moved().empty());
    EXPECT_EQ(levels.changed().size(), 1U);
}

TEST(LinkLevels, SharesWeighOnLinksNotOnRates) {
    // A flow sprayed half and half over links 1 and 2 behind link 0 (capacity 10), with one flow alone on
    // link 1 (capacity 3): x/2 + y = 3 with x = y gives 2. Link 2 then carries 1 of its 3.
    const LinkLevels levels =
        started({10.0, 3.0, 3.0}, {std::vector<ClassLeg>{{0, 1.0}, {1, 0.5}, {2, 0.5}}, path({1})});
    EXPECT_EQ(levels.rate(0), 2.0);
    EXPECT_EQ(levels.rate(1), 2.0);
    EXPECT_EQ(levels.load(2), 1.0);
    EXPECT_EQ(levels.load(0), 2.0);
}

TEST(LinkLevels, ADarkLinkStopsItsFlowsAndLeavesTheRestToOthers) {
    const LinkLevels levels = started({0.0, 4.0}, {path({0, 1}), path({1})});
    EXPECT_EQ(levels.rate(0), 0.0);
    EXPECT_EQ(levels.rate(1), 4.0);
}

TEST(LinkLevels, SymmetricFlowsGetTheSameRateBitForBit) {
    // All-to-all of 12 hosts, up link i, down link 12 + j; 1/11 of a link is not a double.
    constexpr int kHosts = 12;
    std::vector<std::vector<ClassLeg>> routes;
    for (int i = 0; i < kHosts; ++i) {
        for (int j = 0; j < kHosts; ++j) {
            if (i != j) {
                routes.push_back(path({i, kHosts + j}));
            }
        }
    }
    const LinkLevels levels = started(std::vector<double>(2 * kHosts, 1e11), routes);
    for (std::uint32_t flow = 0; flow < routes.size(); ++flow) {
        EXPECT_EQ(levels.rate(flow), 1e11 / 11.0);
    }
    EXPECT_EQ(levels.counters().whole_network, 1U);
}

TEST(LinkLevels, AStartCancelledBeforeTheUpdateChangesNothing) {
    LinkLevels levels = started({1.0}, {path({0})});
    levels.add_flow(path({0}));
    levels.start(1);
    levels.stop(1);
    levels.update();
    EXPECT_EQ(levels.rate(0), 1.0);
    EXPECT_TRUE(levels.changed().empty());
    EXPECT_TRUE(levels.moved().empty());
}

TEST(LinkLevels, WithSlackALevelWaitsUntilThereIsEnoughToGain) {
    // 22 flows share a link of 396, of which a tenth is kept back: 18 · 0.9 = 16.2 each. Without one there is
    // 396 / 21 = 18.86 for each, 16 % more, which is less than the 20 % that are let lie; without another
    // 19.8, 22 % more.
    LinkLevels levels = started({396.0}, std::vector<std::vector<ClassLeg>>(22, path({0})), 0.2);
    EXPECT_DOUBLE_EQ(levels.rate(0), 16.2);
    levels.stop(21);
    levels.update();
    EXPECT_DOUBLE_EQ(levels.rate(0), 16.2);
    levels.stop(20);
    levels.update();
    EXPECT_DOUBLE_EQ(levels.rate(0), 19.8 * 0.9);
    // What was kept back is there for two that start: 396 / 22 = 18 is more than 17.82.
    levels.start(20);
    levels.start(21);
    levels.update();
    EXPECT_DOUBLE_EQ(levels.rate(0), 17.82);
    EXPECT_EQ(levels.rate(21), levels.rate(0));
    // One more has no room but what all give, and again a tenth is kept back: 396 / 23 · 0.9.
    levels.add_flow(path({0}));
    levels.start(22);
    levels.update();
    EXPECT_DOUBLE_EQ(levels.rate(0), 396.0 / 23 * 0.9);
    EXPECT_EQ(levels.rate(22), levels.rate(0));
}

TEST(LinkLevels, AnotherLinkTakesOverWhereALevelRoseTooHigh) {
    // Link 0 of 4 shares 4/3 among three; flow 1 goes on over link 1 of 3, whose other flow has 3 - 4/3 =
    // 5/3.
    LinkLevels levels = started({4.0, 3.0}, {path({0}), path({0, 1}), path({0}), path({1})});
    EXPECT_DOUBLE_EQ(levels.rate(1), 4.0 / 3.0);
    EXPECT_DOUBLE_EQ(levels.rate(3), 5.0 / 3.0);
    // Without flow 2 link 0 has 2 for each. With 2 and 5/3 link 1 would carry more than 3: it limits both of
    // its flows to 3/2, and link 0 has 4 - 3/2 for the one that is left.
    levels.stop(2);
    levels.update();
    EXPECT_EQ(levels.rate(0), 2.5);
    EXPECT_EQ(levels.rate(1), 1.5);
    EXPECT_EQ(levels.bottleneck(1), 1U);
    EXPECT_EQ(levels.rate(3), 1.5);
}

TEST(LinkLevels, ALinkThatRisesTakesOverWhoHasMore) {
    // Link 1 of 7 gives 1 to each of seven, of which flow 4 is on link 0 of 10 too: the four there alone have
    // (10 - 1) / 4 = 2.25.
    std::vector<std::vector<ClassLeg>> routes(4, path({0}));
    routes.push_back(path({0, 1}));
    routes.resize(11, path({1}));
    LinkLevels levels = started({10.0, 7.0}, routes);
    EXPECT_EQ(levels.rate(0), 2.25);
    EXPECT_EQ(levels.rate(4), 1.0);
    // All others stop. Link 1 is raised first, to 7, and leaves flow 0 only 3 on link 0, which is more than
    // 2.25: that link is raised to 5, takes over flow 4, and has 5 for each.
    for (const std::uint32_t flow : {1U, 2U, 3U, 5U, 6U, 7U, 8U, 9U, 10U}) {
        levels.stop(flow);
    }
    levels.update();
    EXPECT_EQ(levels.rate(0), 5.0);
    EXPECT_EQ(levels.rate(4), 5.0);
    EXPECT_EQ(levels.bottleneck(4), 0U);
}

TEST(LinkLevels, AnUpdateEndsWhereRoundingIsMoreThanATie) {
    // Of N = 15,750 flows on two equal links rounding may be N · 10^-16 = 1.6·10^-12 of a level, more than
    // what counts as none; and two capacities may be about as far apart as levels that are one.
    std::vector<std::vector<ClassLeg>> routes(15'750, path({0, 1}));
    for (const int link : {0, 0, 1, 1}) {
        routes.push_back(path({link}));
    }
    LinkLevels many = started({1e10, 1e10}, routes);
    many.stop(15'750);
    many.stop(15'752);
    many.update();
    EXPECT_NEAR(many.rate(0), 1e10 / 15'751, 1e-11 * many.rate(0));
    std::vector<std::vector<ClassLeg>> few(5, path({0, 1}));
    few.push_back(path({0}));
    few.push_back(path({1}));
    LinkLevels near = started({99999999999.849991, 99999999999.824997}, few);
    EXPECT_NEAR(near.rate(0), 1e11 / 6, 1e-11 * near.rate(0));
    near.stop(5);
    near.stop(6);
    near.update();
    EXPECT_NEAR(near.rate(0), 1e11 / 5, 1e-11 * near.rate(0));
}

/// Random starts and stops, one or several per update; `check` after each.
template <class Check>
void drive(std::mt19937_64& random, Scenario& scenario, LinkLevels& levels, const Check& check) {
    const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    for (const TextbookFlow& flow : scenario.flows) {
        levels.add_flow(flow.route);
    }
    for (int step = 0; step < 40; ++step) {
        const std::size_t changes = 1 + pick(step % 10 == 0 ? scenario.flows.size() : 3);
        for (std::size_t i = 0; i < changes; ++i) {
            const std::size_t f = pick(scenario.flows.size());
            bool& active = scenario.flows[f].active;
            active ? levels.stop(static_cast<std::uint32_t>(f)) : levels.start(static_cast<std::uint32_t>(f));
            active = !active;
        }
        levels.update();
        check();
    }
}

/// Rates by flow of a textbook water-filling over these capacities.
void expect_rates(const LinkLevels& levels, const Scenario& scenario, const std::vector<double>& capacities) {
    const std::vector<double> expected = textbook_rates(capacities, scenario.flows);
    for (std::uint32_t f = 0; f < scenario.flows.size(); ++f) {
        // Both sides sum up to 200 rates per link in different orders, and residuals that nearly cancel lose
        // digits: 1e-9 relative leaves four orders of magnitude above the 2^-53 of one operation.
        RC_ASSERT(std::abs(levels.rate(f) - expected[f]) <= 1e-9 * expected[f]);
    }
}

RC_GTEST_PROP(LinkLevelsProperty, TheTextbookRates, ()) {
    std::mt19937_64 random(random_seed());
    Scenario scenario = random_scenario(random, false);
    LinkLevels levels(scenario.capacities);
    drive(random, scenario, levels, [&] {
        expect_rates(levels, scenario, scenario.capacities);
        for (std::uint32_t l = 0; l < scenario.capacities.size(); ++l) {
            RC_ASSERT(levels.load(l) <= scenario.capacities[l] * (1.0 + 1e-9));
        }
    });
}

RC_GTEST_PROP(LinkLevelsProperty, TheTextbookRatesOfManyOnFewLinks, ()) {
    // So many that a link limits 32 and more of several links, which it sums up.
    std::mt19937_64 random(random_seed());
    Scenario scenario;
    const std::size_t links = 3 + random() % 8;
    for (std::size_t l = 0; l < links; ++l) {
        scenario.capacities.push_back(1e11 * static_cast<double>(1 + random() % 4));
    }
    const std::size_t flows = 100 + random() % 300;
    for (std::size_t f = 0; f < flows; ++f) {
        TextbookFlow flow;
        flow.active = false;
        // Of the links that follow one another in a ring, from a random one, with shares that have no end.
        const std::size_t length = std::min<std::size_t>(links, 1 + random() % 4);
        const std::size_t first = random() % links;
        const double share = random() % 4 == 0 ? 1.0 / static_cast<double>(1 + random() % 7) : 1.0;
        for (std::size_t i = 0; i < length; ++i) {
            flow.route.push_back({static_cast<std::uint32_t>((first + i) % links), share});
        }
        scenario.flows.push_back(flow);
    }
    LinkLevels levels(scenario.capacities);
    drive(random, scenario, levels, [&] {
        expect_rates(levels, scenario, scenario.capacities);
        for (std::uint32_t l = 0; l < links; ++l) {
            RC_ASSERT(levels.load(l) <= scenario.capacities[l] * (1.0 + 1e-9));
        }
    });
}

RC_GTEST_PROP(LinkLevelsProperty, ReportsWhatChanged, ()) {
    // A flow has another bottleneck if it is among those that moved, once; else another rate only if its
    // bottleneck is among the links that changed.
    std::mt19937_64 random(random_seed());
    Scenario scenario = random_scenario(random, false);
    LinkLevels levels(scenario.capacities);
    std::vector<double> rates(scenario.flows.size(), 0.0);
    std::vector<std::uint32_t> bottlenecks(scenario.flows.size(), LinkLevels::kNone);
    drive(random, scenario, levels, [&] {
        std::vector<bool> moved(scenario.flows.size());
        for (const LinkLevels::Moved& move : levels.moved()) {
            RC_ASSERT(!moved[move.flow]);
            moved[move.flow] = true;
        }
        std::vector<bool> changed(scenario.capacities.size());
        for (const std::uint32_t link : levels.changed()) {
            RC_ASSERT(!changed[link]);
            RC_ASSERT(levels.limited(link) > 0U);
            changed[link] = true;
        }
        for (std::uint32_t f = 0; f < scenario.flows.size(); ++f) {
            const std::uint32_t bottleneck = levels.bottleneck(f);
            RC_ASSERT((bottleneck != LinkLevels::kNone) == scenario.flows[f].active);
            if (bottleneck != LinkLevels::kNone && !moved[f]) {
                RC_ASSERT(bottleneck == bottlenecks[f]);
                RC_ASSERT(levels.rate(f) == rates[f] || changed[bottleneck]);
            }
            rates[f] = levels.rate(f);
            bottlenecks[f] = bottleneck;
        }
    });
}

RC_GTEST_PROP(LinkLevelsProperty, WithSlackTheRatesOfLinksThatAreLittleSlower, ()) {
    // A link that limits someone is full but for the slack, and what it carries taken as its capacity, the
    // rates are the fair ones.
    std::mt19937_64 random(random_seed());
    Scenario scenario = random_scenario(random, false);
    const double slack = std::pow(10.0, -static_cast<double>(1 + random() % 4));
    LinkLevels levels(scenario.capacities, slack);
    drive(random, scenario, levels, [&] {
        std::vector<double> capacities = scenario.capacities;
        for (std::uint32_t l = 0; l < capacities.size(); ++l) {
            RC_ASSERT(levels.load(l) <= capacities[l] * (1.0 + 1e-9));
            if (levels.limited(l) > 0) {
                RC_ASSERT(levels.load(l) >= capacities[l] * (1.0 - slack - 1e-9));
                capacities[l] = levels.load(l);
            }
        }
        expect_rates(levels, scenario, capacities);
    });
}

}  // namespace
}  // namespace astrolabe::network
