#include "build_program.hpp"

#include "joint_order.hpp"
#include "matching.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace astrolabe::workload {

using system::OperationId;
using system::RankId;

namespace {

/// Numbers of equal values, kept once.
template <class Value>
class Interned {
public:
    /// The number of `value`; `make` is called for a new one.
    template <class Make>
    std::uint32_t number(Value value, const Make& make) {
        const auto found = numbers_.find(value);
        if (found != numbers_.end()) {
            return found->second;
        }
        const std::uint32_t number = make(value);
        numbers_.emplace(std::move(value), number);
        return number;
    }

private:
    std::map<Value, std::uint32_t> numbers_;
};

class Builder {
public:
    Builder(const RankGraphs& graphs, const BuildOptions& options, const Matches& matches,
            const JointOrder& order)
        : graphs_(graphs),
          options_(options),
          matches_(matches),
          order_(order) {}

    system::Program build() {
        program_.ranks = graphs_.ranks.size();
        program_.iterations = graphs_.iterations;
        program_.compute_order = options_.order;
        program_.streams.clear();
        for (const StreamName& stream : graphs_.streams) {
            program_.streams.push_back(stream.name);
        }
        find_repeated_names();
        program_.operations.reserve(order_.operations.size());
        for (std::size_t i = 0; i < order_.operations.size(); ++i) {
            add(order_.operations[i]);
        }
        return std::move(program_);
    }

private:
    [[nodiscard]] const RankTask& task(std::uint32_t number) const {
        const TaskPlace place = matches_.place(number);
        return graphs_.ranks[place.rank].tasks[place.task];
    }
    [[nodiscard]] const RankTask& first_task(const JointOperation& operation) const {
        return task(order_.members_of(operation).front());
    }

    /// A name and an iteration of an operation as one number.
    [[nodiscard]] static std::uint64_t key_of(const RankTask& task) {
        return (std::uint64_t{task.name} << 32) | static_cast<std::uint32_t>(task.iteration);
    }

    void find_repeated_names() {
        std::vector<std::uint64_t> keys;
        keys.reserve(order_.operations.size());
        for (const JointOperation& operation : order_.operations) {
            keys.push_back(key_of(first_task(operation)));
        }
        std::ranges::sort(keys);
        for (std::size_t i = 1; i < keys.size(); ++i) {
            if (keys[i] == keys[i - 1] && (repeated_.empty() || repeated_.back() != keys[i])) {
                repeated_.push_back(keys[i]);
            }
        }
    }

    /// That of the first member; where others have it too, or it looks like such a name, with the member's
    /// place, which is its alone.
    [[nodiscard]] std::string name_of(const JointOperation& operation) const {
        const std::uint32_t first = order_.members_of(operation).front();
        const RankTask& task = this->task(first);
        const std::string& name = graphs_.names[task.name];
        if (!name.empty() && name.find('#') == std::string::npos &&
            !std::ranges::binary_search(repeated_, key_of(task))) {
            return name;
        }
        const TaskPlace place = matches_.place(first);
        return fmt::format("{}#{}@{}", name, place.task, place.rank);
    }

    void add(const JointOperation& joint) {
        const RankTask& first = first_task(joint);
        system::Operation operation{.name = name_of(joint),
                                    .layer = graphs_.names[first.name],
                                    .iteration = first.iteration,
                                    .work = {},
                                    .dependencies = dependencies_of(joint)};
        switch (joint.kind) {
            case TaskKind::kCompute:
                operation.work = computation(joint);
                break;
            case TaskKind::kCollective:
                operation.work = collective(joint);
                break;
            case TaskKind::kSend:
                operation.work = send(joint);
                break;
            case TaskKind::kReceive: {
                const std::uint32_t sent = matches_.partner[order_.members_of(joint).front()];
                operation.work = system::ReceiveOperation{OperationId(order_.operation_of[sent])};
                break;
            }
        }
        program_.operations.push_back(std::move(operation));
    }

    /// In the order in which members list them, each once.
    [[nodiscard]] std::vector<OperationId> dependencies_of(const JointOperation& joint) {
        std::vector<OperationId> dependencies;
        seen_.resize(order_.operations.size(), 0);
        ++round_;
        for (const std::uint32_t member : order_.members_of(joint)) {
            const TaskPlace place = matches_.place(member);
            for (const std::uint32_t dependency : graphs_.ranks[place.rank].dependencies(place.task)) {
                const std::uint32_t operation =
                    order_.operation_of[matches_.number({place.rank, dependency})];
                if (std::exchange(seen_[operation], round_) != round_) {
                    dependencies.emplace_back(operation);
                }
            }
        }
        dependencies.shrink_to_fit();
        return dependencies;
    }

    system::ComputeOperation computation(const JointOperation& joint) {
        const std::span<const std::uint32_t> members = order_.members_of(joint);
        const RankTask& first = task(members.front());
        system::ComputeOperation work{.duration = first.duration, .stream = first.stream, .ranks = {}};
        if (std::ranges::any_of(
                members, [&](std::uint32_t member) { return task(member).duration != first.duration; })) {
            std::vector<Time> each(program_.ranks);
            for (const std::uint32_t member : members) {
                each[matches_.place(member).rank] = task(member).duration;
            }
            work.duration = system::PerRank<Time>(std::move(each));
        }
        if (members.size() < program_.ranks) {
            std::vector<RankId> ranks;
            for (const std::uint32_t member : members) {
                ranks.emplace_back(matches_.place(member).rank);
            }
            work.ranks = system::RankSetId(rank_sets_.number(std::move(ranks), [this](const auto& set) {
                return program_.rank_sets.push_back(set).index();
            }));
        }
        return work;
    }

    [[nodiscard]] system::PartitionId partition(std::string name, std::vector<std::vector<RankId>> groups) {
        return system::PartitionId(partitions_.number(std::move(groups), [&](const auto& made) {
            return program_.partitions.push_back({.name = std::move(name), .groups = made}).index();
        }));
    }

    /// Sizes by pair of the collective whose tasks are `members`; nothing: all pairs have the same.
    [[nodiscard]] std::optional<system::PairSizes> pair_sizes(std::span<const std::uint32_t> members) const {
        std::vector<Bytes> bytes;
        bytes.reserve(members.size() * members.size());
        for (const std::uint32_t member : members) {
            const TaskPlace place = matches_.place(member);
            const std::vector<Bytes>& splits = graphs_.ranks[place.rank].splits[task(member).splits];
            bytes.insert(bytes.end(), splits.begin(), splits.end());
        }
        if (std::ranges::adjacent_find(bytes, std::not_equal_to<>()) == bytes.end()) {
            return std::nullopt;
        }
        return system::PairSizes::of_pairs(members.size(), std::move(bytes));
    }

    system::CollectiveOperation collective(const JointOperation& joint) {
        const std::span<const std::uint32_t> members = order_.members_of(joint);
        const RankTask& first = task(members.front());
        const std::size_t size = graphs_.groups[first.group].size();
        struct Instance {
            std::vector<RankId> group;
            std::span<const std::uint32_t> tasks;
        };
        std::vector<Instance> instances;
        Time least;
        for (std::size_t begin = 0; begin < members.size(); begin += size) {
            Instance& instance = instances.emplace_back();
            instance.tasks = members.subspan(begin, size);
            for (const std::uint32_t member : instance.tasks) {
                instance.group.emplace_back(matches_.place(member).rank);
                least = std::max(least, task(member).duration);
            }
        }
        std::ranges::sort(instances, [](const Instance& one, const Instance& other) {
            return std::ranges::min(one.group) < std::ranges::min(other.group);
        });

        system::CollectiveOperation work{.kind = first.collective, .partition = {}, .size = first.size};
        work.priority = first.priority;
        work.explicit_priority = first.explicit_priority;
        work.least_duration = least;
        work.completion_delay = first.delay;
        work.begins_together = first.begins_together || (options_.begins_together && size > 1);
        if (first.splits != RankTask::kNone) {
            set_splits(work, instances);
        }
        std::vector<std::vector<RankId>> groups;
        for (Instance& instance : instances) {
            if (system::has_root(first.collective)) {
                const auto root = instance.group.begin() + first.root;
                std::rotate(instance.group.begin(), root, root + 1);
            }
            groups.push_back(std::move(instance.group));
        }
        work.partition = partition(graphs_.group_names[first.group], std::move(groups));
        return work;
    }

    template <class Instances>
    void set_splits(system::CollectiveOperation& work, const Instances& instances) {
        std::vector<std::optional<system::PairSizes>> sizes;
        Bytes even;
        bool is_even = true;
        for (const auto& instance : instances) {
            sizes.push_back(pair_sizes(instance.tasks));
            const RankTask& first = task(instance.tasks.front());
            const Bytes part =
                graphs_.ranks[matches_.place(instance.tasks.front()).rank].splits[first.splits].front();
            const Bytes held = part * instance.tasks.size();
            is_even = is_even && !sizes.back() && (sizes.size() == 1 || held == even);
            even = held;
        }
        if (is_even) {
            work.size = even;
            return;
        }
        std::vector<system::PairSizes> each;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const RankTask& first = task(instances[i].tasks.front());
            const Bytes part =
                graphs_.ranks[matches_.place(instances[i].tasks.front()).rank].splits[first.splits].front();
            each.push_back(
                sizes[i] ? *std::move(sizes[i])
                         : system::PairSizes::by_source(std::vector<Bytes>(instances[i].tasks.size(), part)));
            work.size = i == 0 ? each.back().largest_held() : std::max(work.size, each.back().largest_held());
        }
        work.pair_sizes = std::make_shared<const std::vector<system::PairSizes>>(std::move(each));
    }

    system::CollectiveOperation send(const JointOperation& joint) {
        const std::span<const std::uint32_t> members = order_.members_of(joint);
        const RankTask& first = task(members.front());
        std::vector<std::vector<RankId>> pairs;
        for (const std::uint32_t member : members) {
            const TaskPlace place = matches_.place(member);
            pairs.push_back({RankId(place.rank), RankId(task(member).peer)});
        }
        system::CollectiveOperation work{
            .kind = system::CollectiveKind::kPointToPoint, .partition = {}, .size = first.size};
        work.priority = first.priority;
        work.explicit_priority = first.explicit_priority;
        work.is_one_sided = true;
        std::string name = pairs.size() == 1 ? fmt::format("{} to {}", pairs.front().front().index(),
                                                           pairs.front().back().index())
                                             : fmt::format("{} pairs", pairs.size());
        work.partition = partition(std::move(name), std::move(pairs));
        return work;
    }

    const RankGraphs& graphs_;
    const BuildOptions& options_;
    const Matches& matches_;
    const JointOrder& order_;
    system::Program program_;
    std::vector<std::uint64_t> repeated_;  // names that several operations of an iteration have, ascending
    std::vector<std::uint32_t> seen_;      // by operation: the last round in which it was a dependency
    std::uint32_t round_ = 0;
    Interned<std::vector<RankId>> rank_sets_;
    Interned<std::vector<std::vector<RankId>>> partitions_;
};

}  // namespace

Result<system::Program> build_program(const RankGraphs& graphs, const BuildOptions& options) {
    if (graphs.ranks.empty()) {
        return Diagnostic{.code = "trace.ranks",
                          .where = {},
                          .message = "there is no trace of any rank",
                          .hint = "name the files of all ranks",
                          .notes = {}};
    }
    const bool is_first_come = options.order == system::ComputeOrder::kFirstCome;
    if (is_first_come && graphs.streams.size() > 1) {
        return task_error(graphs, {0, 0}, "trace.order",
                          fmt::format("computations run on {} streams, and first come, first served is an "
                                      "order of one",
                                      graphs.streams.size()),
                          "leave the order to the program");
    }
    const Result<Matches> matches = match_tasks(graphs);
    if (!matches) {
        return matches.error();
    }
    const Result<JointOrder> order = joint_order(graphs, *matches, !is_first_come);
    if (!order) {
        return order.error();
    }
    system::Program program = Builder(graphs, options, *matches, *order).build();
    program.check();
    return program;
}

}  // namespace astrolabe::workload
