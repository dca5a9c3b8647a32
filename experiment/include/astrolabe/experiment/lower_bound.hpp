/// The lower bound of a run (design.md 4).
///
/// Whatever the algorithm and the fabric, over a whole run
///     bound = max( max over ranks of Σ compute,  Σ bytes that must leave the ranks / Σ rates out of their
///     hosts + α )
/// where of a collective over N ranks with S bytes per rank at least
///     all_reduce 2(N-1)S,  reduce_scatter and all_to_all (N-1)S,  all_gather N(N-1)S  bytes must leave the
///     group's ranks
/// (all_reduce: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
/// JPDC 2009, section 3), α is the least latency between two of the ranks' hosts, and the slower of sending
/// and receiving counts. The bound of an iteration is that of the run over the number of iterations.
/// Asserted: no run beats it.
#pragma once

#include <optional>
#include <string>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/system/program.hpp>

namespace astrolabe::experiment {

struct Bound {
    Time compute;        ///< busiest rank
    Time communication;  ///< ports, 0 if nothing must be sent
    [[nodiscard]] Time value() const { return compute > communication ? compute : communication; }
};

/// The lower bound of a program on the hosts of its ranks (rank i on host i). Exact in 128 bits, rounded
/// down.
[[nodiscard]] Bound lower_bound(const system::Program& program, const network::Fabric& fabric);

/// Byte counts are 64-bit sums; a run stays well inside them.
inline constexpr Bytes kMostTraffic = Bytes(std::int64_t{1} << 62);

/// Why the collectives of a program together exceed what can be counted, or nothing.
[[nodiscard]] std::optional<std::string> traffic_problem(const system::Program& program);

}  // namespace astrolabe::experiment
