/// Rank graphs become a Program.
///
/// Model. Collectives and messages are matched (rank_graphs.hpp). Ranks whose lists are alike, that is task
/// by task of the same kind, stream, iteration and dependencies, with collectives over like groups and
/// messages between like ranks, form a *class*, found by colour refinement: two ranks are told apart as soon
/// as a peer or a member of a group of theirs is. A class has one operation for each task; durations may
/// differ within it. So SPMD traces give SPMD programs, replicas of a pipeline's stages share operations, and
/// only ranks that differ cost operations of their own. Where one list of classes would wait for itself,
/// every rank becomes a class of its own.
///
/// Order. The list is a topological order of all ranks' tasks at once: of those that can come next the one
/// with the least (place in its list, class). There is none exactly if some ranks wait for each other in a
/// circle, and that is reported, rank by rank.
///
/// Errors (codes "trace.…"), each with the file, the task and its id: a dependency that does not exist or a
/// circle; a collective that some member of its group never issues; members that disagree about kind, bytes,
/// root or splits; a send without a receive, or of other bytes; a peer or a member out of range; negative
/// sizes and durations. At most 20 are reported.
///
/// Complexity: O(tasks + dependencies + members of collectives) for each round of the refinement; a pipeline
/// of p stages takes p rounds.
#pragma once

#include "rank_graphs.hpp"

#include <astrolabe/core/result.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

struct BuildOptions {
    system::ComputeOrder order = system::ComputeOrder::kProgram;
    /// Collectives of more than one rank begin on none before all have issued them.
    bool begins_together = false;
};

[[nodiscard]] Result<system::Program> build_program(const RankGraphs& graphs, const BuildOptions& options);

}  // namespace astrolabe::workload
