#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/demand.hpp>

namespace astrolabe::network {

void PairDemand::add(Server source, Server destination, std::uint64_t bytes) {
    ASTROLABE_ASSERT(source < servers_ && destination < servers_ && source != destination,
                     "demand is from one server to another");
    ASTROLABE_ASSERT(bytes < kMaxTraffic - total_, "demand has a limit");
    bytes_[std::size_t{source} * servers_ + destination] += bytes;
    total_ += bytes;
}

std::uint64_t all_reduce_traffic(const Demand& demand) {
    std::uint64_t sum = 0;
    for (const AllReduceGroup& group : demand.groups) {
        const std::uint64_t sends = 2 * std::max<std::uint64_t>(group.members.size(), 1) - 2;
        if (sends > 0 && group.bytes > (kMaxTraffic - sum) / sends) {
            return kMaxTraffic;
        }
        sum += sends * group.bytes;
    }
    return sum;
}

}  // namespace astrolabe::network
