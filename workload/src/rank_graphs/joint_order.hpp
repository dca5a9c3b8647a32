/// Tasks of all ranks as joint operations, in one order: classes of like ranks, operations, topological sort
/// (build_program.hpp has the model).
#pragma once

#include "matching.hpp"
#include "rank_graphs.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload {

/// Tasks that are one operation of a Program: a computation of ranks of one class; collectives of groups that
/// share no rank; sends of pairs that share no rank; the receives of such sends.
struct JointOperation {
    TaskKind kind = TaskKind::kCompute;
    std::size_t first_member = 0;  ///< into JointOrder::members
    std::size_t members = 0;
};

struct JointOrder {
    std::vector<JointOperation> operations;  ///< in a topological order of all ranks
    /// Numbers of tasks (matching.hpp). Of a collective: group by group, those of a group in its order; of a
    /// send and its receive: pairs in the same order.
    std::vector<std::uint32_t> members;
    std::vector<std::uint32_t> operation_of;  ///< by number of a task

    [[nodiscard]] std::span<const std::uint32_t> members_of(const JointOperation& operation) const {
        return {members.data() + operation.first_member, operation.members};
    }
};

/// By rank: its class, numbered in the order of the first rank of each.
[[nodiscard]] std::vector<std::uint32_t> classes_of_ranks(const RankGraphs& graphs, const Matches& matches);

/// The error is a circle of ranks that wait for each other. `streams_keep_order`: as RankGraphs::streams say;
/// otherwise only dependencies order computations.
[[nodiscard]] Result<JointOrder> joint_order(const RankGraphs& graphs, const Matches& matches,
                                             bool streams_keep_order);

}  // namespace astrolabe::workload
