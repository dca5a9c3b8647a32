#include "compiled_schedule.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

namespace {

constexpr std::uint32_t kFirstCounter = 2;

/// The actions of a program that belong to a stage: [begin, end).
struct StageSpan {
    std::uint32_t begin;
    std::uint32_t end;
};
StageSpan span_of(const RankProgram& program, std::size_t stage) {
    const auto begin = std::ranges::lower_bound(program.actions, stage, {}, &Action::stage);
    const auto end = std::ranges::upper_bound(program.actions, stage, {}, &Action::stage);
    return {static_cast<std::uint32_t>(begin - program.actions.begin()),
            static_cast<std::uint32_t>(end - program.actions.begin())};
}

}  // namespace

CompiledSchedule::CompiledSchedule(const CollectiveSchedule& schedule, std::size_t stage)
    : kind_(schedule.kind()),
      ranks_(schedule.ranks()),
      symmetry_(schedule.symmetry()),
      parts_(schedule.parts()),
      columns_per_rank_(
          static_cast<std::uint32_t>(kind_ == CollectiveKind::kAllGather ? parts_ : schedule.columns())) {
    const Position program_count = is_symmetric() ? 1 : ranks_;
    std::uint32_t actions = 0;
    for (Position rank = 0; rank < program_count; ++rank) {
        const StageSpan span = span_of(schedule.program(rank), stage);
        programs_.push_back(
            {.first_action = actions, .action_count = span.end - span.begin, .program_offset = span.begin});
        actions += programs_.back().action_count;
    }
    ASTROLABE_ASSERT(actions <= std::uint32_t{1} << kActionBits,
                     "the token of a message can name every action");
    actions_.resize(actions);
    if (kind_ == CollectiveKind::kAllToAll) {
        first_source_.resize(actions);
    }
    sends_below_.assign(schedule.columns() + 1, 0);
    for (Position rank = 0; rank < program_count; ++rank) {
        compile(schedule.program(rank), rank);
    }
    forward_stride_ = find_forward_stride();
    if (is_symmetric()) {
        // Every rank sends the same relative blocks, so each column is sent as often as any other: the block
        // sends of one rank, summed over ranks, spread evenly over the columns.
        std::uint64_t block_sends = 0;
        for (const CompiledAction& action : actions_) {
            block_sends += action.is_send ? action.block_count : 0;
        }
        std::fill(sends_below_.begin() + 1, sends_below_.end(), block_sends);
    }
    for (std::size_t column = 1; column < sends_below_.size(); ++column) {
        sends_below_[column] += sends_below_[column - 1];
    }
}

void CompiledSchedule::compile(const RankProgram& program, Position rank) {
    ProgramRange& range = programs_[rank];
    const std::uint32_t first = range.first_action;
    range.first_initial_send = static_cast<std::uint32_t>(initial_sends_.size());
    range.state_offset = static_cast<std::uint32_t>(initial_state_.size());

    std::vector<std::pair<std::uint32_t, std::uint32_t>> unlocks;  // (action, gate)
    std::vector<std::uint32_t> counters;                           // initial values
    const auto add_gate = [&](const Action& action, std::uint32_t needed) {
        const auto index = static_cast<std::uint32_t>(gates_.size());
        Gate gate{.needed = needed, .first_member = static_cast<std::uint32_t>(members_.size())};
        if (needed > 1) {
            gate.counter = kFirstCounter + static_cast<std::uint32_t>(counters.size());
            counters.push_back(needed);
        }
        gates_.push_back(gate);
        for (const ActionIndex dependency : program.dependencies_of(action)) {
            unlocks.emplace_back(first + dependency - range.program_offset, index);
        }
        return index;
    };

    const Action* gate_owner = nullptr;  // the send whose dependencies the newest gate of sends waits for
    std::uint32_t send_gate = kNone;
    for (std::uint32_t index = 0; index < range.action_count; ++index) {
        const Action& action = program.actions[range.program_offset + index];
        CompiledAction& compiled = actions_[first + index];
        compiled.is_send = action.is_send();
        compiled.is_reduction = action.kind == Action::Kind::kReceiveReduce;
        compiled.peer = action.peer;
        const ProgramRange& peer = programs_[is_symmetric() ? 0 : action.peer];
        compiled.match = peer.first_action + action.match - peer.program_offset;
        compiled.block_count = action.block_count;
        const auto blocks = program.blocks_of(action);
        compiled.column =
            action.block_count == 1 ? column_of(blocks.front()) : static_cast<std::uint32_t>(columns_.size());
        if (kind_ == CollectiveKind::kAllToAll) {
            first_source_[first + index] = static_cast<std::uint32_t>(sources_.size());
        }
        for (const BlockReference block : blocks) {
            if (kind_ == CollectiveKind::kAllToAll) {
                sources_.push_back(block.source);
            }
            if (action.block_count > 1) {
                columns_.push_back(column_of(block));
            }
            if (action.is_send() && !is_symmetric()) {
                ++sends_below_[column_of(block) + 1];
            }
        }
        if (action.dependency_count == 0) {
            if (action.is_send()) {
                initial_sends_.push_back(first + index);
            }
            continue;
        }
        if (!action.is_send()) {
            compiled.own_gate = add_gate(action, action.dependency_count + 1);
            members_.push_back(first + index);
            gates_.back().member_count = 1;
            gate_owner = nullptr;  // members of a gate are consecutive
            continue;
        }
        const bool shares_gate = gate_owner != nullptr &&
                                 gate_owner->first_dependency == action.first_dependency &&
                                 gate_owner->dependency_count == action.dependency_count;
        if (!shares_gate) {
            send_gate = add_gate(action, action.dependency_count);
            gate_owner = &action;
        }
        members_.push_back(first + index);
        ++gates_[send_gate].member_count;
    }
    range.initial_send_count = static_cast<std::uint32_t>(initial_sends_.size()) - range.first_initial_send;

    std::stable_sort(unlocks.begin(), unlocks.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [action, gate] : unlocks) {
        if (actions_[action].unlock_count++ == 0) {
            actions_[action].first_unlock = static_cast<std::uint32_t>(unlocks_.size());
        }
        unlocks_.push_back(gate);
    }

    range.arrived_word = kFirstCounter + static_cast<std::uint32_t>(counters.size());
    range.state_words = range.arrived_word + (range.action_count + 31) / 32;
    initial_state_.push_back(range.action_count);
    initial_state_.push_back(0);
    initial_state_.insert(initial_state_.end(), counters.begin(), counters.end());
    initial_state_.resize(range.state_offset + range.state_words, 0);
}

std::optional<Position> CompiledSchedule::find_forward_stride() const {
    if (symmetry_ != Symmetry::kRotation || initial_sends_.size() != 1) {
        return std::nullopt;
    }
    std::vector<std::uint32_t> sends;
    std::vector<std::uint32_t> receives;
    for (std::uint32_t index = 0; index < actions_.size(); ++index) {
        (actions_[index].is_send ? sends : receives).push_back(index);
    }
    if (sends.size() != receives.size() || sends.front() != initial_sends_.front()) {
        return std::nullopt;
    }
    const Position stride = actions_[sends.front()].peer;
    for (std::size_t step = 0; step < sends.size(); ++step) {
        const CompiledAction& send = actions_[sends[step]];
        const CompiledAction& receive = actions_[receives[step]];
        const std::uint32_t next = step + 1 < sends.size() ? sends[step + 1] : kNone;
        if (send.peer != stride || send.match != receives[step] || send.unlock_count != 0 ||
            receive.own_gate != kNone || receive.unlock_count > 1 || sent_after(receives[step]) != next) {
            return std::nullopt;
        }
        if (next != kNone) {
            const Gate& gate = gates_[unlocks_[receive.first_unlock]];
            if (gate.needed != 1 || gate.member_count != 1) {
                return std::nullopt;
            }
        }
    }
    return stride;
}

void CompiledSchedule::write_initial_state(Position ranks, std::vector<std::uint32_t>& state) const {
    state.clear();
    if (!is_symmetric()) {
        const auto begin = initial_state_.begin();
        const auto end = ranks < ranks_ ? begin + programs_[ranks].state_offset : initial_state_.end();
        state.assign(begin, end);
        return;
    }
    state.reserve(initial_state_.size() * ranks);
    if (initial_state_.size() <= kLineWords) {
        for (Position rank = 0; rank < ranks; ++rank) {
            state.insert(state.end(), initial_state_.begin(), initial_state_.end());
        }
        return;
    }
    for (const std::uint32_t word : initial_state_) {  // in the order of state_of
        state.insert(state.end(), ranks, word);
    }
}

std::uint32_t CompiledSchedule::column_of(BlockReference block) const {
    return kind_ == CollectiveKind::kAllGather ? block.block % parts_ * ranks_ + block.block / parts_
                                               : block.block;
}

BlockSizes CompiledSchedule::block_sizes(Bytes chunk) const {
    const auto extra = static_cast<std::uint32_t>(chunk.count() % columns_per_rank_);
    return {.unit = chunk.count() / columns_per_rank_,
            .extra = kind_ == CollectiveKind::kAllGather ? extra * ranks_ : extra};
}

std::int64_t CompiledSchedule::count_extra(Position rank, const CompiledAction& action,
                                           std::uint32_t extra) const {
    const auto columns = std::span(columns_).subspan(action.column, action.block_count);
    return std::count_if(columns.begin(), columns.end(),
                         [&](std::uint32_t column) { return resolve(rank, column) < extra; });
}

template <class Function>
void CompiledSchedule::for_each_pair(Position rank, const CompiledAction& action, Function function) const {
    const auto sources = std::span(sources_).subspan(
        first_source_[static_cast<std::size_t>(&action - actions_.data())], action.block_count);
    for (std::size_t block = 0; block < sources.size(); ++block) {
        const std::uint32_t column =
            action.block_count == 1 ? action.column : columns_[action.column + block];
        function(resolve(rank, sources[block]), resolve(rank, column));
    }
}

Bytes CompiledSchedule::uneven_size(Position rank, const CompiledAction& action,
                                    const BlockSizes& sizes) const {
    Bytes sum;
    for_each_pair(rank, action, [&](Position source, Position destination) {
        sum += part_size((*sizes.pairs)(source, destination), sizes.parts, sizes.part);
    });
    return sum;
}

Bytes CompiledSchedule::total_bytes(const PairSizes& pairs,
                                    std::span<const std::uint32_t> chunks_below) const {
    const auto parts = static_cast<std::int64_t>(chunks_below.size()) - 1;
    Bytes sum;
    for (Position rank = 0; rank < ranks_; ++rank) {
        const ProgramRange& range = program(rank);
        for (std::uint32_t index = 0; index < range.action_count; ++index) {
            const CompiledAction& action = actions_[range.first_action + index];
            if (!action.is_send) {
                continue;
            }
            for_each_pair(rank, action, [&](Position source, Position destination) {
                const std::int64_t bytes = pairs(source, destination).count();
                sum += Bytes(chunks_below.back() * (bytes / parts) +
                             chunks_below[static_cast<std::size_t>(bytes % parts)]);
            });
        }
    }
    return sum;
}

Bytes CompiledSchedule::total_bytes(Bytes chunk) const {
    const BlockSizes sizes = block_sizes(chunk);
    return Bytes(sizes.unit * static_cast<std::int64_t>(sends_below_.back()) +
                 static_cast<std::int64_t>(sends_below_[sizes.extra]));
}

}  // namespace astrolabe::system::detail
