#include "fabric_structure.hpp"
#include "network/src/topologies/torus.hpp"
#include "parameter_keys.hpp"
#include "transfers.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

TorusParameters torus(std::vector<std::int64_t> sizes) {
    TorusParameters parameters;
    parameters.sizes = std::move(sizes);
    parameters.link = {{100_Gbps}, {500_ns}};
    return parameters;
}

/// 4 × 4 × 4 at 200, 100 and 100 GB/s per link: 5, 10 and 10 ps per byte.
TorusParameters torus_4x4x4(std::vector<Time> latency = {500_ns}) {
    TorusParameters parameters = torus({4, 4, 4});
    parameters.link = {{1600_Gbps, 800_Gbps, 800_Gbps}, std::move(latency)};
    return parameters;
}

std::vector<int> position(const std::vector<std::int64_t>& sizes, std::size_t host) {
    std::vector<int> position;
    auto rest = static_cast<std::int64_t>(host);
    for (const std::int64_t size : sizes) {
        position.push_back(static_cast<int>(rest % size));
        rest /= size;
    }
    return position;
}

/// Steps along each dimension, the shorter way round.
std::vector<int> steps(const std::vector<std::int64_t>& sizes, std::size_t from, std::size_t to) {
    const std::vector<int> a = position(sizes, from);
    const std::vector<int> b = position(sizes, to);
    std::vector<int> steps;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const int apart = std::abs(a[d] - b[d]);
        steps.push_back(std::min(apart, static_cast<int>(sizes[d]) - apart));
    }
    return steps;
}

/// Of different hosts.
std::vector<std::pair<HostId, HostId>> all_pairs(std::size_t hosts) {
    std::vector<std::pair<HostId, HostId>> pairs;
    for (std::size_t a = 0; a < hosts; ++a) {
        for (std::size_t b = 0; b < hosts; ++b) {
            if (a != b) {
                pairs.emplace_back(a, b);
            }
        }
    }
    return pairs;
}

using Distribution = std::map<std::size_t, int>;

TEST(TorusTopology, FourByFourByFour) {
    const std::shared_ptr<const Fabric> fabric = build_torus(torus_4x4x4());
    EXPECT_EQ(fabric->kind(), "torus");
    EXPECT_EQ(fabric->host_count(), 64U);
    EXPECT_EQ(fabric->node_count(), 64U);
    // 64 cables in each of 3 dimensions.
    EXPECT_EQ(fabric->link_count(), 2U * 3U * 64U);
    for (std::uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(fabric->out_degree(NodeId(i)), 6U);
        // A ring of 4 has 1, 2, 1 hosts at 0, 1, 2 links: (1 + 2x + x²)³ = (1 + x)⁶.
        EXPECT_EQ(hop_distribution(*fabric, i),
                  (Distribution{{1, 6}, {2, 15}, {3, 20}, {4, 15}, {5, 6}, {6, 1}}));
    }
    // Two steps in each dimension: 6! / (2!·2!·2!) orders, two ways round each.
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(2 + 2 * 4 + 2 * 16)), 90U * 8U);
    EXPECT_EQ(fabric->egress_rate(HostId(21)), 2 * (1600_Gbps + 800_Gbps + 800_Gbps));
    // The halves differ in dimension 2: 16 rings, cut twice.
    EXPECT_EQ(bisection_rate(*fabric), 2 * 16 * (800_Gbps).count());
}

TEST(TorusTopology, DimensionZeroVariesFastestAndEveryCableHasItsDimensionsLink) {
    const std::vector<std::vector<std::int64_t>> shapes{
        {3, 4, 5}, {2, 3, 4}, {1, 4, 2}, {5}, {2, 1, 3, 2, 4}};
    for (const std::vector<std::int64_t>& sizes : shapes) {
        TorusParameters parameters = torus(sizes);
        parameters.link = {{}, {}};
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            parameters.link.rate.push_back((d + 1) * 100_Gbps);
            parameters.link.latency.push_back((d + 1) * 10_ns);
        }
        const std::shared_ptr<const Fabric> fabric = build_torus(parameters);
        for (std::size_t i = 0; i < fabric->link_count(); ++i) {
            const LinkId id(i);
            const std::vector<int> step =
                steps(sizes, fabric->source(id).index(), fabric->target(id).index());
            // A cable is one step along one dimension.
            ASSERT_EQ(std::accumulate(step.begin(), step.end(), 0), 1);
            const auto d = static_cast<std::size_t>(std::find(step.begin(), step.end(), 1) - step.begin());
            EXPECT_EQ(fabric->link(id).rate, dimension_link(parameters, d).rate);
            EXPECT_EQ(fabric->link(id).latency, dimension_link(parameters, d).latency);
        }
        for (std::size_t a = 0; a < fabric->host_count(); ++a) {
            for (std::size_t b = 0; b < fabric->host_count(); ++b) {
                if (a != b) {
                    const std::vector<int> step = steps(sizes, a, b);
                    EXPECT_EQ(fabric->routing().route(HostId(a), HostId(b)).hops,
                              static_cast<std::size_t>(std::accumulate(step.begin(), step.end(), 0)));
                }
            }
        }
    }
}

TEST(TorusTopology, ADimensionOfTwoIsOneCable) {
    // A binary 3-cube.
    const std::shared_ptr<const Fabric> fabric = build_torus(torus({2, 2, 2}));
    EXPECT_EQ(fabric->link_count(), 2U * 12U);
    EXPECT_EQ(fabric->out_degree(NodeId(5)), 3U);
    EXPECT_EQ(hop_distribution(*fabric, 5), (Distribution{{1, 3}, {2, 3}, {3, 1}}));
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(7)), 6U);  // 3! orders
    EXPECT_EQ(bisection_rate(*fabric), 4 * (100_Gbps).count());
}

TEST(TorusTopology, ADimensionOfTwoIsTwoCablesWithDoubleLinks) {
    TorusParameters parameters = torus({2, 2, 2});
    parameters.double_links = true;
    const std::shared_ptr<const Fabric> fabric = build_torus(parameters);
    EXPECT_EQ(fabric->link_count(), 2U * 24U);
    EXPECT_EQ(fabric->out_degree(NodeId(5)), 6U);
    EXPECT_EQ(hop_distribution(*fabric, 5), (Distribution{{1, 3}, {2, 3}, {3, 1}}));
    EXPECT_EQ(path_count(*fabric, NodeId(0), HostId(7)), 6U * 8U);  // one of two cables at each step
    EXPECT_EQ(bisection_rate(*fabric), 8 * (100_Gbps).count());
    // Nothing else changes: 3 hosts have a cable on each side anyway.
    parameters.sizes = {3, 5};
    EXPECT_EQ(build_torus(parameters)->link_count(), 2U * 2U * 15U);
}

TEST(TorusRouting, DimensionOrderIsOneShortestPathThatTakesLowerDimensionsFirst) {
    for (const std::vector<std::int64_t>& sizes :
         std::vector<std::vector<std::int64_t>>{{4, 4}, {3, 2, 4}, {1, 5}, {2, 2, 2}}) {
        for (const bool double_links : {false, true}) {
            TorusParameters parameters = torus(sizes);
            parameters.double_links = double_links;
            parameters.routing = GridRule::kDimensionOrder;
            const std::shared_ptr<const Fabric> fabric = build_torus(parameters);
            const RoutingPolicy& routing = fabric->routing();
            for (const auto& [a, b] : all_pairs(fabric->host_count())) {
                const Route route = routing.route(a, b);
                const std::vector<int> step = steps(sizes, a.index(), b.index());
                ASSERT_EQ(route.hops, static_cast<std::size_t>(std::accumulate(step.begin(), step.end(), 0)));
                NodeId at(a.index());
                std::size_t last_dimension = 0;
                for (const RouteLeg& leg : route.legs) {
                    // Engines that go hop by hop are told the same, and have no choice.
                    EXPECT_EQ(routing.select(at, a, b), leg.link);
                    const auto next = routing.next_links(at, b);
                    ASSERT_EQ(next.size(), 1U);
                    EXPECT_EQ(next[0], leg.link);
                    const std::vector<int> hop = steps(sizes, at.index(), fabric->target(leg.link).index());
                    const auto dimension =
                        static_cast<std::size_t>(std::find(hop.begin(), hop.end(), 1) - hop.begin());
                    EXPECT_GE(dimension, last_dimension);
                    last_dimension = dimension;
                    at = fabric->target(leg.link);
                }
            }
        }
    }
}

// A pair of N hosts is n/4 links apart along a line of an even n on average; a dimension has 2·N links.
// So a link carries N·N·(n/4) / (2·N) = N·n/8 pairs: 4·4·4/8 = 8
// and 8·8·8/8 = 64 here. Ways half round alternate, or links up would carry more than links down.
TEST(TorusRouting, DimensionOrderLoadsAllLinksOfUniformTrafficAlike) {
    for (const std::vector<std::int64_t>& sizes :
         std::vector<std::vector<std::int64_t>>{{4, 4}, {8, 8}, {4, 4, 4}}) {
        TorusParameters parameters = torus(sizes);
        parameters.routing = GridRule::kDimensionOrder;
        const std::shared_ptr<const Fabric> fabric = build_torus(parameters);
        RouteLoad loads(*fabric, fabric->routing().load_balancing());
        for (const auto& [a, b] : all_pairs(fabric->host_count())) {
            loads.add(a, b, 1.0);
        }
        const auto expected =
            static_cast<double>(fabric->host_count() * static_cast<std::size_t>(sizes[0])) / 8;
        for (const double load : loads.links()) {
            EXPECT_EQ(load, expected);
        }
    }
}

TEST(TorusRouting, ValiantSpreadsTheWorstOfDimensionOrder) {
    // Hosts of a row of 8 all send 3 steps on, to hosts 3 further: a link up carries 3, a link down nothing.
    // Valiant's bound is n*S/4 = 2 on each, whatever the permutation.
    const auto greatest_load = [](GridRule rule, LoadBalancing balancing) {
        TorusParameters parameters = torus({8, 8});
        parameters.routing = rule;
        parameters.load_balancing = balancing;
        const std::shared_ptr<const Fabric> fabric = build_torus(parameters);
        RouteLoad loads(*fabric, fabric->routing().load_balancing());
        for (std::size_t host = 0; host < 64; ++host) {
            loads.add(HostId(host), HostId(host / 8 * 8 + (host + 3) % 8), 1.0);
        }
        const IndexedVector<LinkId, double> of_links = loads.links();
        return *std::max_element(of_links.begin(), of_links.end());
    };
    EXPECT_EQ(greatest_load(GridRule::kDimensionOrder, LoadBalancing::kFlowHash), 3.0);
    EXPECT_LE(greatest_load(GridRule::kValiant, LoadBalancing::kSpray), 2.0 + 1e-12);
}

TEST(TorusTopology, ADimensionOfOneHasNoCables) {
    EXPECT_EQ(build_torus(torus({1}))->link_count(), 0U);
    EXPECT_EQ(build_torus(torus({1, 1}))->host_count(), 1U);
    const std::shared_ptr<const Fabric> ring = build_torus(torus({1, 6, 1}));
    EXPECT_EQ(ring->link_count(), 12U);
    EXPECT_EQ(hop_distribution(*ring, 0), (Distribution{{1, 2}, {2, 2}, {3, 1}}));
}

TEST(TorusTopology, SizesMayDiffer) {
    const std::shared_ptr<const Fabric> fabric = build_torus(torus({2, 3}));
    // 3 cables along dimension 0, 2 rings of 3 along dimension 1.
    EXPECT_EQ(fabric->link_count(), 2U * (3U + 6U));
    EXPECT_EQ(fabric->out_degree(NodeId(0)), 3U);
    // (1 + 2x)(1 + 2x + 2x²) = 1 + 4x + 6x² + 4x³
    EXPECT_EQ(hop_distribution(*build_torus(torus({3, 5})), 7), (Distribution{{1, 4}, {2, 6}, {3, 4}}));
    // Sizes 4 and 8, the halves differ in dimension 1: 4 rings cut twice.
    EXPECT_EQ(bisection_rate(*build_torus(torus({4, 8}))), 8 * (100_Gbps).count());
}

TEST(TorusTransfers, NeighboursAlongADimensionExchangeAtItsRate) {
    const TorusParameters parameters = torus_4x4x4({500_ns, 700_ns, 900_ns});
    const Time per_byte[] = {5_ps, 10_ps, 10_ps};
    std::vector<Transfer> all;
    std::vector<Time> expected_of_all;
    for (int d = 0, stride = 1; d < 3; ++d, stride *= 4) {
        const Time expected = parameters.link.latency[static_cast<std::size_t>(d)] + per_byte[d] * (1 << 20);
        std::vector<Transfer> transfers;
        for (int host = 0; host < 64; ++host) {
            const int origin = host - host / stride % 4 * stride;
            for (const int step : {1, 3}) {
                const int neighbour = origin + (host / stride + step) % 4 * stride;
                transfers.push_back({host, neighbour, 1_MiB});
            }
        }
        for (const Time time : deliver_together(build_torus(parameters), transfers)) {
            EXPECT_EQ(time, expected) << "dimension " << d;
        }
        all.insert(all.end(), transfers.begin(), transfers.end());
        expected_of_all.insert(expected_of_all.end(), transfers.size(), expected);
    }
    // Dimensions do not disturb one another.
    EXPECT_EQ(deliver_together(build_torus(parameters), all), expected_of_all);
}

/// `steps` steps of a ring algorithm that goes one way round, on all rings of a dimension of 4 × 4 × 4 at
/// once: a host sends its next message when the one before has come to it.
Time ring_phase(int dimension, int steps, Bytes message) {
    const int stride = 1 << (2 * dimension);
    const auto next = [stride](int host) {
        return host + ((host / stride + 1) % 4 - host / stride % 4) * stride;
    };
    FluidBackend backend(build_torus(torus_4x4x4()));
    Recorder recorder(backend);
    recorder.react = [&](std::uint64_t token) {
        const int step = static_cast<int>(token) / 64 + 1;
        const int host = next(static_cast<int>(token) % 64);
        if (step < steps) {
            recorder.send(static_cast<std::uint64_t>(step * 64 + host), host, next(host), message);
        }
    };
    for (int host = 0; host < 64; ++host) {
        recorder.send(static_cast<std::uint64_t>(host), host, next(host), message);
    }
    backend.run();
    EXPECT_EQ(recorder.order.size(), static_cast<std::size_t>(64 * steps));
    return backend.now();
}

TEST(TorusTransfers, RingPhasesTakeTheTimesOfTheHierarchicalAllReduce) {
    // All-reduce of 64 MiB, 0.5 us per link. A reduce-scatter or all-gather over 4 hosts has 3 steps of a
    // quarter, an all-reduce 6.
    const Time scatter_0 = ring_phase(0, 3, 16_MiB);
    const Time scatter_1 = ring_phase(1, 3, 4_MiB);
    const Time reduce_2 = ring_phase(2, 6, 1_MiB);
    EXPECT_EQ(scatter_0, 3 * (500_ns + 5_ps * (16 << 20)));  // 253.158 us
    EXPECT_EQ(scatter_1, 3 * (500_ns + 10_ps * (4 << 20)));  // 127.329 us
    EXPECT_EQ(reduce_2, 6 * (500_ns + 10_ps * (1 << 20)));   //  65.915 us
    // Scatter over 0 and 1, reduce over 2, gather over 1 and 0: 826.889 us.
    EXPECT_EQ(2 * scatter_0 + 2 * scatter_1 + reduce_2, Time(826'889'280));
    // All-reduce of the full size over each dimension: 2525.582 us.
    EXPECT_EQ(ring_phase(0, 6, 16_MiB) + ring_phase(1, 6, 16_MiB) + ring_phase(2, 6, 16_MiB),
              Time(2'525'582'400));
}

TEST(TorusTransfers, DoubleLinksCarryTwiceWhatOneCarries) {
    TorusParameters parameters = torus({2});
    EXPECT_EQ(deliver_together(build_torus(parameters), {{0, 1, 1_MiB}}).front(), 500_ns + 80_ps * (1 << 20));
    parameters.double_links = true;
    // One flow takes one cable unless it is sprayed.
    EXPECT_EQ(deliver_together(build_torus(parameters), {{0, 1, 1_MiB}}).front(), 500_ns + 80_ps * (1 << 20));
    parameters.load_balancing = LoadBalancing::kSpray;
    EXPECT_EQ(deliver_together(build_torus(parameters), {{0, 1, 1_MiB}}).front(), 500_ns + 40_ps * (1 << 20));
}

TEST(TorusParameters, AcceptsDefaultsWithSizes) {
    TorusParameters p;
    p.sizes = {8, 1, 2};
    EXPECT_EQ(keys(validation_errors(p)), Keys{});
}

TEST(TorusParameters, RejectsNoSizes) {
    EXPECT_EQ(keys(validation_errors(TorusParameters{})), Keys{"sizes"});
    EXPECT_THROW((void)build_torus(TorusParameters{}), std::logic_error);
}

TEST(TorusParameters, RejectsMoreDimensionsThanTheLimit) {
    EXPECT_EQ(keys(validation_errors(torus(std::vector<std::int64_t>(kMaxTorusDimensions, 2)))), Keys{});
    EXPECT_EQ(keys(validation_errors(torus(std::vector<std::int64_t>(kMaxTorusDimensions + 1, 1)))),
              Keys{"sizes"});
}

TEST(TorusParameters, RejectsSizesBelowOne) {
    EXPECT_EQ(keys(validation_errors(torus({4, 0, -4}))), (Keys{"sizes.1", "sizes.2"}));
}

TEST(TorusParameters, RejectsMoreHostsThanTheLimit) {
    EXPECT_EQ(keys(validation_errors(torus({1024, 1024}))), Keys{});
    EXPECT_EQ(keys(validation_errors(torus({1024, 1025}))), Keys{"sizes"});
    EXPECT_EQ(keys(validation_errors(torus({kMaxHosts, kMaxHosts, kMaxHosts, kMaxHosts}))), Keys{"sizes"});
}

TEST(TorusParameters, RejectsMoreCablesThanTheLimit) {
    // 20 dimensions of 2 have 10·2^20 cables, twice that with double links; the limit is 16·2^20.
    TorusParameters p = torus(std::vector<std::int64_t>(20, 2));
    p.double_links = true;
    EXPECT_EQ(keys(validation_errors(p)), Keys{"sizes"});
}

TEST(TorusParameters, RejectsRatesThatDoNotMatchTheDimensions) {
    TorusParameters p = torus({4, 4, 4});
    p.link.rate = {100_Gbps, 100_Gbps};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
    p.link.rate = {};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(TorusParameters, RejectsLatenciesThatDoNotMatchTheDimensions) {
    TorusParameters p = torus({4, 4, 4});
    p.link.latency = {1_us, 1_us, 1_us, 1_us};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.latency"});
}

TEST(TorusParameters, RejectsADimensionWithoutRate) {
    TorusParameters p = torus({4, 4, 4});
    p.link.rate = {100_Gbps, Bandwidth(0), 100_Gbps};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate.1"});
    p.link.rate = {Bandwidth(0)};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate"});
}

TEST(TorusParameters, RejectsARateAboveTheLimit) {
    TorusParameters p = torus({4, 4});
    p.link.rate = {kMaxLinkRate, kMaxLinkRate + 1_bps};
    EXPECT_EQ(keys(validation_errors(p)), Keys{"link.rate.1"});
}

TEST(TorusParameters, RejectsALatencyOutOfRange) {
    TorusParameters p = torus({4, 4});
    p.link.latency = {Time(-1), kMaxLinkLatency + 1_ps};
    EXPECT_EQ(keys(validation_errors(p)), (Keys{"link.latency.0", "link.latency.1"}));
}

}  // namespace
}  // namespace astrolabe::network
