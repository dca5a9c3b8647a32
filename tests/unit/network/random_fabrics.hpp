/// Small fabrics at random: flat, leaf-spine and fat-tree, hashed and sprayed, and circuits that come and go.
#pragma once

#include "network/src/topologies/fat_tree.hpp"
#include "network/src/topologies/flat.hpp"
#include "network/src/topologies/leaf_spine.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

using Random = std::mt19937_64;

inline std::int64_t pick(Random& random, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

inline HostLinkParameters random_link(Random& random) {
    return {Bandwidth(pick(random, 1, 400) * 1'000'000'000), Time(pick(random, 0, 2'000'000))};
}

/// Hosts on one switch by circuits that come and go; in the first interval all exist, so that nothing stalls.
inline std::shared_ptr<const Fabric> random_circuits(Random& random) {
    const HostLinkParameters link = random_link(random);
    FabricBuilder builder("circuits");
    const std::int64_t hosts = pick(random, 2, 8);
    for (std::int64_t i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    const NodeId hub = builder.add_switch("hub");
    std::vector<CircuitInterval<std::uint32_t>> intervals(static_cast<std::size_t>(pick(random, 1, 4)));
    Time period;
    for (CircuitInterval<std::uint32_t>& interval : intervals) {
        interval.duration = Time(pick(random, 1, 20'000'000));
        period += interval.duration;
    }
    for (std::int64_t i = 0; i < hosts; ++i) {
        const FabricBuilder::Cable cable =
            builder.connect(NodeId(static_cast<std::size_t>(i)), hub, {link.rate, link.latency, Bytes(0)});
        for (std::size_t k = 0; k < intervals.size(); ++k) {
            if (k == 0 || pick(random, 0, 1) == 0) {
                intervals[k].links.push_back(cable.forward);
            }
            if (k == 0 || pick(random, 0, 1) == 0) {
                intervals[k].links.push_back(cable.backward);
            }
        }
    }
    builder.set_circuits(period, std::move(intervals));
    return std::move(builder).build();
}

/// Without circuits that come and go; `link` is that of the hosts.
inline std::shared_ptr<const Fabric> random_static_fabric(Random& random, const HostLinkParameters& link,
                                                          LoadBalancing balancing) {
    switch (pick(random, 0, 2)) {
        case 0: {
            FlatParameters parameters;
            parameters.hosts = pick(random, 2, 24);
            parameters.link = link;
            return build_flat(parameters);
        }
        case 1: {
            LeafSpineParameters parameters;
            parameters.hosts_per_leaf = pick(random, 1, 6);
            parameters.hosts = parameters.hosts_per_leaf * pick(random, 2, 5);
            parameters.spines = pick(random, 1, 4);
            parameters.uplinks = pick(random, 1, 2);
            if (pick(random, 0, 1) == 0) {
                parameters.oversubscription = static_cast<double>(pick(random, 1, 5)) / 2.0;
            } else {
                const HostLinkParameters uplink = random_link(random);
                parameters.uplink = {uplink.rate, uplink.latency};
            }
            parameters.link = link;
            parameters.load_balancing = balancing;
            return build_leaf_spine(parameters);
        }
        default: {
            FatTreeParameters parameters;
            parameters.k = 4;
            parameters.link = link;
            parameters.load_balancing = balancing;
            return build_fat_tree(parameters);
        }
    }
}

inline std::shared_ptr<const Fabric> random_static_fabric(Random& random) {
    const LoadBalancing balancing =
        pick(random, 0, 1) == 0 ? LoadBalancing::kFlowHash : LoadBalancing::kSpray;
    return random_static_fabric(random, random_link(random), balancing);
}

inline std::shared_ptr<const Fabric> random_fabric(Random& random) {
    return pick(random, 0, 3) == 0 ? random_circuits(random) : random_static_fabric(random);
}

}  // namespace astrolabe::network
