#include <algorithm>
#include <utility>

#include <boost/container_hash/hash.hpp>

#include <astrolabe/network/opera/relay_queues.hpp>

namespace astrolabe::network::opera {

std::uint32_t RelayQueues::open(HostId host, HostId destination) {
    std::uint32_t number = queue_index_.peek(host, destination);
    if (number == HostPairIndex::kNone) {
        number = static_cast<std::uint32_t>(queues_.size());
        queues_.push_back({.host = host, .destination = destination});
        queue_index_.insert(host, destination, number);
    }
    return number;
}

bool RelayQueues::land(std::uint64_t superslice, PacketCounts& relayed) {
    std::vector<Traveller>& arrived = way_to(superslice);
    const bool any = !arrived.empty();
    landing_.resize(arrived.size());
    std::size_t landing = 0;
    // Where queues stay in the cache, asking for them early is only more to do: 16,384 of them take 384 KiB.
    constexpr std::size_t kInCache = 1U << 14;
    constexpr std::size_t kAhead = 16;
    const bool is_large = queues_.size() > kInCache;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        if (is_large && i + 2 * kAhead < arrived.size()) {
            fetch(arrived[i + 2 * kAhead].queue);
            if (const std::uint32_t last = queues_[arrived[i + kAhead].queue].last; last != kNone) {
                __builtin_prefetch(&lines_[last]);
            }
        }
        const auto& [number, segment] = arrived[i];
        Queue& queue = queues_[number];
        if (queue.landing == 0) {
            landing_[landing++] = number;
        }
        queue.landing += segment.packets();
        queue.behind += segment.packets();
        if (segment.has_flight()) {
            append(queue, segment.with(std::exchange(queue.behind, 0)));
        }
    }
    landing_.resize(landing);
    for (const std::uint32_t number : landing_) {
        Queue& queue = queues_[number];
        relayed.add(queue.host.index(), queue.destination.index(), std::exchange(queue.landing, 0));
    }
    travelling_ -= arrived.size();
    arrived.clear();
    return any;
}

void RelayQueues::append(Queue& queue, const Segment& segment) {
    if (queue.first == kNone) {
        queue.first = queue.last = lines_.add({});
    }
    Line* line = &lines_[queue.last];
    if (line->end > line->begin) {
        Segment& before = line->segments[line->end - 1];
        if (before.flight() == segment.flight() && !before.ends()) {
            before = {before.flight(), before.packets() + segment.packets(), before.own() + segment.own(),
                      segment.ends()};
            return;
        }
    }
    if (line->end == line->segments.size()) {
        line->next = lines_.add({});
        queue.last = line->next;
        line = &lines_[queue.last];
    }
    line->segments[line->end++] = segment;
}

std::size_t RelayQueues::digest(std::uint64_t superslice, const SlotMessages& messages) const {
    std::size_t digest = 0;
    // Packets of a pair in a row, however messages cut them.
    std::uint64_t where = 0;
    std::uint32_t pair = 0;
    std::uint64_t packets = 0;
    const auto end_row = [&] {
        if (packets > 0) {
            boost::hash_combine(digest, where);
            boost::hash_combine(digest, std::uint64_t{pair} << 32 | packets);
            packets = 0;
        }
    };
    const auto add = [&](std::uint64_t at, const Segment& segment) {
        const std::uint32_t of = segment.has_flight() ? messages.pair_of(segment) : kNone;
        if (of != pair || at != where) {
            end_row();
        }
        where = at;
        pair = of;
        packets += segment.packets();
    };
    for (std::uint32_t number = 0; number < queues_.size(); ++number) {
        for (std::uint32_t l = queues_[number].first; l != kNone; l = lines_[l].next) {
            for (std::uint32_t i = lines_[l].begin; i < lines_[l].end; ++i) {
                add(number, lines_[l].segments[i]);
            }
        }
        add(number, Segment(queues_[number].behind));
        end_row();
    }
    for (std::uint64_t later = 0; later < ways_.size(); ++later) {
        boost::hash_combine(digest, later);
        for (const Traveller& traveller : ways_[(superslice + later) % ways_.size()]) {
            add(traveller.queue, traveller.segment);
        }
        end_row();
    }
    return digest;
}

Segment RelayQueues::take(std::uint32_t number, std::uint32_t limit) {
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

}  // namespace astrolabe::network::opera
