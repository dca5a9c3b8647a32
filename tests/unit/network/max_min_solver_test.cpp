#include "network/src/engines/fluid/max_min_solver.hpp"

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

using FlowId = MaxMinSolver::FlowId;

std::vector<ClassLeg> path(std::initializer_list<int> links) {
    std::vector<ClassLeg> legs;
    for (const int link : links) {
        legs.push_back({static_cast<std::uint32_t>(link), 1.0});
    }
    return legs;
}

TEST(MaxMinSolver, AFlowAloneGetsItsSlowestLink) {
    MaxMinSolver solver({10.0, 4.0, 7.0});
    const FlowId flow = solver.add_flow(path({0, 1, 2}));
    solver.start(flow);
    ASSERT_EQ(solver.update().size(), 1U);
    EXPECT_EQ(solver.rate(flow), 4.0);
}

TEST(MaxMinSolver, TheTextbookParkingLot) {
    // Link capacities 1, 1, 2. One long flow over all three, one short flow per link, a second one on the
    // last. Links 0 and 1: 1/2 each for the long and the short flow. Link 2: long holds 1/2, the others share
    // 3/2: 3/4.
    MaxMinSolver solver({1.0, 1.0, 2.0});
    const FlowId all = solver.add_flow(path({0, 1, 2}));
    const FlowId first = solver.add_flow(path({0}));
    const FlowId second = solver.add_flow(path({1}));
    const FlowId third = solver.add_flow(path({2}));
    const FlowId fourth = solver.add_flow(path({2}));
    for (const FlowId flow : {all, first, second, third, fourth}) {
        solver.start(flow);
    }
    solver.update();
    EXPECT_EQ(solver.rate(all), 0.5);
    EXPECT_EQ(solver.rate(first), 0.5);
    EXPECT_EQ(solver.rate(second), 0.5);
    EXPECT_EQ(solver.rate(third), 0.75);
    EXPECT_EQ(solver.rate(fourth), 0.75);
}

TEST(MaxMinSolver, AStopReachesFlowsThatShareNoLinkWithIt) {
    // Link 0 (capacity 2): a, b. Link 1 (capacity 3): b, c. Both on link 0 get 1, so c gets 3 - 1 = 2.
    // Without a, b is bound by link 1: b = c = 3/2.
    MaxMinSolver solver({2.0, 3.0});
    const FlowId a = solver.add_flow(path({0}));
    const FlowId b = solver.add_flow(path({0, 1}));
    const FlowId c = solver.add_flow(path({1}));
    for (const FlowId flow : {a, b, c}) {
        solver.start(flow);
    }
    solver.update();
    EXPECT_EQ(solver.rate(b), 1.0);
    EXPECT_EQ(solver.rate(c), 2.0);
    solver.stop(a);
    solver.update();
    EXPECT_EQ(solver.rate(a), 0.0);
    EXPECT_EQ(solver.rate(b), 1.5);
    EXPECT_EQ(solver.rate(c), 1.5);
}

TEST(MaxMinSolver, SharesWeighOnLinksNotOnRates) {
    // A flow sprayed half and half over links 1 and 2 behind link 0 (capacity 10), with one flow alone on
    // link 1 (capacity 3): x/2 + y = 3 with x = y gives 2. Link 2 then carries 1 of its 3, link 0 carries 2
    // of 10.
    MaxMinSolver solver({10.0, 3.0, 3.0});
    const FlowId sprayed = solver.add_flow(std::vector<ClassLeg>{{0, 1.0}, {1, 0.5}, {2, 0.5}});
    const FlowId single = solver.add_flow(path({1}));
    solver.start(sprayed);
    solver.start(single);
    solver.update();
    EXPECT_EQ(solver.rate(sprayed), 2.0);
    EXPECT_EQ(solver.rate(single), 2.0);
    EXPECT_EQ(solver.load(2), 1.0);
    EXPECT_EQ(solver.load(0), 2.0);
}

TEST(MaxMinSolver, ADarkLinkStopsItsFlowsAndLeavesTheRestToOthers) {
    MaxMinSolver solver({0.0, 4.0});
    const FlowId both = solver.add_flow(path({0, 1}));
    const FlowId one = solver.add_flow(path({1}));
    solver.start(both);
    solver.start(one);
    solver.update();
    EXPECT_EQ(solver.rate(both), 0.0);
    EXPECT_EQ(solver.rate(one), 4.0);
}

TEST(MaxMinSolver, SymmetricFlowsGetTheSameRateBitForBit) {
    // All-to-all of 12 hosts, up link i, down link 12 + j; 1/11 of a link is not a double.
    constexpr int kHosts = 12;
    MaxMinSolver solver(std::vector<double>(2 * kHosts, 1e11));
    std::vector<FlowId> flows;
    for (int i = 0; i < kHosts; ++i) {
        for (int j = 0; j < kHosts; ++j) {
            if (i != j) {
                flows.push_back(solver.add_flow(path({i, kHosts + j})));
                solver.start(flows.back());
            }
        }
    }
    solver.update();
    for (const FlowId flow : flows) {
        EXPECT_EQ(solver.rate(flow), 1e11 / 11.0);
    }
}

TEST(MaxMinSolver, AStartCancelledBeforeTheUpdateChangesNothing) {
    MaxMinSolver solver({1.0});
    const FlowId stays = solver.add_flow(path({0}));
    const FlowId leaves = solver.add_flow(path({0}));
    solver.start(stays);
    solver.update();
    solver.start(leaves);
    solver.stop(leaves);
    EXPECT_TRUE(solver.update().empty());
    EXPECT_EQ(solver.rate(stays), 1.0);
    EXPECT_TRUE(solver.update().empty());
}

TEST(MaxMinSolver, AChangeFarAwayFreesNobodyElse) {
    // 50 pairs of flows, each pair on a link of its own: the stop of one concerns its neighbour only.
    MaxMinSolver solver(std::vector<double>(50, 1.0));
    std::vector<FlowId> flows;
    for (int i = 0; i < 100; ++i) {
        flows.push_back(solver.add_flow(path({i / 2})));
        solver.start(flows.back());
    }
    solver.update();
    const std::uint64_t freed = solver.counters().freed;
    solver.stop(flows[0]);
    const std::span<const FlowId> changed = solver.update();
    ASSERT_EQ(changed.size(), 1U);
    EXPECT_EQ(changed[0], flows[1]);
    EXPECT_EQ(solver.counters().freed - freed, 1U);
}

TEST(MaxMinSolver, WeightsDivideALinkInProportion) {
    // Levels equal: 12 = 1·λ + 2·λ + 3·λ, λ = 2.
    MaxMinSolver solver({12.0});
    std::vector<FlowId> flows;
    for (const double weight : {1.0, 2.0, 3.0}) {
        flows.push_back(solver.add_flow(path({0}), {.weight = weight}));
        solver.start(flows.back());
    }
    solver.update();
    EXPECT_EQ(solver.rate(flows[0]), 2.0);
    EXPECT_EQ(solver.rate(flows[1]), 4.0);
    EXPECT_EQ(solver.rate(flows[2]), 6.0);
    // Without the third: 12 = 3·λ, λ = 4.
    solver.stop(flows[2]);
    solver.update();
    EXPECT_EQ(solver.rate(flows[0]), 4.0);
    EXPECT_EQ(solver.rate(flows[1]), 8.0);
}

TEST(MaxMinSolver, WhatACapLeavesGoesToTheOthers) {
    // 12 = 1 + 2·λ, λ = 5.5; when one of the two leaves, 12 = 1 + λ; the capped flow alone keeps its cap.
    MaxMinSolver solver({12.0});
    const FlowId capped = solver.add_flow(path({0}), {.cap = 1.0});
    const FlowId one = solver.add_flow(path({0}));
    const FlowId other = solver.add_flow(path({0}));
    for (const FlowId flow : {capped, one, other}) {
        solver.start(flow);
    }
    solver.update();
    EXPECT_EQ(solver.rate(capped), 1.0);
    EXPECT_EQ(solver.rate(one), 5.5);
    solver.stop(other);
    solver.update();
    EXPECT_EQ(solver.rate(capped), 1.0);
    EXPECT_EQ(solver.rate(one), 11.0);
    solver.stop(one);
    solver.update();
    EXPECT_EQ(solver.rate(capped), 1.0);
    solver.stop(capped);
    solver.start(capped);
    solver.update();
    EXPECT_EQ(solver.rate(capped), 1.0);
}

TEST(MaxMinSolver, AnEndWhereOthersAreHeldElsewhereFreesNobody) {
    // Four hosts, all to all: 8 links of capacity 3, three flows on each, all rates 1. When 0 -> 1 ends, its
    // two links are no longer full, but every other flow there has a full link at its other end.
    MaxMinSolver solver(std::vector<double>(8, 3.0));
    std::vector<FlowId> flows;
    for (int from = 0; from < 4; ++from) {
        for (int to = 0; to < 4; ++to) {
            if (from != to) {
                flows.push_back(solver.add_flow(path({from, 4 + to})));
                solver.start(flows.back());
            }
        }
    }
    solver.update();
    const std::uint64_t freed = solver.counters().freed;
    solver.stop(flows[0]);
    EXPECT_TRUE(solver.update().empty());
    EXPECT_EQ(solver.counters().freed, freed);
    for (std::size_t i = 1; i < flows.size(); ++i) {
        EXPECT_EQ(solver.rate(flows[i]), 1.0);
    }
}

MaxMinSolver solver_of(const Scenario& scenario, MaxMinSolver::Strategy strategy) {
    MaxMinSolver solver(scenario.capacities, strategy);
    for (const TextbookFlow& flow : scenario.flows) {
        solver.add_flow(flow.route, flow.terms);
    }
    return solver;
}

void expect_agreement(const MaxMinSolver& solver, const Scenario& scenario) {
    const std::vector<double> expected = textbook_rates(scenario.capacities, scenario.flows);
    for (std::size_t f = 0; f < scenario.flows.size(); ++f) {
        // Both sides sum up to 200 rates per link in different orders, and residuals that nearly cancel lose
        // digits: 1e-9 relative leaves four orders of magnitude above the 2^-53 of one operation.
        const double rate = solver.rate(FlowId(f));
        RC_ASSERT(std::abs(rate - expected[f]) <= 1e-9 * expected[f]);
        RC_ASSERT(rate <= scenario.flows[f].terms.cap * (1.0 + 1e-9));
    }
    for (std::uint32_t l = 0; l < scenario.capacities.size(); ++l) {
        RC_ASSERT(solver.load(l) <= scenario.capacities[l] * (1.0 + 1e-9));
    }
}

/// (B): every active flow is at its cap or crosses a full link where no other has a larger level.
void expect_bottlenecks(const MaxMinSolver& solver, const Scenario& scenario) {
    const auto level = [&](std::size_t f) { return solver.rate(FlowId(f)) / scenario.flows[f].terms.weight; };
    std::vector<double> largest(scenario.capacities.size(), 0.0);
    for (std::size_t f = 0; f < scenario.flows.size(); ++f) {
        for (const ClassLeg& leg : scenario.flows[f].route) {
            largest[leg.link_class] = std::max(largest[leg.link_class], level(f));
        }
    }
    for (std::size_t f = 0; f < scenario.flows.size(); ++f) {
        const TextbookFlow& flow = scenario.flows[f];
        const bool is_held = std::any_of(flow.route.begin(), flow.route.end(), [&](const ClassLeg& leg) {
            return solver.load(leg.link_class) >= scenario.capacities[leg.link_class] * (1.0 - 1e-9) &&
                   level(f) >= largest[leg.link_class] * (1.0 - 1e-9);
        });
        RC_ASSERT(!flow.active || is_held || solver.rate(FlowId(f)) >= flow.terms.cap * (1.0 - 1e-9));
    }
}

/// Random starts and stops, one or several per update.
void drive(MaxMinSolver::Strategy strategy, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Scenario scenario = random_scenario(random, true);
    MaxMinSolver solver = solver_of(scenario, strategy);
    const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    for (int step = 0; step < 40; ++step) {
        const std::size_t changes = 1 + pick(step % 10 == 0 ? scenario.flows.size() : 3);
        for (std::size_t i = 0; i < changes; ++i) {
            const std::size_t f = pick(scenario.flows.size());
            bool& active = scenario.flows[f].active;
            active ? solver.stop(FlowId(f)) : solver.start(FlowId(f));
            active = !active;
        }
        solver.update();
        expect_agreement(solver, scenario);
        expect_bottlenecks(solver, scenario);
    }
}

RC_GTEST_PROP(MaxMinSolverProperty, LocalUpdatesGiveTheTextbookRates, ()) {
    drive(MaxMinSolver::Strategy::kLocal, random_seed());
}

RC_GTEST_PROP(MaxMinSolverProperty, WholeNetworkUpdatesGiveTheTextbookRates, ()) {
    drive(MaxMinSolver::Strategy::kWholeNetwork, random_seed());
}

RC_GTEST_PROP(MaxMinSolverProperty, UpdateReportsExactlyTheFlowsWhoseRateChanged, ()) {
    std::mt19937_64 random(random_seed());
    const Scenario scenario = random_scenario(random, true);
    MaxMinSolver solver = solver_of(scenario, MaxMinSolver::Strategy::kLocal);
    std::vector<double> before(scenario.flows.size(), 0.0);
    for (std::size_t f = 0; f < scenario.flows.size(); ++f) {
        solver.start(FlowId(f));
        std::vector<bool> reported(scenario.flows.size(), false);
        for (const FlowId flow : solver.update()) {
            RC_ASSERT(!reported[flow.index()]);
            reported[flow.index()] = true;
        }
        for (std::size_t g = 0; g < scenario.flows.size(); ++g) {
            RC_ASSERT(reported[g] == (solver.rate(FlowId(g)) != before[g]));
            before[g] = solver.rate(FlowId(g));
        }
    }
}

RC_GTEST_PROP(MaxMinSolverProperty, OnOneLinkMoreCapacityIsNeverSlower, ()) {
    std::mt19937_64 random(random_seed());
    const auto flows = std::uniform_int_distribution<std::uint32_t>(1, 200)(random);
    std::vector<MaxMinSolver::Terms> terms(flows);
    for (MaxMinSolver::Terms& of_flow : terms) {
        of_flow.weight = static_cast<double>(1 + random() % 4);
        of_flow.cap = static_cast<double>(1 + random() % 100);
    }
    std::vector<double> before(flows, 0.0);
    for (double capacity = 1.0; capacity < 20'000.0; capacity *= 1.5) {
        MaxMinSolver solver({capacity});
        for (const MaxMinSolver::Terms& of_flow : terms) {
            solver.start(solver.add_flow(path({0}), of_flow));
        }
        solver.update();
        for (std::uint32_t f = 0; f < flows; ++f) {
            RC_ASSERT(solver.rate(FlowId(f)) >= before[f] * (1.0 - 1e-12));
            before[f] = solver.rate(FlowId(f));
        }
    }
}

}  // namespace
}  // namespace astrolabe::network
