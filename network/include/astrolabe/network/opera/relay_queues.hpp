/// Packets of others at the hosts that relay them, and on their way there.
///
/// First hops that arrive count from the first installation at or after their arrival: `land` moves them from
/// the way into the queues of their hosts, where they leave first-come first-served per final destination.
///
/// Memory: 16 bytes per segment on its way; 16 per row with a flight, in lines of 64; 24 and an index entry
/// per pair of relaying host and destination that was ever used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
        : ways_(std::bit_ceil(horizon + 1)),
          last_way_(ways_.size() - 1),
          queue_index_(hosts) {}

    /// Number of the queue at `host` for `destination`, which is there from now on.
    [[nodiscard]] std::uint32_t open(HostId host, HostId destination);
    /// `segment` is in a queue from the installation of `superslice` on.
    void travel(std::uint32_t queue, const Segment& segment, std::uint64_t superslice) {
        way_to(superslice).push_back({queue, segment});
        ++travelling_;
    }
    [[nodiscard]] bool any_under_way() const { return travelling_ > 0; }

    /// What arrived for `superslice`, each in its turn, enters the queues and is counted. False: nothing did.
    bool land(std::uint64_t superslice, PacketCounts& relayed);

    /// The same. Precondition: it was opened.
    [[nodiscard]] std::uint32_t queue(HostId host, HostId destination) const {
        return queue_index_.peek(host, destination);
    }
    // Packets of a queue will be asked for: the queue, then its first line, from memory into the cache.
    void fetch(std::uint32_t queue) const { __builtin_prefetch(&queues_[queue]); }
    void fetch_line(std::uint32_t queue) const {
        if (queues_[queue].first != kNone) {
            __builtin_prefetch(&lines_[queues_[queue].first]);
        }
    }
    /// `fetch(segment)` for each of the first line.
    template <class Fetch>
    void for_first_line(std::uint32_t queue, Fetch&& fetch) const {
        if (queues_[queue].first == kNone) {
            return;
        }
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

    /// Takes the next packets of a queue, at most `limit` and of one row. Precondition: some wait.
    [[nodiscard]] Segment take(std::uint32_t queue, std::uint32_t limit);

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Traveller {
        std::uint32_t queue = 0;
        Segment segment;
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
        std::uint32_t behind = 0;   // packets behind the last row with a flight
        std::uint32_t landing = 0;  // packets; 0 but while some land
    };

    [[nodiscard]] std::vector<Traveller>& way_to(std::uint64_t superslice) {
        return ways_[superslice & last_way_];
    }
    void append(Queue& queue, const Segment& segment);

    std::vector<std::vector<Traveller>> ways_;  // by superslice, round and round; a power of two of them
    std::uint64_t last_way_;
    std::uint64_t travelling_ = 0;
    HostPairIndex queue_index_;
    std::vector<Queue> queues_;
    ChunkedPool<Line> lines_;
    std::vector<std::uint32_t> landing_;  // scratch: queues in which some land
};

}  // namespace astrolabe::network::opera
