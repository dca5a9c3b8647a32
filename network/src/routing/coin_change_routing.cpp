#include "coin_change_routing.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

std::optional<std::vector<std::uint32_t>> common_coins(
    const std::vector<std::vector<std::uint32_t>>& out_of) {
    const std::size_t hosts = out_of.size();
    std::vector<std::uint32_t> common;
    for (std::size_t host = 0; host < hosts; ++host) {
        std::vector<std::uint32_t> coins;
        for (const std::uint32_t target : out_of[host]) {
            coins.push_back(static_cast<std::uint32_t>((target + hosts - host) % hosts));
        }
        std::sort(coins.begin(), coins.end());
        if (host == 0) {
            common = std::move(coins);
        } else if (coins != common) {
            return std::nullopt;
        }
    }
    return common;
}

CoinChangeRouting::CoinChangeRouting(const Fabric& fabric, CoinChange change,
                                     CoinRoutes routes)
    : fabric_(fabric),
      change_(std::move(change)),
      routes_(std::move(routes)),
      first_of_coin_{0},
      all_shortest_(fabric, LoadBalancing::kFlowHash, 1) {
    ASTROLABE_ASSERT(change_.servers() == fabric.node_count(), "all nodes are hosts of the rings");
    for (const std::uint32_t links : change_.links()) {
        first_of_coin_.push_back(first_of_coin_.back() + links);
    }
    links_.resize(fabric.host_count() * first_of_coin_.back());
    for (std::size_t host = 0; host < fabric.host_count(); ++host) {
        ASTROLABE_ASSERT(fabric.out_degree(NodeId(host)) == first_of_coin_.back(),
                         "every coin has its links");
        std::vector<std::size_t> next(first_of_coin_.begin(), first_of_coin_.end() - 1);
        for (std::size_t i = 0; i < fabric.out_degree(NodeId(host)); ++i) {
            const LinkId id(fabric.first_link(NodeId(host)).index() + i);
            const auto& coins = change_.coins();
            const auto found =
                std::lower_bound(coins.begin(), coins.end(), offset(host, fabric.target(id).index()));
            const auto coin = static_cast<std::size_t>(found - coins.begin());
            ASTROLABE_ASSERT(found != coins.end() && next[coin] < first_of_coin_[coin + 1],
                             "links are those of the coins");
            links_[host * first_of_coin_.back() + next[coin]++] = id;
        }
    }
}

LinkId CoinChangeRouting::select(NodeId at, HostId source, HostId destination) const {
    const std::uint32_t all = offset(source.index(), destination.index());
    const std::uint32_t done = offset(source.index(), at.index());
    const auto route = routes_[all];
    std::uint32_t paid = 0;
    for (std::size_t hop = 0; hop < route.size(); ++hop) {
        if (paid == done) {
            return link(at.index(), route[hop], all + hop);
        }
        paid = (paid + change_.coins()[route[hop]]) % change_.servers();
    }
    const std::uint32_t left = offset(at.index(), destination.index());
    ASTROLABE_ASSERT(!routes_[left].empty(), "a link is selected only where there is one");
    return link(at.index(), routes_[left].front(), left);
}

Route CoinChangeRouting::route(HostId source, HostId destination) const {
    ASTROLABE_ASSERT(source != destination, "a route leads from one host to another");
    const std::uint32_t all = offset(source.index(), destination.index());
    Route route;
    std::size_t at = source.index();
    for (const std::uint16_t coin : routes_[all]) {
        const LinkId id = link(at, coin, all + route.hops);
        route.legs.push_back({id, 1.0});
        route.latency = saturating_sum(route.latency, hop_latency(fabric_, id, route.hops == 0));
        ++route.hops;
        at = fabric_.target(id).index();
    }
    return route;
}

}  // namespace astrolabe::network
