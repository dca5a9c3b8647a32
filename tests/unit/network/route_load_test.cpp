/// Loads of traffic against the sum of the routes of its pairs.
#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/leaf_spine.hpp"
#include "network/src/topologies/torus.hpp"
#include "random_seed.hpp"

#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

std::shared_ptr<const Fabric> some_fabric(unsigned choice, LoadBalancing load_balancing) {
    if (choice == 0) {
        FatTreeParameters parameters;
        parameters.k = 4;
        parameters.load_balancing = load_balancing;
        return build_fat_tree(parameters);
    }
    if (choice == 1) {
        LeafSpineParameters parameters;
        parameters.hosts = 12;
        parameters.hosts_per_leaf = 3;
        parameters.spines = 2;
        parameters.load_balancing = load_balancing;
        return build_leaf_spine(parameters);
    }
    TorusParameters parameters;
    parameters.sizes = {3, 4};
    parameters.load_balancing = load_balancing;
    return build_torus(parameters);
}

RC_GTEST_PROP(RouteLoad, IsTheSumOverTheRoutesOfItsPairs, ()) {
    const auto load_balancing = *rc::gen::element(LoadBalancing::kFlowHash, LoadBalancing::kSpray);
    const auto fabric = some_fabric(*rc::gen::inRange(0U, 3U), load_balancing);
    std::mt19937_64 random(random_seed());
    RouteLoad loads(*fabric, load_balancing);
    IndexedVector<LinkId, double> expected(fabric->link_count(), 0.0);
    double crossing = 0;
    for (int i = 0; i < 40; ++i) {
        const HostId source(random() % fabric->host_count());
        const HostId destination(random() % fabric->host_count());
        if (source == destination) {
            continue;
        }
        const auto amount = static_cast<double>(1 + random() % 9);
        loads.add(source, destination, amount);
        crossing += place_of(*fabric, source) != place_of(*fabric, destination) ? amount : 0;
        for (const RouteLeg& leg : fabric->routing().route(source, destination).legs) {
            expected[leg.link] += leg.share * amount;
        }
    }
    const IndexedVector<LinkId, double> found = loads.links();
    for (std::size_t i = 0; i < fabric->link_count(); ++i) {
        RC_ASSERT(std::abs(found[LinkId(i)] - expected[LinkId(i)]) < 1e-9);
    }
    double between = 0;
    for (const PlaceTraffic& pair : loads.places()) {
        between += pair.amount;
    }
    RC_ASSERT(between == crossing);
}

RC_GTEST_PROP(RouteLoad, OfProductsIsTheSumOverPairs, ()) {
    const auto load_balancing = *rc::gen::element(LoadBalancing::kFlowHash, LoadBalancing::kSpray);
    const auto fabric = some_fabric(*rc::gen::inRange(0U, 3U), load_balancing);
    std::mt19937_64 random(random_seed());
    std::vector<HostId> hosts;
    std::vector<double> from;
    std::vector<double> to;
    // At times of the first three hosts alone, which may hang on one switch.
    const std::size_t count = *rc::gen::arbitrary<bool>() ? 3 : fabric->host_count();
    for (std::size_t host = 0; host < count; ++host) {
        if (random() % 2 == 0) {
            hosts.emplace_back(host);
            from.push_back(static_cast<double>(random() % 4));
            to.push_back(static_cast<double>(random() % 4));
        }
    }
    RouteLoad together(*fabric, load_balancing);
    together.add_products(hosts, from, to);
    RouteLoad one_by_one(*fabric, load_balancing);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        for (std::size_t j = 0; j < hosts.size(); ++j) {
            if (i != j && from[i] * to[j] > 0) {
                one_by_one.add(hosts[i], hosts[j], from[i] * to[j]);
            }
        }
    }
    const IndexedVector<LinkId, double> found = together.links();
    const IndexedVector<LinkId, double> expected = one_by_one.links();
    for (std::size_t i = 0; i < fabric->link_count(); ++i) {
        RC_ASSERT(std::abs(found[LinkId(i)] - expected[LinkId(i)]) < 1e-9);
    }
    RC_ASSERT(together.places().size() == one_by_one.places().size());
}

TEST(RouteLoad, PlacesOfHostsOnOneCableAreTheirSwitches) {
    const auto fabric = some_fabric(1, LoadBalancing::kSpray);
    // 12 hosts, then switches; hosts 0, 1, 2 share a leaf.
    EXPECT_EQ(place_of(*fabric, HostId(0)), place_of(*fabric, HostId(2)));
    EXPECT_NE(place_of(*fabric, HostId(0)), place_of(*fabric, HostId(3)));
    EXPECT_EQ(fabric->node(place_of(*fabric, HostId(0))).kind, NodeKind::kSwitch);
    const auto torus = some_fabric(2, LoadBalancing::kSpray);
    EXPECT_EQ(place_of(*torus, HostId(5)), torus->node_of(HostId(5)));
}

}  // namespace
}  // namespace astrolabe::network
