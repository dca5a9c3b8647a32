/// Static expander: racks joined at random, each to equally many others.
///
/// Graph. N racks of h hosts; every rack's switch has u' uplinks, each a cable to the switch of another rack,
/// no two of them to the same: a random u'-regular simple graph (topologies/regular_graph.hpp). The best of
/// `draws` is taken: connected, fewest hops at worst, then on average. Messages take shortest paths.
///
/// Cost. An expander of k-port switches costs as much a host as Opera with k/2 uplinks if
/// alpha = u' / (k - u'), alpha the cost of a rotor fabric's port over that of a static one, about 1.3:
/// u' = alpha k / (1 + alpha). For k = 12, u' = 7 and 5 hosts a rack: 130 racks for 650 hosts.
///
/// Source: Opera (NSDI 2020), section 5.1; Singla et al., Jellyfish (NSDI 2012).
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/network/rotor/rotor_schedule.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network::rotor {

struct ExpanderParameters {
    std::int64_t racks = 0;           ///< must be given; racks * uplinks is even
    std::int64_t uplinks = 0;         ///< must be given, below racks
    std::int64_t hosts_per_rack = 0;  ///< must be given
    HostLinkParameters link;
    UplinkParameters uplink;  ///< rate 0: that of the hosts' link
    Bytes switch_buffer;      ///< packet memory of each switch; 0: unlimited
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t draws = 1;
    std::int64_t seed = 1;      ///< of the graph
    std::int64_t run_seed = 1;  ///< of the flow hash
};

/// Draws the graph where the rest is right.
[[nodiscard]] ValidationErrors validation_errors(const ExpanderParameters& parameters);
/// Precondition: no problems.
[[nodiscard]] std::shared_ptr<const Fabric> build_expander(const ExpanderParameters& parameters);

}  // namespace astrolabe::network::rotor
