/// Low-latency messages beside the slots: when they arrive, and what they take of the time of links.
///
/// Limits first. Queues hold everything that comes: nothing is trimmed, lost where a circuit goes dark, or
/// sent again, and there is neither a window nor a receiver that paces its senders. A piece keeps to the
/// racks of its path, also where it comes to one after its circuit has gone.
///
/// Model. S bytes are n = ⌈S / payload⌉ packets, the last one shortened, a header without payload if S = 0.
/// They travel in pieces of ⌈n / 64⌉ packets: single ones up to 64. Each piece takes a random one of the
/// shortest paths of the superslice in which it leaves its host, and crosses links l = 1 … f + 2, up from the
/// host, f circuits, down to the host. A link transmits pieces in the order in which their first packets
/// come, those of one message at their host one after the other, and is never idle while one waits. With w
/// the time of a piece on a link, σ that of its first packet, α_l the latency of a link and F_l when it is
/// free of what came before,
///     b_1 = max(now, F_1),  b_l = max(b_{l-1} + σ + α_{l-1}, F_l)       first bit into the link
///     F_l := b_l + w                                                    last bit
/// As no packet of a piece is longer than its first, none is missing when it is due. A message arrives
/// with the last of its pieces, at b + w + α of their last links: one packet alone takes (f + 2) σ and the
/// latencies, and n packets over one path follow one another. A piece without a path waits for the next
/// superslice, and for ever where failures left none in any; messages whose hosts have none in the present
/// one are refused. Paths avoid what failed before their superslice started; what fails under a piece that
/// has left does not stop it.
///
/// Bulk traffic gives way: what messages took of a link since it was last asked, no more than in one
/// superslice, is missing in the slot that starts (`taken`). Of an uplink all hosts of the rack bear an equal
/// part.
///
/// Complexity: an event for each piece and link of its way but the last, O(log of the pieces in flight), and
/// the cost of its paths (slice_paths.hpp). Memory: 24 bytes a link of hosts and an uplink of racks, about
/// 120 for each piece in flight and 56 for each message.
///
/// Source: Opera (NSDI 2020) section 4.1; NDP (SIGCOMM 2017), whose packets these are without its transport.
#pragma once

#include "slot_links.hpp"
#include "slot_messages.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

#include <astrolabe/core/random.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>
#include <astrolabe/network/rotor/undeliverable.hpp>

namespace astrolabe::network::rotor {

class SlotLowLatency {
public:
    /// `network` has paths, and outlives this.
    explicit SlotLowLatency(const RotorNetwork& network);

    /// Does a path lead there now?
    [[nodiscard]] bool joins(HostId source, HostId destination, Time now);
    /// Precondition: it does. `message` is its number in arrivals.
    void send(std::uint32_t message, HostId source, HostId destination, Bytes size, Time now);

    /// Of the next event; Time::max(): none.
    [[nodiscard]] Time next_time() const { return events_.empty() ? Time::max() : events_.top().time; }
    /// The event that is due. Notifies `messages` which one is certain to arrive by it, and counts in
    /// `links` what comes to them.
    void process(SlotLinks& links, SlotMessages& messages);
    /// Pieces that will never arrive, for simulated time ends before.
    [[nodiscard]] std::uint64_t beyond_time() const { return beyond_time_; }
    /// Hosts of messages whose last pieces will never leave, for no path is left.
    [[nodiscard]] std::span<const PairOfHosts> disconnected() const { return disconnected_; }

    struct Taken {
        std::uint32_t send;     ///< full packets that the host cannot send in the slot that starts
        std::uint32_t receive;  ///< or receive
    };
    /// Time that messages took since the last call for this host, its rack's uplink included in `uplink`.
    [[nodiscard]] Taken taken(std::uint32_t host, Time uplink, Time now);
    /// Time they took of the uplink of `rack` to `rotor` since the last call, per host of the rack.
    [[nodiscard]] Time taken_of_uplink(Rack rack, Rotor rotor, Time now);

private:
    /// A link, and the pieces that it transmits one after the other.
    struct Wire {
        Time free_from;
        Time booked;   // by all pieces so far
        Time charged;  // to bulk

        /// When the first bit of a piece that comes `at` goes into the link.
        Time transmit(Time at, Time all);
        [[nodiscard]] Time charge(Time now, Time most);
    };
    struct Sending {
        std::uint32_t message = 0;
        HostId source;
        HostId destination;
        Bytes left;                     // at the source
        std::int64_t packets_left = 0;  // at the source
        std::int64_t packets_a_piece = 1;
        std::uint32_t in_flight = 0;  // pieces
        Time latest;                  // arrival of a piece
    };
    struct Piece {
        std::uint32_t sending = 0;
        Time all;    // on a link
        Time first;  // packet
        std::int64_t packets = 0;
        Bytes payload;
        std::uint64_t superslice = 0;
        Rack at = 0;
        std::size_t hops_done = 0;
        std::vector<std::uint16_t> path;
    };
    struct Event {
        Time time;
        std::uint64_t sequence;
        std::uint32_t index;
        bool leaves;  // the next piece of a sending leaves its host; else a piece comes to a switch

        bool operator>(const Event& other) const {
            return time > other.time || (time == other.time && sequence > other.sequence);
        }
    };

    [[nodiscard]] Wire& uplink(Rack rack, Rotor rotor) {
        return uplinks_[std::size_t{rack} * network_.schedule.uplinks() + rotor];
    }
    [[nodiscard]] Rack rack_of(HostId host) const { return host.index() / network_.hosts_per_rack; }
    [[nodiscard]] Time time_of(Bytes payload, std::int64_t packets) const {
        return (payload + network_.bulk.header * packets) / network_.rate;
    }
    [[nodiscard]] Time at_source(const Sending& sending) const;
    /// Paths of a superslice between two racks, into paths_; false: there is none.
    [[nodiscard]] bool find_paths(std::uint64_t superslice, Rack from, Rack to);
    /// The next piece of a message has no path in this superslice, and leaves later or never.
    void wait(const Event& event, const RotorSchedule::Position& position);
    void add_event(Time time, std::uint32_t index, bool leaves);
    void leave(const Event& event, SlotLinks& links);
    void come(const Event& event, SlotLinks& links, SlotMessages& messages);
    /// On a link, from its first bit.
    [[nodiscard]] static SlotLinks::Piece on_link(const Piece& piece, Time start);
    [[nodiscard]] std::uint32_t packets(Time time) const;

    const RotorNetwork& network_;
    Time packet_;  // full
    std::vector<Wire> up_;
    std::vector<Wire> down_;
    std::vector<Wire> uplinks_;  // by rack, rotor
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t added_ = 0;
    std::uint64_t beyond_time_ = 0;
    std::vector<PairOfHosts> disconnected_;
    std::vector<Sending> sendings_;
    std::vector<std::uint32_t> free_sendings_;
    std::vector<Piece> pieces_;
    std::vector<std::uint32_t> free_pieces_;
    RandomStream random_;
    PathList paths_;
};

}  // namespace astrolabe::network::rotor
