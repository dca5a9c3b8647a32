/// Packets of others at the hosts that relay them, and on their way there.
///
/// First hops that arrive count from the first installation at or after their arrival: `land` moves them from
/// the way into the queues of their hosts, where they leave first-come first-served per final destination.
///
/// Memory: 24 bytes per segment, one or more packets of a message, and 8 and an index entry per pair of
/// relaying host and destination that was ever used.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/host_pair_index.hpp>
#include <astrolabe/network/opera/packet_counts.hpp>
#include <astrolabe/network/opera/slot_messages.hpp>

namespace astrolabe::network::opera {

class RelayQueues {
public:
    /// Nothing arrives more than `horizon` superslices after the one in which it leaves.
    RelayQueues(std::size_t hosts, std::uint64_t horizon)
        : ways_(horizon + 1),
          queue_index_(hosts) {}

    /// `segment` is at `host` from the installation of `superslice` on.
    void travel(HostId host, HostId destination, const Segment& segment, std::uint64_t superslice) {
        ways_[superslice % ways_.size()].push_back({host, destination, segment});
        ++travelling_;
    }
    [[nodiscard]] bool any_under_way() const { return travelling_ > 0; }

    /// What arrived for `superslice`, each in its turn, enters the queues and is counted. False: nothing did.
    bool land(std::uint64_t superslice, PacketCounts& relayed) {
        std::vector<Traveller>& arrived = ways_[superslice % ways_.size()];
        const bool any = !arrived.empty();
        for (const Traveller& traveller : arrived) {
            append(queue_of(traveller.host, traveller.destination), traveller.segment);
            relayed.add(traveller.host.index(), traveller.destination.index(), traveller.segment.packets);
        }
        travelling_ -= arrived.size();
        arrived.clear();
        return any;
    }

    /// Takes the next packets that wait at `host` for `destination`, at most `limit` and of one message.
    /// Precondition: some wait.
    [[nodiscard]] Segment take(HostId host, HostId destination, std::uint32_t limit, Bytes payload) {
        Queue& queue = queues_[queue_index_.peek(host, destination)];
        ASTROLABE_ASSERT(queue.first != kNone, "packets that leave had arrived");
        Link& link = links_[queue.first];
        if (link.segment.packets > limit) {
            // Full packets: a short one is the last of its message.
            const Segment part{link.segment.message, limit, payload * limit};
            link.segment.packets -= limit;
            link.segment.payload -= part.payload;
            return part;
        }
        const Segment whole = link.segment;
        const std::uint32_t next = link.next;
        link.next = free_;
        free_ = queue.first;
        queue.first = next;
        return whole;
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Traveller {
        HostId host;
        HostId destination;
        Segment segment;
    };
    struct Link {
        Segment segment;
        std::uint32_t next = kNone;
    };
    struct Queue {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };

    [[nodiscard]] Queue& queue_of(HostId host, HostId destination) {
        std::uint32_t number = queue_index_.peek(host, destination);
        if (number == HostPairIndex::kNone) {
            number = static_cast<std::uint32_t>(queues_.size());
            queues_.emplace_back();
            queue_index_.insert(host, destination, number);
        }
        return queues_[number];
    }

    void append(Queue& queue, const Segment& segment) {
        std::uint32_t number = free_;
        if (number == kNone) {
            number = static_cast<std::uint32_t>(links_.size());
            links_.emplace_back();
        } else {
            free_ = links_[number].next;
        }
        links_[number] = {segment, kNone};
        (queue.first == kNone ? queue.first : links_[queue.last].next) = number;
        queue.last = number;
    }

    std::vector<std::vector<Traveller>> ways_;  // by superslice, round and round
    std::uint64_t travelling_ = 0;
    HostPairIndex queue_index_;
    std::vector<Queue> queues_;
    std::vector<Link> links_;
    std::uint32_t free_ = kNone;
};

}  // namespace astrolabe::network::opera
