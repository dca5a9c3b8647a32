/// What collectives take on a machine that was measured: pieces of latency and rate, and how well they fit.
///
/// Model. A series holds what one collective took in groups of `ranks`, for sizes S as nccl-tests counts them
/// (`nccl_size`). Sizes fall into at most three pieces (a library's protocols: low latency first, bandwidth
/// last); within one
///
///     t(S) = latency + S / rate
///
/// Beyond the last size measured the last piece goes on, below the first one the first. For a group of n
/// ranks that was not measured the series of the nearest size m (by ratio, the smaller of two) stands in: its
/// latency, and its time of bytes times f(n)/f(m), where f is a rank's traffic over S,
///
///     all_reduce 2(n-1)/n;  all_gather, reduce_scatter, all_to_all (n-1)/n;  others 1
///
/// Both are extrapolations, and are reported with the line of the series.
///
/// Where the file has `scaling`, the latency of n ranks follows from that of the m that were measured by the
/// steps of a ring, of which those across nodes take longer, and no node sends faster than its interfaces:
///
///     latency(n) = latency(m) + (inside steps(n) - inside steps(m)) · inside
///                             + (across steps(n) - across steps(m)) · across,   not below 0
///     steps      2(n-1) all_reduce, 1 point_to_point, n-1 others; across: the same of the number of nodes
///     bytes take at least  S·f(n) / (ranks a node · nic)            rings, over several nodes
///                          S·(n - ranks a node)/n / nic             all_to_all
///
/// With `other_kinds` a collective that was not measured takes what one that was measured takes, with its own
/// f and steps: reduce_scatter and all_gather that of each other, then of all_reduce; all_reduce that of
/// all_gather, then of reduce_scatter; broadcast and reduce that of each other.
///
/// Launches. What a host takes to launch is no part of a piece (`astrolabe calibrate --launch` takes it off)
/// and is kept beside the pieces as `launch`; with `launches` it is added to every time, for workloads whose
/// loop has no host of its own.
///
/// In a simulation t is a floor: a collective ends on a rank no sooner than t after the last rank of its
/// group has issued it. What the network takes longer it takes; so contention shows, and software that no
/// network model has (launch, protocol, synchronisation inside the library) is not left out.
///
/// Fit. Of all ways to cut the sizes into 1, 2 or 3 pieces of at least three sizes, each fitted by least
/// squares of the relative error with latency >= 0 and 1/rate >= 0, and none faster at its first size than
/// the one before at its last, the one with the least sum of squares for its number of pieces; one piece more
/// where that lowers by a twentieth the mean relative error of sizes that are left out of the fit in turn.
/// O(sizes^3) fits of constant time; at most 64 sizes.
///
/// Sources: the notes on performance of NVIDIA/nccl-tests (sizes, bus bandwidth).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::experiment {

struct TimePiece {
    Bytes up_to{};  ///< the largest size of the piece that was measured
    Time latency{};
    std::optional<Bandwidth> rate{};  ///< unset: its time does not depend on the size
};

struct MeasuredSeries {
    system::CollectiveKind kind = system::CollectiveKind::kAllReduce;
    std::size_t ranks = 2;
    Bytes from{};                   ///< the smallest size measured
    std::vector<TimePiece> pieces;  ///< at least one, `up_to` rising
    // How well it fits, relative errors; for readers.
    double mean_error = 0;
    double largest_error = 0;
    double left_out_error = 0;            ///< mean over sizes, each predicted by a fit without it
    double left_out_geometric_error = 0;  ///< the same as a geometric mean of ratios, less one
    Time launch{};                        ///< of the host, that was taken off every time
    std::string source{};                 ///< of the numbers: a file's name
    std::string fingerprint{};            ///< of its text
    SourceRange where{};                  ///< of the series in the file that was read
};

/// How times of other numbers of ranks follow from those measured.
struct GroupScaling {
    std::size_t ranks_per_node = 1;
    Time inside{};                      ///< a step between ranks of a node
    Time across{};                      ///< a step between nodes
    std::optional<Bandwidth> nic = {};  ///< of the interfaces of a node, for each of its ranks
};

struct MeasuredCollectives {
    std::string machine;
    std::optional<GroupScaling> scaling{};  ///< unset: latencies as they were measured
    bool other_kinds = false;
    bool launches = false;
    std::vector<MeasuredSeries> series;
};

/// Keys of a file that `astrolabe calibrate` writes. Refuses pieces that do not rise, a series twice.
[[nodiscard]] Schema<MeasuredCollectives> measured_collectives_schema();

/// S of a collective in a group of `ranks`: what nccl-tests calls its size.
[[nodiscard]] Bytes nccl_size(system::CollectiveKind kind, Bytes size, std::size_t ranks);
/// Traffic of a rank over S: f above; > 0 for two ranks or more.
[[nodiscard]] double traffic_factor(system::CollectiveKind kind, std::size_t ranks);

struct MeasuredTime {
    Time time;
    bool is_extrapolated = false;  ///< beyond the sizes, the ranks or the kind that were measured
    const MeasuredSeries* series;  ///< that it was taken from, not null
};
/// Nothing where the kind was not measured. `ranks` >= 2.
[[nodiscard]] std::optional<MeasuredTime> measured_time(const MeasuredCollectives& measured,
                                                        system::CollectiveKind kind, Bytes nccl_size,
                                                        std::size_t ranks);

/// What lies beyond a series.
struct RangeWarning {
    SourceRange where;    ///< of the series
    std::string message;  ///< "all_reduce of 8 ranks was measured from 4B to 8GiB; … are beyond"
};

/// What a program has of measured times.
struct MeasuredUse {
    std::string machine;
    std::uint64_t collectives = 0;            ///< that have one, over all iterations
    std::vector<std::string> extrapolated{};  ///< names of those beyond what was measured
    std::vector<std::string> unknown{};       ///< names of those of kinds that were not measured
    std::vector<RangeWarning> warnings{};     ///< one for each series that something lies beyond
};

/// Steps of the series' latencies by number of ranks, by least squares over kinds that were measured in
/// several groups: those on one node give `inside`, the others `across`. Nothing where one number of ranks
/// was measured. `ranks_per_node` > 0.
[[nodiscard]] std::optional<GroupScaling> fit_scaling(const std::vector<MeasuredSeries>& series,
                                                      std::size_t ranks_per_node);

/// What one size took.
struct MeasuredPoint {
    Bytes size;
    Time time;
};
/// Requires 3 to 64 points of rising sizes and times above zero.
[[nodiscard]] MeasuredSeries fit_series(system::CollectiveKind kind, std::size_t ranks,
                                        const std::vector<MeasuredPoint>& points);
[[nodiscard]] Time time_of(const MeasuredSeries& series, Bytes size);

}  // namespace astrolabe::experiment
