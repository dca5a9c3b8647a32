/// Packets of others at the hosts that relay them, and on their way there.
///
/// First hops that arrive count from the first installation at or after their arrival: `arrive` moves them
/// from the way into the queues of their hosts, where they leave first-come first-served per final
/// destination.
///
/// Of packets without a flight only the number counts, up to the next that has one. So on their way they are
/// just added up, for each of the first 4,096 queues and each superslice ahead: all queues of 64 hosts. In a
/// large network, where counters of all queues would not stay in the cache, the others have a segment each.
///
/// Memory: 16 bytes per segment on its way; 8 per superslice ahead for each of the first 4,096 queues; 16 per
/// row with a flight, in lines of 64; 24 and an index entry per pair of relaying host and destination that
/// was ever used.
#pragma once

#include "../../host_pair_index.hpp"
#include "slot_messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/containers/chunked_pool.hpp>
#include <astrolabe/network/rotor/packet_counts.hpp>

namespace astrolabe::network::rotor {

class RelayQueues {
public:
    /// Nothing arrives more than `horizon` superslices after the one in which it leaves.
    RelayQueues(std::size_t hosts, std::uint64_t horizon)
        : ways_(std::bit_ceil(horizon + 1)),
          last_way_(ways_.size() - 1),
          queue_index_(hosts) {}

    /// Number of the queue at `host` for `destination`, which is there from now on.
    [[nodiscard]] std::uint32_t open(HostId host, HostId destination) {
        const std::uint32_t number = queue_index_.peek(host, destination);
        return number == HostPairIndex::kNone ? add_queue(host, destination) : number;
    }
    /// `segment` is in a queue from the installation of `superslice` on.
    void travel(std::uint32_t queue, const Segment& segment, std::uint64_t superslice) {
        if (segment.has_flight()) {
            travel_last(queue, segment, superslice);
        } else {
            travel(queue, segment.packets(), superslice);
        }
    }
    /// `packets` > 0 of `flight` likewise: of them counts[k] are in the queue from `superslice` + k on, all
    /// in the end.
    void travel(std::uint32_t queue, std::uint32_t flight, std::uint32_t packets,
                std::span<const std::uint32_t> counts, std::uint64_t superslice) {
        std::uint32_t gone = 0;
        auto there = counts.begin();
        for (; *there < packets; ++there, ++superslice) {
            if (*there > gone) {
                travel(queue, *there - gone, superslice);
                gone = *there;
            }
        }
        travel_last(queue, Segment(flight, packets - gone, packets, false), superslice);
    }
    [[nodiscard]] bool any_in_flight() const { return travelling_ > 0; }

    /// What arrived for `superslice`, in its order, enters the queues and is counted. False: nothing did.
    bool arrive(std::uint64_t superslice, PacketCounts& relayed);

    /// The same. Precondition: it was opened.
    [[nodiscard]] std::uint32_t queue(HostId host, HostId destination) const {
        return queue_index_.peek(host, destination);
    }
    // From memory into the cache, before packets of a queue are read: the queue, then its first line.
    void prefetch(std::uint32_t queue) const { __builtin_prefetch(&queues_[queue]); }
    void prefetch_line(std::uint32_t queue) const {
        if (queues_[queue].first != kNone) {
            __builtin_prefetch(&lines_[queues_[queue].first]);
        }
    }
    /// Calls `prefetch(segment)` for each of the first line.
    template <class Fetch>
    void for_first_line(std::uint32_t queue, Fetch&& prefetch) const {
        if (queues_[queue].first == kNone) {
            return;
        }
        const Line& line = lines_[queues_[queue].first];
        for (std::uint32_t i = line.begin; i < line.end; ++i) {
            prefetch(line.segments[i]);
        }
    }

    /// Of the packets of pairs of hosts in the queues, in their order, and of those that will be how many
    /// superslices after `superslice`. O(queues + segments).
    [[nodiscard]] std::size_t digest(std::uint64_t superslice, const SlotMessages& messages) const;
    /// What is on its way will be there so many superslices later.
    void postpone(std::uint64_t superslices);

    /// Takes the next packets of a queue, at most `limit` and of one row. Precondition: some wait.
    [[nodiscard]] Segment take(std::uint32_t number, std::uint32_t limit) {
        Queue& queue = queues_[number];
        if (queue.first == kNone) {
            ASTROLABE_ASSERT(queue.behind > 0, "packets that leave had arrived");
            const std::uint32_t packets = std::min(limit, queue.behind);
            queue.behind -= packets;
            return Segment(packets);
        }
        Line& line = lines_[queue.first];
        Segment& first = line.segments[line.begin];
        if (first.packets() > limit) {
            first = first.with(first.packets() - limit);
            return Segment(limit);
        }
        const Segment whole = first;
        if (++line.begin == line.end) {
            const std::uint32_t next = line.next;
            lines_.remove(std::exchange(queue.first, next));
            queue.last = next == kNone ? kNone : queue.last;
        }
        return whole;
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    /// Queues with lower numbers have a place in every way; those of all queues would not stay in the cache.
    static constexpr std::uint32_t kCounted = 1U << 12;

    struct Traveller {
        std::uint32_t queue = 0;
        Segment segment;
    };
    /// Packets on their way to a queue in one superslice.
    struct Counted {
        std::uint32_t packets = 0;
        std::uint32_t behind = 0;  // the last of them with a flight
    };
    /// What arrives in one superslice.
    struct Way {
        std::vector<Traveller> travellers;
        std::vector<std::uint32_t> queues;  // below kCounted, with packets
    };
    /// Rows of a queue that have a flight, begin <= i < end, that share a line of the cache.
    struct alignas(64) Line {
        std::array<Segment, 4> segments{};
        std::uint32_t next = kNone;
        std::uint16_t begin = 0;
        std::uint16_t end = 0;
    };
    struct Queue {
        HostId host;
        HostId destination;
        std::uint32_t first = kNone;  // line
        std::uint32_t last = kNone;
        std::uint32_t behind = 0;    // packets behind the last row with a flight
        std::uint32_t arriving = 0;  // packets; 0 but while some arrive
    };

    [[nodiscard]] Way& way_to(std::uint64_t superslice) { return ways_[superslice & last_way_]; }
    /// Just packets.
    void travel(std::uint32_t queue, std::uint32_t packets, std::uint64_t superslice) {
        if (queue < kCounted) {
            count(queue, packets, superslice).behind += packets;
        } else {
            add_traveller(queue, Segment(packets), superslice);
        }
    }
    /// A segment with a flight, and what was counted before it.
    void travel_last(std::uint32_t queue, const Segment& segment, std::uint64_t superslice) {
        const std::uint32_t before =
            queue < kCounted ? std::exchange(count(queue, segment.packets(), superslice).behind, 0) : 0;
        add_traveller(queue, segment.with(segment.packets() + before), superslice);
    }
    void add_traveller(std::uint32_t queue, const Segment& segment, std::uint64_t superslice) {
        way_to(superslice).travellers.push_back({queue, segment});
        ++travelling_;
    }
    [[nodiscard]] Counted& count(std::uint32_t queue, std::uint32_t packets, std::uint64_t superslice) {
        Counted& counted = counted_[counted_at(queue, superslice)];
        if (counted.packets == 0) {
            way_to(superslice).queues.push_back(queue);
            ++travelling_;
        }
        counted.packets += packets;
        return counted;
    }
    [[nodiscard]] std::size_t counted_at(std::uint32_t queue, std::uint64_t superslice) const {
        return queue * (last_way_ + 1) + (superslice & last_way_);
    }
    [[nodiscard]] std::uint32_t add_queue(HostId host, HostId destination);
    /// Segments join their queues. Of queues below kCounted the way has counted their packets already.
    void arrive_travellers(std::span<const Traveller> arrived, PacketCounts& relayed);
    void append(Queue& queue, const Segment& segment);
    [[nodiscard]] Line& add_line(Queue& queue);

    std::vector<Way> ways_;  // by superslice, round and round; a power of two of them
    std::uint64_t last_way_;
    std::vector<Counted> counted_;  // by queue below kCounted, way
    std::uint64_t travelling_ = 0;
    HostPairIndex queue_index_;
    std::vector<Queue> queues_;
    ChunkedPool<Line> lines_;
    std::vector<std::uint32_t> arriving_;  // scratch: queues in which some arrive
};

}  // namespace astrolabe::network::rotor
