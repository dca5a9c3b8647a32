#include "conversion.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

LayerCommunication converted(LayerCommunication communication, const Payload& held, const Payload& received,
                             const Device& device) {
    if (const std::optional<Time> encode = held.conversion_time(device)) {
        communication.encode = *encode;
        communication.decode = *received.conversion_time(device);
    }
    return communication;
}

system::PerRank<Time> per_rank(std::vector<Time> each) {
    const bool are_equal = std::adjacent_find(each.begin(), each.end(), std::not_equal_to<>()) == each.end();
    return are_equal ? system::PerRank<Time>(each.front()) : system::PerRank<Time>(std::move(each));
}

std::optional<system::PerRank<Time>> per_rank(const std::vector<std::optional<Time>>& each) {
    std::vector<Time> times;
    for (const std::optional<Time>& time : each) {
        if (time) {
            times.push_back(*time);
        }
    }
    ASTROLABE_ASSERT(times.empty() || times.size() == each.size(), "what one rank converts, all do");
    return times.empty() ? std::nullopt : std::optional(per_rank(std::move(times)));
}

}  // namespace astrolabe::workload
