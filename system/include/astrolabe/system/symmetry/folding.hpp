/// Folding: which ranks of a program are equivalent, so that one of each class is simulated.
///
/// Model. The maps of ranks are those of network/folding.hpp: + t·r (mod N), or xor t·r. Ranks 0 … r-1 may
/// represent all if every such map g leaves the program as it is:
///   - compute: an operation takes rank i as long as rank g(i);
///   - groups: g takes every group of a partition to a group of the same shape, position p to position σ(p).
///     The positions of representatives in a group are its first c, and the rank at position p is equivalent
///     to that at position p mod c;
///   - schedules: what σ(p) sends and receives is what p does, with σ applied to the peers: same actions in
///     the same order with the same dependencies. True of a schedule with rotational symmetry where σ is a
///     rotation, of one with exclusive-or symmetry where σ is an exclusive or, and of any where σ leaves all
///     positions in place. Schedules with a program for every position are compared action by action;
///   - sizes: blocks of a collective are equal, or σ leaves all positions in place; pairs of an uneven
///     all_to_all have the sizes of the pairs that g maps them to;
///   - roots stay roots: σ leaves all positions in place.
/// Then, where the network folds as well, the state of rank g(i) is that of rank i at any time, by induction
/// over what happens: the executor's rules depend on the positions of ranks only.
///
/// Example. 1,024 ranks of one all_reduce by ring on one switch: r = 1, and one rank is simulated. If ranks
/// 0, 4, 8, … compute for 2 ms and all others for 1 ms, r = 4: ranks 0 … 3 are.
///
/// Ties. A backend notifies the events of one instant one after another, and equivalent ranks may be notified
/// in different orders. Where that matters (src/executor/tie_watch.hpp) the whole run may treat equivalent
/// ranks differently, so the folded run stops and reports it (ExecutionReport::has_tie); the caller then runs
/// the whole program. Options under which ties are common are not folded at all: serial copy engines, slots
/// in dimensions, independent orders, computation in first-come order, empty messages of an uneven
/// all_to_all.
///
/// So a folded run that ends gives the times of the whole one to the picosecond, and its counts. What breaks
/// a symmetry, such as one table more on one rank, a size that does not divide by the ranks, or a path chosen
/// by hash, leaves all ranks to be simulated. Sums of doubles, of sprayed shares and of rates, may differ in
/// the last bit between the two runs; the fluid engine's rounding of times and of a link's bytes absorbs
/// that, the latter for sums up to some size (docs/models/folding.md).
///
/// Complexity: for each r tried, O(operations · N) where compute times differ by rank, O(N) per partition,
/// and O(actions of all ranks) for schedules without symmetry; r goes up through the divisors of N.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <astrolabe/network/folding.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system {

struct FoldedRanks {
    network::Folding folding;                             ///< with as few representatives as can be found
    std::shared_ptr<const network::LinkClasses> classes;  ///< folded likewise
    /// Why not even N/2 ranks can represent all; empty where ranks fold.
    std::string unsupported;
};

/// `placement[r]` is the host of rank r. Requires that all algorithms support their collectives.
[[nodiscard]] FoldedRanks fold_ranks(const Program& program, const SystemOptions& options,
                                     const std::shared_ptr<const network::Fabric>& fabric,
                                     std::span<const network::HostId> placement);

}  // namespace astrolabe::system
