/// How ranks compute otherwise than `cluster.device` says (docs/models/devices.md).
///
/// Devices by rank. Every rank of `cluster.devices` computes on the device of its entry, or on that of the
/// cluster, and takes `slowdown` times as long, to the picosecond (slowdowns are whole billionths). A job is
/// written once for every device; its programs must differ in the times of computations alone.
///
/// Jitter. Every computation of a duration d > 0 takes F·d on a rank, or d + F·m with `added` m, F being
/// drawn with mean 1 and standard deviation c = `variation`:
///
///     uniform       1 - c √3 ≤ F < 1 + c √3                                         c ≤ 1/√3
///     normal        1 + c Z, Z standard normal; drawn again where |Z| > 1/c, which keeps the mean, and makes
///                   the deviation smaller by 1.4 % at c = 1/3                         c ≤ 1/3
///     lognormal     exp(σ Z - σ²/2), σ² = ln(1 + c²)
///     exponential   1 - c + c E, E exponential with mean 1                           c ≤ 1
///
/// F is whole billionths. It depends on the seed, the rank, the iteration and the name of the operation
/// alone, so that nothing that a file adds elsewhere changes it; with `each: iteration` not on the name.
///
/// Contention. While collectives are in flight on a rank (executor.hpp, "Contention") they hold a share of its
/// compute units and of its memory bandwidth, and a computation has the rest:
///
///     d' = its duration on a device of (1 - compute_share) of every FLOP rate and (1 - memory_bandwidth_share)
///          of every memory bandwidth; times that were measured are divided by the smaller of the two
///
/// by the job's own formulas: what is bound by the memory is not slowed by a share of the compute units, and a
/// kernel's floor and the host's time by neither. Slowdown and jitter multiply d and d' alike.
///
/// What follows a collective without being a computation (completion_delay of program.hpp) is neither slowed
/// nor jittered.
///
/// Errors: entries that share a rank, ranks that there are not, empty ranges, devices that the job cannot
/// compute on or that make another program. Complexity: O(operations · ranks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/components.hpp>

namespace astrolabe::experiment {

struct RankRange {
    std::size_t first = 0;
    std::size_t last = 0;  ///< included
};

struct RankDevice {
    std::vector<RankRange> ranks;
    double slowdown = 1;
    std::optional<Registry<workload::Device>::Configured> device;  ///< unset: the cluster's
};

enum class JitterDistribution : std::uint8_t { kUniform, kNormal, kLognormal, kExponential };
enum class JitterDraw : std::uint8_t { kOperation, kIteration };

struct Jitter {
    JitterDistribution distribution{};
    double variation = 0;
    std::optional<Time> added;  ///< unset: durations are multiplied
    JitterDraw each = JitterDraw::kOperation;
    std::optional<std::uint64_t> seed;  ///< unset: that of the experiment
};

struct Contention {
    double compute_share = 0;
    double memory_bandwidth_share = 0;
};

/// `devices` must outlive the schema.
[[nodiscard]] Schema<RankDevice> rank_device_schema(const Registry<workload::Device>& devices);
[[nodiscard]] Schema<Jitter> jitter_schema();
[[nodiscard]] Schema<Contention> contention_schema();
/// What is left of a device.
[[nodiscard]] workload::Device beside_collectives(workload::Device device, const Contention& contention);

/// By keys of the cluster section.
[[nodiscard]] ValidationErrors rank_device_errors(const std::vector<RankDevice>& devices, std::size_t ranks);

/// F in billionths.
[[nodiscard]] std::int64_t jitter_factor(const Jitter& jitter, std::uint64_t seed, std::size_t rank,
                                         int iteration, std::string_view operation);

}  // namespace astrolabe::experiment
