/// Water-filling as a textbook has it: raise all levels, find the first link that is full or flow that is at
/// its cap by looking at all, fix, repeat. O(links · flows · legs) for each flow.
#pragma once

#include "network/src/engines/fluid/max_min_solver.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

struct TextbookFlow {
    std::vector<ClassLeg> route;
    MaxMinSolver::Terms terms;
    bool active = true;

    [[nodiscard]] double load_on(std::size_t link) const {
        double sum = 0.0;
        for (const ClassLeg& leg : route) {
            sum += leg.link_class == link ? leg.load : 0.0;
        }
        return sum;
    }
};

/// Rates by flow; 0 for those that are not active.
inline std::vector<double> textbook_rates(const std::vector<double>& capacities,
                                          const std::vector<TextbookFlow>& flows) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> rates(flows.size(), 0.0);
    std::vector<bool> fixed(flows.size());
    for (std::size_t f = 0; f < flows.size(); ++f) {
        fixed[f] = !flows[f].active;
    }
    while (std::find(fixed.begin(), fixed.end(), false) != fixed.end()) {
        double level = kNever;
        std::size_t full = capacities.size();
        for (std::size_t l = 0; l < capacities.size(); ++l) {
            double residual = capacities[l];
            double share = 0.0;
            for (std::size_t f = 0; f < flows.size(); ++f) {
                if (fixed[f]) {
                    residual -= flows[f].load_on(l) * rates[f];
                } else {
                    share += flows[f].load_on(l) * flows[f].terms.weight;
                }
            }
            if (share > 0.0 && std::max(residual, 0.0) / share < level) {
                level = std::max(residual, 0.0) / share;
                full = l;
            }
        }
        std::size_t capped = flows.size();
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (!fixed[f] && flows[f].terms.cap / flows[f].terms.weight < level) {
                level = flows[f].terms.cap / flows[f].terms.weight;
                capped = f;
            }
        }
        if (capped < flows.size()) {
            rates[capped] = flows[capped].terms.cap;
            fixed[capped] = true;
            continue;
        }
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (!fixed[f] && flows[f].load_on(full) > 0.0) {
                rates[f] = flows[f].terms.weight * level;
                fixed[f] = true;
            }
        }
    }
    return rates;
}

}  // namespace astrolabe::network
