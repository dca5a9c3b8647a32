/// Routing over paths that the caller names pair by pair; pairs that are not named take shortest paths.
///
/// Model. A pair (s, d) of hosts may be given paths p with weights w(p), whole numbers, each path the nodes
/// between s and d. Of its bytes p carries w(p) / Σw, or, under kFlowHash, the pair takes p with that
/// probability by hash of (seed, s, d). Between two nodes that are joined by m links in parallel a path
/// splits evenly over all m under kPaths, else takes one by hash.
///
/// As PathRouting has paths of equal shares only, a path is there more than once: with L the least common
/// multiple of the numbers of parallel links along the paths of the pair there are L·Σw of them, and number i
/// of a path takes link i mod m of m.
///
/// A pair that is not given takes a shortest path, or one up and down (PathRule), by hash under kFlowHash.
/// Under kPaths it is split evenly at every node over all next links, as ShortestPathRouting sprays: with
/// n(v) next links of node v there are N(v) = n(v) · lcm of N over their targets numbered paths, number i
/// taking next link i mod n(v) and going on as number i / n(v). Where that is more than kMostShares,
/// kMostShares paths are drawn by hash.
///
/// Memory: about 100 bytes for two nodes that are joined and for a pair that is given, the paths once each.
/// Complexity: a given path O(hops) to find; one that is not given O(hops · next links).
#pragma once

#include "path_routing.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace astrolabe::network {

/// Most equal shares that a pair is split in.
inline constexpr std::uint64_t kMostShares = 1'024;

/// What is given, by nodes of a fabric.
class GivenPaths {
public:
    /// Nodes between the ends of a path, in order, and its number; the same nodes may be of many pairs.
    std::uint32_t add_path(std::vector<NodeId> between);
    /// One more path of the pair; `weight` >= 1.
    void give(HostId source, HostId destination, std::uint32_t path, std::uint32_t weight);

    struct Choice {
        std::uint32_t path;
        std::uint32_t weight;
    };
    /// Empty: the pair is not given.
    [[nodiscard]] std::span<const Choice> of(HostId source, HostId destination) const;
    [[nodiscard]] const std::vector<NodeId>& between(std::uint32_t path) const { return paths_[path]; }

private:
    std::vector<std::vector<NodeId>> paths_;
    std::unordered_map<std::uint64_t, std::vector<Choice>> choices_;
};

/// Links in parallel by their ends.
class ParallelLinks {
public:
    explicit ParallelLinks(const Fabric& fabric);
    /// Ascending; empty where no link leads from one to the other.
    [[nodiscard]] std::span<const LinkId> of(NodeId from, NodeId to) const;

private:
    std::unordered_map<std::uint64_t, std::vector<LinkId>> links_;
};

class GivenRouting final : public PathRouting {
public:
    /// Links join the nodes of all given paths, and shares are at most kMostShares.
    GivenRouting(const Fabric& fabric, std::shared_ptr<const GivenPaths> given, LoadBalancing load_balancing,
                 std::uint64_t seed, PathRule rule);

    [[nodiscard]] bool follows_costs() const override { return false; }

private:
    [[nodiscard]] std::size_t count_paths(HostId source, HostId destination) const override;
    [[nodiscard]] Path find_path(std::size_t path, HostId source, HostId destination) const override;
    [[nodiscard]] Path given_path(std::size_t number, HostId source, HostId destination) const;
    [[nodiscard]] Path spread_path(std::size_t number, HostId source, HostId destination) const;
    /// L of the pair; 1 under kFlowHash.
    [[nodiscard]] std::uint64_t copies(std::span<const GivenPaths::Choice> choices, HostId source,
                                       HostId destination) const;
    /// N(at), at most kMostShares + 1.
    [[nodiscard]] std::uint64_t count_spread(NodeId at, HostId destination) const;

    std::shared_ptr<const GivenPaths> given_;
    ParallelLinks links_;
    mutable std::mutex counting_;
    /// N(v) by node and destination.
    mutable std::unordered_map<std::uint64_t, std::uint64_t> spread_counts_;
};

}  // namespace astrolabe::network
