/// Price lists that tests of costs can reckon with in the head.
#pragma once

#include <initializer_list>
#include <utility>

#include <astrolabe/network/cost/prices.hpp>

namespace astrolabe::network::testing {

inline PriceList flat_prices(std::initializer_list<std::pair<Part, double>> dollars) {
    PriceList list;
    for (const auto& [part, price] : dollars) {
        list.prices[static_cast<std::size_t>(part)] =
            Price{.dollars = price, .by_rate = {}, .source = "test"};
    }
    return list;
}

/// Every part at a dollar, whatever its rate.
inline PriceList one_dollar_each() {
    return flat_prices({{Part::kNicPort, 1.0},
                        {Part::kTransceiver, 1.0},
                        {Part::kFibre, 1.0},
                        {Part::kCopperCable, 1.0},
                        {Part::kSwitchPort, 1.0},
                        {Part::kRotorPort, 1.0},
                        {Part::kPatchPanelPort, 1.0},
                        {Part::kCircuitSwitchPort, 1.0},
                        {Part::kLookAheadSwitch, 1.0},
                        {Part::kScaleUpLink, 1.0},
                        {Part::kScaleUpPort, 1.0},
                        {Part::kPcieLink, 1.0},
                        {Part::kPciePort, 1.0}});
}

/// Opera (NSDI 2020), table 2: 80 + 45 for a transceiver and the fibre of its port, 90 for a switch port, 60
/// more for a rotor's share.
inline PriceList opera_ports() {
    return flat_prices({{Part::kNicPort, 0.0},
                        {Part::kTransceiver, 125.0},
                        {Part::kFibre, 0.0},
                        {Part::kSwitchPort, 90.0},
                        {Part::kRotorPort, 60.0}});
}

}  // namespace astrolabe::network::testing
