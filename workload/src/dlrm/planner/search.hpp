/// Choosing how to shard every table, and where, so that the busiest rank has as little to do as possible.
///
/// Model. N ranks on hosts of h. Table t is sharded in one of its options; an option is a list of pieces,
/// each of which lies on one rank, on all ranks of one host, or on all ranks, and gives each of these f
/// picoseconds before all ranks wait for each other (the pooled values are there), b after it (the tables are
/// updated), and s bytes; c = f + b. Pieces of a table lie on different ranks, or hosts.
///
///     minimise   max over r of Σ f + max over r of Σ b, of the pieces on r      (the makespan)
///     subject to Σ s of the pieces on r <= memory                               for every r
///
/// Lower bound. With W_t(T) the least work (sum of the loads over all ranks) of the options of t whose pieces
/// all have at most T, a busiest rank of T needs Σ W_t(T) <= N·T. W_t falls with T, so the least T that
/// satisfies this, found by bisection, is a bound. That of c is one of the makespan, and so is the sum of
/// those of f and of b; the larger one counts.
///
/// Search.
///   1. For a number of caps on c and s, and of prices on memory, each table takes the option of least work
///      (and price) under the caps; pieces by falling part of the average work, or of the memory, go to the
///      least loaded rank or host that has room. The starts that are given join these.
///   2. From the best of all: moves of a piece from the rank that is busiest forward, or backward, swaps of
///   two,
///      and other options for a table that lies there, as long as that rank gets less and no other as much.
///   3. Small problems (kExactCells): branch and bound over all options and places, which proves the
///      makespan unless kMaxNodes end it.
///
/// Complexity: O(caps · pieces · N) for 1, at most kMaxSteps steps of O(pieces of a rank · N) for 2.
///
/// Limits: 2 finds local optima; of the memory the bound knows only what no rank could take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload::planner {

enum class Span : std::uint8_t { kRank, kHost, kAll };

/// What a piece gives each of its ranks.
struct Load {
    std::int64_t forward = 0;
    std::int64_t backward = 0;
    Bytes memory = Bytes(0);

    [[nodiscard]] std::int64_t cost() const { return forward + backward; }
};

struct Option {
    Span span = Span::kRank;
    std::vector<Load> pieces;  ///< at least one, by falling cost; one of kAll
};

struct Problem {
    std::size_t ranks = 1;
    std::size_t ranks_per_host = 1;
    std::optional<Bytes> memory = std::nullopt;    ///< of a rank; none: unlimited
    std::vector<std::vector<Option>> tables = {};  ///< each has an option
};

/// The option of a table, and where its pieces are: ranks, hosts, or 0.
struct Choice {
    std::size_t option = 0;
    std::vector<std::size_t> places;
};
using Assignment = std::vector<Choice>;  ///< by table

struct SearchResult {
    /// Empty where none was found that respects the memory.
    Assignment assignment;
    std::int64_t makespan = 0;
    std::int64_t lower_bound = 0;
    bool proven = false;     ///< nothing is better; where nothing was found: nothing exists
    std::int64_t nodes = 0;  ///< placements of a piece tried

    [[nodiscard]] bool found() const { return !assignment.empty(); }
};

inline constexpr std::size_t kExactCells = 48;  ///< tables · ranks
inline constexpr std::int64_t kMaxNodes = 2'000'000;
inline constexpr int kMaxSteps = 20'000;

/// Cost and memory of every rank.
[[nodiscard]] std::vector<Load> loads_of(const Problem& problem, const Assignment& assignment);
[[nodiscard]] std::int64_t makespan_of(const Problem& problem, const Assignment& assignment);
[[nodiscard]] bool fits(const Problem& problem, const Assignment& assignment);

/// O(bits of a load · options).
[[nodiscard]] std::int64_t lower_bound_of(const Problem& problem);

/// Places the pieces of the options given, as step 1 does; nothing where one finds no room.
[[nodiscard]] std::optional<Assignment> place(const Problem& problem,
                                              const std::vector<std::size_t>& options);

/// The sum of all work must be at most a quarter of the largest number. `starts` that do not fit the memory
/// are left out.
[[nodiscard]] SearchResult search(const Problem& problem, const std::vector<Assignment>& starts);

/// Step 3; `best` is the makespan to fall below.
struct ExactResult {
    std::optional<Assignment> better;
    bool complete = false;  ///< nothing else is better
    std::int64_t nodes = 0;
};
[[nodiscard]] ExactResult search_exactly(const Problem& problem, std::int64_t best, std::int64_t lower_bound);

}  // namespace astrolabe::workload::planner
