#include "graph_summary.hpp"

#include "joint_order.hpp"
#include "matching.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace astrolabe::workload {
namespace {

Bytes held(const RankGraph& rank, const RankTask& task, std::size_t position) {
    if (task.splits == RankTask::kNone) {
        return task.size;
    }
    Bytes sum;
    for (std::size_t member = 0; member < rank.splits[task.splits].size(); ++member) {
        if (member != position) {
            sum += rank.splits[task.splits][member];
        }
    }
    return sum;
}

std::size_t position_in(const std::vector<system::RankId>& group, std::size_t rank) {
    return static_cast<std::size_t>(std::ranges::find(group, system::RankId(rank)) - group.begin());
}

Time critical_path(const RankGraphs& graphs, const Matches& matches) {
    const Result<JointOrder> order = joint_order(graphs, matches, true);
    ASTROLABE_ASSERT(order.has_value(), "graphs that make a program have an order");
    std::vector<Time> ends(matches.partner.size());
    std::vector<std::vector<Time>> stream_ends(graphs.ranks.size(), std::vector<Time>(graphs.streams.size()));
    Time latest;
    for (const JointOperation& operation : order->operations) {
        const std::span<const std::uint32_t> members = order->members_of(operation);
        for (const std::uint32_t member : members) {
            const TaskPlace place = matches.place(member);
            const RankTask& task = graphs.ranks[place.rank].tasks[place.task];
            Time end;
            for (const std::uint32_t dependency : graphs.ranks[place.rank].dependencies(place.task)) {
                end = std::max(end, ends[matches.number({place.rank, dependency})]);
            }
            if (task.kind == TaskKind::kReceive) {
                end = std::max(end, ends[matches.partner[member]]);
            }
            if (task.kind == TaskKind::kCompute && graphs.streams[task.stream].keeps_order) {
                Time& stream = stream_ends[place.rank][task.stream];
                end = std::max(end, stream) + task.duration;
                stream = end;
            } else if (task.kind == TaskKind::kCompute || task.kind == TaskKind::kCollective) {
                end += task.duration;
            }
            ends[member] = end;
            latest = std::max(latest, end);
        }
        if (operation.kind != TaskKind::kCollective) {
            continue;
        }
        const TaskPlace first = matches.place(members.front());
        const std::size_t size = graphs.groups[graphs.ranks[first.rank].tasks[first.task].group].size();
        for (std::size_t begin = 0; begin < members.size(); begin += size) {
            Time last;
            for (const std::uint32_t member : members.subspan(begin, size)) {
                last = std::max(last, ends[member]);
            }
            for (const std::uint32_t member : members.subspan(begin, size)) {
                ends[member] = last;
            }
        }
    }
    return latest;
}

}  // namespace

GraphSummary summarize(const RankGraphs& graphs) {
    const Result<Matches> matches = match_tasks(graphs);
    ASTROLABE_ASSERT(matches.has_value(), "graphs that make a program match");
    GraphSummary summary;
    summary.ranks = graphs.ranks.size();
    std::map<std::pair<std::uint32_t, system::CollectiveKind>, CollectiveCount> counts;
    for (std::size_t rank = 0; rank < graphs.ranks.size(); ++rank) {
        const RankGraph& graph = graphs.ranks[rank];
        Time compute;
        for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
            const RankTask& task = graph.tasks[i];
            summary.dependencies += graph.dependencies(i).size();
            switch (task.kind) {
                case TaskKind::kCompute:
                    ++summary.computations;
                    compute += task.duration;
                    break;
                case TaskKind::kCollective: {
                    CollectiveCount& count = counts[{task.group, task.collective}];
                    const std::size_t position = position_in(graphs.groups[task.group], rank);
                    count.kind = task.collective;
                    count.group = task.group;
                    count.count += position == 0 ? 1 : 0;
                    count.bytes += held(graph, task, position);
                    break;
                }
                case TaskKind::kSend:
                    ++summary.sends;
                    summary.sent += task.size;
                    break;
                case TaskKind::kReceive:
                    ++summary.receives;
                    break;
            }
        }
        summary.compute_by_rank.push_back(compute);
    }
    for (const auto& [key, count] : counts) {
        summary.collectives.push_back(count);
    }
    summary.critical_path = critical_path(graphs, *matches);
    return summary;
}

std::vector<std::pair<std::string, std::string>> readable_facts(const RankGraphs& graphs,
                                                                const GraphSummary& summary) {
    std::vector<std::pair<std::string, std::string>> facts;
    facts.emplace_back("ranks", fmt::format("{}", summary.ranks));
    facts.emplace_back("computations", fmt::format("{}", summary.computations));
    const auto [least, most] = std::ranges::minmax(summary.compute_by_rank);
    facts.emplace_back("compute per rank", least == most
                                               ? readable(most)
                                               : fmt::format("{} to {}", readable(least), readable(most)));
    facts.emplace_back("critical path of compute", readable(summary.critical_path));
    if (summary.sends > 0) {
        facts.emplace_back("messages",
                           fmt::format("{} of {} bytes in all", summary.sends, summary.sent.count()));
    }
    for (const CollectiveCount& count : summary.collectives) {
        facts.emplace_back(fmt::format("{} in '{}' ({} ranks)", system::to_string(count.kind),
                                       graphs.group_names[count.group], graphs.groups[count.group].size()),
                           fmt::format("{}, {} bytes over all ranks", count.count, count.bytes.count()));
    }
    facts.emplace_back("dependencies", fmt::format("{}", summary.dependencies));
    return facts;
}

}  // namespace astrolabe::workload
