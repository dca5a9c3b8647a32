// SPDX-License-Identifier: GPL-2.0-only
/// The fabrics of the packet benchmarks, and an all-to-all started at once.
#pragma once

#include <memory>
#include <utility>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::benchmarks {

using network::HostId;
using network::NodeId;

inline const network::LinkParameters kLink{100_Gbps, 500_ns, Bytes(0)};

inline std::shared_ptr<const network::Fabric> one_switch(int hosts) {
    network::FabricBuilder builder("flat");
    for (int i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    const NodeId center = builder.add_switch("switch", 1_GB);
    for (int i = 0; i < hosts; ++i) {
        builder.connect(NodeId(i), center, kLink);
    }
    return std::move(builder).build();
}

/// Leaves of 16 hosts, as many spines as a leaf has hosts: not oversubscribed.
inline std::shared_ptr<const network::Fabric> two_tiers(int hosts) {
    constexpr int kLeafHosts = 16;
    network::FabricBuilder builder("leaf_spine");
    for (int i = 0; i < hosts; ++i) {
        builder.add_host("host");
    }
    std::vector<NodeId> leaves;
    for (int i = 0; i < hosts / kLeafHosts; ++i) {
        leaves.push_back(builder.add_switch("leaf", 1_GB));
    }
    for (int i = 0; i < hosts; ++i) {
        builder.connect(NodeId(i), leaves[static_cast<std::size_t>(i / kLeafHosts)], kLink);
    }
    for (int i = 0; i < kLeafHosts; ++i) {
        const NodeId spine = builder.add_switch("spine", 1_GB);
        for (const NodeId leaf : leaves) {
            builder.connect(leaf, spine, kLink);
        }
    }
    return std::move(builder).build();
}

class Ignore final : public network::NotificationHandler {
public:
    void notify(std::uint64_t) override {}
};

/// Every host sends `size` to every other; each starts with its next neighbour.
inline void send_all_to_all(network::NetworkBackend& backend, int hosts, Bytes size, Ignore& ignore) {
    for (int shift = 1; shift < hosts; ++shift) {
        for (int source = 0; source < hosts; ++source) {
            backend.send({HostId(source), HostId((source + shift) % hosts), size, &ignore, 0});
        }
    }
}

}  // namespace astrolabe::benchmarks
