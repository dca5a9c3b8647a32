/// Parts of random direct-connect networks against their cables and one-way links, and what more of them do
/// to the cost.
#include "cost_prices.hpp"
#include "network/src/topologies/direct_connect.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <variant>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/cost/cost.hpp>

namespace astrolabe::network {
namespace {

/// A ring, so that all are joined, and cables and one-way links at random beside it.
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
        parameters.links.push_back({from, (from + step) % parameters.hosts,
                                    *rc::gen::inRange<std::int64_t>(1, 4), *rc::gen::arbitrary<bool>()});
    }
    if (*rc::gen::arbitrary<bool>()) {
        parameters.one_way_rings = {*rc::gen::inRange<std::int64_t>(1, parameters.hosts)};
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

/// Interfaces that one-way links take: of every host as many as it sends over, or receives over.
std::uint64_t one_way_interfaces(const DirectConnectParameters& parameters) {
    std::map<std::uint32_t, std::uint64_t> out;
    std::map<std::uint32_t, std::uint64_t> in;
    for (const auto& [from, to] : direct_one_way_links(parameters)) {
        ++out[from];
        ++in[to];
    }
    std::uint64_t interfaces = 0;
    for (std::uint32_t host = 0; host < parameters.hosts; ++host) {
        interfaces += std::max(out[host], in[host]);
    }
    return interfaces;
}

RC_GTEST_PROP(CostProperty, PartsAddUpToTheCables, ()) {
    const DirectConnectParameters parameters = random_network();
    const std::uint64_t cables = direct_cables(parameters).size();
    const std::uint64_t ends = 2 * cables + one_way_interfaces(parameters);
    const std::uint64_t one_way = direct_one_way_links(parameters).size();
    std::map<Part, std::uint64_t> counts;
    for (const PartCount& parts :
         count_parts(*build_direct_connect(parameters), {.between_hosts = parameters.medium})) {
        RC_ASSERT(parts.rate == parameters.link.rate);
        RC_ASSERT(counts.emplace(parts.part, parts.count).second);
    }
    const bool has_plane = parameters.medium != Medium::kFibre;
    const bool looks_ahead = parameters.medium == Medium::kLookAheadPanel;
    // A fibre goes both ways, so two links one way make up one; odd ones leave half of it unused.
    std::map<Part, std::uint64_t> expected{{Part::kNicPort, ends},
                                           {Part::kTransceiver, ends},
                                           {Part::kFibre, has_plane ? ends : cables + (one_way + 1) / 2}};
    if (parameters.medium == Medium::kCircuitSwitch) {
        expected[Part::kCircuitSwitchPort] = ends;
    } else if (has_plane) {
        expected[Part::kPatchPanelPort] = (looks_ahead ? 2 : 1) * ends;
    }
    if (looks_ahead) {
        expected[Part::kLookAheadSwitch] = ends;
    }
    RC_ASSERT(counts == expected);
}

RC_GTEST_PROP(CostProperty, MoreLinksOrRateNeverCostLess, ()) {
    const DirectConnectParameters parameters = random_network();
    const PriceList prices = random_prices();
    const double cost = total(parameters, prices);
    DirectConnectParameters more = parameters;
    more.links.push_back({0, 1, *rc::gen::inRange<std::int64_t>(1, 4), *rc::gen::arbitrary<bool>()});
    RC_ASSERT(total(more, prices) >= cost);
    DirectConnectParameters faster = parameters;
    faster.link.rate += Bandwidth(*rc::gen::inRange<std::int64_t>(1, 200'000'000'000));
    RC_ASSERT(total(faster, prices) >= cost);
}

}  // namespace
}  // namespace astrolabe::network
