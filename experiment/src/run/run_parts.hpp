// What runs of one job and of several are made of: their fingerprint, their iterations, and what must hold.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <astrolabe/experiment/results/fingerprint.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

[[nodiscard]] std::uint64_t peak_rss_bytes();

/// What was chosen for a job, and its times and counts.
void add_execution(Fingerprint& print, const Experiment& experiment, const system::ExecutionReport& report);
void add_network(Fingerprint& print, const network::NetworkStatistics& network);

/// Ends of iterations are the latest over ranks; the drain belongs to the last.
[[nodiscard]] std::vector<Time> iteration_times(const system::ExecutionReport& report, int iterations);
/// Payload over all ranks.
[[nodiscard]] std::array<Bytes, system::kCollectiveKinds> traffic_by_kind(
    const system::Program& program, const system::ExecutionReport& report);
/// What the job put on the network: payload and requests.
[[nodiscard]] Bytes bytes_of(const Run& run);

/// By how much the fluid engine may end a run early: each message of a chain by 2^-36 of its duration.
[[nodiscard]] inline Time rounding_of(Time bound) {
    return bound / (std::int64_t{1} << 34);
}

/// Whether iterations were left out by measure, so that times may be off by the tolerance.
[[nodiscard]] inline bool is_estimate(const Run& run) {
    return run.skipped && run.skipped->how == SkippedIterations::How::kMeasured;
}

/// Of a finished run: its lower bound, but for the tolerance of iterations that were left out by measure, the
/// tiling of its critical path, and what its operations sent.
void check_job(const Experiment& experiment, const Run& run);
/// No link carried more in this time than its rate lets it, but for `in_flight`, which a network of slots
/// may have granted already.
void check_links(const network::Fabric& fabric, const network::NetworkStatistics& network, Time total,
                 Bytes in_flight);

}  // namespace astrolabe::experiment
