#include "ring_hops.hpp"

#include <algorithm>
#include <cstddef>

namespace astrolabe::system::detail {

namespace {

/// So that looking one up stays cheap; a host has no links of its own for more rings.
constexpr std::uint32_t kMostFromHost = 16;

}  // namespace

void RingHops::clear() {
    hops_.clear();
    same_source_.clear();
    rings_.clear();
    std::ranges::fill(last_from_, kNoHop);
}

std::uint32_t RingHops::between(network::HostId source, network::HostId destination) {
    if (source.index() >= last_from_.size()) {
        last_from_.resize(source.index() + 1, kNoHop);
    }
    std::uint32_t& last = last_from_[source.index()];
    std::uint32_t count = 0;
    for (std::uint32_t hop = last; hop != kNoHop; hop = same_source_[hop], ++count) {
        if (hops_[hop].destination == destination) {
            return hop;
        }
    }
    if (count == kMostFromHost) {
        return kNoHop;
    }
    same_source_.push_back(last);
    last = static_cast<std::uint32_t>(hops_.size());
    hops_.push_back({source, destination, kNoHop});
    return last;
}

bool RingHops::add(const Ring& ring) {
    rings_.insert(ring);
    const auto next_of = [&ring](Position rank) { return (rank + ring.stride) % ring.ranks; };
    of_ring_.clear();
    for (Position rank = 0; rank < ring.ranks; ++rank) {
        of_ring_.push_back(between(ring.hosts[rank], ring.hosts[next_of(rank)]));
        if (of_ring_.back() == kNoHop) {
            return false;
        }
    }
    for (Position rank = 0; rank < ring.ranks; ++rank) {
        std::uint32_t& next = hops_[of_ring_[rank]].next;
        const std::uint32_t goes_on = of_ring_[next_of(rank)];
        if (next != kNoHop && next != goes_on) {
            return false;
        }
        next = goes_on;
    }
    return true;
}

}  // namespace astrolabe::system::detail
