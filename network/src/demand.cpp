#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/demand.hpp>

namespace astrolabe::network::topoopt {

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

DegreeSplit split_degree(std::uint32_t degree, std::uint64_t mutable_traffic,
                         std::uint64_t immutable_traffic) {
    ASTROLABE_ASSERT(degree >= 1 && degree <= 64, "a degree is from 1 to 64");
    ASTROLABE_ASSERT(std::max(mutable_traffic, immutable_traffic) <= kMaxTraffic, "traffic has a limit");
    if (immutable_traffic == 0) {
        return {degree, 0};
    }
    const std::uint64_t all = mutable_traffic + immutable_traffic;
    const std::uint64_t share = (degree * mutable_traffic + all - 1) / all;
    const auto all_reduce = static_cast<std::uint32_t>(std::max<std::uint64_t>(share, 1));
    return {all_reduce, degree - all_reduce};
}

}  // namespace astrolabe::network::topoopt
