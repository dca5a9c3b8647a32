/// The hops of rings of ranks, as forwarder.hpp has them: what comes over one goes on over one other.
///
/// Example. Ranks on hosts 4, 5 and 6 in a ring of stride 1 have hops 4-5, 5-6 and 6-4, each going on over
/// the next. A ring of hosts 4 and 5 alone shares 4-5, which would have to go on over 5-4 as well: both
/// cannot be forwarded at a time.
///
/// Complexity: O(ranks) to add a ring, O(log rings) to find one. Memory: 28 bytes a hop.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <astrolabe/network/forwarder.hpp>
#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system::detail {

class RingHops {
public:
    /// Rank i, on `hosts[i]`, sends to rank i + stride.
    struct Ring {
        const network::HostId* hosts = nullptr;
        Position ranks = 0;
        Position stride = 0;
        friend auto operator<=>(const Ring&, const Ring&) = default;
    };

    void clear();
    /// False: not all that comes over a hop of it goes on over one other, or a host has more than 16 hops.
    /// Then only `clear` makes sense of what is left.
    [[nodiscard]] bool add(const Ring& ring);
    [[nodiscard]] bool contains(const Ring& ring) const { return rings_.contains(ring); }
    [[nodiscard]] std::span<const network::Forwarder::Hop> hops() const { return hops_; }

private:
    static constexpr std::uint32_t kNoHop = 0xffffffffU;

    /// The number of the hop, which is added if it is not there; kNoHop: it would be one too many of its
    /// host.
    [[nodiscard]] std::uint32_t between(network::HostId source, network::HostId destination);

    std::vector<network::Forwarder::Hop> hops_;
    std::vector<std::uint32_t> last_from_;    // by host: the last hop that it is the source of; kNoHop
    std::vector<std::uint32_t> same_source_;  // by hop: the one before with that source; kNoHop
    std::set<Ring> rings_;
    std::vector<std::uint32_t> of_ring_;  // by rank, while one is added
};

}  // namespace astrolabe::system::detail
