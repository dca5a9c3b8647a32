/// Fat-tree: edge and aggregation switches in pods, pods joined by core switches.
///
/// Two ways to say its size:
///   - `k` (even): the k-ary fat-tree of Al-Fares, Loukissas and Vahdat (A Scalable, Commodity Data Center
///   Network
///     Architecture, SIGCOMM 2008, section 2.2): k pods of k/2 edge and k/2 aggregation switches, k/2 hosts
///     per edge switch, k²/4 cores; k³/4 hosts in all.
///   - counts per tier. Two tiers: one pod and no cores. Three tiers: `pods` and `cores` as well.
///
/// Every edge switch is joined to every aggregation switch of its pod by `edge_uplinks` cables. With A
/// aggregation switches per pod, aggregation switch j of every pod is joined to cores j·C/A … (j+1)·C/A - 1
/// of the C cores by `aggregation_uplinks` cables each. Hosts are 2, 4 or 6 links apart (same edge switch,
/// same pod, other pod); in a k-ary fat-tree with k/2 and k²/4 shortest paths in the last two cases.
///
/// Oversubscription of a tier is what can enter a switch from below over what its cables upwards carry:
///
///     edge:         hosts_per_edge·link.rate / (A·edge_uplinks·edge_uplink.rate)
///     aggregation:  edges_per_pod·edge_uplinks·edge_uplink.rate /
///     ((C/A)·aggregation_uplinks·aggregation_uplink.rate)
///
/// Of a rate and the oversubscription that follows from it the user gives either (the rate is then rounded up
/// to 1 bit/s), both if they agree, or neither: the rate is then that of the tier below.
#pragma once

#include <cstdint>
#include <memory>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

struct FatTreeParameters {
    std::int64_t k = 0;      ///< even; 0: the counts below say the size
    std::int64_t hosts = 0;  ///< 0: follows from the rest; otherwise checked against it

    std::int64_t pods = 0;                  ///< 0: k, or one pod
    std::int64_t edges_per_pod = 0;         ///< not with k
    std::int64_t hosts_per_edge = 0;        ///< not with k
    std::int64_t aggregations_per_pod = 0;  ///< not with k
    std::int64_t cores = 0;                 ///< not with k; 0: two tiers

    std::int64_t edge_uplinks = 1;  ///< parallel cables between an edge and each aggregation switch
    std::int64_t aggregation_uplinks =
        1;  ///< parallel cables between an aggregation switch and each of its cores

    HostLinkParameters link;
    UplinkParameters edge_uplink;
    UplinkParameters aggregation_uplink;
    double edge_oversubscription = 0.0;         ///< 0: follows from the rates
    double aggregation_oversubscription = 0.0;  ///< 0: follows from the rates

    Bytes switch_buffer;  ///< packet memory of each switch; 0: unlimited
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;  ///< of the flow hash
};

/// The parameters after defaults.
struct FatTreeShape {
    std::int64_t pods;
    std::int64_t edges_per_pod;
    std::int64_t hosts_per_edge;
    std::int64_t aggregations_per_pod;
    std::int64_t cores;
    Bandwidth edge_uplink_rate;
    Bandwidth aggregation_uplink_rate;  ///< 0 with two tiers

    [[nodiscard]] std::int64_t hosts() const { return pods * edges_per_pod * hosts_per_edge; }
};

[[nodiscard]] ValidationErrors validation_errors(const FatTreeParameters& parameters);
/// Precondition: no problems.
[[nodiscard]] FatTreeShape shape(const FatTreeParameters& parameters);
[[nodiscard]] std::shared_ptr<const Fabric> build_fat_tree(const FatTreeParameters& parameters);

}  // namespace astrolabe::network
