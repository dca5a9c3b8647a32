/// Placing items on ranks so that the load of the busiest rank is as small as possible.
///
/// Model. Item i costs c_i and needs the memory s_i; it goes to one rank r. With what rank r has beforehand,
/// b_r and u_r:
///
///     minimise   max over r of  b_r + Σ c_i of the items on r          (the makespan)
///     subject to u_r + Σ s_i of the items on r <= memory               for every r
///
/// Lower bound of the makespan: the largest of max b_r; the average (Σ b_r + Σ c_i)/N, rounded up; and, of
/// every item, c_i + min b_r.
///
/// greedy  Longest processing time first: items by falling cost, each to the least loaded rank that has room
///         (ties: the lower rank). Without memory limits and loads beforehand its makespan is at most
///         4/3 - 1/(3N) of the minimum (Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on
///         Applied Mathematics 17(2), 1969). Complexity: O(n·log n + n·(log N + ranks without
///         room)).
/// exact   Branch and bound over the same order, starting from greedy's answer: a branch ends where the lower
///         bound of what remains reaches the best makespan; of ranks with equal load and memory only the
///         first is tried. Complexity: exponential; after `max_nodes` nodes it stops with the best placement
///         found, not proven. Meant for a few dozen items.
///
/// Limits: greedy may find no placement where one exists that respects the memory; exact takes at most
/// kMaxExactItems items, because it goes one call deeper for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/ids.hpp>

namespace astrolabe::workload {

struct PlacementItem {
    std::int64_t cost = 0;
    Bytes memory;
};

struct PlacementProblem {
    std::vector<PlacementItem> items;
    std::vector<std::int64_t> cost_before;       ///< b, one a rank: their number is N >= 1
    std::vector<Bytes> memory_before;            ///< u, one a rank
    std::optional<Bytes> memory = std::nullopt;  ///< of every rank; none: unlimited
};

struct Placement {
    /// By item; empty where none that respects the memory was found.
    std::vector<system::RankId> rank_of = {};
    std::int64_t makespan = 0;
    std::int64_t lower_bound = 0;
    bool proven = false;     ///< no placement has a smaller makespan, or none exists where none was found
    std::int64_t nodes = 0;  ///< placements of an item tried

    [[nodiscard]] bool found() const { return !rank_of.empty(); }
};

/// kFull chooses also how tables are sharded: docs/models/sharding-planner.md.
enum class PlacementSearch : std::uint8_t { kGreedy, kExact, kFull };

inline constexpr std::int64_t kMaxPlacementNodes = 200'000;
inline constexpr std::size_t kMaxExactItems = 4096;

/// Requires at least one item. The sum of all costs and that of all sizes must fit their types.
[[nodiscard]] Placement place_greedily(const PlacementProblem& problem);
[[nodiscard]] Placement place_exactly(const PlacementProblem& problem,
                                      std::int64_t max_nodes = kMaxPlacementNodes);

}  // namespace astrolabe::workload
