/// Coin-change routing: fewest hops over rings, the same from every host.
///
/// Model. On a *circulant* fabric every host i has the same links, to i + c mod n for the coins c. The pair
/// (s, d) takes the coins that CoinRoutes (coin_change.hpp) names for the offset d - s mod n, in its
/// order. Of links in parallel, the j-th hop of offset k takes number k + j, modulo how many there are. So
/// all links of one coin carry the same when every host sends as much to every other.
///
/// `next_links` are those of all shortest paths, for engines that choose by themselves; a packet that has
/// left its route goes on from where it is by the route from there.
///
/// Memory: 4 bytes a link, 2 bytes an offset and hop; `next_links` brings the tables of ShortestPathRouting.
///
/// Source: TopoOpt (NSDI 2023), section 4.3, "CoinChangeMod".
#pragma once

#include "coin_change.hpp"
#include "shortest_path_routing.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

/// Links out of a host as coins, each as often as there are links; nothing if some host has others, or there
/// are switches. `out_of[i]` are the hosts that host i has links to, in any order.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> common_coins(
    const std::vector<std::vector<std::uint32_t>>& out_of);

class CoinChangeRouting final : public RoutingPolicy {
public:
    /// `fabric` is circulant with the coins of `change`, owns the policy and outlives it.
    CoinChangeRouting(const Fabric& fabric, CoinChange change, CoinRoutes routes);

    [[nodiscard]] LoadBalancing load_balancing() const override { return LoadBalancing::kFlowHash; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override {
        return all_shortest_.next_links(at, destination);
    }
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

private:
    [[nodiscard]] std::uint32_t offset(std::size_t from, std::size_t to) const {
        return static_cast<std::uint32_t>(to >= from ? to - from : to + change_.servers() - from);
    }
    /// The link of a coin that hop number `hop` of an offset takes.
    [[nodiscard]] LinkId link(std::size_t host, std::uint16_t coin, std::size_t turn) const {
        const std::size_t first = first_of_coin_[coin];
        return links_[host * first_of_coin_.back() + first + turn % (first_of_coin_[coin + 1U] - first)];
    }

    const Fabric& fabric_;
    CoinChange change_;
    CoinRoutes routes_;
    std::vector<std::size_t> first_of_coin_;  // among the links of a host
    std::vector<LinkId> links_;               // by host, coin
    ShortestPathRouting all_shortest_;
};

}  // namespace astrolabe::network
