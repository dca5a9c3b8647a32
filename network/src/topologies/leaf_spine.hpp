/// Leaf-spine: hosts on leaf switches, every leaf joined to every spine (a two-tier folded Clos network).
///
/// Hosts on one leaf are 2 links apart, all others 4, with spines·uplinks shortest paths between them. The
/// oversubscription of a leaf is what its hosts can send over what its uplinks carry,
///
///     oversubscription = hosts_per_leaf·link.rate / (spines·uplinks·uplink.rate).
///
/// The user gives uplink.rate, or the oversubscription (then uplink.rate follows, rounded up to 1 bit/s), or
/// neither (then uplink.rate = link.rate); if both are given they must agree.
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

struct LeafSpineParameters {
    std::int64_t hosts = 0;           ///< must be given, a multiple of hosts_per_leaf
    std::int64_t hosts_per_leaf = 0;  ///< must be given, >= 1
    std::int64_t spines = 0;          ///< must be given, >= 1
    std::int64_t uplinks = 1;         ///< parallel cables between a leaf and each spine
    HostLinkParameters link;
    UplinkParameters uplink;
    double oversubscription = 0.0;  ///< 0: follows from the rates
    Bytes switch_buffer;            ///< packet memory of each switch; 0: unlimited
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;  ///< of the flow hash
};

[[nodiscard]] ValidationErrors validation_errors(const LeafSpineParameters& parameters);
/// Rate of one leaf-spine cable, after defaults.
[[nodiscard]] Bandwidth uplink_rate(const LeafSpineParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_leaf_spine(const LeafSpineParameters& parameters);

}  // namespace astrolabe::network
