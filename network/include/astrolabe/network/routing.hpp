/// Routing contract: which way from here to a host, for packet engines hop by hop and for flow engines whole.
///
/// A packet engine asks `next_links` at every node and picks one (by flow hash or per packet); a flow engine
/// asks `route` once per host pair and gets every link with the share of the flow's bytes it carries. Both
/// see the same choice: under kFlowHash the single path of `route` is what `select` picks link by link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

/// Share of a flow that crosses a link: 1 on a single path, less where the flow is sprayed.
struct RouteLeg {
    LinkId link;
    double share = 1.0;
};

struct Route {
    /// In hop order on a single path; otherwise by distance of their begin from the source, then by id.
    std::vector<RouteLeg> legs;
    Time latency;          ///< of the path that takes longest
    std::size_t hops = 0;  ///< links on the path with most
};

class RoutingPolicy {
public:
    virtual ~RoutingPolicy() = default;

    [[nodiscard]] virtual LoadBalancing load_balancing() const = 0;

    /// Links out of `at` that lie on a shortest path to `destination`, ascending by id; empty if it cannot be
    /// reached or `at` is the destination itself. The span lives as long as the policy.
    [[nodiscard]] virtual std::span<const LinkId> next_links(NodeId at, HostId destination) const = 0;

    /// The one of `next_links` that the flow source → destination takes under kFlowHash.
    /// Precondition: next_links is not empty.
    [[nodiscard]] virtual LinkId select(NodeId at, HostId source, HostId destination) const = 0;

    /// The whole route, source != destination. An empty route means unreachable.
    [[nodiscard]] virtual Route route(HostId source, HostId destination) const = 0;
};

}  // namespace astrolabe::network
