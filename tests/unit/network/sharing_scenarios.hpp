/// Random links and flows that share them, for solvers of max-min fair rates.
#pragma once

#include "textbook_rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

struct Scenario {
    std::vector<double> capacities;
    std::vector<TextbookFlow> flows;
};

/// Links between few and many, capacities from equal, or equal but for rounding, to very unequal, routes of 1
/// to 6 links, some sprayed; with `may_have_terms`, some flows of one in two scenarios have weights and caps.
/// No flow is active.
inline Scenario random_scenario(std::mt19937_64& random, bool may_have_terms) {
    const auto pick = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    Scenario scenario;
    const int links = pick(1, 60);
    const int spread = pick(0, 3);
    const bool is_near = pick(0, 3) == 0;
    for (int l = 0; l < links; ++l) {
        const double nominal =
            1e11 * std::pow(pick(1, 10), spread) * (1.0 + (is_near ? 1e-13 * pick(-20, 20) : 0.0));
        scenario.capacities.push_back(pick(1, 20) == 1 ? 0.0 : nominal);
    }
    const int flows = pick(1, 200);
    const bool has_terms = may_have_terms && pick(0, 1) == 1;
    for (int f = 0; f < flows; ++f) {
        std::vector<std::uint32_t> order(static_cast<std::size_t>(links));
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), random);
        const int length = std::min(links, pick(1, 6));
        const bool sprayed = pick(0, 3) == 0;
        TextbookFlow flow;
        flow.active = false;
        for (int i = 0; i < length; ++i) {
            const double share = sprayed ? 1.0 / static_cast<double>(pick(1, 8)) : 1.0;
            flow.route.push_back({order[static_cast<std::size_t>(i)], share});
        }
        if (has_terms && pick(0, 2) == 0) {
            flow.terms.weight = pick(1, 5);
        }
        if (has_terms && pick(0, 2) == 0) {
            flow.terms.cap = 1e9 * std::pow(10.0, pick(0, 3)) * pick(1, 9);
        }
        scenario.flows.push_back(flow);
    }
    return scenario;
}

}  // namespace astrolabe::network
