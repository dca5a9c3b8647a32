/// Routing over the k shortest loopless paths of every pair, with an equal share of its bytes on each.
///
/// Model. Length is the number of links. A pair (s, d) uses its k shortest paths that visit no node twice, or
/// fewer if there are no more that take at most `detour` links more than the shortest. Links in parallel make
/// different paths. With detour 0 neighbours use the links between them alone.
///
/// Found by Yen's algorithm (Management Science 17, 1971): the next path leaves one found before at some
/// node, over a link that no path with the same beginning has taken. The rest of it is searched by A*, whose
/// bound is the distance to d in the whole fabric, so that a search touches little beside the path. Of paths
/// of one length the first found is taken; the order in which a node's links are tried is turned by a hash of
/// (seed, s, d, node), so that pairs spread.
///
/// Complexity: distances to a destination O(links), kept, 2 bytes a node; a pair O(k · hops) searches of
/// about hops · degree steps. Paths are kept, in 64 MiB at most, then forgotten and found again.
///
/// `next_links` and `select` are those of shortest-path routing; a packet that is not on its path follows
/// them. Queries from several threads at once are safe.
///
/// Source: TopoOpt (NSDI 2023), section 4.2, for traffic that is not all-reduce.
#pragma once

#include "shortest_path_routing.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

struct KShortestOptions {
    std::size_t paths = 4;   ///< k >= 1
    std::size_t detour = 0;  ///< most links beyond the shortest path
    std::uint64_t seed = 1;
};

class KShortestRouting final : public RoutingPolicy {
public:
    /// `fabric` owns the policy and outlives it.
    KShortestRouting(const Fabric& fabric, const KShortestOptions& options);
    ~KShortestRouting() override;

    [[nodiscard]] LoadBalancing load_balancing() const override { return LoadBalancing::kPaths; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override {
        return all_shortest_.next_links(at, destination);
    }
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override {
        return all_shortest_.select(at, source, destination);
    }
    [[nodiscard]] std::size_t path_count(HostId source, HostId destination) const override;
    [[nodiscard]] LinkId select_on(std::size_t path, NodeId at, HostId source,
                                   HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

    using Path = std::vector<LinkId>;
    /// By length, then in the order found.
    [[nodiscard]] std::vector<Path> paths(HostId source, HostId destination) const;

private:
    class Search;

    /// With `finding_` held.
    [[nodiscard]] const std::vector<Path>& known_paths(HostId source, HostId destination) const;

    const Fabric& fabric_;
    KShortestOptions options_;
    ShortestPathRouting all_shortest_;
    mutable std::mutex finding_;
    mutable std::unique_ptr<Search> search_;
    mutable std::unordered_map<std::uint64_t, std::vector<Path>> known_;
    mutable std::size_t known_bytes_ = 0;
};

}  // namespace astrolabe::network
