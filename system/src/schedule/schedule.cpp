#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system {

namespace {

[[noreturn]] void reject(Position rank, std::size_t action, std::string reason) {
    throw ScheduleError(rank, static_cast<ActionIndex>(action), std::move(reason));
}

/// One end of a message while sends and receives are being paired.
struct End {
    Position source = 0;
    Position destination = 0;
    std::uint32_t channel = 0;
    Position rank = 0;  // whose program holds the action
    ActionIndex action = 0;
};

std::tuple<Position, Position, std::uint32_t> connection_of(const End& end) {
    return {end.source, end.destination, end.channel};
}

bool same_connection(const End& a, const End& b) {
    return connection_of(a) == connection_of(b);
}

bool connection_before(const End& a, const End& b) {
    return connection_of(a) < connection_of(b);
}

}  // namespace

ScheduleError::ScheduleError(Position error_rank, ActionIndex error_action, std::string error_reason)
    : std::logic_error(
          fmt::format("schedule: rank {} action {}: {}", error_rank, error_action, error_reason)),
      rank(error_rank),
      action(error_action),
      reason(std::move(error_reason)) {}

Position CollectiveSchedule::resolve(Position rank, Position relative) const {
    switch (symmetry_) {
        case Symmetry::kNone:
            return relative;
        case Symmetry::kRotation:
            return relative < ranks_ - rank ? rank + relative : relative - (ranks_ - rank);
        case Symmetry::kExclusiveOr:
            return rank ^ relative;
    }
    ASTROLABE_ASSERT(false, "every symmetry resolves positions");
}

std::uint64_t CollectiveSchedule::resolve(Position rank, BlockReference reference) const {
    const std::uint64_t column =
        symmetry_ == Symmetry::kNone ? reference.block : resolve(rank, Position{reference.block});
    if (kind_ != CollectiveKind::kAllToAll) {
        return column;
    }
    return resolve(rank, reference.source) * columns() + column;
}

Bytes CollectiveSchedule::block_size(std::uint64_t block, Bytes size) const {
    switch (kind_) {
        case CollectiveKind::kAllReduce:
        case CollectiveKind::kReduceScatter:
        case CollectiveKind::kBroadcast:
        case CollectiveKind::kReduce:
        case CollectiveKind::kPointToPoint:
            return part_size(size, block_count_, block);
        case CollectiveKind::kAllGather:
            return part_size(size, parts_, block % parts_);
        case CollectiveKind::kAllToAll:
            return part_size(size, columns(), block % columns());
    }
    ASTROLABE_ASSERT(false, "every kind has a block size");
}

Bytes CollectiveSchedule::message_size(Position rank, const Action& action, Bytes size) const {
    Bytes sum;
    for (const BlockReference reference : program(rank).blocks_of(action)) {
        sum += block_size(resolve(rank, reference), size);
    }
    return sum;
}

std::uint64_t CollectiveSchedule::message_count() const {
    std::uint64_t count = 0;
    for (const RankProgram& program : programs_) {
        count += static_cast<std::uint64_t>(std::count_if(program.actions.begin(), program.actions.end(),
                                                          [](const Action& a) { return a.is_send(); }));
    }
    return symmetry_ == Symmetry::kNone ? count : count * ranks_;
}

std::uint64_t CollectiveSchedule::steps() const {
    return heaviest_chain(
        [](Position, const Action& action) { return std::uint64_t{action.is_send() ? 1U : 0U}; });
}

std::uint64_t CollectiveSchedule::heaviest_chain(
    const std::function<std::uint64_t(Position, const Action&)>& weight) const {
    // Under a symmetry every rank's k-th action has the same depth, so rank 0's program is the whole graph.
    // Nodes are the actions of a program and, after them, one barrier per stage, which follows all actions of
    // the stage and the barrier before it; actions without dependencies follow the barrier before their
    // stage.
    const std::size_t barriers = stages_.size() - 1;
    std::vector<std::size_t> first_node{0};
    for (const RankProgram& program : programs_) {
        first_node.push_back(first_node.back() + program.actions.size() + barriers);
    }
    constexpr std::uint64_t kUnvisited = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t kOpen = kUnvisited - 1;
    std::vector<std::uint64_t> depth(first_node.back(), kUnvisited);

    struct Frame {
        std::size_t program;
        std::size_t node;
        std::size_t next = 0;  // predecessor to visit
        std::uint64_t deepest = 0;
    };
    const auto stage_begin = [](const RankProgram& program, std::size_t stage) {
        return static_cast<std::size_t>(std::ranges::lower_bound(program.actions, stage, {}, &Action::stage) -
                                        program.actions.begin());
    };
    // The predecessor (program, node) to visit next, or nothing after the last.
    const auto predecessor = [&](const Frame& frame) -> std::optional<std::pair<std::size_t, std::size_t>> {
        const RankProgram& program = programs_[frame.program];
        const std::size_t actions = program.actions.size();
        if (frame.node >= actions) {
            const std::size_t stage = frame.node - actions;
            const std::size_t begin = stage_begin(program, stage);
            const std::size_t count = stage_begin(program, stage + 1) - begin;
            if (frame.next < count) {
                return std::pair{frame.program, begin + frame.next};
            }
            return frame.next == count && stage > 0 ? std::optional(std::pair{frame.program, frame.node - 1})
                                                    : std::nullopt;
        }
        const Action& action = program.actions[frame.node];
        std::size_t next = frame.next;
        if (next < action.dependency_count) {
            return std::pair{frame.program, std::size_t{program.dependencies_of(action)[next]}};
        }
        next -= action.dependency_count;
        if (!action.is_send() && next-- == 0) {
            return std::pair{symmetry_ != Symmetry::kNone ? frame.program : action.peer,
                             std::size_t{action.match}};
        }
        return next == 0 && action.stage > 0
                   ? std::optional(std::pair{frame.program, actions + action.stage - 1})
                   : std::nullopt;
    };
    // Of each program, the dependencies visited last and the deepest of them: consecutive actions share
    // theirs, and a barrier of N actions on N others is visited once.
    struct Shared {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        std::uint64_t deepest = 0;
    };
    std::vector<Shared> shared(programs_.size());
    std::vector<Frame> stack;
    std::uint64_t longest = 0;
    for (std::size_t index = 0; index < programs_.size(); ++index) {
        for (std::size_t root = 0; root < programs_[index].actions.size(); ++root) {
            stack.push_back({index, root});
            while (!stack.empty()) {
                Frame& frame = stack.back();
                std::uint64_t& own = depth[first_node[frame.program] + frame.node];
                if (own != kUnvisited && own != kOpen) {
                    stack.pop_back();
                    continue;
                }
                own = kOpen;
                if (frame.node < programs_[frame.program].actions.size()) {
                    const Action& action = programs_[frame.program].actions[frame.node];
                    Shared& seen = shared[frame.program];
                    const bool is_same =
                        seen.first == action.first_dependency && seen.count == action.dependency_count;
                    if (action.dependency_count > 1 && frame.next == 0 && is_same) {
                        frame.next = seen.count;
                        frame.deepest = seen.deepest;
                    } else if (action.dependency_count > 1 && frame.next == action.dependency_count) {
                        seen = {action.first_dependency, action.dependency_count, frame.deepest};
                    }
                }
                const auto before = predecessor(frame);
                if (!before) {
                    const RankProgram& program = programs_[frame.program];
                    own = frame.deepest;
                    if (frame.node < program.actions.size()) {
                        own += weight(static_cast<Position>(frame.program), program.actions[frame.node]);
                    }
                    longest = std::max(longest, own);
                    stack.pop_back();
                    continue;
                }
                const std::uint64_t known = depth[first_node[before->first] + before->second];
                if (known == kOpen) {
                    reject(static_cast<Position>(frame.program), frame.node, "waits for itself");
                }
                if (known == kUnvisited) {
                    stack.push_back({before->first, before->second});
                } else {
                    frame.deepest = std::max(frame.deepest, known);
                    ++frame.next;
                }
            }
        }
    }
    return longest;
}

ScheduleBuilder::ScheduleBuilder(CollectiveKind kind, Position ranks, std::uint64_t block_count,
                                 Symmetry symmetry, std::vector<Stage> stages) {
    ASTROLABE_ASSERT(ranks >= 1, "a schedule has ranks");
    ASTROLABE_ASSERT(block_count >= 1 && block_count <= std::uint64_t{1} << 40, "a schedule has blocks");
    const std::uint64_t n = ranks;
    const bool is_free =
        (kind == CollectiveKind::kAllReduce || has_root(kind)) && symmetry == Symmetry::kNone;
    const std::uint64_t least = kind == CollectiveKind::kAllToAll ? n * n : n;
    const bool may_have_parts = symmetry == Symmetry::kNone && block_count % least == 0;
    ASTROLABE_ASSERT(is_free || block_count == least || may_have_parts,
                     "the kind and the symmetry fix the number of blocks");
    ASTROLABE_ASSERT(symmetry != Symmetry::kExclusiveOr || std::has_single_bit(ranks),
                     "exclusive or is a symmetry of powers of two only");
    schedule_.kind_ = kind;
    schedule_.ranks_ = ranks;
    schedule_.symmetry_ = symmetry;
    schedule_.block_count_ = block_count;
    schedule_.parts_ = is_free ? 1 : static_cast<std::uint32_t>(block_count / least);
    schedule_.stages_ = stages.empty() ? std::vector<Stage>{{0, kind}} : std::move(stages);
    ASTROLABE_ASSERT(schedule_.stages_.size() <= std::numeric_limits<std::uint16_t>::max(),
                     "stages have 16-bit numbers");
    schedule_.programs_.resize(symmetry == Symmetry::kNone ? ranks : 1);
}

void ScheduleBuilder::begin_stage(std::size_t index) {
    ASTROLABE_ASSERT(index < schedule_.stages_.size(), "the schedule has this stage");
    stage_ = static_cast<std::uint16_t>(index);
}

ActionIndex ScheduleBuilder::send(Position rank, Position peer, std::span<const BlockReference> blocks,
                                  std::span<const ActionIndex> after, std::uint32_t channel) {
    return add(rank, Action::Kind::kSend, peer, blocks, after, channel);
}

ActionIndex ScheduleBuilder::receive(Position rank, Position peer, std::span<const BlockReference> blocks,
                                     std::span<const ActionIndex> after, bool reduce, std::uint32_t channel) {
    return add(rank, reduce ? Action::Kind::kReceiveReduce : Action::Kind::kReceive, peer, blocks, after,
               channel);
}

ActionIndex ScheduleBuilder::add(Position rank, Action::Kind kind, Position peer,
                                 std::span<const BlockReference> blocks, std::span<const ActionIndex> after,
                                 std::uint32_t channel) {
    ASTROLABE_ASSERT(rank < schedule_.programs_.size(), "under a symmetry only rank 0 has a program");
    RankProgram& program = schedule_.programs_[rank];
    const auto index = static_cast<ActionIndex>(program.actions.size());
    if (peer >= schedule_.ranks_ || schedule_.resolve(rank, peer) == rank) {
        reject(rank, index, fmt::format("peer {} of {} ranks", peer, schedule_.ranks_));
    }
    check_blocks(rank, index, blocks);
    for (const ActionIndex dependency : after) {
        if (dependency >= index) {
            reject(rank, index, fmt::format("waits for action {}, which is not before it", dependency));
        }
        if (program.actions[dependency].stage != stage_) {
            reject(rank, index, fmt::format("waits for action {} of another stage", dependency));
        }
    }
    if (index > 0 && program.actions.back().stage > stage_) {
        reject(rank, index, fmt::format("goes back to stage {}", stage_));
    }
    Action action;
    action.kind = kind;
    action.stage = stage_;
    action.peer = peer;
    action.first_block = static_cast<std::uint32_t>(program.blocks.size());
    action.block_count = static_cast<std::uint32_t>(blocks.size());
    program.blocks.insert(program.blocks.end(), blocks.begin(), blocks.end());
    action.dependency_count = static_cast<std::uint32_t>(after.size());
    if (index > 0 && std::ranges::equal(program.dependencies_of(program.actions.back()), after)) {
        action.first_dependency = program.actions.back().first_dependency;
    } else {
        action.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
        program.dependencies.insert(program.dependencies.end(), after.begin(), after.end());
    }
    program.actions.push_back(action);
    if (channel != 0) {
        channels_.resize(schedule_.programs_.size());
        channels_[rank].resize(program.actions.size(), 0);
        channels_[rank][index] = channel;
    }
    return index;
}

void ScheduleBuilder::check_blocks(Position rank, ActionIndex action,
                                   std::span<const BlockReference> blocks) const {
    const bool has_rows = schedule_.kind_ == CollectiveKind::kAllToAll;
    const std::uint64_t columns = schedule_.columns();
    if (blocks.empty()) {
        reject(rank, action, "names no block");
    }
    for (const BlockReference reference : blocks) {
        if (reference.block >= columns || reference.source >= (has_rows ? schedule_.ranks_ : 1)) {
            reject(rank, action,
                   fmt::format("block ({}, {}) does not exist", reference.source, reference.block));
        }
    }
}

CollectiveSchedule ScheduleBuilder::build() && {
    match();
    return std::move(schedule_);
}

void ScheduleBuilder::match() {
    const bool is_symmetric = schedule_.symmetry_ != Symmetry::kNone;
    // Under a symmetry every message is seen from its sender as rank 0: what rank 0 receives from position p,
    // the rank at p sends to the position that undoes p.
    const auto undo = [this](Position relative) {
        return schedule_.symmetry_ == Symmetry::kRotation ? schedule_.ranks_ - relative : relative;
    };
    const auto channel_of = [this](Position rank, ActionIndex action) {
        return rank < channels_.size() && action < channels_[rank].size() ? channels_[rank][action] : 0;
    };
    std::vector<End> sends;
    std::vector<End> receives;
    for (Position rank = 0; rank < schedule_.programs_.size(); ++rank) {
        const std::vector<Action>& actions = schedule_.programs_[rank].actions;
        for (ActionIndex index = 0; index < actions.size(); ++index) {
            const Position peer = actions[index].peer;
            const std::uint32_t channel = channel_of(rank, index);
            if (actions[index].is_send()) {
                sends.push_back({rank, peer, channel, rank, index});
            } else if (is_symmetric) {
                receives.push_back({0, undo(peer), channel, rank, index});
            } else {
                receives.push_back({peer, rank, channel, rank, index});
            }
        }
    }
    std::stable_sort(sends.begin(), sends.end(), connection_before);
    std::stable_sort(receives.begin(), receives.end(), connection_before);

    for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        const bool has_send = i < sends.size();
        const bool has_receive = i < receives.size();
        if (!has_send || !has_receive || !same_connection(sends[i], receives[i])) {
            const bool lone_send = has_send && (!has_receive || connection_before(sends[i], receives[i]));
            const End& lone = lone_send ? sends[i] : receives[i];
            reject(lone.rank, lone.action, lone_send ? "the send has no receive" : "the receive has no send");
        }
        RankProgram& sender = schedule_.programs_[sends[i].rank];
        RankProgram& receiver = schedule_.programs_[receives[i].rank];
        Action& send = sender.actions[sends[i].action];
        Action& receive = receiver.actions[receives[i].action];
        const Position receiver_rank = sends[i].destination;
        const auto sent = sender.blocks_of(send);
        const auto received = receiver.blocks_of(receive);
        const bool agree = std::ranges::equal(sent, received, [&](BlockReference a, BlockReference b) {
            return schedule_.resolve(sends[i].rank, a) == schedule_.resolve(receiver_rank, b);
        });
        if (send.stage != receive.stage) {
            reject(sends[i].rank, sends[i].action,
                   fmt::format("belongs to another stage than its receive, rank {} action {}", receiver_rank,
                               receives[i].action));
        }
        if (!agree) {
            reject(sends[i].rank, sends[i].action,
                   fmt::format("sends other blocks than rank {} action {} receives", receiver_rank,
                               receives[i].action));
        }
        send.match = receives[i].action;
        receive.match = sends[i].action;
    }
}

}  // namespace astrolabe::system
