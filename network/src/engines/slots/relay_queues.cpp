#include "relay_queues.hpp"

#include <algorithm>
#include <utility>

#include <boost/container_hash/hash.hpp>

namespace astrolabe::network::rotor {

std::uint32_t RelayQueues::add_queue(HostId host, HostId destination) {
    const auto number = static_cast<std::uint32_t>(queues_.size());
    queues_.push_back({.host = host, .destination = destination});
    queue_index_.insert(host, destination, number);
    if (number < kCounted) {
        counted_.resize(counted_.size() + ways_.size());
    }
    return number;
}

void RelayQueues::postpone(std::uint64_t superslices) {
    const auto shift = static_cast<std::ptrdiff_t>(superslices & last_way_);
    std::rotate(ways_.rbegin(), ways_.rbegin() + shift, ways_.rend());
    for (auto end = counted_.rbegin(); end != counted_.rend();) {
        const auto row = end;
        end += static_cast<std::ptrdiff_t>(ways_.size());
        std::rotate(row, row + shift, end);
    }
}

bool RelayQueues::arrive(std::uint64_t superslice, PacketCounts& relayed) {
    Way& way = way_to(superslice);
    const std::size_t arrived = way.travellers.size() + way.queues.size();
    arrive_travellers(way.travellers, relayed);
    for (const std::uint32_t number : way.queues) {
        Queue& queue = queues_[number];
        const Counted counted = std::exchange(counted_[counted_at(number, superslice)], {});
        queue.behind += counted.behind;
        relayed.add(queue.host.index(), queue.destination.index(), counted.packets);
    }
    way.travellers.clear();
    way.queues.clear();
    travelling_ -= arrived;
    return arrived > 0;
}

void RelayQueues::arrive_travellers(std::span<const Traveller> arrived, PacketCounts& relayed) {
    arriving_.resize(arrived.size());
    std::size_t arriving = 0;
    constexpr std::size_t kAhead = 16;
    const bool is_large = queues_.size() > kCounted;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        if (is_large && i + 2 * kAhead < arrived.size()) {
            prefetch(arrived[i + 2 * kAhead].queue);
            if (const std::uint32_t last = queues_[arrived[i + kAhead].queue].last; last != kNone) {
                __builtin_prefetch(&lines_[last]);
            }
        }
        const auto& [number, segment] = arrived[i];
        Queue& queue = queues_[number];
        if (number >= kCounted) {
            if (queue.arriving == 0) {
                arriving_[arriving++] = number;
            }
            queue.arriving += segment.packets();
        }
        queue.behind += segment.packets();
        if (segment.has_flight()) {
            append(queue, segment.with(std::exchange(queue.behind, 0)));
        }
    }
    arriving_.resize(arriving);
    for (const std::uint32_t number : arriving_) {
        Queue& queue = queues_[number];
        relayed.add(queue.host.index(), queue.destination.index(), std::exchange(queue.arriving, 0));
    }
}

void RelayQueues::append(Queue& queue, const Segment& segment) {
    Line* line = queue.first == kNone ? &add_line(queue) : &lines_[queue.last];
    if (line->end > line->begin) {
        Segment& before = line->segments[line->end - 1];
        if (before.flight() == segment.flight() && !before.ends()) {
            before = {before.flight(), before.packets() + segment.packets(), before.own() + segment.own(),
                      segment.ends()};
            return;
        }
    }
    if (line->end == line->segments.size()) {
        line = &add_line(queue);
    }
    line->segments[line->end++] = segment;
}

RelayQueues::Line& RelayQueues::add_line(Queue& queue) {
    const std::uint32_t number = lines_.add({});
    (queue.first == kNone ? queue.first : lines_[queue.last].next) = number;
    queue.last = number;
    return lines_[number];
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
        const Way& way = ways_[(superslice + later) & last_way_];
        for (const Traveller& traveller : way.travellers) {
            add(traveller.queue, traveller.segment);
        }
        for (const std::uint32_t number : way.queues) {
            add(number, Segment(counted_[counted_at(number, superslice + later)].behind));
        }
        end_row();
    }
    return digest;
}

}  // namespace astrolabe::network::rotor
