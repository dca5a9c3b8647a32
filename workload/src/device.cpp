#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/device.hpp>

namespace astrolabe::workload {

std::optional<Time> Device::measured_time(std::string_view layer,
                                          std::optional<Time> LayerTimes::*pass) const {
    const auto found = measured.find(layer);
    return found == measured.end() ? std::nullopt : found->second.*pass;
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
