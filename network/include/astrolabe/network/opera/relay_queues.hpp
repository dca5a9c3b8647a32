/// Packets of others at the hosts that relay them, and on their way there.
///
/// First hops that arrive count from the first installation at or after their arrival: `land` moves them from
/// the way into the queues of their hosts, where they leave first-come first-served per final destination.
///
/// Memory: 16 bytes per segment on its way, one or more packets of a message; 9 in a queue, in lines of 64; 8
/// and an index entry per pair of relaying host and destination that was ever used.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/host_pair_index.hpp>
#include <astrolabe/network/opera/chunked_pool.hpp>
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
    bool land(std::uint64_t superslice, PacketCounts& relayed);

    /// Number of the queue at `host` for `destination`. Precondition: something was ever relayed there.
    [[nodiscard]] std::uint32_t queue(HostId host, HostId destination) const {
        return queue_index_.peek(host, destination);
    }
    // Packets of a queue will be asked for: the queue, then its first line, from memory into the cache.
    void fetch(std::uint32_t queue) const { __builtin_prefetch(&queues_[queue]); }
    void fetch_line(std::uint32_t queue) const { __builtin_prefetch(&lines_[queues_[queue].first]); }
    /// `fetch(segment)` for each of the first line.
    template <class Fetch>
    void for_first_line(std::uint32_t queue, Fetch&& fetch) const {
        const Line& line = lines_[queues_[queue].first];
        for (std::uint32_t i = line.begin; i < line.end; ++i) {
            fetch(line.segments[i]);
        }
    }

    /// Of the packets of pairs of hosts in the queues, in their order, and of those that will be how many
    /// superslices after `superslice`. O(queues + segments).
    [[nodiscard]] std::size_t digest(std::uint64_t superslice, const SlotMessages& messages) const;
    /// What is on its way will be there so many superslices later.
    void postpone(std::uint64_t superslices) {
        std::rotate(ways_.rbegin(), ways_.rbegin() + static_cast<std::ptrdiff_t>(superslices % ways_.size()),
                    ways_.rend());
    }

    /// Takes the next packets of a queue, at most `limit` and of one message. Precondition: some wait.
    [[nodiscard]] Segment take(std::uint32_t queue, std::uint32_t limit);

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Traveller {
        HostId host;
        HostId destination;
        Segment segment;
    };
    /// Segments of a queue, begin <= i < end, that share a line of the cache.
    struct alignas(64) Line {
        std::array<Segment, 7> segments{};
        std::uint32_t next = kNone;
        std::uint16_t begin = 0;
        std::uint16_t end = 0;
    };
    struct Queue {
        std::uint32_t first = kNone;  // line
        std::uint32_t last = kNone;
    };

    [[nodiscard]] std::uint32_t number_of(HostId host, HostId destination);
    void append(Queue& queue, const Segment& segment);

    std::vector<std::vector<Traveller>> ways_;  // by superslice, round and round
    std::uint64_t travelling_ = 0;
    HostPairIndex queue_index_;
    std::vector<Queue> queues_;
    ChunkedPool<Line> lines_;
    std::vector<std::uint32_t> landing_;  // scratch: queues
};

}  // namespace astrolabe::network::opera
