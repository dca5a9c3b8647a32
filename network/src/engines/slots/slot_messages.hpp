/// The messages whose packets the slot engine counts: which packets leave a queue first, and when a message
/// has arrived.
///
/// Packets of a pair of hosts leave their source in the order in which the messages were sent. They may take
/// different routes and overtake one another. A message is delivered when the last of its packets has
/// arrived, but not before the message of its pair that was sent before it.
///
/// A packet carries `payload` bytes, the last one of a message what is left.
///
/// Where a message is stored. Until its last packet has left the source it is a record in the queue of its
/// pair. If all of its packets, and all of the messages before it, took the direct circuit, its arrival is
/// known when the last one leaves, and the record goes into the queue of arrivals. If some were relayed it
/// becomes a *flight*, which is kept until the arrival of all relayed packets, and of the messages before it,
/// is known.
///
/// Example: messages A of 3 packets and B of 1 wait from host 0 to host 5. Two packets of A are relayed by
/// host 3; then the direct circuit takes the rest, and B.
///
///     packets of A to host 3     A is a flight with 2 packets on a detour
///     A's last, directly         A waits for its detour; it arrives at 20 us or later
///     B, directly                arrives at 21 us, but A comes first: B is a flight too
///     host 3 sends the 2         they arrive at 50 us: A is delivered at 50 us, and B, too
///
/// Relayed packets of several messages to one host form one queue there, in order, so of the packets that a
/// message sent there at once the last one arrives last: only that one is marked, the others are counted.
///
/// Memory: that of message_queues.hpp; 64 bytes per flight; 64 and an index entry per pair that ever
/// communicates.
#pragma once

#include "../../host_pair_index.hpp"
#include "../../message_queues.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/containers/calendar_queue.hpp>
#include <astrolabe/core/containers/chunked_pool.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>

namespace astrolabe::network::rotor {

/// Consecutive packets on a detour. Either the last of them is the last one of the `own` packets that a
/// message sent this way at once, and the segment names the message's flight; or it only counts packets, and
/// a later segment of the queue names their flights.
class Segment {
public:
    Segment() = default;
    /// Just `packets` < 2^31.
    explicit Segment(std::uint32_t packets)
        : packets_and_ends_(packets << 1) {}
    /// `ends`: with the last packet of the message.
    Segment(std::uint32_t flight, std::uint32_t packets, std::uint32_t own, bool ends)
        : flight_(flight),
          packets_and_ends_(packets << 1 | (ends ? 1 : 0)),
          own_(own) {}

    [[nodiscard]] bool has_flight() const { return flight_ != kNone; }
    [[nodiscard]] std::uint32_t flight() const { return flight_; }
    [[nodiscard]] std::uint32_t packets() const { return packets_and_ends_ >> 1; }
    [[nodiscard]] std::uint32_t own() const { return own_; }
    [[nodiscard]] bool ends() const { return (packets_and_ends_ & 1) != 0; }
    /// With so many packets in the row.
    [[nodiscard]] Segment with(std::uint32_t packets) const {
        Segment segment = *this;
        segment.packets_and_ends_ = packets << 1 | (packets_and_ends_ & 1);
        return segment;
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    std::uint32_t flight_ = kNone;
    std::uint32_t packets_and_ends_ = 0;
    std::uint32_t own_ = 0;
};

class SlotMessages {
public:
    /// What is left to do for a message whose arrival is known.
    struct Arrival {
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        Bytes size;
        std::uint32_t sent_as = 0;  ///< number of the message, its lower 32 bits
        std::uint32_t pair = 0;
    };

    /// Nearly all arrivals are known less than `horizon` superslices before.
    SlotMessages(std::size_t hosts, Bytes payload, Time superslice, std::uint64_t horizon)
        : payload_(payload),
          pair_index_(hosts),
          arrivals_(std::max(superslice / kBuckets, Time(1)), std::min(horizon, kMaxSuperslices) * kBuckets) {
    }

    [[nodiscard]] std::uint64_t packets_of(Bytes size) const {
        return static_cast<std::uint64_t>((size.count() + payload_.count() - 1) / payload_.count());
    }

    /// Queues a message at its source. One without packets is there at `least`, or with those before it.
    void add(const Message& message, Time least);
    /// A message that needs no queue and arrives whatever others of its pair do: its number, for `arrives`.
    [[nodiscard]] std::uint32_t add_on_its_way(const Message& message);
    void arrives(std::uint32_t message, Time time);

    /// Number of a pair. Precondition: a message of it was added.
    [[nodiscard]] std::uint32_t pair(HostId source, HostId destination) const {
        return pair_index_.peek(source, destination);
    }
    // From memory into the cache, before packets of a pair are read: the pair, then its first line, then the
    // one behind it; or the message of a segment, then its pair; or the end of a pair's queue.
    void prefetch(std::uint32_t pair) const { __builtin_prefetch(&pairs_[pair]); }
    void prefetch_first(std::uint32_t pair) const {
        queues_.prefetch_first(pairs_[pair].queue);
        if (pairs_[pair].last_flight != kNone) {
            __builtin_prefetch(&flights_[pairs_[pair].last_flight]);
        }
    }
    void prefetch_second(std::uint32_t pair, std::uint32_t packets) const {
        const Pair& at = pairs_[pair];
        if (packets >= at.packets_left) {
            queues_.prefetch_second(at.queue);
        }
    }
    void prefetch_flight(const Segment& segment) const { __builtin_prefetch(&flights_[segment.flight()]); }
    void prefetch_pair(const Segment& segment) const { prefetch(pair_of(segment)); }
    void prefetch_last(HostId source, HostId destination) const {
        const std::uint32_t pair = pair_index_.peek(source, destination);
        if (pair != HostPairIndex::kNone) {
            queues_.prefetch_last(pairs_[pair].queue);
        }
    }

    /// The next `packets` of a pair leave their source, on their last way; as many wait. `arrival(n)` is when
    /// the n-th of them (from 1) arrives, no earlier than those before. Returns their payload.
    template <class ArrivalOf>
    Bytes send(std::uint32_t number, std::uint32_t packets, ArrivalOf&& arrival) {
        Pair& pair = pairs_[number];
        Bytes payload;
        for (std::uint32_t gone = 0; gone < packets;) {
            const auto now =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(packets - gone, pair.packets_left));
            gone += now;
            payload += take(pair, now);
            pair.latest = std::max(pair.latest, arrival(gone));
            if (pair.packets_left == 0) {
                leave(pair);
            }
        }
        return payload;
    }
    /// The next packets of a pair, at most `limit` and of one message, leave their source for a host that
    /// relays them. Precondition: some wait.
    [[nodiscard]] Segment detour(std::uint32_t pair, std::uint32_t limit);
    /// Does the first message of a pair have more packets than these?
    [[nodiscard]] bool has_more_than(std::uint32_t pair, std::uint64_t packets) const {
        return pairs_[pair].packets_left > packets;
    }
    /// The next `packets` > 0 of a pair leave likewise, by several hosts: the flight they are on.
    /// Precondition: the first message has more.
    [[nodiscard]] std::uint32_t detour_part(std::uint32_t pair, std::uint32_t packets);
    [[nodiscard]] Bytes payload_of(const Segment& segment) const {
        const Bytes full = payload_ * static_cast<std::int64_t>(segment.packets());
        return segment.ends() ? full - missing_of_last(flights_[segment.flight()].message.size) : full;
    }
    /// What took a detour is on its last way, and the last of it arrives at `time`, no earlier than what was
    /// before it in its queue. Precondition: it has a flight.
    void arrives(const Segment& segment, Time time);

    /// When the next message arrives, of those whose arrival is known; Time::max() if there is none.
    [[nodiscard]] Time next_arrival() { return arrivals_.next_time(); }
    /// Takes the next message that arrives; those of one time in an order that keeps that of pairs.
    /// Precondition: there is one, and `next_arrival` was asked for since the last change.
    [[nodiscard]] Arrival pop_arrival() {
        --in_flight_;
        return arrivals_.pop();
    }

    /// Messages.
    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    /// Has every message in flight packets at its source? Then no arrival is known.
    [[nodiscard]] bool all_at_source() const { return in_flight_ == waiting_; }
    /// Of the message of a pair that is leaving, at its source.
    [[nodiscard]] std::uint64_t packets_left(std::uint32_t pair) const { return pairs_[pair].packets_left; }
    /// Of a pair, as far as arrivals are known.
    [[nodiscard]] Time latest_arrival(std::uint32_t pair) const;
    /// Of the message of a pair that is leaving, more `packets` did, and the latest arrival is so much
    /// `later`. Precondition: more than these were left.
    void repeat(std::uint32_t pair, std::uint64_t packets, Time later);
    /// The pair of what is on a detour.
    [[nodiscard]] std::uint32_t pair_of(const Segment& segment) const {
        return flights_[segment.flight()].message.pair;
    }

    [[nodiscard]] std::uint64_t in_flight() const { return in_flight_; }
    /// At most `limit`, in the order sent.
    [[nodiscard]] std::vector<OutstandingMessage> describe(std::size_t limit) const;

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::int64_t kBuckets = 32;           // of arrivals, to a superslice
    static constexpr std::uint64_t kMaxSuperslices = 256;  // arrivals farther ahead are rare

    /// A message some of whose packets took a detour, or that waits for one before it.
    struct alignas(64) Flight {
        Arrival message;
        std::uint64_t on_detour = 0;  // packets between hops, or sent at once with such
        Time latest;                  // arrival, of packets on a detour and of all that went before
        std::uint32_t next = kNone;   // of its pair
        bool has_left = false;        // all packets their source
    };
    struct alignas(64) Pair {
        HostId source;
        HostId destination;
        MessageQueues::Queue queue;  // of messages with packets at the source
        std::uint32_t first_flight = kNone;
        std::uint32_t last_flight = kNone;
        Bytes size;                      // of the first message with packets at the source
        std::uint64_t packets_left = 0;  // of it
        Time latest;                     // arrival of packets that went directly and of messages delivered
    };

    [[nodiscard]] std::uint32_t pair_between(HostId source, HostId destination);
    void remove_first(Pair& pair);
    [[nodiscard]] Arrival next_to_leave(const Pair& pair) const;
    /// What the last packet of a message of `size` carries less than others.
    [[nodiscard]] Bytes missing_of_last(Bytes size) const {
        return payload_ * static_cast<std::int64_t>(packets_of(size)) - size;
    }
    /// `packets` of the first message leave their source; returns their payload.
    [[nodiscard]] Bytes take(Pair& pair, std::uint32_t packets);
    /// The last packet of the first message has left its source.
    void leave(Pair& pair);
    /// The flight of the first message, some of whose packets are still at the source.
    [[nodiscard]] const Flight* boarding(const Pair& pair) const;
    [[nodiscard]] Flight* boarding(const Pair& pair);
    Flight& add_flight(Pair& pair);
    void settle(Pair& pair);

    Bytes payload_;
    HostPairIndex pair_index_;
    std::vector<Pair> pairs_;
    MessageQueues queues_;
    ChunkedPool<Flight> flights_;
    ChunkedPool<Arrival> on_their_way_;  // without a handler: none
    CalendarQueue<Arrival> arrivals_;
    std::uint64_t sent_ = 0;
    std::uint64_t in_flight_ = 0;
    std::uint64_t waiting_ = 0;  // with packets at their source
};

}  // namespace astrolabe::network::rotor
