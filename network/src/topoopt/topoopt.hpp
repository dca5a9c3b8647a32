/// A direct-connect network whose cables are chosen for a job (TopoOpt, NSDI 2023).
///
/// Model. TopologyFinder (topology_finder.hpp) chooses which servers are joined, for what the job puts on the
/// network. Mode best, the default, takes the design that is estimated to be fastest (best_design.hpp), with
/// its routing. The network is then direct_connect with these cables
/// (network/src/topologies/direct_connect.hpp), one host for each server. It stays as it is for the whole
/// job, or, with `reconfiguration`, is where it begins: circuit switches then move circuits for what waits
/// (demand_aware_planner.hpp).
///
/// Routing by_class, the default of mode paper and among those of mode best, knows what all-reduces use: the
/// strides of the rings, and for groups of a size that got none the offset between neighbours in their own
/// order.
///
/// What is left out: the time to wire the job before it runs.
/// For limits of size see the two headers. Complexity: theirs.
#pragma once

#include "../topologies/direct_connect.hpp"
#include "finder_checks.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include <astrolabe/network/components.hpp>

namespace astrolabe::network::topoopt {

struct TopoOptParameters {
    std::int64_t degree = 0;  ///< d, must be given, 1 … kMaxDegree
    Mode mode = Mode::kBest;
    Wiring wiring = Wiring::kPanel;
    Candidates candidates = Candidates::kAll;
    bool repeat_strides = false;    ///< released alone
    bool perfect_matching = false;  ///< not released
    HostLinkParameters link;
    Medium medium = Medium::kPatchPanel;  ///< of every cable
    std::optional<DemandAwareParameters> reconfiguration;
    ForwardingParameters forwarding;
    std::optional<DirectRouting>
        routing;  ///< unset: of best the fastest, of released random_shortest, of paper by_class
    std::int64_t paths = 4;
    std::int64_t detour = 0;
    std::int64_t seed = 1;
};

[[nodiscard]] ValidationErrors validation_errors(const TopoOptParameters& parameters);

/// That of the mode; of mode best, behind it those of the designs of the two other modes with the routings
/// that these have, where they differ. Or what makes it impossible for this demand, by keys of
/// TopoOptParameters; "" where the demand is to blame. Precondition: no problems.
[[nodiscard]] std::variant<NetworksForJob, ValidationErrors> build_topoopt(
    const TopoOptParameters& parameters, const Demand& demand);

}  // namespace astrolabe::network::topoopt
