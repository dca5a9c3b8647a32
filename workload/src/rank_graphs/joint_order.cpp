#include "joint_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace astrolabe::workload {
namespace {

/// Puts matched things that are alike together where they share no rank.
class JointOperations {
public:
    JointOperations(const RankGraphs& graphs, const Matches& matches,
                    const std::vector<std::uint32_t>& classes)
        : graphs_(graphs),
          matches_(matches),
          classes_(classes) {
        order_.operation_of.assign(matches.partner.size(), RankTask::kNone);
        const std::set<std::uint32_t> different(classes.begin(), classes.end());
        no_ranks_are_alike_ = different.size() == classes.size();
    }

    /// Operations in no order yet.
    JointOrder form() && {
        join_computations();
        join_collectives();
        join_messages();
        return std::move(order_);
    }

private:
    /// What must be equal for two collectives or two messages to be one operation, beside classes.
    using Key = std::array<std::int64_t, 10>;

    [[nodiscard]] const RankTask& task(TaskPlace place) const {
        return graphs_.ranks[place.rank].tasks[place.task];
    }

    void begin(TaskKind kind) { order_.operations.push_back({kind, order_.members.size(), 0}); }
    void add(TaskPlace place) {
        const std::size_t number = matches_.number(place);
        order_.members.push_back(static_cast<std::uint32_t>(number));
        order_.operation_of[number] = static_cast<std::uint32_t>(order_.operations.size() - 1);
        ++order_.operations.back().members;
    }

    void join_computations() {
        const std::size_t count = classes_.empty() ? 0 : *std::ranges::max_element(classes_) + std::size_t{1};
        std::vector<std::vector<std::uint32_t>> ranks_of(count);
        for (std::uint32_t rank = 0; rank < classes_.size(); ++rank) {
            ranks_of[classes_[rank]].push_back(rank);
        }
        for (const std::vector<std::uint32_t>& ranks : ranks_of) {
            const std::vector<RankTask>& tasks = graphs_.ranks[ranks.front()].tasks;
            for (std::uint32_t i = 0; i < tasks.size(); ++i) {
                if (tasks[i].kind == TaskKind::kCompute) {
                    begin(TaskKind::kCompute);
                    for (const std::uint32_t rank : ranks) {
                        add({rank, i});
                    }
                }
            }
        }
    }

    void join_collectives() {
        std::vector<std::uint32_t> all(matches_.collectives.size());
        std::iota(all.begin(), all.end(), std::uint32_t{0});
        const auto members_of = [this](std::uint32_t collective) {
            return matches_.tasks_of(matches_.collectives[collective], graphs_);
        };
        join(
            all,
            [&](std::uint32_t collective) {
                const std::vector<system::RankId>& group =
                    graphs_.groups[matches_.collectives[collective].group];
                std::vector<std::pair<std::uint32_t, std::uint32_t>> members;
                Time least;
                for (std::size_t position = 0; position < group.size(); ++position) {
                    const std::uint32_t rank = group[position].index();
                    members.emplace_back(classes_[rank], members_of(collective)[position]);
                    least = std::max(least, task({rank, members_of(collective)[position]}).duration);
                }
                const RankTask& first = task({group.front().index(), members_of(collective).front()});
                const bool is_even = first.splits == RankTask::kNone;
                return std::pair(
                    Key{static_cast<std::int64_t>(first.collective),
                        static_cast<std::int64_t>(first.priority), first.explicit_priority, first.iteration,
                        first.root, is_even ? first.size.count() : -1, least.count(), first.delay.count(),
                        first.begins_together ? 1 : 0, static_cast<std::int64_t>(group.size())},
                    std::move(members));
            },
            [&](std::uint32_t collective) {
                std::vector<TaskPlace> places;
                const std::vector<system::RankId>& group =
                    graphs_.groups[matches_.collectives[collective].group];
                for (std::size_t position = 0; position < group.size(); ++position) {
                    places.push_back({group[position].index(), members_of(collective)[position]});
                }
                return places;
            },
            [&](const std::vector<std::vector<TaskPlace>>& together) {
                begin(TaskKind::kCollective);
                for (const std::vector<TaskPlace>& places : together) {
                    std::ranges::for_each(places, [this](TaskPlace place) { add(place); });
                }
            });
    }

    void join_messages() {
        std::vector<std::uint32_t> sends;
        for (std::uint32_t rank = 0; rank < graphs_.ranks.size(); ++rank) {
            for (std::uint32_t i = 0; i < graphs_.ranks[rank].tasks.size(); ++i) {
                if (graphs_.ranks[rank].tasks[i].kind == TaskKind::kSend) {
                    sends.push_back(static_cast<std::uint32_t>(matches_.number({rank, i})));
                }
            }
        }
        const auto places_of = [&](std::uint32_t send) {
            return std::vector{matches_.place(send), matches_.place(matches_.partner[send])};
        };
        join(
            sends,
            [&](std::uint32_t send) {
                const TaskPlace from = matches_.place(send);
                const TaskPlace to = matches_.place(matches_.partner[send]);
                const RankTask& task = this->task(from);
                return std::pair(Key{static_cast<std::int64_t>(task.priority), task.explicit_priority,
                                     task.iteration, this->task(to).iteration, task.size.count()},
                                 std::vector{std::pair(classes_[from.rank], from.task),
                                             std::pair(classes_[to.rank], to.task)});
            },
            places_of,
            [&](const std::vector<std::vector<TaskPlace>>& together) {
                begin(TaskKind::kSend);
                for (const std::vector<TaskPlace>& places : together) {
                    add(places.front());
                }
                begin(TaskKind::kReceive);
                for (const std::vector<TaskPlace>& places : together) {
                    add(places.back());
                }
            });
    }

    /// Things of equal keys go into as few operations as first fit finds: each into the first of them in
    /// which none of its ranks is.
    template <class KeyOf, class PlacesOf, class Emit>
    void join(const std::vector<std::uint32_t>& things, const KeyOf& key_of, const PlacesOf& places_of,
              const Emit& emit) {
        if (no_ranks_are_alike_) {
            for (const std::uint32_t thing : things) {
                emit({places_of(thing)});
            }
            return;
        }
        std::map<decltype(key_of(0)), std::vector<std::uint32_t>> alike;
        for (const std::uint32_t thing : things) {
            alike[key_of(thing)].push_back(thing);
        }
        std::vector<std::uint64_t> taken(graphs_.ranks.size(), 0);  // by rank: in which operations it is
        for (const auto& [key, members] : alike) {
            constexpr std::size_t kMost = 64;
            std::vector<std::vector<std::vector<TaskPlace>>> operations;
            for (const std::uint32_t thing : members) {
                std::vector<TaskPlace> places = places_of(thing);
                std::uint64_t used = 0;
                for (const TaskPlace place : places) {
                    used |= taken[place.rank];
                }
                const auto fit = static_cast<std::size_t>(std::countr_one(used));
                if (fit == kMost) {
                    emit({std::move(places)});
                    continue;
                }
                for (const TaskPlace place : places) {
                    taken[place.rank] |= std::uint64_t{1} << fit;
                }
                operations.resize(std::max(operations.size(), fit + 1));
                operations[fit].push_back(std::move(places));
            }
            for (const std::vector<std::vector<TaskPlace>>& together : operations) {
                emit(together);
                for (const std::vector<TaskPlace>& places : together) {
                    for (const TaskPlace place : places) {
                        taken[place.rank] = 0;
                    }
                }
            }
        }
    }

    const RankGraphs& graphs_;
    const Matches& matches_;
    const std::vector<std::uint32_t>& classes_;
    bool no_ranks_are_alike_ = false;
    JointOrder order_;
};

/// Depth first, so that an operation follows what it waits for, and otherwise its place in the lists.
class Sort {
public:
    Sort(const RankGraphs& graphs, const Matches& matches, bool streams_keep_order, const JointOrder& joint)
        : graphs_(graphs),
          matches_(matches),
          joint_(joint),
          states_(joint.operations.size(), State::kNew) {
        if (streams_keep_order) {
            note_stream_order();
        }
    }

    /// Whether there is an order; else `circle` has what waits for each other.
    bool run() {
        std::vector<std::uint32_t> by_place(joint_.operations.size());
        std::iota(by_place.begin(), by_place.end(), std::uint32_t{0});
        std::vector<TaskPlace> first;
        first.reserve(by_place.size());
        for (const JointOperation& operation : joint_.operations) {
            TaskPlace least = matches_.place(joint_.members_of(operation).front());
            for (const std::uint32_t member : joint_.members_of(operation)) {
                const TaskPlace place = matches_.place(member);
                if (std::tie(place.task, place.rank) < std::tie(least.task, least.rank)) {
                    least = place;
                }
            }
            first.push_back(least);
        }
        std::ranges::sort(by_place, [&](std::uint32_t one, std::uint32_t other) {
            return std::tie(first[one].task, first[one].rank, one) <
                   std::tie(first[other].task, first[other].rank, other);
        });
        for (const std::uint32_t operation : by_place) {
            if (!visit(operation)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] const std::vector<std::uint32_t>& order() const { return order_; }
    /// Numbers of tasks, of which each waits for the next one and the last for the first.
    [[nodiscard]] const std::vector<std::uint32_t>& circle() const { return circle_; }

private:
    enum class State : std::uint8_t { kNew, kOpen, kDone };
    /// An operation whose predecessors are being visited.
    struct Frame {
        std::uint32_t operation = 0;
        std::size_t member = 0;
        std::size_t edge = 0;     ///< of the member
        std::uint32_t waits = 0;  ///< the number of the member's task by which it waits for the frame above
    };

    void note_stream_order() {
        before_.assign(matches_.partner.size(), RankTask::kNone);
        std::vector<std::uint32_t> last(graphs_.streams.size());
        for (std::uint32_t rank = 0; rank < graphs_.ranks.size(); ++rank) {
            std::ranges::fill(last, RankTask::kNone);
            const std::vector<RankTask>& tasks = graphs_.ranks[rank].tasks;
            for (std::uint32_t i = 0; i < tasks.size(); ++i) {
                if (tasks[i].kind == TaskKind::kCompute && graphs_.streams[tasks[i].stream].keeps_order) {
                    const auto number = static_cast<std::uint32_t>(matches_.number({rank, i}));
                    before_[number] = std::exchange(last[tasks[i].stream], number);
                }
            }
        }
    }

    /// The next task that a member waits for, by its number; none: it has no more.
    [[nodiscard]] std::uint32_t predecessor(std::uint32_t number, std::size_t edge) const {
        const TaskPlace place = matches_.place(number);
        const std::span<const std::uint32_t> dependencies =
            graphs_.ranks[place.rank].dependencies(place.task);
        if (edge < dependencies.size()) {
            return static_cast<std::uint32_t>(matches_.number({place.rank, dependencies[edge]}));
        }
        if (edge > dependencies.size()) {
            return RankTask::kNone;
        }
        if (graphs_.ranks[place.rank].tasks[place.task].kind == TaskKind::kReceive) {
            return matches_.partner[number];
        }
        return before_.empty() ? RankTask::kNone : before_[number];
    }

    bool visit(std::uint32_t root) {
        if (states_[root] != State::kNew) {
            return true;
        }
        states_[root] = State::kOpen;
        stack_.assign(1, {.operation = root});
        while (!stack_.empty()) {
            Frame& frame = stack_.back();
            const std::span<const std::uint32_t> members =
                joint_.members_of(joint_.operations[frame.operation]);
            if (frame.member == members.size()) {
                states_[frame.operation] = State::kDone;
                order_.push_back(frame.operation);
                stack_.pop_back();
                continue;
            }
            const std::uint32_t member = members[frame.member];
            const std::uint32_t before = predecessor(member, frame.edge);
            if (before == RankTask::kNone) {
                ++frame.member;
                frame.edge = 0;
                continue;
            }
            ++frame.edge;
            frame.waits = member;
            const std::uint32_t operation = joint_.operation_of[before];
            if (states_[operation] == State::kOpen) {
                trace_circle(operation);
                return false;
            }
            if (states_[operation] == State::kNew) {
                states_[operation] = State::kOpen;
                stack_.push_back({.operation = operation});
            }
        }
        return true;
    }

    void trace_circle(std::uint32_t operation) {
        bool is_in = false;
        for (const Frame& frame : stack_) {
            is_in = is_in || frame.operation == operation;
            if (is_in) {
                circle_.push_back(frame.waits);
            }
        }
    }

    const RankGraphs& graphs_;
    const Matches& matches_;
    const JointOrder& joint_;
    std::vector<State> states_;
    std::vector<std::uint32_t> before_;  // by task: the one before it on its stream
    std::vector<Frame> stack_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> circle_;
};

Diagnostic circle_error(const RankGraphs& graphs, const Matches& matches, std::vector<std::uint32_t> circle) {
    std::rotate(circle.begin(), std::ranges::min_element(circle), circle.end());
    constexpr std::size_t kMostNamed = 8;
    std::string chain;
    for (std::size_t i = 0; i < std::min(circle.size(), kMostNamed); ++i) {
        chain += fmt::format("{}{}", i == 0 ? "" : ", which waits for ",
                             say_task(graphs, matches.place(circle[i])));
    }
    if (circle.size() > kMostNamed) {
        chain += fmt::format(", … ({} in all)", circle.size());
    }
    const TaskPlace first = matches.place(circle.front());
    return task_error(
        graphs, first, "trace.circle",
        fmt::format("tasks wait for each other in a circle of {}: {}, which waits for the first",
                    circle.size(), chain),
        "a dependency points the wrong way, or two ranks meet the collectives of two groups, or "
        "messages, in opposite order");
}

}  // namespace

Result<JointOrder> joint_order(const RankGraphs& graphs, const Matches& matches, bool streams_keep_order) {
    std::vector<std::uint32_t> classes = classes_of_ranks(graphs, matches);
    for (;;) {
        JointOrder joint = JointOperations(graphs, matches, classes).form();
        Sort sort(graphs, matches, streams_keep_order, joint);
        if (sort.run()) {
            std::vector<JointOperation> sorted;
            std::vector<std::uint32_t> place_of(joint.operations.size());
            sorted.reserve(joint.operations.size());
            for (const std::uint32_t operation : sort.order()) {
                place_of[operation] = static_cast<std::uint32_t>(sorted.size());
                sorted.push_back(joint.operations[operation]);
            }
            joint.operations = std::move(sorted);
            for (std::uint32_t& operation : joint.operation_of) {
                operation = place_of[operation];
            }
            return joint;
        }
        std::vector<std::uint32_t> single(classes.size());
        std::iota(single.begin(), single.end(), std::uint32_t{0});
        if (classes == single) {
            return circle_error(graphs, matches, sort.circle());
        }
        classes = std::move(single);
    }
}

}  // namespace astrolabe::workload
