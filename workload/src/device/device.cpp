#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload {

MeasuredTime::MeasuredTime(std::vector<std::pair<std::int64_t, Time>> by_rows)
    : by_rows_(std::move(by_rows)) {
    ASTROLABE_ASSERT(!by_rows_.empty(), "some rows were measured");
    ASTROLABE_ASSERT(
        std::adjacent_find(by_rows_.begin(), by_rows_.end(),
                           [](const auto& a, const auto& b) { return a.first >= b.first; }) == by_rows_.end(),
        "rows increase");
}

bool MeasuredTime::knows(std::int64_t rows) const {
    return is_same() || (by_rows_.front().first <= rows && rows <= by_rows_.back().first);
}

Time MeasuredTime::at(std::int64_t rows) const {
    ASTROLABE_ASSERT(knows(rows), "unknown rows were reported before");
    if (is_same()) {
        return by_rows_.front().second;
    }
    const auto above = std::find_if(by_rows_.begin(), by_rows_.end(),
                                    [rows](const auto& listed) { return listed.first >= rows; });
    if (above->first == rows) {
        return above->second;
    }
    const auto& [rows0, time0] = *(above - 1);
    const auto& [rows1, time1] = *above;
    // A weighted mean, so that falling times are as good as rising ones.
    const detail::Int128 weighted = static_cast<detail::Int128>(time0.count()) * (rows1 - rows) +
                                    static_cast<detail::Int128>(time1.count()) * (rows - rows0);
    const std::int64_t span = rows1 - rows0;
    return Time(static_cast<std::int64_t>((weighted + span - 1) / span));
}

Time TableTimes::time(std::vector<Time> TableTimes::*pass, std::size_t table) const {
    const std::vector<Time>& times = this->*pass;
    return times.size() == 1 ? times.front() : times.at(table);
}

std::optional<FlopRate> Device::peak_of(Precision precision) const {
    const auto found = peaks.find(precision);
    return found == peaks.end() ? peak : std::optional(found->second);
}

std::optional<FlopRate> Device::gemm_rate(Precision precision) const {
    if (gemm) {
        if (const auto found = gemm->rate.find(precision); found != gemm->rate.end()) {
            return found->second;
        }
    }
    return peak_of(precision);
}

std::optional<Bandwidth> Device::lookup_bandwidth(std::int64_t columns) const {
    return lookup && lookup->bandwidth ? std::optional(lookup->bandwidth->at(columns)) : memory_bandwidth;
}

std::optional<Time> Device::measured_time(std::string_view layer,
                                          std::optional<MeasuredTime> LayerTimes::*pass,
                                          std::int64_t rows) const {
    const auto found = measured.find(layer);
    if (found == measured.end() || !(found->second.*pass)) {
        return std::nullopt;
    }
    return (found->second.*pass)->at(rows);
}

Time time_of(const Device& device, const Work& work) {
    Time time;
    if (work.flops != Flops(0)) {
        const std::optional<FlopRate> peak = device.peak_of(work.precision);
        ASTROLABE_ASSERT(peak && *peak > FlopRate(0), "work with FLOP needs a peak rate");
        time = work.flops / *peak;
    }
    if (work.bytes != Bytes(0)) {
        ASTROLABE_ASSERT(device.memory_bandwidth && *device.memory_bandwidth > Bandwidth(0),
                         "work with memory traffic needs a memory bandwidth");
        time = std::max(time, work.bytes / *device.memory_bandwidth);
    }
    return time;
}

Time product_time(const Device& device, Flops work, std::int64_t rows, std::int64_t columns,
                  Precision precision) {
    const std::optional<FlopRate> rate = device.gemm_rate(precision);
    ASTROLABE_ASSERT(rate && *rate > FlopRate(0), "a product needs a rate");
    ASTROLABE_ASSERT(rows >= 1, "a product has rows");
    const std::int64_t half = device.gemm ? device.gemm->half_rows.at(columns) : 0;
    return Time(detail::multiply_divide_up((work / *rate).count(), rows + half, rows));
}

}  // namespace astrolabe::workload
