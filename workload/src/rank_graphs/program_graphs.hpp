/// The tasks of one rank of a Program: what exporters write.
///
/// A computation, a send, a receive and a rank's part of a collective are a task each, in program order.
/// Dependencies are those in which the rank takes part. The stream order of the Program is not written as
/// dependencies: streams keep their order.
///
/// Not said by a rank graph: `completion_delay` of a collective, which becomes a computation of a stream of its
/// own (one for each collective, named "<collective>.delay") that what depends on the collective depends on
/// instead; the algorithm of a collective; traffic classes. A point_to_point that is not one-sided becomes a send
/// and a receive.
#pragma once

#include "rank_graphs.hpp"

#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

/// Groups and streams of `program`, and no rank yet: what `rank_graph_of` refers to.
[[nodiscard]] RankGraphs empty_graphs_of(const system::Program& program);

/// The tasks of `rank`; names and groups are added to `graphs`. Ranks are independent of each other, so a
/// thousand of them need not be kept at once. O(operations).
[[nodiscard]] RankGraph rank_graph_of(const system::Program& program, system::RankId rank,
                                      RankGraphs& graphs);

}  // namespace astrolabe::workload
