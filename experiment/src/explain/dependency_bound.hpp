/// The longest chain through a program's DAG: no run takes less.
///
/// Model, with i_r(o) ≤ the time at which operation o is issued on rank r and f_r(o) ≤ that at which it
/// finishes there, all lower bounds, found in program order:
///   issue         i_r = max over dependencies d of f_r(d)
///   computation   f_r = max(i_r, f_r(computation before it on its stream)) + its duration on r
///   collective    f_r ≥ i_r;  f_r ≥ min_p i_p + bytes that r receives / rate into its host + α;
///                 f_r ≥ latest issue, where every rank's result needs every other rank: even sizes, no root
///                 f_r = latest issue in its group, where nothing moves
///   one-sided message, from p to r: its receive f_r ≥ max(i_r, i_p + bytes / rate into its host + α)
/// plus the operation's own delay after the collective, and of the rank that is *latest*, whichever it is:
///   issue         I = max(max_r i_r, max over dependencies of F)
///   computation   F = max(max_r f_r, max(I, F of the computation before it on its stream) + its least
///   duration) collective    F = max(max_r f_r, min_r i_r + its bound, and I + α where every rank needs every
///   other
///                 and every group moves something)
/// Where ranks differ an operation waits for its dependencies on ranks of its own (program.hpp), and F is
/// the maximum over the ranks that take part alone.
/// The run ends at max F at the earliest.
///
/// Links work on what was issued: with h(o) = min_r i_r(o), for every link l
///     T ≥ h(o) + Σ_{o': h(o') ≥ h(o)} bytes of o' on l / C_l + α      for every collective o,
/// the one-machine bound of release dates (J. R. Jackson, "Scheduling a production line to minimize maximum
/// tardiness", UCLA, 1955), which is `links` (bounds.hpp) for the first.
///
/// Complexity: O(operations · (ranks + dependencies · ranks + links)); memory O(ranks) for every operation
/// that is still needed.
#pragma once

#include "schedule_loads.hpp"

#include <astrolabe/experiment/explain/bounds.hpp>

namespace astrolabe::experiment {

/// `collectives` as in Bounds; `loads` is null where links are not shared: collectives then take no time.
/// `follows_routes`: loads of links are those of the engine.
[[nodiscard]] Time dependency_bound(const system::Program& program, const network::Fabric& fabric,
                                    const Placement& placement,
                                    const IndexedVector<system::OperationId, CollectiveBound>& collectives,
                                    const ScheduleLoads* loads, bool follows_routes);

}  // namespace astrolabe::experiment
