#include "slot_messages.hpp"

#include <algorithm>
#include <utility>

namespace astrolabe::network::rotor {

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

void SlotMessages::add(const Message& message, Time least) {
    const std::uint32_t pair_number = pair_between(message.source, message.destination);
    Pair& pair = pairs_[pair_number];
    const std::uint64_t packets = packets_of(message.size);
    const auto sent_as = static_cast<std::uint32_t>(sent_++);
    ++in_flight_;
    if (packets == 0 && pair.queue.empty() && pair.first_flight == kNone) {
        pair.latest = std::max(pair.latest, least);
        arrivals_.push(pair.latest,
                       {message.on_delivered, message.token, message.size, sent_as, pair_number});
        return;
    }
    const bool is_first = pair.queue.empty();
    queues_.append(pair.queue, {message.on_delivered, message.token, message.size, sent_as});
    ++waiting_;
    if (!is_first) {
        return;
    }
    pair.size = message.size;
    pair.packets_left = packets;
    if (packets == 0) {
        pair.latest = std::max(pair.latest, least);
        leave(pair);
    }
}

/// The pair then has the size and the packets of its next message.
void SlotMessages::remove_first(Pair& pair) {
    queues_.remove_first(pair.queue);
    if (pair.queue.empty()) {
        pair.packets_left = 0;
        return;
    }
    pair.size = queues_.first_size(pair.queue);
    pair.packets_left = packets_of(pair.size);
}

std::uint32_t SlotMessages::add_on_its_way(const Message& message) {
    ++in_flight_;
    return on_their_way_.add({message.on_delivered, message.token, message.size,
                              static_cast<std::uint32_t>(sent_++),
                              pair_between(message.source, message.destination)});
}

void SlotMessages::arrives(std::uint32_t message, Time time) {
    arrivals_.push(time, std::exchange(on_their_way_[message], {}));
    on_their_way_.remove(message);
}

SlotMessages::Arrival SlotMessages::next_to_leave(const Pair& pair) const {
    const MessageQueues::Waiting first = queues_.first(pair.queue);
    return {first.handler, first.token, first.size, first.sent_as,
            static_cast<std::uint32_t>(&pair - pairs_.data())};
}

Bytes SlotMessages::take(Pair& pair, std::uint32_t packets) {
    ASTROLABE_ASSERT(pair.packets_left >= packets, "packets that leave belong to a message");
    pair.packets_left -= packets;
    const Bytes full = payload_ * static_cast<std::int64_t>(packets);
    return pair.packets_left > 0 ? full : full - missing_of_last(pair.size);
}

const SlotMessages::Flight* SlotMessages::boarding(const Pair& pair) const {
    if (pair.last_flight == kNone || flights_[pair.last_flight].has_left) {
        return nullptr;
    }
    return &flights_[pair.last_flight];
}

SlotMessages::Flight* SlotMessages::boarding(const Pair& pair) {
    return const_cast<Flight*>(std::as_const(*this).boarding(pair));
}

SlotMessages::Flight& SlotMessages::add_flight(Pair& pair) {
    const std::uint32_t number = flights_.add({next_to_leave(pair), 0, Time(0), kNone, false});
    (pair.first_flight == kNone ? pair.first_flight : flights_[pair.last_flight].next) = number;
    pair.last_flight = number;
    return flights_[number];
}

void SlotMessages::leave(Pair& pair) {
    do {
        Flight* flight = boarding(pair);
        if (flight == nullptr && pair.first_flight == kNone) {
            arrivals_.push(pair.latest, next_to_leave(pair));
        } else {
            flight = flight == nullptr ? &add_flight(pair) : flight;
            flight->has_left = true;
            flight->latest = std::max(flight->latest, pair.latest);
        }
        --waiting_;
        remove_first(pair);
    } while (!pair.queue.empty() && pair.packets_left == 0);
    settle(pair);
}

std::uint32_t SlotMessages::detour_part(std::uint32_t number, std::uint32_t packets) {
    Pair& pair = pairs_[number];
    Flight* flight = boarding(pair);
    flight = flight == nullptr ? &add_flight(pair) : flight;
    flight->on_detour += packets;
    static_cast<void>(take(pair, packets));
    return pair.last_flight;
}

Segment SlotMessages::detour(std::uint32_t number, std::uint32_t limit) {
    Pair& pair = pairs_[number];
    const auto packets = static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, pair.packets_left));
    const std::uint32_t flight = detour_part(number, packets);
    const bool ends = pair.packets_left == 0;
    if (ends) {
        leave(pair);
    }
    return {flight, packets, packets, ends};
}

void SlotMessages::arrives(const Segment& segment, Time time) {
    Flight& flight = flights_[segment.flight()];
    flight.latest = std::max(flight.latest, time);
    flight.on_detour -= segment.own();
    if (flight.on_detour == 0 && flight.has_left) {
        settle(pairs_[flight.message.pair]);
    }
}

void SlotMessages::settle(Pair& pair) {
    while (pair.first_flight != kNone) {
        const Flight& flight = flights_[pair.first_flight];
        if (!flight.has_left || flight.on_detour > 0) {
            return;
        }
        arrivals_.push(flight.latest, flight.message);
        Time& following = flight.next == kNone ? pair.latest : flights_[flight.next].latest;
        following = std::max(following, flight.latest);
        flights_.remove(std::exchange(pair.first_flight, flight.next));
    }
    pair.last_flight = kNone;
}

Time SlotMessages::latest_arrival(std::uint32_t pair) const {
    Time latest = pairs_[pair].latest;
    for (std::uint32_t number = pairs_[pair].first_flight; number != kNone; number = flights_[number].next) {
        latest = std::max(latest, flights_[number].latest);
    }
    return latest;
}

void SlotMessages::repeat(std::uint32_t pair, std::uint64_t packets, Time later) {
    ASTROLABE_ASSERT(packets < pairs_[pair].packets_left, "no message ends in what is passed over");
    pairs_[pair].latest = latest_arrival(pair) + later;
    pairs_[pair].packets_left -= packets;
}

std::vector<OutstandingMessage> SlotMessages::describe(std::size_t limit) const {
    struct Outstanding {
        std::uint32_t before;  // the message sent last
        OutstandingMessage message;
    };
    std::vector<Outstanding> all;
    const auto add = [&](const Pair& pair, std::uint32_t sent_as, Bytes size, std::uint64_t packets) {
        const Bytes left = std::min(size, payload_ * static_cast<std::int64_t>(packets));
        all.push_back(
            {static_cast<std::uint32_t>(sent_) - sent_as, {pair.source, pair.destination, size, left}});
    };
    for (const Pair& pair : pairs_) {
        for (std::uint32_t number = pair.first_flight; number != kNone; number = flights_[number].next) {
            const Flight& flight = flights_[number];
            add(pair, flight.message.sent_as, flight.message.size,
                flight.on_detour + (flight.has_left ? 0 : pair.packets_left));
        }
        const bool is_boarding = boarding(pair) != nullptr;
        bool is_first = true;
        queues_.for_each(pair.queue, [&](const MessageQueues::Waiting& message) {
            if (!is_first) {
                add(pair, message.sent_as, message.size, packets_of(message.size));
            } else if (!is_boarding) {
                add(pair, message.sent_as, message.size, pair.packets_left);
            }
            is_first = false;
        });
    }
    for (std::uint32_t number = 0; number < on_their_way_.size(); ++number) {
        if (const Arrival& message = on_their_way_[number]; message.handler != nullptr) {
            add(pairs_[message.pair], message.sent_as, message.size, packets_of(message.size));
        }
    }
    arrivals_.for_each(
        [&](const Arrival& arrival) { add(pairs_[arrival.pair], arrival.sent_as, arrival.size, 0); });
    std::stable_sort(all.begin(), all.end(),
                     [](const Outstanding& a, const Outstanding& b) { return a.before > b.before; });
    std::vector<OutstandingMessage> described;
    for (std::size_t i = 0; i < std::min(all.size(), limit); ++i) {
        described.push_back(all[i].message);
    }
    return described;
}

}  // namespace astrolabe::network::rotor
