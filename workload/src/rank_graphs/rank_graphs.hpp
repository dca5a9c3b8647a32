/// What every rank of a job does, rank by rank: the form between the traces of other programs and a Program.
///
/// A *task* is a computation, this rank's part of a collective, a send or a receive. Every rank has a list of
/// tasks of its own, which depend on one another within the rank. What joins ranks is matched:
///     collective           members of `group` with the same `match`: the k-th of the group, or a number that
///                          the source gives it
///     send and receive     the k-th send of (source, destination, tag) with the k-th receive of it
/// so readers of traces never look at two ranks at once. `build_program` (build_program.hpp) matches, checks
/// and orders them; `rank_graph_of` (program_graphs.hpp) is the way back.
///
/// Order. Tasks are listed in the order of the source; dependencies may point forward. Computations of one
/// stream of a rank run one at a time: in the order of the list where `keeps_order` of the stream says so, in
/// any order that dependencies allow elsewhere (`BuildOptions::order`).
///
/// Memory: 88 bytes a task and 4 a dependency; names are kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/ids.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

enum class TaskKind : std::uint8_t { kCompute, kCollective, kSend, kReceive };

struct RankTask {
    static constexpr std::uint32_t kNone = 0xffffffffU;

    TaskKind kind = TaskKind::kCompute;
    /// Of a collective.
    system::CollectiveKind collective = system::CollectiveKind::kAllReduce;
    system::Priority priority = system::Priority::kDefault;
    bool begins_together = false;  ///< of a collective: none of its ranks begins before all have issued it
    std::uint16_t stream = 0;      ///< of a computation: into RankGraphs::streams
    std::uint32_t name = 0;        ///< into RankGraphs::names
    std::uint32_t group = 0;       ///< of a collective: into RankGraphs::groups
    std::uint32_t root = 0;        ///< of a collective that has one: its position in the group
    std::uint32_t splits = kNone;  ///< of an uneven all_to_all: into RankGraph::splits
    std::uint32_t peer = 0;        ///< of a send or receive: the other rank
    std::int32_t iteration = 0;
    std::int32_t explicit_priority = 0;  ///< with Priority::kExplicit
    std::uint64_t id = 0;                ///< in the source, for messages
    std::uint64_t match = 0;  ///< of a collective: unique in its group; of a send or receive: the tag
    /// Of a computation; of a collective the least that it takes (program.hpp, `least_duration`).
    Time duration{};
    Time delay{};  ///< a collective counts as finished that much after its end (program.hpp,
                   ///< `completion_delay`)
    /// Of a collective as system::CollectiveKind counts it; of a send or receive all of it. Of an uneven
    /// all_to_all unused.
    Bytes size{};
};

/// The tasks of one rank. Dependencies are places in `tasks`.
class RankGraph {
public:
    std::string source;  ///< the file, or what else it was read from, for messages
    std::vector<RankTask> tasks;
    /// Bytes for each member of the group, in its order, this rank included.
    std::vector<std::vector<Bytes>> splits;

    /// The next task and what it waits for.
    void add(const RankTask& task, std::span<const std::uint32_t> dependencies) {
        tasks.push_back(task);
        dependencies_.insert(dependencies_.end(), dependencies.begin(), dependencies.end());
        ends_.push_back(dependencies_.size());
    }
    [[nodiscard]] std::span<const std::uint32_t> dependencies(std::size_t task) const {
        const std::size_t begin = task == 0 ? 0 : ends_[task - 1];
        return {dependencies_.data() + begin, dependencies_.data() + ends_[task]};
    }

private:
    std::vector<std::uint32_t> dependencies_;
    std::vector<std::size_t> ends_;  // by task, in dependencies_
};

struct StreamName {
    std::string name;
    bool keeps_order = true;  ///< computations run in the order of the list
};

struct RankGraphs {
    std::vector<RankGraph> ranks;
    /// Members in the order of the group. A rank may be in any number of groups.
    std::vector<std::vector<system::RankId>> groups;
    std::vector<std::string> group_names;  ///< by group, different from one another
    std::vector<StreamName> streams{{"compute", true}};
    std::vector<std::string> names;  ///< of tasks
    int iterations = 1;

    /// The place of a name in `names`, added where it is new.
    [[nodiscard]] std::uint32_t name(std::string_view text);
    /// The place of a group of these members in this order, added with this name where it is new.
    [[nodiscard]] std::uint32_t group(std::vector<system::RankId> members, std::string_view name);

private:
    std::unordered_map<std::string, std::uint32_t> name_places_;
    std::unordered_map<std::string, std::uint32_t> group_places_;  // by members, as text
};

}  // namespace astrolabe::workload
