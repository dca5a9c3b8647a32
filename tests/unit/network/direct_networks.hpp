/// Direct-connect networks of 100 Gb/s and 500 ns, and the paths that k_shortest finds on them.
#pragma once

#include "network/src/routing/k_shortest_routing.hpp"
#include "network/src/topologies/direct_connect.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace astrolabe::network {

inline DirectConnectParameters rings(std::int64_t hosts, std::vector<std::int64_t> strides,
                                     DirectRouting routing = DirectRouting::kFlowHash, std::int64_t seed = 1) {
    DirectConnectParameters parameters;
    parameters.hosts = hosts;
    parameters.link = {100_Gbps, 500_ns};
    parameters.rings = std::move(strides);
    parameters.routing = routing;
    parameters.seed = seed;
    return parameters;
}

inline DirectConnectParameters one_way(std::int64_t hosts, std::vector<std::int64_t> strides,
                                       DirectRouting routing = DirectRouting::kFlowHash) {
    DirectConnectParameters parameters = rings(hosts, {}, routing);
    parameters.one_way_rings = std::move(strides);
    return parameters;
}

inline DirectConnectParameters with_paths(DirectConnectParameters parameters, std::int64_t paths,
                                          std::int64_t detour) {
    parameters.routing = DirectRouting::kKShortest;
    parameters.paths = paths;
    parameters.detour = detour;
    return parameters;
}

inline std::vector<KShortestRouting::Path> paths(const Fabric& fabric, std::size_t source,
                                                 std::size_t destination) {
    return dynamic_cast<const KShortestRouting&>(fabric.routing()).paths(HostId(source), HostId(destination));
}

}  // namespace astrolabe::network
