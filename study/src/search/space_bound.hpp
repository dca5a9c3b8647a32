/// A lower bound of all plans of a search space.
///
///     bound = min over the combinations of alternatives of  b(combination)
///
/// where b is the bound of one experiment by compute and ports (lower_bound.hpp). Where tables are moved, b
/// is of an experiment that no placement beats:
///     alike tables (flexflow_dlrm)  round_robin's: ⌈T/N⌉ tables on the fullest node are the fewest. A node
///                                   with c tables sends c·(N-1) slices and T-c gradients of slices, which
///                                   grows with c, and the sums over nodes are the same in all placements
///     table_wise, column_wise and   the balanced plan's, where every rank has 1/N of the lookups and of the
///     table_column_wise             exchanged bytes: the fullest rank has no less than the mean.
///     Computations
///                                   are rounded up, so a picosecond for each is taken off
///     other kinds                   only what is not of embeddings: these kinds trade bytes for bytes
/// A network that is built for the job (job_network.hpp) may give hosts other cables for other placements:
/// then compute alone bounds.
/// Combinations that are refused count for nothing. Where tables move, one that may be refused for their
/// sake leaves the bound at 0, as more combinations than kMostBoundedCombinations do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <astrolabe/study/search/search_study.hpp>

namespace astrolabe::study {

inline constexpr std::uint64_t kMostBoundedCombinations = 256;

struct SpaceBound {
    double seconds = 0;    ///< of an iteration; 0: nothing is known
    std::string omission;  ///< why nothing is
};

/// `stop` is asked before each combination; a bound that it ends is not known.
[[nodiscard]] SpaceBound bound_of_space(const SearchStudy& study, const experiment::Components& components,
                                        const std::function<bool()>& stop);

}  // namespace astrolabe::study
