/// Fewer traces than ranks: what ranks without a trace do.
///
/// Model. `data_parallel`: rank r of N does what trace (r mod T) of T does, computations with their recorded
/// times. Every collective must be over all W ranks of the recorded run, and is over all N. A rank has the
/// bytes that it had (weak scaling: the batch grows with the ranks, the model does not):
///     all_reduce, reduce, broadcast      the same result on more ranks
///     all_gather, reduce_scatter         S of a rank stays; the result, or the parts, of all grow or shrink
///     all_to_all                         S of a rank stays, in N parts
///     uneven all_to_all                  N must be k·W: of the b bytes for member d, ranks d, W + d, … of
///     the
///                                        k copies of d get the bytes from ⌊j·b/k⌋ to ⌊(j+1)·b/k⌋, j = 0, 1,
///                                        …
///
/// Errors, each with the task: a collective of a part of the ranks; a send or a receive, whose peer nothing
/// says; uneven sizes where W does not divide N.
///
/// Complexity: O(N · tasks).
#pragma once

#include "rank_graphs.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/result.hpp>

namespace astrolabe::workload {

enum class Replication : std::uint8_t { kNone, kDataParallel };

/// `recorded` has the traces at hand; its groups are of ranks of the recorded world, which may be more.
[[nodiscard]] Result<RankGraphs> replicate(const RankGraphs& recorded, std::size_t world, std::size_t ranks);

/// What `replicate` assumes, for people.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> replication_facts(std::size_t traces,
                                                                                 std::size_t world,
                                                                                 std::size_t ranks);

}  // namespace astrolabe::workload

namespace astrolabe {

template <>
struct EnumNames<workload::Replication> {
    using Value = workload::Replication;
    static constexpr std::array<std::pair<std::string_view, Value>, 2> kNames{
        {{"none", Value::kNone}, {"data_parallel", Value::kDataParallel}}};
};

}  // namespace astrolabe
