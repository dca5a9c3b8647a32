/// Routing over the k shortest loopless paths of every pair: an equal share of its bytes on each, or all on
/// one of them by hash (path_routing.hpp).
///
/// Model. Length is the sum of the costs of links; with costs of 1, the default, their number. A pair (s, d)
/// uses its k shortest paths that visit no node twice, or fewer if there are no more that are at most
/// `detour` longer than the shortest. Between the ends of a path are switches and hosts that forward. Links
/// in parallel make different paths. With detour 0 neighbours use the links between them alone.
///
/// Found by Yen's algorithm (Management Science 17, 1971): the next path leaves one found before at some
/// node, over a link that no path with the same beginning has taken. The rest of it is searched by A*, whose
/// bound is the distance to d in the whole fabric, so that a search touches little beside the path. Of paths
/// of one length the first found is taken; the order in which a node's links are tried is turned by a hash of
/// (seed, s, d, node), so that pairs spread.
///
/// Complexity: distances to a destination O(links + the largest distance), kept, 4 bytes a node; a pair
/// O(k · hops) searches of about hops · degree steps. Paths are kept, in 64 MiB at most, then forgotten and
/// found again: those of all pairs of 1,024 hosts fit (known_paths.hpp).
///
/// `next_links` and `select` are those of shortest-path routing; a packet that is not on its path follows
/// them. Queries from several threads at once are safe.
///
/// Source: TopoOpt (NSDI 2023), section 4.2, for traffic that is not all-reduce.
#pragma once

#include "known_paths.hpp"
#include "path_routing.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

struct KShortestOptions {
    std::size_t paths = 4;   ///< k >= 1
    std::size_t detour = 0;  ///< most by which a path is longer than the shortest
    std::uint64_t seed = 1;
    LoadBalancing load_balancing = LoadBalancing::kPaths;  ///< or kFlowHash
};

class KShortestRouting final : public PathRouting {
public:
    /// `fabric` owns the policy and outlives it.
    KShortestRouting(const Fabric& fabric, const KShortestOptions& options);
    ~KShortestRouting() override;

    [[nodiscard]] LinkId select_on(std::size_t path, NodeId at, HostId source,
                                   HostId destination) const override;

    /// By length, then in the order found.
    [[nodiscard]] std::vector<Path> paths(HostId source, HostId destination) const;

private:
    class Search;

    [[nodiscard]] std::size_t count_paths(HostId source, HostId destination) const override;
    [[nodiscard]] Path find_path(std::size_t path, HostId source, HostId destination) const override;
    [[nodiscard]] std::vector<Path> find_paths(HostId source, HostId destination) const override;
    /// With `finding_` held, as long as it is.
    [[nodiscard]] PathReader known_paths(HostId source, HostId destination) const;

    KShortestOptions options_;
    mutable std::mutex finding_;
    mutable std::unique_ptr<Search> search_;
    mutable KnownPaths known_;
};

}  // namespace astrolabe::network
