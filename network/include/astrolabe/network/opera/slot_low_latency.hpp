/// Low-latency messages beside the slots: when they arrive, and what they take of the time of links.
///
/// Limits first. A message keeps to the path that was shortest when it began to leave its host, all of it,
/// also where it lasts longer than the circuits do; nothing is lost, trimmed or sent again, and there is no
/// window. Links serve messages in the order they were sent, not in which they come. A message that has no
/// path goes as bulk.
///
/// Model. S bytes are ⌈S / payload⌉ packets, the last one shortened, a header without payload if S = 0; they
/// take W on a link, the first packet σ₁, the last σₙ. The message crosses links l = 1 … f + 2, up from the
/// host, f circuits, down to the host. With α_l the latency of a link and F_l when it is free of the messages
/// sent before,
///     b_1 = max(now, F_1),  b_l = max(b_{l-1} + σ₁ + α_{l-1}, F_l)                      first bit in
///     e_1 = b_1 + W,        e_l = max(b_l + W, e_{l-1} + α_{l-1} + σₙ),  F_l := e_l     last bit in
/// and it arrives at e_{f+2} + α_{f+2}: one packet alone takes (f + 2) σ and the latencies. Of several
/// shortest paths it takes a random one.
///
/// Bulk traffic gives way: what messages took of a link since it was last asked, no more than in one
/// superslice, is missing in the slot that begins (`taken`). Of an uplink all hosts of the rack bear an equal
/// part.
///
/// Complexity: O(f) a message and the cost of its paths (slice_paths.hpp). Memory: 24 bytes a link of hosts
/// and an uplink of racks.
///
/// Source: Opera (NSDI 2020) section 4.1; NDP (SIGCOMM 2017), whose packets these are without its receiver's
/// pacing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <astrolabe/core/random.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>
#include <astrolabe/network/opera/slice_paths.hpp>
#include <astrolabe/network/opera/slot_links.hpp>

namespace astrolabe::network::opera {

class SlotLowLatency {
public:
    /// `network` has paths, and outlives this.
    explicit SlotLowLatency(const RotorNetwork& network);

    /// When a message sent `now` arrives, counted in `links`; nothing, and no effect, if no path leads there
    /// or simulated time could end before it arrives.
    [[nodiscard]] std::optional<Time> send(HostId source, HostId destination, Bytes size, Time now,
                                           SlotLinks& links);

    struct Taken {
        std::uint32_t send;     ///< full packets that the host cannot send in the slot that begins
        std::uint32_t receive;  ///< or receive
    };
    /// Time that messages took since the last call for this host, its rack's uplink included in `uplink`.
    [[nodiscard]] Taken taken(std::uint32_t host, Time uplink, Time now);
    /// Time they took of the uplink of `rack` to `rotor` since the last call, per host of the rack.
    [[nodiscard]] Time taken_of_uplink(Rack rack, Rotor rotor, Time now);

private:
    /// A link, and the messages it serves one after the other.
    struct Wire {
        Time free_from;
        Time booked;   // by all messages so far
        Time charged;  // to bulk

        [[nodiscard]] Time charge(Time now, Time most);
    };

    [[nodiscard]] Wire& uplink(Rack rack, Rotor rotor) {
        return uplinks_[std::size_t{rack} * network_.schedule.uplinks() + rotor];
    }
    [[nodiscard]] std::uint32_t packets(Time time) const;

    const RotorNetwork& network_;
    Time packet_;  // full
    std::vector<Wire> up_;
    std::vector<Wire> down_;
    std::vector<Wire> uplinks_;  // by rack, rotor
    Time latest_;                // last bit into any link
    RandomStream random_;
    PathList paths_;
    std::vector<SlotLinks::Hop> hops_;
};

}  // namespace astrolabe::network::opera
