#include <algorithm>
#include <utility>

#include <astrolabe/network/opera/slot_messages.hpp>

namespace astrolabe::network::opera {

std::uint32_t SlotMessages::pair_between(HostId source, HostId destination) {
    const std::uint32_t known = pair_index_.peek(source, destination);
    if (known != HostPairIndex::kNone) {
        return known;
    }
    const auto number = static_cast<std::uint32_t>(pairs_.size());
    Pair& pair = pairs_.emplace_back();
    pair.source = source;
    pair.destination = destination;
    pair_index_.insert(source, destination, number);
    return number;
}

std::uint32_t SlotMessages::new_item(const Message& message, Time latest, bool is_queued) {
    std::uint32_t number = free_;
    if (number == kNone) {
        number = static_cast<std::uint32_t>(items_.size());
        ASTROLABE_ASSERT(items_.size() < kNone, "messages under way are numbered in 32 bits");
        items_.emplace_back();
    } else {
        free_ = items_[number].next;
    }
    items_[number] = {.size = message.size,
                      .handler = message.on_delivered,
                      .token = message.token,
                      .sent_as = sent_++,
                      .on_detour = 0,
                      .latest = latest,
                      .pair = pair_between(message.source, message.destination),
                      .next = kNone,
                      .is_queued = is_queued};
    ++under_way_;
    return number;
}

void SlotMessages::add(const Message& message, Time least) {
    const std::uint32_t number = new_item(message, least, true);
    Pair& pair = pairs_[items_[number].pair];
    const std::uint64_t packets = packets_of(message.size);
    (pair.first == kNone ? pair.first : items_[pair.last].next) = number;
    pair.last = number;
    if (packets == 0) {
        settle(pair);
    } else if (pair.leaving == kNone) {
        pair.leaving = number;
        pair.packets_left = packets;
    }
}

Segment SlotMessages::take(Pair& pair, std::uint32_t limit) {
    ASTROLABE_ASSERT(pair.leaving != kNone, "packets that leave belong to a message");
    const auto packets = static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, pair.packets_left));
    Segment segment{pair.leaving, packets, payload_ * packets};
    pair.packets_left -= packets;
    if (pair.packets_left == 0) {
        const Item& item = items_[pair.leaving];
        segment.payload = item.size - payload_ * static_cast<std::int64_t>(packets_of(item.size) - packets);
        do {
            pair.leaving = items_[pair.leaving].next;
        } while (pair.leaving != kNone && items_[pair.leaving].size == Bytes(0));
        if (pair.leaving != kNone) {
            pair.packets_left = packets_of(items_[pair.leaving].size);
        }
    }
    return segment;
}

Segment SlotMessages::detour(HostId source, HostId destination, std::uint32_t limit) {
    Pair& pair = pairs_[pair_index_.peek(source, destination)];
    const Segment segment = take(pair, limit);
    Item& item = items_[segment.message];
    item.on_detour += segment.packets;
    if (pair.leaving != segment.message) {
        item.latest = std::max(item.latest, pair.latest);
    }
    return segment;
}

void SlotMessages::arrives(const Segment& segment, Time time) {
    Item& item = items_[segment.message];
    item.latest = std::max(item.latest, time);
    item.on_detour -= segment.packets;
    if (item.on_detour == 0) {
        settle(pairs_[item.pair]);
    }
}

void SlotMessages::settle(Pair& pair) {
    while (pair.first != kNone && pair.first != pair.leaving && items_[pair.first].on_detour == 0) {
        Item& item = items_[pair.first];
        pair.delivered = std::max(pair.delivered, item.latest);
        arrivals_.push_back({pair.delivered, pair.first});
        pair.first = std::exchange(item.next, kNone);
    }
}

std::uint64_t SlotMessages::packets_at_source(const Item& item) const {
    const Pair& pair = pairs_[item.pair];
    if (!item.is_queued) {
        return packets_of(item.size);
    }
    if (pair.leaving == kNone || item.sent_as < items_[pair.leaving].sent_as) {
        return 0;
    }
    return &item == &items_[pair.leaving] ? pair.packets_left : packets_of(item.size);
}

std::vector<OutstandingMessage> SlotMessages::describe(std::size_t limit) const {
    std::vector<const Item*> outstanding;
    for (const Item& item : items_) {
        if (item.handler != nullptr) {
            outstanding.push_back(&item);
        }
    }
    std::sort(outstanding.begin(), outstanding.end(),
              [](const Item* a, const Item* b) { return a->sent_as < b->sent_as; });
    outstanding.resize(std::min(outstanding.size(), limit));
    std::vector<OutstandingMessage> described;
    for (const Item* item : outstanding) {
        const Pair& pair = pairs_[item->pair];
        const Bytes left = payload_ * static_cast<std::int64_t>(item->on_detour + packets_at_source(*item));
        described.push_back({pair.source, pair.destination, item->size, std::min(left, item->size)});
    }
    return described;
}

}  // namespace astrolabe::network::opera
