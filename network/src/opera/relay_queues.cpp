#include <utility>

#include <astrolabe/network/opera/relay_queues.hpp>

namespace astrolabe::network::opera {

std::uint32_t RelayQueues::number_of(HostId host, HostId destination) {
    std::uint32_t number = queue_index_.peek(host, destination);
    if (number == HostPairIndex::kNone) {
        number = static_cast<std::uint32_t>(queues_.size());
        queues_.emplace_back();
        queue_index_.insert(host, destination, number);
    }
    return number;
}

bool RelayQueues::land(std::uint64_t superslice, PacketCounts& relayed) {
    std::vector<Traveller>& arrived = ways_[superslice % ways_.size()];
    const bool any = !arrived.empty();
    landing_.clear();
    for (const Traveller& traveller : arrived) {
        landing_.push_back(number_of(traveller.host, traveller.destination));
    }
    constexpr std::size_t kAhead = 16;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        if (i + 2 * kAhead < arrived.size()) {
            fetch(landing_[i + 2 * kAhead]);
        }
        if (i + kAhead < arrived.size() && queues_[landing_[i + kAhead]].last != kNone) {
            __builtin_prefetch(&lines_[queues_[landing_[i + kAhead]].last]);
        }
        const Traveller& traveller = arrived[i];
        append(queues_[landing_[i]], traveller.segment);
        relayed.add(traveller.host.index(), traveller.destination.index(), traveller.segment.packets());
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
            before = {before.flight(), before.packets() + segment.packets(), segment.ends()};
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

Segment RelayQueues::take(std::uint32_t number, std::uint32_t limit) {
    Queue& queue = queues_[number];
    ASTROLABE_ASSERT(queue.first != kNone, "packets that leave had arrived");
    Line& line = lines_[queue.first];
    Segment& first = line.segments[line.begin];
    if (first.packets() > limit) {
        first = {first.flight(), first.packets() - limit, first.ends()};
        return {first.flight(), limit, false};
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
