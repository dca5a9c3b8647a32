/// An order of ranks in which each meets the next soon after it met the one before: rings on circuits.
///
/// Model. On a ring of ranks a block waits, at every rank, for the circuit to the next (direct_opportunities
/// .hpp of the network layer): handed over to it at its begin b, it is there at its end, and waits for the
/// first circuit to the one after that begins then or later. The sum of these waits all the way round is a
/// whole number of periods, and a collective of k rounds takes k times as long. In the order of racks it is
/// about half a period for every rank; in a good order many circuits follow one another within a period.
///
/// Order. Places are put in a ring, from that of the first rank on, so that the time to get round is small.
/// Where a place meets itself its ranks follow one another; else the ring visits the places again and again,
/// one rank of each at a time, for ranks of one place would have to be relayed.
/// Finding the quickest ring is a travelling-salesman problem with waits. It is searched place by place,
/// keeping the 64 beginnings that are earliest where they end (beam search): no worse than always going to
/// the place that is met next, and without a guarantee beyond that.
///
/// Complexity: O(64 n² (1 + log n)) for n places, and 64 n² of next().
#pragma once

#include <span>
#include <vector>

#include <astrolabe/network/direct_opportunities.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

/// The ranks of `group` in that order, the first one first. `placement[r]` is the host of rank r.
[[nodiscard]] std::vector<RankId> circuit_order(std::span<const RankId> group,
                                                const network::DirectOpportunities& opportunities,
                                                std::span<const network::HostId> placement);

/// Gives the collectives whose algorithms use circuits in order (CircuitUse::kInOrder) partitions of their
/// own, with the same groups in that order. Nothing without opportunities in `options`.
void order_by_circuits(Program& program, const SystemOptions& options,
                       std::span<const network::HostId> placement);

}  // namespace astrolabe::system
