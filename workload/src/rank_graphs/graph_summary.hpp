/// What rank graphs hold, counted without running them.
///
/// Model. Bytes of a collective are those that its members hold before (system::CollectiveKind), summed over
/// members; of an uneven all_to_all all that is for others. The critical path is the longest chain of
/// durations over dependencies, streams in order and matched collectives and messages, which take no time:
/// what no network can make shorter. Complexity: linear.
#pragma once

#include "rank_graphs.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace astrolabe::workload {

struct CollectiveCount {
    system::CollectiveKind kind{};
    std::uint32_t group = 0;
    std::uint64_t count = 0;  ///< of collectives, not of members' tasks
    Bytes bytes;
};

struct GraphSummary {
    std::size_t ranks = 0;
    std::uint64_t computations = 0;
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    Bytes sent;  ///< by sends
    std::uint64_t dependencies = 0;
    std::vector<Time> compute_by_rank;
    std::vector<CollectiveCount> collectives;  ///< by (group, kind)
    Time critical_path;
};

/// Precondition: `build_program` accepts the graphs.
[[nodiscard]] GraphSummary summarize(const RankGraphs& graphs);

/// For people, one (name, value) a line.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> readable_facts(const RankGraphs& graphs,
                                                                              const GraphSummary& summary);

}  // namespace astrolabe::workload
