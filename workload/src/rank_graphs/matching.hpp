/// Which tasks of different ranks are one thing: collectives and messages of rank graphs (rank_graphs.hpp).
///
/// Tasks are numbered over all ranks: those of rank 0 first, each rank's in the order of its list.
/// Complexity: O(tasks + members of all collectives), expected.
#pragma once

#include "rank_graphs.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload {

/// A task of some rank.
struct TaskPlace {
    std::uint32_t rank = 0;
    std::uint32_t task = 0;
};

/// A collective as its whole group carries it out.
struct MatchedCollective {
    std::uint32_t group = 0;
    std::uint32_t first_member = 0;  ///< into Matches::members
};

struct Matches {
    std::vector<std::size_t> offsets;  ///< by rank: the number of its first task; last: of all tasks
    /// By number of a task: of a collective into `collectives`, of a send or receive the number of the other
    /// one, of a computation nothing.
    std::vector<std::uint32_t> partner;
    std::vector<MatchedCollective> collectives;
    std::vector<std::uint32_t> members;  ///< tasks in the lists of the members of a collective, in its order

    [[nodiscard]] std::size_t number(TaskPlace place) const { return offsets[place.rank] + place.task; }
    [[nodiscard]] TaskPlace place(std::size_t number) const;
    /// The tasks of a collective, by position in its group.
    [[nodiscard]] std::span<const std::uint32_t> tasks_of(const MatchedCollective& collective,
                                                          const RankGraphs& graphs) const {
        return {members.data() + collective.first_member, graphs.groups[collective.group].size()};
    }
};

/// "rank 3, node 17 'layer1.forward' of trace.3.et", for messages.
[[nodiscard]] std::string say_task(const RankGraphs& graphs, TaskPlace place);

/// An error about a task.
[[nodiscard]] Diagnostic task_error(const RankGraphs& graphs, TaskPlace place, std::string code,
                                    const std::string& message, std::string hint = {});

/// Checks every task by itself, then matches. All errors of build_program.hpp but circles.
[[nodiscard]] Result<Matches> match_tasks(const RankGraphs& graphs);

}  // namespace astrolabe::workload
