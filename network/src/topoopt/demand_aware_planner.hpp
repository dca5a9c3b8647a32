/// Circuit switches that are wired for what waits: the comparator "OCS-reconfig" of the TopoOpt paper.
///
/// Model. With T_ij the bytes that wait at server i for j, every look plans a wiring:
///
///   forwarding      TopologyFinder of mode paper for T as traffic between pairs (topology_finder.hpp): a
///                   ring of stride 1 joins all servers, so that every wiring is strongly connected, and all
///                   other interfaces go to matchings of greatest demand, halved when served
///   no forwarding   all interfaces go to such matchings; a pair uses its own circuits or waits
///
/// A pair on m circuits has (2 - 2^{1-m})·T_ij of its demand served, as matchings count it; the sum over all
/// pairs is what a wiring is *worth*. The present wiring stays unless the planned one is worth more. So
/// nothing goes dark for pairs that ask for nothing, nor between matchings of equal weight, and no demand
/// starves: a wiring worth nothing gives way to any that carries something, one worth something carries it,
/// and what is carried asks for less at the next look.
///
/// Circuits in both wirings stay up, as many between two servers as both have. With planes (wiring duplex or
/// separate_fibres) these are of the same plane, and each matching in turn gets the free plane that has most
/// of its circuits already; on one panel any two ports may be joined. `all_dark`: a switch that is dark as a
/// whole.
///
/// Routes of what is planned are those of direct_connect (network/src/topologies/direct_connect.hpp), but for
/// by_class, which becomes k_shortest: circuits for demand have no classes.
///
/// What is left out: matchings join servers both ways, also on separate fibres; the time to ask and to plan.
///
/// Complexity of a look: O(n²) and the matchings (demand_matching.hpp); of a change, a fabric besides.
///
/// Source: TopoOpt (NSDI 2023), its comparator OCS-reconfig, with matchings and ring as TopologyFinder has
/// them.
#pragma once

#include "../demand_aware_circuits.hpp"
#include "../topologies/direct_connect.hpp"
#include "topology_finder.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace astrolabe::network::topoopt {

struct DemandAwarePlannerOptions {
    FinderOptions finder;  ///< degree, wiring and candidates count
    bool forwarding = true;
    bool all_dark = false;           ///< not only the circuits that move
    DirectConnectParameters common;  ///< of all wirings: hosts, link, routing; without links
};

class DemandAwarePlanner final : public DemandAwareCircuits {
public:
    /// Of `first` options.finder.degree links lead out of every server and into it. They are those `planned`,
    /// which are not looked at on one panel.
    DemandAwarePlanner(Time every, Time delay, DemandAwarePlannerOptions options, const Fabric& first,
                       std::span<const PlannedLink> planned);

    [[nodiscard]] std::optional<Rewiring> rewire(const Fabric& present,
                                                 std::span<const WaitingPair> waiting) const override;

    [[nodiscard]] std::variant<std::shared_ptr<const DemandAwareCircuits>, ValidationErrors> scaled(
        double links, double latency, double reconfiguration) const override;

private:
    using Ports = std::vector<HostId>;  ///< by link of the first fabric: whom it leads to

    /// As another one, but dark for `delay`.
    DemandAwarePlanner(const DemandAwarePlanner& other, Time delay, DemandAwarePlannerOptions options)
        : DemandAwareCircuits(other.every(), delay),
          options_(std::move(options)),
          planes_(other.planes_) {}

    [[nodiscard]] std::uint32_t servers() const { return static_cast<std::uint32_t>(options_.common.hosts); }
    [[nodiscard]] std::vector<PlannedLink> plan(const Fabric& present, const PairDemand& demand) const;
    /// Puts matchings on the planes from `first_plane` on.
    void place(const Fabric& present, std::span<const MatchingRound> matchings, std::uint32_t first_plane,
               std::vector<PlannedLink>& planned) const;
    [[nodiscard]] bool is_joined(const Fabric& present, Server a, Server b, std::uint32_t plane) const;
    [[nodiscard]] Ports connect(const Fabric& present, std::span<const PlannedLink> planned) const;
    [[nodiscard]] WiredFabric build(const Ports& targets, std::span<const LinkId> links, bool is_whole) const;

    DemandAwarePlannerOptions options_;
    std::vector<std::uint32_t> planes_;  // by link of the first fabric; 0 on one panel
};

/// The network `first`, whose links are those `planned`, with circuits that move. Precondition: no problems.
[[nodiscard]] std::shared_ptr<const Fabric> build_with_planner(DirectConnectParameters first,
                                                               const DemandAwareParameters& moves,
                                                               const FinderOptions& finder,
                                                               std::span<const PlannedLink> planned);

}  // namespace astrolabe::network::topoopt
