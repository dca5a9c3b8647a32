/// Routing by class on rings with more cables beside them: what all-reduces send keeps to the rings, all
/// other traffic spreads over the whole graph.
///
/// Model. Rings of strides c join every host i to i + c mod n; other links may join any hosts. A backend
/// knows no collectives, so that the class of a pair (s, d) is that of its offset d - s mod n:
///
///     a stride         ring neighbours: every link that joins the two, rings' or not, an even share on each,
///                      and no detour
///     a ring offset    what all-reduces of groups without a ring of their own go by: the fewest strides that
///                      sum to it, the smallest first (coin change, coin_change.hpp), on one path
///     any other        the k shortest paths of the whole graph (k_shortest_routing.hpp)
///
/// A path's hop with j strides to go takes number j, modulo how many there are, of the links in parallel.
/// Traffic of other kinds between ring neighbours takes their links too: the shortest way it has.
///
/// `next_links` and `select` are those of shortest-path routing; a packet that is not on its path follows
/// them, but at a ring offset goes on by strides from where it is. Queries from several threads at once are
/// safe.
///
/// Complexity: a hop O(links of a host); 5 bytes an offset beside what k_shortest_routing.hpp needs.
///
/// Source: TopoOpt (NSDI 2023), section 4.3: coin change for all-reduces, k shortest paths for the rest.
#pragma once

#include "coin_change.hpp"
#include "k_shortest_routing.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

class RingClassRouting final : public RoutingPolicy {
public:
    /// The coins of `rings` are the strides, each way round by itself, of links that every host has.
    /// `offsets` are the ring offsets beside them, in [1, hosts), all sums of strides. `fabric` has no
    /// switches, owns the policy and outlives it.
    RingClassRouting(const Fabric& fabric, CoinChange rings, std::span<const std::int64_t> offsets,
                     const KShortestOptions& rest);

    [[nodiscard]] LoadBalancing load_balancing() const override { return LoadBalancing::kPaths; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override {
        return rest_.next_links(at, destination);
    }
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override {
        return rest_.select(at, source, destination);
    }
    [[nodiscard]] std::size_t path_count(HostId source, HostId destination) const override;
    [[nodiscard]] LinkId select_on(std::size_t path, NodeId at, HostId source,
                                   HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

private:
    enum class Class : std::uint8_t { kRest, kNeighbours, kRingOffset };

    [[nodiscard]] std::uint32_t offset(std::size_t from, std::size_t to) const {
        return static_cast<std::uint32_t>(to >= from ? to - from : to + rings_.servers() - from);
    }
    [[nodiscard]] Class class_of(HostId source, HostId destination) const {
        return classes_[offset(source.index(), destination.index())];
    }
    [[nodiscard]] std::size_t count_links(std::size_t from, std::size_t to) const;
    /// Number `number` < count_links, ascending by id.
    [[nodiscard]] LinkId link_between(std::size_t from, std::size_t to, std::size_t number) const;
    /// The smallest stride that leaves one hop less to go.
    [[nodiscard]] LinkId next_by_coins(std::size_t at, std::size_t destination) const;

    const Fabric& fabric_;
    CoinChange rings_;
    KShortestRouting rest_;
    std::vector<Class> classes_;  // by offset
};

}  // namespace astrolabe::network
