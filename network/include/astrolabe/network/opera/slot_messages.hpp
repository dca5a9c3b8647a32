/// The messages whose packets the slot engine counts: whose packets leave a queue first, and when a message
/// has arrived.
///
/// Packets of a pair of hosts leave their source in the order the messages were sent. They may take different
/// ways and overtake one another; a message has arrived with the last of its packets, and is delivered then,
/// or with the message of its pair that was sent before if that one comes later.
///
/// A packet carries `payload` bytes, the last one of a message what is left.
///
/// Memory: 64 bytes per message under way, 48 and an index entry per pair that ever communicates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/host_pair_index.hpp>

namespace astrolabe::network::opera {

/// Packets of one message that travel together.
struct Segment {
    std::uint32_t message = 0;
    std::uint32_t packets = 0;
    Bytes payload;
};

class SlotMessages {
public:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    /// A message all of whose packets are on their last way.
    struct Arrival {
        Time time;
        std::uint32_t message;
    };

    SlotMessages(std::size_t hosts, Bytes payload)
        : payload_(payload),
          pair_index_(hosts) {}

    [[nodiscard]] std::uint64_t packets_of(Bytes size) const {
        return static_cast<std::uint64_t>((size.count() + payload_.count() - 1) / payload_.count());
    }

    /// Queues a message at its source. One without packets is there at `least`.
    void add(const Message& message, Time least);
    /// A message that needs no queue and arrives whatever others of its pair do: its number, for `arrivals`.
    [[nodiscard]] std::uint32_t add_on_its_way(const Message& message) {
        return new_item(message, Time(0), false);
    }
    /// The next `packets` that wait at `source` for `destination` leave it, on their last way; as many wait.
    /// `arrival(n)` is when the n-th of them (from 1) arrives, no earlier than those before. Returns their
    /// payload.
    template <class Arrival>
    Bytes send(HostId source, HostId destination, std::uint32_t packets, Arrival&& arrival) {
        Pair& pair = pairs_[pair_index_.peek(source, destination)];
        Bytes payload;
        for (std::uint32_t gone = 0; gone < packets;) {
            const std::uint32_t message = pair.leaving;
            const Segment segment = take(pair, packets - gone);
            gone += segment.packets;
            payload += segment.payload;
            pair.latest = std::max(pair.latest, arrival(gone));
            if (pair.leaving != message) {
                items_[message].latest = std::max(items_[message].latest, pair.latest);
                settle(pair);
            }
        }
        return payload;
    }
    /// The next of the packets that wait at `source` for `destination`, at most `limit` and of one message,
    /// leave it, for a host that relays them. Precondition: some wait.
    [[nodiscard]] Segment detour(HostId source, HostId destination, std::uint32_t limit);
    /// What took a detour is on its last way, and the last of it arrives at `time`.
    void arrives(const Segment& segment, Time time);
    /// Messages whose delivery is certain since the last call, in an order that keeps that of pairs.
    [[nodiscard]] std::vector<Arrival>& arrivals() { return arrivals_; }

    struct Item {
        Bytes size;
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        std::uint64_t sent_as = 0;    ///< number of the message
        std::uint64_t on_detour = 0;  ///< packets between hops
        Time latest;                  ///< arrival, of packets on a detour or the last of all
        std::uint32_t pair = 0;
        std::uint32_t next = kNone;  ///< of its pair, or of the free ones
        bool is_queued = true;       ///< with others of its pair
    };
    /// Ends an arrived message and returns what it was.
    Item remove(std::uint32_t message) {
        Item& item = items_[message];
        const Item was = item;
        item.next = free_;
        item.handler = nullptr;
        free_ = message;
        --under_way_;
        return was;
    }

    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    [[nodiscard]] std::uint64_t under_way() const { return under_way_; }
    /// At most `limit`, in the order sent.
    [[nodiscard]] std::vector<OutstandingMessage> describe(std::size_t limit) const;

private:
    struct Pair {
        HostId source;
        HostId destination;
        std::uint32_t first = kNone;     // not known to arrive
        std::uint32_t last = kNone;      // of the same list
        std::uint32_t leaving = kNone;   // the first with packets at the source
        std::uint64_t packets_left = 0;  // of `leaving`, at the source
        Time latest;                     // arrival of packets that went directly
        Time delivered;                  // of the latest message known to arrive
    };

    [[nodiscard]] std::uint32_t new_item(const Message& message, Time latest, bool is_queued);
    [[nodiscard]] std::uint32_t pair_between(HostId source, HostId destination);
    /// The next packets to leave, of one message.
    [[nodiscard]] Segment take(Pair& pair, std::uint32_t limit);
    [[nodiscard]] std::uint64_t packets_at_source(const Item& item) const;
    void settle(Pair& pair);

    Bytes payload_;
    HostPairIndex pair_index_;
    std::vector<Pair> pairs_;
    std::vector<Item> items_;
    std::uint32_t free_ = kNone;
    std::uint64_t sent_ = 0;
    std::uint64_t under_way_ = 0;
    std::vector<Arrival> arrivals_;
};

}  // namespace astrolabe::network::opera
