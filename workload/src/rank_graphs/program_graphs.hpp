/// The tasks of one rank of a Program: what exporters write.
///
/// A computation, a send, a receive and a rank's part of a collective are a task each, in program order.
/// Dependencies are those in which the rank takes part. The stream order of the Program is not written as
/// dependencies: streams keep their order.
///
/// Not said by a rank graph: the algorithm of a collective and its traffic class. A point_to_point that is
/// not one-sided becomes a send and a receive. Of a Program without such `build_program` makes the same
/// Program again, operation by operation, where all ranks take part in all operations.
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
