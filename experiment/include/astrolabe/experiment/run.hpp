/// Running an experiment, and what one run tells.
///
/// Lower bound (design.md 4). Whatever the algorithm and the fabric, over a whole run
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

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <astrolabe/experiment/experiment.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/link_utilization.hpp>
#include <astrolabe/system/executor.hpp>

namespace astrolabe::experiment {

struct EngineFacts {
    std::uint64_t events = 0;
    double wall_seconds = 0;
    std::uint64_t peak_rss_bytes = 0;
};

/// How far a run is; given to the observer about twice a second of wall time.
struct Progress {
    Time simulated;
    std::uint64_t finished_operations = 0;  ///< operations × ranks
    std::uint64_t total_operations = 0;
    std::uint64_t events = 0;
    double wall_seconds = 0;
};
using ProgressObserver = std::function<void(const Progress&)>;

struct Bound {
    Time compute;        ///< busiest rank
    Time communication;  ///< ports, 0 if nothing must be sent
    [[nodiscard]] Time value() const { return compute > communication ? compute : communication; }
};

/// A finished run. Times of `execution` are exact; everything else is derived from it and the network's
/// counters.
struct Run {
    system::ExecutionReport execution;
    network::NetworkStatistics network;
    std::vector<Time> iteration_times;  ///< end to end; the last includes the drain, so they sum to the total
    Bound bound;                        ///< of the whole run
    std::array<Bytes, system::kCollectiveKinds> traffic;  ///< payload sent over all ranks
    network::LinkUtilization utilization;
    std::string fingerprint;  ///< of everything above, 16 hexadecimal digits
    EngineFacts engine;
};

/// The lower bound of a program on the hosts of its ranks (rank i on host i).
[[nodiscard]] Bound lower_bound(const system::Program& program, const network::Fabric& fabric);

/// Runs to the end or to a stall (`execution.finished` is false then and the rest describes the part that
/// ran).
[[nodiscard]] Run run_experiment(const Experiment& experiment, const ProgressObserver& observer);

}  // namespace astrolabe::experiment
