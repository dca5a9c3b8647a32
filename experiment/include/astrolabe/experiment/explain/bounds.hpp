/// What a run cannot beat, and why: certified lower bounds, from the experiment alone.
///
/// Limits first. Bounds count payload, not headers, and let everything else overlap perfectly. Those of links
/// and chains are bounds of the *chosen* schedules and routes; only `compute` and `ports` hold whatever the
/// algorithm. On an engine that shares no links nothing but computation is bounded. Of end points, additions
/// and parallel copies count: serial copies, rendezvous and `astra_sim_1` only make a run longer.
///
/// With T the time of the whole run, α the least latency between two of its hosts, b_l the bytes that all
/// schedules together put on link l (schedule_loads.hpp) and C_l its rate:
///
///   compute       T ≥ Σ compute of the busiest stream of a rank
///   ports         lower_bound.hpp: whatever the algorithm and the fabric
///   links         T ≥ max_l b_l / C_l + α, on the routes in use. Left out where the engine chooses paths by
///                 itself, links come and go, or schedules are too large.
///   any routing   T ≥ 1/λ, the maximum concurrent flow of the same traffic (concurrent_flow.hpp): what the
///                 best routing on this fabric could reach. The fabric is reduced to places (route_load.hpp).
///                 `least` is the certificate: the fullest place, or lengths; `most` is the time of the best
///                 routing that was found: the one in use, all shortest paths evenly, or that of the method.
///                 Where links come and go no routing is looked for, and the fullest place has what its
///                 circuits carry while they are there, over whole and broken periods.
///   dependencies  the program's DAG, each collective at its own bound (dependency_bound.hpp).
///
/// The value is the greatest. A collective by itself is bounded by
///   links         as above, of its own bytes
///   latency       its longest chain of messages, α each
///   end points    the same chain, what end points charge (docs/models/end-points.md)
///   chain         the same chain with latency, end points and bytes at the fastest port's rate
/// What a run really waited for is another question: critical_path.hpp.
///
/// Source of the duality: T. C. Hu, "Multi-commodity network flows", Operations Research 11, 1963; others are
/// cited where they are used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/explain/lower_bound.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// Of one collective, from its first issue to its last finish.
struct CollectiveBound {
    Time links;
    std::optional<network::LinkId> busiest;  ///< on which its bytes take longest, where known
    Time latency;
    Time end_points;
    Time chain;
    Time value;  ///< greatest of all
};

/// Of the best routing.
struct RoutingBound {
    Time least;       ///< no routing takes less
    Time most;        ///< a routing takes no more, but for latency; Time::max(): none was found
    std::string how;  ///< what the certificate is
};

struct Bounds {
    Time compute;
    Time ports;
    std::optional<Time> links;  ///< nothing: left out, for the reason in `omission`
    std::optional<network::LinkId> busiest;
    std::optional<RoutingBound> any_routing;  ///< nothing as for links, or nothing is sent
    std::string omission;
    Time dependencies;
    /// Of collectives; of computations empty.
    IndexedVector<system::OperationId, CollectiveBound> collectives;

    [[nodiscard]] Time value() const;
    /// The name of the greatest: "compute", "ports", "links", "any_routing" or "dependencies".
    [[nodiscard]] std::string_view binding() const;
};

/// O(operations · (ranks + links)) beside counting the schedules (schedule_loads.hpp).
[[nodiscard]] Bounds certified_bounds(const Experiment& experiment);

}  // namespace astrolabe::experiment
