/// One stage of a schedule in the form the executor runs: which actions unlock which, and the counters that
/// takes.
///
/// A *gate* is a set of actions of one rank that wait for the same actions; it opens when `needed` of them
/// have completed. A gate of one needs no counter. A receive with dependencies has a gate of its own that its
/// message also counts towards. Actions are numbered over all programs, so one number names an action
/// everywhere.
///
/// The state of one rank in one chunk is a run of 32-bit words:
///     [0]    actions left (receives not complete + sends not in the network); bit 31: the rank has started
///     [1]    messages that arrived before the rank started
///     [2 …]  counters of the gates, then one bit per action: its message has arrived
/// The states of all ranks follow one another. Under a symmetry, where a state is longer than a cache line,
/// they lie the other way round instead: word 0 of all ranks, word 1 of all ranks, and so on. Ranks that do
/// the same do it at about the same time, so what they touch then, the bits of one step, lies side by side:
/// in a ring of 1,024 a step has 1 of 130 words of each rank, 4 KiB instead of 1,024 cache lines all over 0.5
/// MB.
///
/// Blocks keep the numbers that they have in the whole collective, so the bytes of its stages are exact.
///
/// Complexity: building O(actions + dependencies); memory the same, shared by all chunks, and the state:
/// ranks · (gates + actions of a rank / 32) words for every chunk in flight; once here, for one rank under a
/// symmetry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system::detail {

inline constexpr std::uint32_t kNone = 0xffffffff;
inline constexpr std::uint32_t kStarted = std::uint32_t{1} << 31;
inline constexpr unsigned kActionBits = 24;  ///< of an action's number, over all programs of a schedule

struct CompiledAction {
    bool is_send = false;
    bool is_reduction = false;       // a receive that adds what it receives
    Position peer = 0;               // as in the schedule: relative under a symmetry
    std::uint32_t match = 0;         // the other end, numbered over all programs
    std::uint32_t own_gate = kNone;  // of a receive with dependencies
    std::uint32_t first_unlock = 0;  // gates that completion counts towards
    std::uint32_t unlock_count = 0;
    std::uint32_t column = 0;  // of a single block; else the first of block_count in columns
    std::uint32_t block_count = 0;
};

struct Gate {
    std::uint32_t needed = 0;
    std::uint32_t counter = kNone;  // word of the rank's state; kNone where needed is 1
    std::uint32_t first_member = 0;
    std::uint32_t member_count = 0;
};

/// The part of one rank.
struct ProgramRange {
    std::uint32_t first_action = 0;
    std::uint32_t action_count = 0;
    std::uint32_t program_offset = 0;  // of its first action in the rank's whole program
    std::uint32_t first_initial_send = 0;
    std::uint32_t initial_send_count = 0;
    std::uint32_t state_offset = 0;  // under a symmetry: of rank 0
    std::uint32_t state_words = 0;
    std::uint32_t arrived_word = 0;  // first word of the bits
};

/// The words of one rank in the state of a chunk.
template <class Word>
struct RankState {
    Word* first;
    std::size_t stride;  ///< from one word to the next
    [[nodiscard]] Word& operator[](std::size_t word) const { return first[word * stride]; }
};

/// Sizes of a chunk's blocks: every column has `unit` bytes, the first `extra` columns one more. In an uneven
/// all_to_all a pair's block is instead part `part` of `parts` of the pair's bytes (part_size in
/// executor.hpp).
struct BlockSizes {
    std::int64_t unit = 0;
    std::uint32_t extra = 0;
    std::uint32_t part = 0;
    std::uint32_t parts = 1;
    const PairSizes* pairs = nullptr;
};

class CompiledSchedule {
public:
    explicit CompiledSchedule(const CollectiveSchedule& schedule, std::size_t stage = 0);

    [[nodiscard]] const CompiledAction& action(std::uint32_t index) const { return actions_[index]; }
    [[nodiscard]] const Gate& gate(std::uint32_t index) const { return gates_[index]; }
    [[nodiscard]] std::span<const std::uint32_t> unlocks(const CompiledAction& action) const {
        return std::span(unlocks_).subspan(action.first_unlock, action.unlock_count);
    }
    [[nodiscard]] std::span<const std::uint32_t> members(const Gate& gate) const {
        return std::span(members_).subspan(gate.first_member, gate.member_count);
    }
    [[nodiscard]] const ProgramRange& program(Position rank) const {
        return programs_[is_symmetric() ? 0 : rank];
    }
    [[nodiscard]] std::span<const std::uint32_t> initial_sends(Position rank) const {
        const ProgramRange& range = program(rank);
        return std::span(initial_sends_).subspan(range.first_initial_send, range.initial_send_count);
    }
    /// Of `rank` in the state of a chunk of `ranks`.
    template <class Word>
    [[nodiscard]] RankState<Word> state_of(Word* state, Position rank, Position ranks) const {
        if (!is_symmetric()) {
            return {state + programs_[rank].state_offset, 1};
        }
        const std::size_t words = programs_.front().state_words;
        return words > kLineWords ? RankState<Word>{state + rank, ranks}
                                  : RankState<Word>{state + rank * words, 1};
    }
    /// Of ranks 0 … ranks-1.
    void write_initial_state(Position ranks, std::vector<std::uint32_t>& state) const;
    /// The action of `representative` that corresponds to `action` in the program of `rank`.
    [[nodiscard]] std::uint32_t same_action(Position rank, std::uint32_t action,
                                            Position representative) const {
        return action - program(rank).first_action + program(representative).first_action;
    }

    [[nodiscard]] Position resolve(Position rank, Position relative) const {
        switch (symmetry_) {
            case Symmetry::kNone:
                return relative;
            case Symmetry::kRotation: {
                const Position sum = rank + relative;
                return sum < ranks_ ? sum : sum - ranks_;
            }
            case Symmetry::kExclusiveOr:
                break;
        }
        return rank ^ relative;
    }

    /// Where a rank of a rotation sends to one other only, first at once and then whenever it has received,
    /// in the order of its program, until it has received the last: how far ahead that other is.
    [[nodiscard]] std::optional<Position> forward_stride() const { return forward_stride_; }
    /// There: what is sent when a message is received; kNone after the last.
    [[nodiscard]] std::uint32_t sent_after(std::uint32_t receive) const {
        const CompiledAction& action = actions_[receive];
        return action.unlock_count == 0 ? kNone
                                        : members_[gates_[unlocks_[action.first_unlock]].first_member];
    }

    [[nodiscard]] BlockSizes block_sizes(Bytes chunk) const;
    [[nodiscard]] Bytes message_size(Position rank, const CompiledAction& action,
                                     const BlockSizes& sizes) const {
        if (sizes.pairs != nullptr) {
            return uneven_size(rank, action, sizes);
        }
        std::int64_t bytes = sizes.unit * action.block_count;
        if (sizes.extra != 0) {
            bytes += action.block_count == 1 ? (resolve(rank, action.column) < sizes.extra ? 1 : 0)
                                             : count_extra(rank, action, sizes.extra);
        }
        return Bytes(bytes);
    }
    /// Of all messages of a chunk, from the schedule's block counts and not from the sizes of its messages.
    [[nodiscard]] Bytes total_bytes(Bytes chunk) const;
    /// Of all messages of those chunks of an uneven all_to_all that use this schedule; `chunks_below[c]` of
    /// the chunks before c do, for c up to the number of all chunks. O(blocks sent by all ranks).
    [[nodiscard]] Bytes total_bytes(const PairSizes& pairs,
                                    std::span<const std::uint32_t> chunks_below) const;

private:
    static constexpr std::size_t kLineWords = 16;  // of a state, in a cache line

    [[nodiscard]] bool is_symmetric() const { return symmetry_ != Symmetry::kNone; }
    [[nodiscard]] std::int64_t count_extra(Position rank, const CompiledAction& action,
                                           std::uint32_t extra) const;
    [[nodiscard]] Bytes uneven_size(Position rank, const CompiledAction& action,
                                    const BlockSizes& sizes) const;
    template <class Function>
    void for_each_pair(Position rank, const CompiledAction& action, Function function) const;
    void compile(const RankProgram& program, Position rank);
    [[nodiscard]] std::optional<Position> find_forward_stride() const;
    /// Columns are numbered so that those with a byte more come first: of an all_gather, part by part.
    [[nodiscard]] std::uint32_t column_of(BlockReference block) const;

    CollectiveKind kind_;
    Position ranks_;
    Symmetry symmetry_;
    std::uint32_t parts_;             // of what belongs to one rank (schedule.hpp)
    std::uint32_t columns_per_rank_;  // blocks that the bytes of one rank are divided by
    std::vector<CompiledAction> actions_;
    std::vector<Gate> gates_;
    std::vector<std::uint32_t> unlocks_;
    std::vector<std::uint32_t> members_;
    std::vector<std::uint32_t> initial_sends_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint32_t> first_source_;  // all_to_all only, by action: into sources_
    std::vector<std::uint32_t> sources_;       // rows of all blocks of all actions
    std::vector<ProgramRange> programs_;
    std::vector<std::uint32_t> initial_state_;
    std::optional<Position> forward_stride_;
    std::vector<std::uint64_t> sends_below_;  // [c]: blocks sent, over all ranks, in columns below c
};

}  // namespace astrolabe::system::detail
