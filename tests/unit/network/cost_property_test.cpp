/// Parts of random direct-connect networks against their cables, and what more cables do to the cost.
#include "cost_prices.hpp"

#include <map>
#include <memory>
#include <variant>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/cost.hpp>
#include <astrolabe/network/topologies/direct_connect.hpp>

namespace astrolabe::network {
namespace {

/// A ring, so that all are joined, and cables at random beside it.
DirectConnectParameters random_network() {
    DirectConnectParameters parameters;
    parameters.hosts = *rc::gen::inRange<std::int64_t>(2, 20);
    parameters.link.rate = Bandwidth(*rc::gen::inRange<std::int64_t>(1, 1'000) * 1'000'000'000);
    parameters.rings = {1};
    parameters.all_to_all = *rc::gen::inRange<std::int64_t>(0, 3);
    parameters.medium = *rc::gen::element(Medium::kFibre, Medium::kPatchPanel, Medium::kLookAheadPanel,
                                          Medium::kCircuitSwitch);
    const auto extra = *rc::gen::inRange(0, 10);
    for (int i = 0; i < extra; ++i) {
        const auto from = *rc::gen::inRange<std::int64_t>(0, parameters.hosts);
        const auto step = *rc::gen::inRange<std::int64_t>(1, parameters.hosts);
        parameters.links.push_back(
            {from, (from + step) % parameters.hosts, *rc::gen::inRange<std::int64_t>(1, 4)});
    }
    return parameters;
}

/// Prices at 10 and 100 Gb/s that do not fall, straight lines between.
PriceList random_prices() {
    PriceList list;
    for (auto& price : list.prices) {
        const double slow = *rc::gen::inRange(0, 1'000);
        const double fast = slow + *rc::gen::inRange(0, 1'000);
        price = Price{.dollars = {},
                      .by_rate = {{10_Gbps, slow}, {100_Gbps, fast}},
                      .other_rates = OtherRates::kInterpolate,
                      .source = "test"};
    }
    return list;
}

double total(const DirectConnectParameters& parameters, const PriceList& prices) {
    return std::get<NetworkCost>(
               cost_of(*build_direct_connect(parameters), {.between_hosts = parameters.medium}, prices))
        .total();
}

RC_GTEST_PROP(CostProperty, PartsAddUpToTheCables, ()) {
    const DirectConnectParameters parameters = random_network();
    const std::uint64_t cables = direct_cables(parameters).size();
    std::map<Part, std::uint64_t> counts;
    for (const PartCount& parts :
         count_parts(*build_direct_connect(parameters), {.between_hosts = parameters.medium})) {
        RC_ASSERT(parts.rate == parameters.link.rate);
        RC_ASSERT(counts.emplace(parts.part, parts.count).second);
    }
    const bool has_plane = parameters.medium != Medium::kFibre;
    const bool looks_ahead = parameters.medium == Medium::kLookAheadPanel;
    std::map<Part, std::uint64_t> expected{{Part::kNicPort, 2 * cables},
                                           {Part::kTransceiver, 2 * cables},
                                           {Part::kFibre, (has_plane ? 2 : 1) * cables}};
    if (parameters.medium == Medium::kCircuitSwitch) {
        expected[Part::kCircuitSwitchPort] = 2 * cables;
    } else if (has_plane) {
        expected[Part::kPatchPanelPort] = (looks_ahead ? 4 : 2) * cables;
    }
    if (looks_ahead) {
        expected[Part::kLookAheadSwitch] = 2 * cables;
    }
    RC_ASSERT(counts == expected);
}

RC_GTEST_PROP(CostProperty, MoreCablesOrRateNeverCostLess, ()) {
    const DirectConnectParameters parameters = random_network();
    const PriceList prices = random_prices();
    const double cost = total(parameters, prices);
    DirectConnectParameters more = parameters;
    more.links.push_back({0, 1, *rc::gen::inRange<std::int64_t>(1, 4)});
    RC_ASSERT(total(more, prices) >= cost);
    DirectConnectParameters faster = parameters;
    faster.link.rate += Bandwidth(*rc::gen::inRange<std::int64_t>(1, 200'000'000'000));
    RC_ASSERT(total(faster, prices) >= cost);
}

}  // namespace
}  // namespace astrolabe::network
