/// What is known of the lookups of a table beside their number: how often they meet the same row, how their
/// number varies from sample to sample, whether they carry weights, and in which memory the rows are.
///
/// Unique rows. Of n lookups in a table, or in a part of its rows, u rows differ. Sorting and reducing work
/// on n, updates on u. In the order of preference:
///
///     unique_share  u = share·n, rounded up
///     histogram     counted for a batch of B0 samples, U rows in L lookups: r_c rows a lookup were met
///                   k_c times, 2^(c-1) < k_c <= 2^c. Of B = s·B0 samples
///                     u/n = (1/s) · Σ_c r_c·t(k_c, s) / Σ_c r_c · U/L
///                     t(k, s) = 1 - (1 - s)^k  for s <= 1;  (1 - e^(-s·k)) / (1 - e^(-k))  above
///                   U/L being unique rows a lookup of the whole batch. The first is exact in the mean for a
///                   random part of the batch; the second takes the counts for the rates of rows and leaves
///                   out rows that the batch never met, so it is an extrapolation and too small
///     neither       rows are hit evenly: R·(1 - (1 - 1/R)^n) of R rows
///
/// and never more than the rows or the lookups. A shard of columns sees all lookups, a shard of rows its
/// share of both. The powers are computed by squaring and the exponential as a power, with the basic
/// operations of IEEE doubles alone.
///
/// Lookups of a sample. Every sample looks up `pooling` rows, or, with PoolingSpread, as many in the mean
/// with deviation σ. The sum over the m samples of a rank is drawn: m·P + σ·√m·z, rounded, at least 0, z the
/// sum of 12 uniform numbers less 6. Of the lookups in a block of rows with the share p of those left, n·p +
/// √(n·p·(1 - p))·z, so that a table's blocks have all its lookups together. One draw for each rank and
/// table holds for all iterations. By the central limit theorem this is the distribution for any shape of
/// the single sample if m is some dozens or more; for fewer it is too symmetric.
///
/// Memory. hbm: of the device. host: of its host, read and written over the host link at every access.
/// cached: of the host, with a software cache of load_factor of the rows in the device's memory; of the rows
/// that a batch looks up the share hit_rate is in it, the others are fetched before the lookup while those
/// evicted are written back (FBGEMM, managed caching). State of the optimiser that has a value for each value
/// of a row stays with rows in the memory of the host and is not cached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/validation_error.hpp>

namespace astrolabe::workload {

struct ReuseHistogram {
    std::int64_t batch = 0;            ///< B0, samples that were counted
    double lookups_per_row = 1;        ///< L/U
    std::vector<double> rows = {};     ///< of the rows, the share met 2^(c-1) < k <= 2^c times; c from 0
    std::vector<double> lookups = {};  ///< g_c; both lists sum to about 1

    /// u/n of a batch of `samples` >= 1.
    [[nodiscard]] double unique_share(std::int64_t samples) const;
};

/// Keys: "batch", "lookups_per_row", "rows", "lookups".
[[nodiscard]] ValidationErrors validation_errors(const ReuseHistogram& histogram);

struct PoolingSpread {
    std::optional<double> deviation = std::nullopt;  ///< σ; none: √P, as a Poisson distribution has
    std::int64_t seed = 1;
};

enum class TableMemory : std::uint8_t { kHbm, kHost, kCached };

/// Of kCached.
struct RowCache {
    double load_factor = 0.2;
    double hit_rate = 0;
};

struct LookupTraits {
    std::optional<double> unique_share = std::nullopt;
    std::shared_ptr<const ReuseHistogram> reuse = nullptr;
    std::optional<PoolingSpread> spread = std::nullopt;
    bool weighted = false;  ///< a weight of 4 bytes a lookup, and its gradient
    TableMemory memory = TableMemory::kHbm;
    RowCache cache = {};
};

/// u of `lookups` that `samples` samples make in `rows` rows of the table.
[[nodiscard]] std::int64_t unique_rows(const LookupTraits& traits, std::int64_t rows, std::int64_t lookups,
                                       std::int64_t samples);

}  // namespace astrolabe::workload
