/// The messages whose packets the slot engine counts: whose packets leave a queue first, and when a message
/// has arrived.
///
/// Packets of a pair of hosts leave their source in the order the messages were sent. They may take different
/// ways and overtake one another; a message has arrived with the last of its packets, and is delivered then,
/// or with the message of its pair that was sent before if that one comes later.
///
/// A packet carries `payload` bytes, the last one of a message what is left.
///
/// A message is a record in the queue of its pair until its last packet leaves. If all of them went directly,
/// and those of all before it, its arrival is known then and nothing is kept of it here; else it is a
/// *flight* until its packets, and the messages before it, are known to arrive.
///
/// Queues are many and long, and the processor waits for memory wherever one is asked for. So records lie
/// three by three in lines of the cache, each of messages of one pair that tell one handler.
///
/// Packets of several messages that are relayed to one host form one queue, so the last of those that a
/// message sent there at once arrives last: the others are counted, and nothing is kept of whose they are.
///
/// Memory: 22 bytes per message with packets at its source, in lines of 64, and 8 for one of 2 GiB or more;
/// 64 per flight; 64 and an index entry per pair that ever communicates.
#pragma once

#include "../../host_pair_index.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/containers/calendar_queue.hpp>
#include <astrolabe/core/containers/chunked_pool.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>

namespace astrolabe::network::rotor {

/// Packets in a row on a detour. With the last of them goes the last of those that a message sent by it at
/// once, its `own`; or they are just some, and what ends with one of them is in the rows behind.
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

    /// Most arrivals are known less than `horizon` superslices before.
    SlotMessages(std::size_t hosts, Bytes payload, Time superslice, std::uint64_t horizon)
        : payload_(payload),
          pair_index_(hosts),
          arrivals_(std::max(superslice / kDays, Time(1)), std::min(horizon, kMostSuperslices) * kDays) {}

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
    // Packets of a pair will be asked for: the pair, then its first line, then the one behind it, from memory
    // into the cache; or the message of a segment, then its pair; or one will be added to a pair.
    void fetch(std::uint32_t pair) const { __builtin_prefetch(&pairs_[pair]); }
    void fetch_first(std::uint32_t pair) const {
        if (pairs_[pair].first != kNone) {
            __builtin_prefetch(&lines_[pairs_[pair].first]);
        }
        if (pairs_[pair].last_flight != kNone) {
            __builtin_prefetch(&flights_[pairs_[pair].last_flight]);
        }
    }
    void fetch_second(std::uint32_t pair, std::uint32_t packets) const {
        const Pair& at = pairs_[pair];
        if (at.first != kNone && packets >= at.packets_left && lines_[at.first].next != kNone) {
            __builtin_prefetch(&lines_[lines_[at.first].next]);
        }
    }
    void fetch_flight(const Segment& segment) const { __builtin_prefetch(&flights_[segment.flight()]); }
    void fetch_pair(const Segment& segment) const { fetch(pair_of(segment)); }
    void fetch_last(HostId source, HostId destination) const {
        const std::uint32_t pair = pair_index_.peek(source, destination);
        if (pair != HostPairIndex::kNone && pairs_[pair].last != kNone) {
            __builtin_prefetch(&lines_[pairs_[pair].last], 1);
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
        --under_way_;
        return arrivals_.pop();
    }

    /// Messages.
    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    /// Has every message under way packets at its source? Then no arrival is known.
    [[nodiscard]] bool all_at_source() const { return under_way_ == waiting_; }
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

    [[nodiscard]] std::uint64_t under_way() const { return under_way_; }
    /// At most `limit`, in the order sent.
    [[nodiscard]] std::vector<OutstandingMessage> describe(std::size_t limit) const;

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::int64_t kDays = 32;               // of arrivals, to a superslice
    static constexpr std::uint64_t kMostSuperslices = 256;  // arrivals farther ahead are rare

    /// A message with packets at its source.
    struct Queued {
        std::uint64_t token = 0;
        std::uint32_t size = 0;     // bytes; beyond kLarge the number of what large_sizes_ says
        std::uint32_t sent_as = 0;  // the lower 32 bits
    };
    static constexpr std::uint32_t kLarge = 1U << 31;
    /// Messages of a pair one after another, begin <= i < end, that tell one handler and share a line of the
    /// cache.
    struct alignas(64) Line {
        NotificationHandler* handler = nullptr;
        std::uint32_t next = kNone;
        std::uint16_t begin = 0;
        std::uint16_t end = 0;
        std::array<Queued, 3> messages{};
    };
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
        std::uint32_t first = kNone;  // line
        std::uint32_t last = kNone;
        std::uint32_t first_flight = kNone;
        std::uint32_t last_flight = kNone;
        Bytes size;                      // of the first message with packets at the source
        std::uint64_t packets_left = 0;  // of it
        Time latest;                     // arrival of packets that went directly and of messages delivered
    };

    [[nodiscard]] std::uint32_t pair_between(HostId source, HostId destination);
    [[nodiscard]] Queued queued(const Message& message, std::uint32_t sent_as);
    [[nodiscard]] Bytes size_of(const Queued& message) const {
        return message.size < kLarge ? Bytes(message.size) : large_sizes_[message.size - kLarge];
    }
    void append(Pair& pair, NotificationHandler* handler, const Queued& message);
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
    ChunkedPool<Line> lines_;
    ChunkedPool<Bytes> large_sizes_;
    ChunkedPool<Flight> flights_;
    ChunkedPool<Arrival> on_their_way_;  // without a handler: none
    CalendarQueue<Arrival> arrivals_;
    std::uint64_t sent_ = 0;
    std::uint64_t under_way_ = 0;
    std::uint64_t waiting_ = 0;  // with packets at their source
};

}  // namespace astrolabe::network::rotor
