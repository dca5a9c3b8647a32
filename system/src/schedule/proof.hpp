/// The proof of a schedule: run it over symbols and compare with the definition of its collective.
///
/// Model. The value of a block on a rank is the set of ranks whose contribution is in it, or nothing at all.
///   all_reduce, reduce_scatter  rank r starts with {r} in every block
///   all_gather                  rank r starts with {r} in its own blocks and nothing elsewhere
///   all_to_all                  rank s starts with {s} in the blocks that come from it and nothing elsewhere
/// A send takes a copy of its blocks when it is issued. A receive replaces blocks, a reducing one unites the
/// sets, which must be disjoint: a contribution that is added twice is an error, not a larger set. At the end
///   all_reduce      every rank has every contribution in every block
///   reduce_scatter  rank r has every contribution in its own blocks
///   all_gather      every rank has {r} in every block of every rank r
///   all_to_all      rank d has {s} in the blocks from s to d, for every s
/// With a root: broadcast and point_to_point start with {0} in every block of rank 0, nothing elsewhere, and
/// end with it everywhere; reduce starts as all_reduce and ends with every contribution on rank 0.
///
/// Races. What depends on timing shows only under some timing, so the schedule runs under several: sends
/// issued as early as possible or put off as long as possible, messages taken oldest or newest first, two
/// fixed pseudo-random interleavings, and one rank at a time whose messages arrive only when nothing else can
/// happen (every rank up to N = 16, four of them beyond). Messages of one pair stay in the order they were
/// issued, as backends promise. A pass is a proof for the orders tried; a hazard that shows under none of
/// them is not found.
///
/// Also errors: sending or adding to a block the rank does not hold, and an action that is never ready.
///
/// Complexity: O(blocks of all messages · N/64) per order; memory ranks · blocks · N/8 bytes, and some 60
/// bytes for each action of each rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system {

struct ProofFailure {
    Position rank = 0;
    std::optional<ActionIndex> action;   ///< none where the end result is wrong
    std::optional<std::uint64_t> block;  ///< absolute; none where no block is to blame
    std::string message;                 ///< names rank, action and block
};

/// The first failure found, or nothing when the schedule does what its kind means under every order tried.
[[nodiscard]] std::optional<ProofFailure> prove(const CollectiveSchedule& schedule);

}  // namespace astrolabe::system
