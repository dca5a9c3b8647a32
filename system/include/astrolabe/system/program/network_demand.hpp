/// What a Program asks of a network that is built for it (TopoOpt, NSDI 2023, sections 2 and 4.1).
///
/// Model. What a collective sends is mutable where its algorithm runs on the rings of the network
/// (algorithm.hpp: needs_rings) and every group of its partition is a regular one: k members, ascending, N/k
/// apart. Any ring through such a group serves, so the network chooses which. All else goes between ranks
/// that the schedule of the collective names, and is immutable; rings of other groups are those of the order
/// of the group.
///
/// Both are counted from schedules (characterisation.hpp), over all operations of all iterations, so that
/// together they are what a run of the program sends. The mutable bytes B of a group of k count as one
/// all_reduce of S = ⌊B / 2(k-1)⌋, which sends as much on rings. How many operations the bytes are of is
/// counted beside them: each of them pays latency.
#pragma once

#include <astrolabe/network/demand.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

/// Rank i is server i. Requires that no algorithm refuses what it is to do. Complexity: that of
/// `traffic_matrix`.
[[nodiscard]] network::Demand network_demand(const Program& program, const SystemOptions& options);

}  // namespace astrolabe::system
