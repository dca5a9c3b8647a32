/// Routes over rings: coin change modulo the number of servers.
///
/// Model. Every server i has links to i + c mod n for each *coin* c. A route from i to i + k is a sequence of
/// coins whose sum is k mod n, so routes depend on the offset k alone and all servers share one table. Fewest
/// hops are a breadth-first search from 0: hops(k) = 1 + min_c hops(k - c). As coins commute, a set of coins
/// is a route in any order.
///
/// Ties between sets of coins:
///   smallest first   at every hop the smallest coin that leaves one hop less to go;
///   balanced         for each offset the set that makes what uniform all-to-all traffic puts on the links of
///                    each coin as even as possible: least Σ_c load(c)² / links(c), by descent one offset at
///                    a time, until nothing changes.
/// All sources take the same set for an offset, so all links of one coin carry the same and the busiest link
/// is that of the busiest coin. Rotating the order of preference with the source makes totals of the coins
/// even on average but not those of single links: 16 servers with coins 1, 5, 11, 15 have a busiest link of
/// 14 routes then, 9 when balanced as here; the mean is 8.
///
/// Source: TopoOpt (NSDI 2023), section 4.3, "CoinChangeMod".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace astrolabe::network {

class CoinChange {
public:
    static constexpr std::uint32_t kUnreachable = 0xffffffffU;

    /// Coins in [1, servers), in any order; one that is named several times is that many links in parallel.
    /// O(servers · coins).
    CoinChange(std::uint32_t servers, std::span<const std::uint32_t> coins);

    [[nodiscard]] std::uint32_t servers() const { return static_cast<std::uint32_t>(hops_.size()); }
    /// Ascending, each once.
    [[nodiscard]] const std::vector<std::uint32_t>& coins() const { return coins_; }
    /// Links in parallel, by coin.
    [[nodiscard]] const std::vector<std::uint32_t>& links() const { return links_; }
    /// By offset; kUnreachable where no coins sum to it.
    [[nodiscard]] const std::vector<std::uint32_t>& hops() const { return hops_; }

    [[nodiscard]] bool reaches_all() const;
    /// The next two are over the offsets that are reached, but 0.
    [[nodiscard]] std::uint32_t diameter() const;
    [[nodiscard]] double mean_hops() const;

    /// Is coin number `coin` the first of some shortest route for `offset`?
    [[nodiscard]] bool leads(std::uint32_t coin, std::uint32_t offset) const {
        return hops_[offset] != kUnreachable && hops_[offset] > 0 &&
               hops_[after(coin, offset)] == hops_[offset] - 1;
    }
    /// What is left of `offset` once coin number `coin` is paid.
    [[nodiscard]] std::uint32_t after(std::uint32_t coin, std::uint32_t offset) const {
        return offset >= coins_[coin] ? offset - coins_[coin] : offset + servers() - coins_[coin];
    }

private:
    std::vector<std::uint32_t> coins_;
    std::vector<std::uint32_t> links_;
    std::vector<std::uint32_t> hops_;
};

/// One route for each offset, as numbers of coins.
class CoinRoutes {
public:
    /// The coins of a route in the order they are paid; empty for 0 and what is not reached.
    [[nodiscard]] std::span<const std::uint16_t> operator[](std::uint32_t offset) const {
        return std::span(coins_).subspan(begin_[offset], begin_[offset + 1] - begin_[offset]);
    }
    /// Routes over each coin's links out of a server when every server sends to every other: by coin, all
    /// its parallel links together.
    [[nodiscard]] std::vector<std::uint64_t> loads(std::size_t coin_count) const;

private:
    friend CoinRoutes smallest_first_routes(const CoinChange& change);
    friend CoinRoutes balanced_routes(const CoinChange& change);
    /// From the coins of each offset.
    explicit CoinRoutes(const std::vector<std::vector<std::uint16_t>>& routes);

    std::vector<std::size_t> begin_;  // by offset
    std::vector<std::uint16_t> coins_;
};

/// Coins ascending along each route. O(Σ hops · coins).
[[nodiscard]] CoinRoutes smallest_first_routes(const CoinChange& change);
/// Coins ascending along each route but turned, by the offset modulo the number of coins, so that first hops
/// spread over the coins. O(sweeps · servers · offsets on shortest routes · hops); 16 sweeps at most, and
/// only of offsets with several sets.
[[nodiscard]] CoinRoutes balanced_routes(const CoinChange& change);

}  // namespace astrolabe::network
