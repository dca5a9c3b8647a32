#include "program_graphs.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::workload {

using system::OperationId;
using system::RankId;

namespace {

/// The group of a partition that holds `rank`, or null.
const std::vector<RankId>* group_of(const system::Partition& partition, RankId rank) {
    for (const std::vector<RankId>& group : partition.groups) {
        if (std::ranges::find(group, rank) != group.end()) {
            return &group;
        }
    }
    return nullptr;
}

std::string group_name(const system::Partition& partition, const std::vector<RankId>& group) {
    return partition.groups.size() == 1 ? partition.name
                                        : fmt::format("{} of rank {}", partition.name, group.front().index());
}

class RankWriter {
public:
    RankWriter(const system::Program& program, RankId rank, RankGraphs& graphs)
        : program_(program),
          rank_(rank),
          graphs_(graphs),
          participants_(program) {}

    RankGraph write() {
        graph_.source = fmt::format("rank {}", rank_.index());
        task_of_.assign(program_.operations.size(), RankTask::kNone);
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            const OperationId id(i);
            if (participants_.include(id, rank_)) {
                add(id);
            }
        }
        return std::move(graph_);
    }

private:
    [[nodiscard]] std::vector<std::uint32_t> dependencies_of(const system::Operation& operation) const {
        std::vector<std::uint32_t> dependencies;
        for (const OperationId dependency : operation.dependencies) {
            if (task_of_[dependency.index()] != RankTask::kNone) {
                dependencies.push_back(task_of_[dependency.index()]);
            }
        }
        return dependencies;
    }

    [[nodiscard]] std::uint32_t put(RankTask task, const std::vector<std::uint32_t>& dependencies) {
        const auto place = static_cast<std::uint32_t>(graph_.tasks.size());
        task.id = place;
        graph_.add(task, dependencies);
        return place;
    }

    void add(OperationId id) {
        const system::Operation& operation = program_.operations[id];
        RankTask task;
        task.name = graphs_.name(operation.name);
        task.iteration = operation.iteration;
        const std::vector<std::uint32_t> dependencies = dependencies_of(operation);
        if (operation.is_compute()) {
            task.kind = TaskKind::kCompute;
            task.stream = static_cast<std::uint16_t>(operation.compute().stream);
            task.duration = operation.compute().duration[rank_];
            task_of_[id.index()] = put(task, dependencies);
        } else if (operation.is_receive()) {
            const system::CollectiveOperation& sent =
                program_.operations[operation.receive().send].collective();
            task.kind = TaskKind::kReceive;
            task.peer = group_of(program_.partitions[sent.partition], rank_)->front().index();
            task.size = sent.size;
            task.match = operation.receive().send.index();
            task_of_[id.index()] = put(task, dependencies);
        } else {
            add_collective(id, task, dependencies);
        }
    }

    void add_collective(OperationId id, RankTask task, const std::vector<std::uint32_t>& dependencies) {
        const system::CollectiveOperation& work = program_.operations[id].collective();
        const system::Partition& partition = program_.partitions[work.partition];
        const std::vector<RankId>& group = *group_of(partition, rank_);
        task.priority = work.priority;
        task.explicit_priority = static_cast<std::int32_t>(work.explicit_priority);
        task.size = work.size;
        task.duration = work.least_duration;
        task.delay = work.completion_delay;
        task.begins_together = work.begins_together;
        task.match = id.index();
        const auto position = static_cast<std::size_t>(std::ranges::find(group, rank_) - group.begin());
        if (work.kind == system::CollectiveKind::kPointToPoint && group.size() == 2) {
            task.kind = position == 0 ? TaskKind::kSend : TaskKind::kReceive;
            task.peer = group[1 - position].index();
            task.duration = Time(0);
            task.delay = Time(0);
        } else {
            task.kind = TaskKind::kCollective;
            // What a group of one has to send is nothing.
            task.collective = work.kind == system::CollectiveKind::kPointToPoint
                                  ? system::CollectiveKind::kAllReduce
                                  : work.kind;
            task.group = graphs_.group(group, group_name(partition, group));
            if (work.is_uneven()) {
                const auto place = static_cast<std::size_t>(&group - partition.groups.data());
                const system::PairSizes& sizes = (*work.pair_sizes)[place];
                std::vector<Bytes>& splits = graph_.splits.emplace_back();
                for (std::size_t member = 0; member < group.size(); ++member) {
                    splits.push_back(sizes(position, member));
                }
                task.splits = static_cast<std::uint32_t>(graph_.splits.size() - 1);
            }
        }
        task_of_[id.index()] = put(task, dependencies);
    }

    const system::Program& program_;
    RankId rank_;
    RankGraphs& graphs_;
    system::Participants participants_;
    RankGraph graph_;
    std::vector<std::uint32_t> task_of_;  // by operation: the task to depend on
};

}  // namespace

RankGraphs empty_graphs_of(const system::Program& program) {
    RankGraphs graphs;
    graphs.iterations = program.iterations;
    graphs.streams.clear();
    for (const std::string& stream : program.streams) {
        graphs.streams.push_back({stream, program.compute_order == system::ComputeOrder::kProgram});
    }
    return graphs;
}

RankGraph rank_graph_of(const system::Program& program, system::RankId rank, RankGraphs& graphs) {
    return RankWriter(program, rank, graphs).write();
}

}  // namespace astrolabe::workload
