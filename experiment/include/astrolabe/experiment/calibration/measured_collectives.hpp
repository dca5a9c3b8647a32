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
/// Both are extrapolations, and are reported as such.
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
    double left_out_error = 0;  ///< mean over sizes, each predicted by a fit without it
    std::string source{};       ///< of the numbers: a file's name
    std::string fingerprint{};  ///< of its text
};

struct MeasuredCollectives {
    std::string machine;
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
    bool is_extrapolated = false;  ///< beyond the sizes or the ranks that were measured
};
/// Nothing where the kind was not measured. `ranks` >= 2.
[[nodiscard]] std::optional<MeasuredTime> measured_time(const MeasuredCollectives& measured,
                                                        system::CollectiveKind kind, Bytes nccl_size,
                                                        std::size_t ranks);

/// What a program has of measured times.
struct MeasuredUse {
    std::string machine;
    std::uint64_t collectives = 0;            ///< that have one, over all iterations
    std::vector<std::string> extrapolated{};  ///< names of those beyond what was measured
    std::vector<std::string> unknown{};       ///< names of those of kinds that were not measured
};

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
