/// The lower bound of a run (docs/models/bounds.md, "Bounds").
///
/// Whatever the algorithm and the fabric, over a whole run
///     bound = max( max over ranks and their streams of Σ compute,
///                  Σ bytes that must leave the ranks / Σ rates out of their hosts + α,
///                  max over ranks of bytes that must leave (enter) it / rate out of (into) its host + α )
/// where of a collective over N ranks with S bytes per rank in k chunks, at least
///                      leave all ranks    leave rank r          enter rank r
///     all_reduce       2(N-1)S            S                     S
///     reduce_scatter   (N-1)S             S - ⌊S/N⌋ - k         ⌊S/N⌋ - k
///     all_gather       N(N-1)S            S                     (N-1)S
///     all_to_all       (N-1)S             S - ⌊S/N⌋ - k         (N-1)(⌊S/N⌋ - k)
///     broadcast        (N-1)S             S, the root           S, the others
///     reduce           (N-1)S             S, the others         S, the root
///     point_to_point   S                  S, the sender         S, the receiver
/// all_reduce over all ranks: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", JPDC 2009, section 3; of one rank, every block leaves it as its contribution or, where it
/// adds them up, as the result. A block of a chunk is the chunk's N-th part or one byte more, hence k. In an
/// uneven all_to_all what leaves and enters a rank is known exactly: all but what it has for itself.
/// α is the least latency between two of the ranks' hosts; it counts whenever something must be sent, however
/// little. The bound of an iteration is that of the run over
/// the number of iterations. Asserted: no run beats it.
#pragma once

#include <optional>
#include <string>

#include <astrolabe/core/units.hpp>
#include <astrolabe/experiment/file/placement.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

struct Bound {
    Time compute;        ///< busiest stream of a rank
    Time communication;  ///< ports, 0 if nothing must be sent
    [[nodiscard]] Time value() const { return compute > communication ? compute : communication; }
};

/// The lower bound of a program on the hosts of its ranks. Exact in 128 bits, rounded down.
/// O(operations · ranks).
[[nodiscard]] Bound lower_bound(const system::Program& program, const system::SystemOptions& options,
                                const network::Fabric& fabric, const Placement& placement = {});

/// Least latency between the hosts of two of the ranks: over a link that joins two hosts, or out to a switch
/// and in from one.
[[nodiscard]] Time least_latency(const network::Fabric& fabric, std::size_t ranks,
                                 const Placement& placement);

/// Why no run can take as little as the bound, or nothing: simulated time ends.
[[nodiscard]] std::optional<std::string> time_problem(const Bound& bound);

/// Byte counts are 64-bit sums; a run stays well inside them.
inline constexpr Bytes kMostTraffic = Bytes(std::int64_t{1} << 62);

/// Why the collectives of a program together exceed what can be counted, or nothing.
[[nodiscard]] std::optional<std::string> traffic_problem(const system::Program& program,
                                                         const system::SystemOptions& options);

}  // namespace astrolabe::experiment
