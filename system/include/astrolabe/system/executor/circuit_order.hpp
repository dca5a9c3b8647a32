/// Circuit order: ranks in an order in which each gets a circuit to the next soon after the previous one.
///
/// Model. On a ring of ranks a block waits, at every rank, for the circuit to the next rank
/// (network/circuit_windows.hpp). A block that is sent when a circuit window starts has arrived when it
/// ends, and then waits for the first window to the rank after that. The time for one way round the ring is a
/// whole number of periods, and a collective of k rounds takes k times as long.
///
/// Example. Three racks of one rank, windows of 10 us, a period of 30 us: racks 0 and 1 are connected during
/// [0, 10) us, 0 and 2 during [10, 20) us, 1 and 2 during [20, 30) us. The ring 0, 1, 2 sends 0 -> 1 at 0 us,
/// 1 -> 2 at 20 us and 2 -> 0 at 40 us, and can start the next round at 60 us: two periods. The ring 0, 2, 1
/// sends 0 -> 2 at 10 us, 2 -> 1 at 20 us and 1 -> 0 at 30 us, and starts the next round at 40 us: one
/// period. In the order of racks the wait is about half a period for every rank; in a good order many
/// circuits follow one another within a period.
///
/// Order. Places (racks) are put in a ring, starting with that of the first rank, so that one way round is
/// short. Where a place has circuits to itself its ranks follow one another; otherwise the ring visits the
/// places repeatedly, one rank of each at a time, because a message inside a place would have to be relayed.
/// Finding the quickest ring is a travelling-salesman problem with waiting times. A beam search adds place by
/// place and keeps the 64 partial rings that end earliest: its result is never longer than that of always
/// going to the place with the next circuit, and has no guarantee beyond that.
///
/// Complexity: O(64 n² (1 + log n)) for n places, and 64 n² calls of next().
#pragma once

#include <span>
#include <vector>

#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

/// The ranks of `group` in that order, the first one first. `placement[r]` is the host of rank r.
[[nodiscard]] std::vector<RankId> circuit_order(std::span<const RankId> group,
                                                const network::CircuitWindows& windows,
                                                std::span<const network::HostId> placement);

/// Gives the collectives whose algorithms use circuits in order (CircuitUse::kInOrder) partitions of their
/// own, with the same groups in that order. Nothing without circuit windows in `options`.
void order_by_circuits(Program& program, const SystemOptions& options,
                       std::span<const network::HostId> placement);

}  // namespace astrolabe::system
