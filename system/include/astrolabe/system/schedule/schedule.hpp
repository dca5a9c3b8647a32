/// A collective schedule: what every rank sends and receives, in which order, as data.
///
/// Model. N positions (ranks of one group) take part. The data are `block_count` blocks:
///   all_reduce      B blocks of every rank's vector (B is the algorithm's choice); each ends as the sum
///                   over ranks
///   reduce_scatter  m·N blocks of every rank's vector; rank r ends with the sums of blocks r·m … r·m + m-1
///   all_gather      blocks r·m … r·m + m-1 are what rank r contributes; everyone ends with all m·N
///   all_to_all      m·N² blocks; (s·N + d)·m … (s·N + d)·m + m-1 go from rank s to rank d
///   broadcast       B blocks of rank 0's vector; everyone ends with all of them
///   reduce          B blocks of every rank's vector; rank 0 ends with the sums
///   point_to_point  B blocks of rank 0's vector; rank 1 of two ends with them
/// m, the *parts* of what belongs to one rank, is 1 but in schedules from files.
/// A rank's program is a list of actions: *send* blocks to a peer, or *receive* blocks from a peer, either
/// adding them to its own (reduce) or storing them. An action may depend on earlier actions of the same rank.
/// A send is issued once its dependencies are complete and completes when it has been delivered; a receive
/// completes when its message is there (and reduced). The k-th send from p to q on a channel is what the k-th
/// receive of q from p on it receives; channels only tell messages of a pair apart while a schedule is built.
///
/// Stages. The actions may be split in stages, each of which works inside one logical dimension of the group
/// (shape.hpp): the phases of a hierarchical collective. On every rank a stage starts when all actions of the
/// rank's earlier stages are complete, and not before the rank gives it a slot (executor.hpp); both ends of
/// a message belong to the same stage.
///
/// Sizes. A schedule has blocks, not bytes: S bytes over B blocks give block b floor(S/B) bytes, plus one
/// for the first S mod B, so blocks, and therefore messages, sum exactly to S. Of an all_to_all the m·N
/// blocks of one source are the B, of an all_gather the m blocks of one rank.
///
/// Symmetry. Most algorithms look the same from every rank once peers and blocks are numbered relative to it,
/// by rotation (i -> (i + r) mod N) or exclusive or (i -> i xor r). Such a schedule stores one program for
/// all ranks, so 1,024 ranks cost as much as one. With `kNone` every rank has its own program and numbers are
/// absolute.
///
/// Nothing here is trusted: proof.hpp runs a schedule over symbolic values and checks the collective's
/// definition.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/system/schedule/shape.hpp>

namespace astrolabe::system {

enum class Symmetry : std::uint8_t { kNone, kRotation, kExclusiveOr };

using ActionIndex = std::uint32_t;  ///< of an action inside a rank's program
using BlockIndex = std::uint32_t;

struct Action {
    enum class Kind : std::uint8_t { kSend, kReceive, kReceiveReduce };
    Kind kind = Kind::kSend;
    std::uint16_t stage = 0;
    Position peer = 0;              ///< relative under a symmetry
    ActionIndex match = 0;          ///< index, in the peer's program, of the other end of this message
    std::uint32_t first_block = 0;  ///< into RankProgram::blocks
    std::uint32_t block_count = 0;
    std::uint32_t first_dependency = 0;  ///< into RankProgram::dependencies
    std::uint32_t dependency_count = 0;

    [[nodiscard]] bool is_send() const { return kind == Kind::kSend; }
};

/// A block as a program names it: (row, column) for all_to_all, where column d·m + j is part j of what goes
/// to rank d, (0, block) otherwise; relative under a symmetry.
struct BlockReference {
    Position source = 0;  ///< all_to_all only: the rank it comes from
    BlockIndex block = 0;
};

struct RankProgram {
    std::vector<Action> actions;
    std::vector<BlockReference> blocks;
    /// Consecutive actions that wait for the same actions share one span here, so a barrier of N actions on N
    /// others costs N entries, not N².
    std::vector<ActionIndex> dependencies;

    [[nodiscard]] std::span<const BlockReference> blocks_of(const Action& action) const {
        return std::span(blocks).subspan(action.first_block, action.block_count);
    }
    [[nodiscard]] std::span<const ActionIndex> dependencies_of(const Action& action) const {
        return std::span(dependencies).subspan(action.first_dependency, action.dependency_count);
    }
};

/// A part of a schedule that stays inside one dimension.
struct Stage {
    std::uint32_t dimension = 0;  ///< of the group's shape
    CollectiveKind kind{};        ///< of the collective there: the reduce_scatter of an all_reduce

    friend bool operator==(const Stage&, const Stage&) = default;
};

class CollectiveSchedule {
public:
    [[nodiscard]] CollectiveKind kind() const { return kind_; }
    [[nodiscard]] Position ranks() const { return ranks_; }
    [[nodiscard]] Symmetry symmetry() const { return symmetry_; }
    [[nodiscard]] std::uint64_t block_count() const { return block_count_; }
    /// m; 1 for the kinds whose blocks belong to no rank.
    [[nodiscard]] std::uint32_t parts() const { return parts_; }
    /// Blocks that one row of references has: m·N of an all_to_all, all others.
    [[nodiscard]] std::uint64_t columns() const {
        return kind_ == CollectiveKind::kAllToAll ? block_count_ / ranks_ : block_count_;
    }
    /// The rank that a column belongs to: its destination in an all_to_all, who contributes it to an
    /// all_gather, who ends with it in a reduce_scatter.
    [[nodiscard]] Position owner(std::uint64_t column) const {
        return static_cast<Position>(column / parts_);
    }
    [[nodiscard]] const std::vector<Stage>& stages() const { return stages_; }  ///< at least one

    [[nodiscard]] const RankProgram& program(Position rank) const {
        return programs_[symmetry_ == Symmetry::kNone ? rank : 0];
    }
    /// Absolute number of a relative position as seen from `rank`.
    [[nodiscard]] Position resolve(Position rank, Position relative) const;
    /// Absolute block number, 0 … block_count-1, of a reference in `rank`'s program.
    [[nodiscard]] std::uint64_t resolve(Position rank, BlockReference reference) const;

    /// Bytes of a block / of an action's message when each rank holds `size` (contributes `size`:
    /// all_gather).
    [[nodiscard]] Bytes block_size(std::uint64_t block, Bytes size) const;
    [[nodiscard]] Bytes message_size(Position rank, const Action& action, Bytes size) const;

    /// Over all ranks.
    [[nodiscard]] std::uint64_t message_count() const;
    /// Longest chain of messages each waiting for the one before. Throws ScheduleError if the dependencies
    /// form a cycle across ranks. O(actions + dependencies).
    [[nodiscard]] std::uint64_t steps() const;
    /// The same with actions of unequal weight: the heaviest chain, where `weight(rank, action)` is that of a
    /// send, until it is delivered, or of a receive, from delivery on; under a symmetry it is asked of rank 0
    /// only. What waits for a send waits for no receive. Weights must not exceed 2^62 together.
    [[nodiscard]] std::uint64_t heaviest_chain(
        const std::function<std::uint64_t(Position, const Action&)>& weight) const;

private:
    friend class ScheduleBuilder;
    CollectiveSchedule() = default;

    CollectiveKind kind_{};
    Position ranks_ = 0;
    Symmetry symmetry_ = Symmetry::kNone;
    std::uint64_t block_count_ = 0;
    std::uint32_t parts_ = 1;
    std::vector<Stage> stages_;
    std::vector<RankProgram> programs_;
};

/// The error of an action: thrown while a schedule is built. A defect of the algorithm, or of the
/// file it was read from.
class ScheduleError : public std::logic_error {
public:
    ScheduleError(Position rank, ActionIndex action, std::string reason);

    Position rank;
    ActionIndex action;
    std::string reason;  ///< "the send has no receive"
};

/// Writes rank programs action by action, then matches sends with receives and freezes.
class ScheduleBuilder {
public:
    /// `block_count` is a multiple of N for reduce_scatter and all_gather, of N² for all_to_all; under a
    /// symmetry N, of an all_reduce too, or N²; free otherwise. Exclusive or needs a power of two. No stages
    /// given: one, in dimension 0.
    ScheduleBuilder(CollectiveKind kind, Position ranks, std::uint64_t block_count, Symmetry symmetry,
                    std::vector<Stage> stages = {});

    /// Actions added from here on belong to stage `index`; a rank's never go back to an earlier stage.
    void begin_stage(std::size_t index);

    /// Under a symmetry, `rank` must be 0 and peers and blocks are relative. Returns the action's index.
    /// Throws ScheduleError for a peer or block that does not exist, no block, or a dependency that is no
    /// earlier action of the same stage.
    ActionIndex send(Position rank, Position peer, std::span<const BlockReference> blocks,
                     std::span<const ActionIndex> after, std::uint32_t channel = 0);
    ActionIndex receive(Position rank, Position peer, std::span<const BlockReference> blocks,
                        std::span<const ActionIndex> after, bool reduce, std::uint32_t channel = 0);

    /// Throws ScheduleError where a send has no receive, a receive no send, or the two ends disagree about
    /// the blocks or the stage.
    [[nodiscard]] CollectiveSchedule build() &&;

private:
    ActionIndex add(Position rank, Action::Kind kind, Position peer, std::span<const BlockReference> blocks,
                    std::span<const ActionIndex> after, std::uint32_t channel);
    void check_blocks(Position rank, ActionIndex action, std::span<const BlockReference> blocks) const;
    void match();

    CollectiveSchedule schedule_;
    std::uint16_t stage_ = 0;
    std::vector<std::vector<std::uint32_t>> channels_;  // of each program's actions; empty: all 0
};

}  // namespace astrolabe::system
