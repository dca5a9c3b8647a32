/// Dragonfly: groups of routers that are fully connected inside, with global links between groups.
///
/// Model. A router has p hosts, local links to the other a - 1 routers of its group and h global links. Host
/// (γ·a + ρ)·p + k is host k of router ρ of group γ, router γ·a + ρ of all. Of at most a·h + 1 groups every
/// two are joined by
///
///     floor(a·h / (g - 1))
///
/// global links; ports that are left over stay free. With a·h + 1 groups it is one link. A balanced dragonfly
/// has a = 2p = 2h. Two hosts are at most 5 links apart: up, local, global, local, down.
///
/// Arrangement (Hastings et al. 2015). The ports of a group are numbered 0 to a·h - 1, h to a router; port
/// x = b·(g - 1) + y of group i, of bundle b, leads to group
///
///     absolute    y where y < i, else y + 1
///     relative    (i + y + 1) mod g
///     circulant   i + (y/2 + 1) mod g for even y, i - (y+1)/2 mod g for odd y
///
/// at the port of the same bundle there that leads back. Or the global links are listed, between routers of
/// different groups, in any number.
///
/// Routing. A link between hosts and routers or of a group costs 1, a global one 3, so that two global links
/// are longer than a local, a global and a local one.
///
///     minimal   shortest paths: one by hash of the pair or evenly over all (load_balancing)
///     valiant   over an intermediate group (dragonfly_routing.hpp)
///
/// A pattern in which every host of group i sends to group i + 1 puts a·p hosts on one global link under
/// minimal routing; under Valiant's, spread over all g - 2 groups, 2·a·p/(g - 2) on each.
/// Halving g groups, an even number, that are joined by one link each cuts (g/2)² global links.
///
/// Limits. Virtual channels and the deadlock they avoid are not modelled, nor adaptive routing (UGAL).
///
/// Sources: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology" (ISCA 2008);
/// Hastings et al., "Comparing global link arrangements for dragonfly networks" (CLUSTER 2015).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

enum class GlobalArrangement : std::uint8_t { kAbsolute, kRelative, kCirculant };
enum class DragonflyRule : std::uint8_t { kMinimal, kValiant };

/// Metric of routing: 2·kGlobalCost > kGlobalCost + 2.
inline constexpr std::uint16_t kGlobalCost = 3;

/// Tables of Valiant routing grow with its square.
inline constexpr std::int64_t kMaxDragonflyGroups = 4'096;

/// A global link of a list; routers are numbered over all groups.
struct GlobalLinkParameters {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t cables = 1;  ///< in parallel
};

struct DragonflyParameters {
    std::int64_t hosts_per_router = 0;         ///< p; must be given
    std::int64_t routers_per_group = 0;        ///< a; 0: 2p
    std::int64_t global_links_per_router = 0;  ///< h; 0: p, or no more than global_links has
    std::int64_t groups = 0;                   ///< g; 0: a·h + 1
    GlobalArrangement arrangement = GlobalArrangement::kAbsolute;
    std::vector<GlobalLinkParameters> global_links;  ///< instead of an arrangement
    HostLinkParameters link;                         ///< of hosts
    HostLinkParameters local_link;
    HostLinkParameters global_link;
    Bytes switch_buffer;
    DragonflyRule routing = DragonflyRule::kMinimal;
    LoadBalancing load_balancing = LoadBalancing::kFlowHash;
    std::int64_t seed = 1;  ///< of the flow hash and of intermediate groups
};

/// The same with nothing left open.
[[nodiscard]] DragonflyParameters with_defaults(DragonflyParameters parameters);
[[nodiscard]] ValidationErrors validation_errors(const DragonflyParameters& parameters);
/// Precondition: no problems.
[[nodiscard]] std::shared_ptr<const Fabric> build_dragonfly(const DragonflyParameters& parameters);

}  // namespace astrolabe::network
