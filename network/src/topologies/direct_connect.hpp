/// Direct connect: hosts joined by cables of their own, without switches; hosts forward.
///
/// Cables are full-duplex, one-way links are on separate fibres; all have one rate and latency, and add up
/// from any of
///   rings          a stride s joins every host i to i + s mod n; n/2 joins opposite hosts twice
///   torus          a grid of the given sizes whose lines are closed to rings (torus.hpp), n hosts in all
///   random         a random graph in which every host has so many neighbours (regular_graph.hpp)
///   all_to_all     so many cables between every two hosts
///   links          from one host to another, one by one, also one way
///   one_way_rings  a stride s leads from every host i to i + s mod n and not back: a plane whose fibres out
///                  and in are patched separately, which is a permutation
/// in this order, one-way links last. A host sends d·rate in all, d the links out of it: interfaces share no
/// limit. Traffic for hosts that are not neighbours is stored and forwarded by hosts on its way, each of
/// which takes `forwarding.latency` from when it has a packet until it queues it. Every host must reach every
/// other; what goes back, acknowledgements for example, has its own way.
///
/// Routing:
///   flow_hash         a shortest path by hash of the pair, one for all its messages
///   spray             every host splits evenly over the links of all shortest paths
///   random_shortest   the path in a random shortest-path tree of the source (random_tree_routing.hpp): the
///                     released code's
///   coin_change       fewest hops, then the smallest stride first (coin_change_routing.hpp)
///   balanced          as coin_change, strides as evenly used as can be
///   k_shortest        evenly over `paths` shortest paths, at most `detour` hops longer than the shortest
///                     (k_shortest_routing.hpp)
///   by_class          pairs one stride of a ring apart over what joins them, pairs at the offsets of
///                     `ring_offsets` as coin_change over the rings alone, all others as k_shortest
///                     (ring_class_routing.hpp)
/// coin_change and balanced need the same strides out of every host, by_class a ring.
///
/// With h̄ the mean hops, uniform all-to-all of v bytes a pair puts (n-1)·v·h̄/d on a link on average; R full-
/// duplex rings are much like a torus of R dimensions, h̄ ≈ R·n^{1/R}/4.
///
/// With `reconfiguration` these are the links that a job begins with, as many out of and into every host; all
/// are on one circuit switch, which moves them for what waits (network/src/demand_aware_circuits.hpp).
///
/// What is left out: a limit of the host on what it forwards, the time to wire the job.
///
/// Source: TopoOpt (NSDI 2023), sections 2 and 3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <astrolabe/network/cost/medium.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

enum class DirectRouting : std::uint8_t {
    kFlowHash,
    kSpray,
    kRandomShortest,
    kCoinChange,
    kBalanced,
    kKShortest,
    kByClass
};

struct ForwardingParameters {
    Time latency;
};

enum class DarkCircuits : std::uint8_t {
    kMoving,
    kAll  ///< whenever any moves
};

struct DemandAwareParameters {
    Time every{50'000'000'000};  ///< published for OCS-reconfig, as is the delay
    Time delay{10'000'000'000};
    bool forwarding = true;  ///< no: pairs without a circuit of their own wait for one
    DarkCircuits dark = DarkCircuits::kMoving;
};

struct RandomCableParameters {
    std::int64_t degree = 0;  ///< neighbours of every host; 0: none
    std::int64_t seed = 1;    ///< of the graph
};

struct DirectLinkParameters {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t cables = 1;
    bool one_way = false;  ///< links from `from` to `to` alone instead of cables
};

struct DirectConnectParameters {
    std::int64_t hosts = 0;  ///< must be given, >= 1
    HostLinkParameters link;
    Medium medium = Medium::kFibre;  ///< of every cable
    std::optional<DemandAwareParameters> reconfiguration;
    ForwardingParameters forwarding;
    std::vector<std::int64_t> rings;  ///< strides, 1 … hosts - 1
    std::vector<std::int64_t> torus;  ///< sizes
    RandomCableParameters random;
    std::int64_t all_to_all = 0;
    std::vector<DirectLinkParameters> links;
    std::vector<std::int64_t> one_way_rings;  ///< strides, 1 … hosts - 1
    DirectRouting routing = DirectRouting::kFlowHash;
    /// Of by_class: offsets of all-reduces beside the strides of the rings, 1 … hosts - 1. A network for a
    /// job knows them; there is no key.
    std::vector<std::int64_t> ring_offsets;
    std::int64_t paths = 4;   ///< of k_shortest and by_class
    std::int64_t detour = 0;  ///< the same
    std::int64_t seed = 1;    ///< of the flow hash, the trees, and what k_shortest tries first

    // Of a network whose circuits move with the demand, which there are no keys for either.
    bool forwards = true;  ///< no: a pair uses the links that join it, whatever the routing, or waits
    bool is_whole = true;  ///< no: hosts may be out of reach of one another, as when hosts do not forward
    std::shared_ptr<const DemandAwareCircuits> controller;
    std::shared_ptr<const NetworkFamily> family;  ///< null: of none
};

[[nodiscard]] ValidationErrors validation_errors(const DirectConnectParameters& parameters);

using HostPair = std::pair<std::uint32_t, std::uint32_t>;
/// Precondition of all: no problems.
[[nodiscard]] std::vector<HostPair> direct_cables(const DirectConnectParameters& parameters);
/// Each from its first host to its second.
[[nodiscard]] std::vector<HostPair> direct_one_way_links(const DirectConnectParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_direct_connect(const DirectConnectParameters& parameters);

}  // namespace astrolabe::network
