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
        ASTROLABE_ASSERT(device.peak && *device.peak > FlopRate(0), "work with FLOP needs a peak rate");
        time = work.flops / *device.peak;
    }
    if (work.bytes != Bytes(0)) {
        ASTROLABE_ASSERT(device.memory_bandwidth && *device.memory_bandwidth > Bandwidth(0),
                         "work with memory traffic needs a memory bandwidth");
        time = std::max(time, work.bytes / *device.memory_bandwidth);
    }
    return time;
}

}  // namespace astrolabe::workload
