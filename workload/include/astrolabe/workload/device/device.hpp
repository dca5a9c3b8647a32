/// What a piece of computation costs on one device.
///
/// Model, the roofline (Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for
/// multicore architectures", CACM 2009):
///
///     time = max(FLOP / peak, bytes moved / memory bandwidth),  either term may be absent
///
/// each term rounded up to the next picosecond. A matrix product of m × k by k × n takes 2·m·k·n FLOP and
/// moves (m·k + k·n + m·n) elements; the input gradient and the weight gradient are products of the same
/// three matrices and cost the same (docs/theory/training-loops.md, "Sizes of collectives").
///
/// Times that were measured, by layer name, replace computed ones pass by pass. A layer's time is one number,
/// or a list by rows, the samples of a device: between two listed rows it is interpolated linearly and
/// rounded up, outside of the list it is not known.
///
/// Matrix products on a GPU reach less of the rate the fewer rows they have, and no kernel is done before its
/// floor. With m rows (samples), FLOP of a product and r the rate of the precision:
///
///     time = max(floor, FLOP·(m + m½) / (m·r)),  m½ = half_rows
///
/// A backward pass is two products, and each has half of `backward_floor`. r is `gemm.rate` where it is
/// given, what large products reach; otherwise the peak. Embedding kernels have rates of their own, by the
/// columns of a row (LookupRates).
///
/// Lookups that were measured by table replace computed ones table by table: `samples` samples take `forward`
/// and their update `backward`; more samples take proportionally longer (docs/theory/opera-dlrm-study.md,
/// "Compute times": linear in the batch, independent of the dimension).
///
/// Limits: one engine, so nothing on a device overlaps; `peak` is what dense layers reach, not what the data
/// sheet promises; no cache. A collective takes nothing from the device, unless the
/// cluster says so (docs/models/devices.md, "Contention").
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device/host_costs.hpp>

namespace astrolabe::workload {

/// Of the operands of matrix products. fp32 is without TF32, as PyTorch computes unless told otherwise.
enum class Precision : std::uint8_t { kFp32, kTf32, kBf16, kFp16 };

struct Work {
    Flops flops = Flops(0);
    Bytes bytes = Bytes(0);  ///< moved to and from memory; 0: not counted
    Precision precision = Precision::kFp32;
};

/// A value that depends on a number: listed for some, interpolated linearly between two of them and rounded
/// down, that of the nearest beyond.
template <class T>
class ByNumber {
public:
    ByNumber(T same)  // NOLINT(google-explicit-constructor): reads as the value itself
        : listed_{{1, same}} {}
    /// At least one.
    explicit ByNumber(std::map<std::int64_t, T> listed)
        : listed_(std::move(listed)) {
        ASTROLABE_ASSERT(!listed_.empty(), "some value is listed");
    }

    [[nodiscard]] bool is_same() const { return listed_.size() == 1; }
    [[nodiscard]] const std::map<std::int64_t, T>& listed() const { return listed_; }
    [[nodiscard]] T at(std::int64_t number) const {
        const auto above = listed_.lower_bound(number);
        if (above == listed_.end()) {
            return listed_.rbegin()->second;
        }
        if (above == listed_.begin() || above->first == number) {
            return above->second;
        }
        const auto below = std::prev(above);
        const detail::Int128 weighted =
            static_cast<detail::Int128>(count(below->second)) * (above->first - number) +
            static_cast<detail::Int128>(count(above->second)) * (number - below->first);
        return T(static_cast<std::int64_t>(weighted / (above->first - below->first)));
    }

    friend bool operator==(const ByNumber&, const ByNumber&) = default;

private:
    static std::int64_t count(T value) {
        if constexpr (std::integral<T>) {
            return value;
        } else {
            return value.count();
        }
    }

    std::map<std::int64_t, T> listed_;
};

/// Rates by precision, of what is known.
using PrecisionRates = std::map<Precision, FlopRate>;

/// Matrix products of a GPU.
struct GemmRates {
    PrecisionRates rate = {};              ///< r; absent: the device's peak
    ByNumber<std::int64_t> half_rows = 0;  ///< m½, by the columns of the result
    Time floor = Time(0);                  ///< of a forward pass
    Time backward_floor = Time(0);         ///< of both gradients together
};

/// Embedding kernels of a GPU.
struct LookupRates {
    std::optional<ByNumber<Bandwidth>> bandwidth =
        std::nullopt;               ///< by the columns of a row; absent: the memory's
    Time floor = Time(0);           ///< of the lookup of all tables of a rank that are looked up together
    Time backward_floor = Time(0);  ///< of their update, sort included
};

/// A time, or times by rows.
class MeasuredTime {
public:
    MeasuredTime(Time time)  // NOLINT(google-explicit-constructor): reads as the time itself
        : by_rows_{{0, time}} {}
    /// At least one; rows increase.
    explicit MeasuredTime(std::vector<std::pair<std::int64_t, Time>> by_rows);

    [[nodiscard]] bool is_same() const { return by_rows_.size() == 1 && by_rows_.front().first == 0; }
    [[nodiscard]] const std::vector<std::pair<std::int64_t, Time>>& by_rows() const { return by_rows_; }
    [[nodiscard]] bool knows(std::int64_t rows) const;
    /// Requires that `rows` are known.
    [[nodiscard]] Time at(std::int64_t rows) const;

    friend bool operator==(const MeasuredTime&, const MeasuredTime&) = default;

private:
    std::vector<std::pair<std::int64_t, Time>> by_rows_;  // one of 0 rows where the time is always the same
};

/// Times of a layer's three passes on one rank; a pass that is not there is not known.
struct LayerTimes {
    std::optional<MeasuredTime> forward = std::nullopt;
    std::optional<MeasuredTime> input_gradient = std::nullopt;
    std::optional<MeasuredTime> weight_gradient = std::nullopt;
};

/// Times of a pass over one table: one for all tables, or one each.
struct TableTimes {
    std::int64_t samples = 1;  ///< that the times are for
    std::vector<Time> forward = {};
    std::vector<Time> backward = {};  ///< the update

    /// Of a table, for `samples` samples.
    [[nodiscard]] Time time(std::vector<Time> TableTimes::*pass, std::size_t table) const;
};

struct Device {
    std::optional<FlopRate> peak = std::nullopt;  ///< of every precision; or `peaks`, not both
    std::optional<Bandwidth> memory_bandwidth = std::nullopt;
    PrecisionRates peaks = {};
    std::optional<Bytes> memory = std::nullopt;         ///< its size
    std::optional<Bandwidth> host_link = std::nullopt;  ///< to the memory of its host, one direction
    std::optional<GemmRates> gemm = std::nullopt;
    std::optional<LookupRates> lookup = std::nullopt;
    std::optional<HostCosts> host = std::nullopt;
    std::optional<Time> kernel = std::nullopt;  ///< that a kernel takes at least; host_costs.hpp
    std::map<std::string, LayerTimes, std::less<>> measured = {};  ///< by layer name
    std::optional<TableTimes> tables = std::nullopt;

    [[nodiscard]] std::optional<FlopRate> peak_of(Precision precision) const;
    /// Of matrix products: `gemm.rate`, or the peak.
    [[nodiscard]] std::optional<FlopRate> gemm_rate(Precision precision) const;
    /// Of embedding kernels on rows of as many columns: `lookup.bandwidth`, or the memory's.
    [[nodiscard]] std::optional<Bandwidth> lookup_bandwidth(std::int64_t columns) const;

    /// The measured time of one pass over `rows` samples, if there is one; they must be known then.
    [[nodiscard]] std::optional<Time> measured_time(std::string_view layer,
                                                    std::optional<MeasuredTime> LayerTimes::*pass,
                                                    std::int64_t rows) const;
};

/// The roofline. The rate of each term that is not zero must be known and positive.
[[nodiscard]] Time time_of(const Device& device, const Work& work);
/// A product of `rows` rows and `columns` columns, without its floor; the rate must be known, the rows
/// positive.
[[nodiscard]] Time product_time(const Device& device, Flops work, std::int64_t rows, std::int64_t columns,
                                Precision precision);

}  // namespace astrolabe::workload
