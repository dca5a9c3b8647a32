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
/// Lookups that were measured by table replace computed ones table by table: `samples` samples take `forward`
/// and their update `backward`; more samples take proportionally longer (docs/theory/opera-dlrm-study.md,
/// "Compute times": linear in the batch, independent of the dimension).
///
/// Limits: one engine, so nothing on a device overlaps; `peak` is what dense layers reach, not what the data
/// sheet promises; no cache, no kernel launch. A collective takes nothing from the device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload {

struct Work {
    Flops flops = Flops(0);
    Bytes bytes = Bytes(0);  ///< moved to and from memory; 0: not counted
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
    std::optional<FlopRate> peak = std::nullopt;
    std::optional<Bandwidth> memory_bandwidth = std::nullopt;
    std::map<std::string, LayerTimes, std::less<>> measured = {};  ///< by layer name
    std::optional<TableTimes> tables = std::nullopt;

    /// The measured time of one pass over `rows` samples, if there is one; they must be known then.
    [[nodiscard]] std::optional<Time> measured_time(std::string_view layer,
                                                    std::optional<MeasuredTime> LayerTimes::*pass,
                                                    std::int64_t rows) const;
};

/// The roofline. The rate of each term that is not zero must be known and positive.
[[nodiscard]] Time time_of(const Device& device, const Work& work);

}  // namespace astrolabe::workload
