/// The static expander.
#include "network/src/rotor/expander.hpp"
#include "network/src/topologies/regular_graph.hpp"
#include "parameter_keys.hpp"
#include "random_seed.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network::rotor {
namespace {

RC_GTEST_PROP(RegularGraph, IsSimpleAndRegular, ()) {
    const auto racks = *rc::gen::inRange<std::uint32_t>(2, 40);
    const auto degree = *rc::gen::suchThat(rc::gen::inRange<std::uint32_t>(1, racks),
                                           [racks](std::uint32_t d) { return racks * d % 2 == 0; });
    RandomStream random(random_seed(), "expander");
    const std::vector<Rack> neighbours = draw_regular_graph(racks, degree, random);
    RC_ASSERT(neighbours.size() == racks * degree);
    std::set<std::pair<Rack, Rack>> cables;
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        const auto rack = static_cast<Rack>(i / degree);
        RC_ASSERT(neighbours[i] != rack);
        RC_ASSERT(cables.emplace(rack, neighbours[i]).second);
    }
    for (const auto& [a, b] : cables) {
        RC_ASSERT(cables.contains({b, a}));
    }
}

TEST(RegularGraph, HasTheTrianglesOfARandomOne) {
    // Random d-regular graphs have (d - 1)³ / 6 triangles on average (Bollobás 1980), Poisson: for d = 7, 36.
    // Over 20 graphs 720, standard deviation 27; the ring that mixing begins with has 130 * 3 = 390 each.
    std::uint64_t triangles = 0;
    RandomStream random(1, "expander");
    for (int i = 0; i < 20; ++i) {
        const std::vector<Rack> neighbours = draw_regular_graph(130, 7, random);
        std::set<std::pair<Rack, Rack>> cables;
        for (std::size_t k = 0; k < neighbours.size(); ++k) {
            cables.emplace(static_cast<Rack>(k / 7), neighbours[k]);
        }
        std::uint64_t corners = 0;
        for (Rack rack = 0; rack < 130; ++rack) {
            for (std::size_t a = 0; a < 7; ++a) {
                for (std::size_t b = a + 1; b < 7; ++b) {
                    corners += cables.contains({neighbours[rack * 7 + a], neighbours[rack * 7 + b]}) ? 1 : 0;
                }
            }
        }
        triangles += corners / 3;
    }
    EXPECT_NEAR(static_cast<double>(triangles), 720.0, 5 * 27.0);
}

ExpanderParameters published() {
    ExpanderParameters p;
    p.racks = 130;
    p.uplinks = 7;
    p.hosts_per_rack = 5;
    return p;
}

TEST(ExpanderTopology, OfThePaperSize) {
    const std::shared_ptr<const Fabric> fabric = build_expander(published());
    EXPECT_EQ(fabric->host_count(), 650U);
    EXPECT_EQ(fabric->link_count(), 2U * (650 + 130 * 7 / 2));
    EXPECT_TRUE(fabric->is_static());
    EXPECT_EQ(rotor::rotors_of(*fabric), nullptr);
    std::uint64_t hops = 0;
    for (std::uint32_t rack = 1; rack < 130; ++rack) {
        hops += fabric->routing().route(HostId(0), HostId(rack * 5)).hops - 2;
    }
    // At most 7 racks are one hop away, 42 two, the other 80 three or more: (7 + 84 + 240) / 129 = 2.57 at
    // best. A random graph's tree meets itself here and there, which costs a few percent.
    EXPECT_GE(static_cast<double>(hops) / 129, 2.56);
    EXPECT_LE(static_cast<double>(hops) / 129, 2.80);
}

TEST(ExpanderTopology, WhatIsRefused) {
    struct Case {
        std::function<void(ExpanderParameters&)> spoil;
        Keys expected;
    };
    const std::vector<Case> cases = {
        {[](ExpanderParameters& p) { p.racks = 1; }, {"racks"}},
        {[](ExpanderParameters& p) { p.racks = 5'000; }, {"racks"}},
        {[](ExpanderParameters& p) { p.racks = 131; }, {"uplinks"}},  // 917 cable ends
        {[](ExpanderParameters& p) { p.uplinks = 0; }, {"uplinks"}},
        {[](ExpanderParameters& p) { p.uplinks = 130; }, {"uplinks"}},
        {[](ExpanderParameters& p) { p.uplinks = 1; }, {"uplinks"}},  // 65 pairs of racks
        {[](ExpanderParameters& p) { p.hosts_per_rack = 0; }, {"hosts_per_rack"}},
        {[](ExpanderParameters& p) { p.draws = 0; }, {"draws"}},
        {[](ExpanderParameters& p) { p.link.rate = Bandwidth(0); }, {"link.rate"}},
        {[](ExpanderParameters& p) { p.uplink.latency = Time(-1); }, {"uplink.latency"}},
        {[](ExpanderParameters& p) { p.switch_buffer = Bytes(-1); }, {"switch_buffer"}},
    };
    EXPECT_EQ(keys(validation_errors(published())), Keys{});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        ExpanderParameters p = published();
        cases[i].spoil(p);
        EXPECT_EQ(keys(validation_errors(p)), cases[i].expected) << "case " << i;
        EXPECT_THROW((void)build_expander(p), std::logic_error) << "case " << i;
    }
}

}  // namespace
}  // namespace astrolabe::network::rotor
