/// Routing contract: which way from here to a host, for packet engines hop by hop and for flow engines whole.
///
/// A packet engine asks `next_links` at every node and picks one (by flow hash or per packet); a flow engine
/// asks `route` once per host pair and gets every link with the share of the flow's bytes it carries. Both
/// see the same choice: under kFlowHash the single path of `route` is what `select` picks link by link. Under
/// kPaths a flow has `path_count` paths, each with an equal share, and `select_on` follows one of them.
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
    /// Of the path that takes longest, forwarding included; Time::max() where it is beyond that.
    Time latency;
    std::size_t hops = 0;  ///< links on the path with most
};

/// What a path takes that crosses `link` after others: its latency and what its source takes to forward.
/// Paths add up hops by `saturating_sum`: they may be as long as the network has nodes.
[[nodiscard]] inline Time hop_latency(const Fabric& fabric, LinkId link, bool is_first) {
    return saturating_sum(fabric.link(link).latency,
                          is_first ? Time(0) : fabric.node(fabric.source(link)).forwarding);
}

class RoutingPolicy {
public:
    virtual ~RoutingPolicy() = default;

    [[nodiscard]] virtual LoadBalancing load_balancing() const = 0;

    /// False: the costs of links do not say which routes are taken, so that they are no lengths by which
    /// routes in use would be shortest.
    [[nodiscard]] virtual bool follows_costs() const { return true; }

    /// Links out of `at` that lie on a shortest path to `destination`, ascending by id; empty if it cannot be
    /// reached or `at` is the destination itself. The span lives as long as the policy. `select` and `route`
    /// take others where the policy says so.
    [[nodiscard]] virtual std::span<const LinkId> next_links(NodeId at, HostId destination) const = 0;

    /// The one of `next_links` that the flow source → destination takes under kFlowHash.
    /// Precondition: next_links is not empty.
    [[nodiscard]] virtual LinkId select(NodeId at, HostId source, HostId destination) const = 0;

    /// The whole route, source != destination. An empty route means unreachable.
    [[nodiscard]] virtual Route route(HostId source, HostId destination) const = 0;

    /// Paths that the flow is split over; 1 but under kPaths. 0: unreachable.
    [[nodiscard]] virtual std::size_t path_count(HostId source, HostId destination) const {
        return next_links(NodeId(source.index()), destination).empty() ? 0 : 1;
    }
    /// As `select`, on path number `path` < path_count; `at` is on it.
    [[nodiscard]] virtual LinkId select_on(std::size_t path, NodeId at, HostId source,
                                           HostId destination) const {
        static_cast<void>(path);
        return select(at, source, destination);
    }
};

}  // namespace astrolabe::network
