#include "circuit_gated_send.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

using network::Message;
using network::PlaceId;

CircuitGatedSend::CircuitGatedSend(std::shared_ptr<const network::CircuitWindows> windows,
                                   const network::NetworkBackend& backend, Time copy, Timers& timers,
                                   network::NotificationHandler& on_release)
    : windows_(std::move(windows)),
      backend_(backend),
      copy_(copy),
      timers_(timers),
      on_release_(on_release) {}

std::int64_t CircuitGatedSend::packets_of(Bytes size) const {
    const Bytes payload = windows_->payload();
    return size / payload + (size % payload > Bytes(0) ? 1 : 0);
}

void CircuitGatedSend::hold_back(std::vector<Message>& ready) {
    std::stable_sort(ready.begin(), ready.end(), [this](const Message& a, const Message& b) {
        return a.source != b.source ? a.source < b.source : place_of(a.destination) < place_of(b.destination);
    });
    for (auto first = ready.begin(); first != ready.end();) {
        const auto last = std::find_if(
            first, ready.end(), [first](const Message& message) { return message.source != first->source; });
        distribute({first, last});
        first = last;
    }
    ready.clear();
}

bool CircuitGatedSend::has_lane(const Message& message) const {
    const PlaceId from = place_of(message.source);
    const PlaceId to = place_of(message.destination);
    return from != to && message.size > Bytes(0) && windows_->wait_for_circuits(message.traffic_class) &&
           windows_->next(from, to, backend_.now() + copy_).has_value();
}

void CircuitGatedSend::distribute(std::span<const Message> of_one_rank) {
    const std::int64_t periods = periods_needed(of_one_rank);
    for (std::size_t first = 0; first < of_one_rank.size();) {
        const PlaceId place = place_of(of_one_rank[first].destination);
        std::size_t last = first + 1;
        while (last < of_one_rank.size() && place_of(of_one_rank[last].destination) == place) {
            ++last;
        }
        enter_lane(of_one_rank.subspan(first, last - first), periods);
        first = last;
    }
}

std::int64_t CircuitGatedSend::periods_needed(std::span<const Message> of_one_rank) {
    const PlaceId home = place_of(of_one_rank.front().source);
    needs_.assign(windows_->places(), 0);
    for (const Message& message : of_one_rank) {
        needs_[place_of(message.destination).index()] += packets_of(message.size);
    }
    std::int64_t places_met = 0;
    for (std::size_t place = 0; place < needs_.size(); ++place) {
        places_met += windows_->next(home, PlaceId(place), backend_.now() + copy_).has_value() ? 1 : 0;
    }
    const bool relays_home = !windows_->next(home, home, backend_.now() + copy_).has_value();
    const auto packets = static_cast<std::int64_t>(windows_->packets());
    const auto suffices = [&](std::int64_t periods) {
        astrolabe::detail::Int128 sent = 0;
        for (std::size_t place = 0; place < needs_.size(); ++place) {
            const bool is_relayed = relays_home && PlaceId(place) == home;
            const std::int64_t direct = is_relayed ? 0 : std::min(needs_[place], periods * packets);
            sent += direct + 2 * (needs_[place] - direct);
        }
        return sent <= astrolabe::detail::Int128{periods} * packets * places_met;
    };
    if (places_met == 0) {
        return 1;
    }
    std::int64_t enough = 1;
    while (!suffices(enough)) {
        enough *= 2;
    }
    for (std::int64_t too_few = enough / 2; enough - too_few > 1;) {
        const std::int64_t middle = too_few + (enough - too_few) / 2;
        (suffices(middle) ? enough : too_few) = middle;
    }
    return enough;
}

void CircuitGatedSend::enter_lane(std::span<const Message> for_one_place, std::int64_t periods) {
    const Message& any = for_one_place.front();
    const std::size_t lane = any.source.index() * windows_->places() + place_of(any.destination).index();
    if (lanes_.size() <= lane) {
        lanes_.resize(lane + 1);
    }
    shares_.clear();
    for (std::uint32_t i = 0; i < for_one_place.size(); ++i) {
        shares_.push_back({i, packets_of(for_one_place[i].size)});
    }
    level_shares(periods * windows_->packets());
    for (std::uint32_t i = 0; i < for_one_place.size(); ++i) {
        const Message& message = for_one_place[i];
        const std::int64_t packets = shares_[i].packets;
        if (!has_lane(message) || packets == 0) {
            opening_at(backend_.now()).at_once.push_back(message);
            continue;
        }
        const Number number = hold(message);
        held_[number].pace = (packets + periods - 1) / periods;
        const Bytes direct = std::min(message.size, windows_->payload() * packets);
        if (direct < message.size) {
            opening_at(backend_.now()).at_once.push_back(take(number, message.size - direct));
        }
        lanes_[lane].waiting.push_back(number);
        wait(lane);
    }
}

void CircuitGatedSend::wait(std::size_t index) {
    Lane& lane = lanes_[index];
    if (lane.is_open) {
        return;
    }
    const Message& message = held_[lane.waiting.front()].message;
    const auto opportunity = windows_->next(place_of(message.source), place_of(message.destination),
                                            std::max(backend_.now() + copy_, lane.start + Time(1)));
    ASTROLABE_ASSERT(opportunity, "connected places are connected again");
    lane.start = opportunity->begin;
    lane.is_open = true;
    const Time due = opportunity->begin - windows_->notice() - copy_;
    opening_at(std::max(backend_.now(), due)).lanes.push_back(index);
}

CircuitGatedSend::Opening& CircuitGatedSend::opening_at(Time time) {
    const auto [opening, is_new] = openings_.try_emplace(time);
    if (is_new) {
        timers_.set(time - backend_.now(), on_release_, static_cast<std::uint64_t>(time.count()));
    }
    return opening->second;
}

void CircuitGatedSend::release(std::uint64_t token, std::vector<Message>& due) {
    timers_.expired();
    const auto found = openings_.find(Time(static_cast<std::int64_t>(token)));
    ASTROLABE_ASSERT(found != openings_.end(), "something is due");
    const Opening opening = std::move(found->second);
    openings_.erase(found);
    due.insert(due.end(), opening.at_once.begin(), opening.at_once.end());
    for (const std::size_t lane : opening.lanes) {
        open(lane, due);
    }
}

void CircuitGatedSend::open(std::size_t index, std::vector<Message>& due) {
    Lane& lane = lanes_[index];
    shares_.clear();
    for (const Number number : lane.waiting) {
        const Held& held = held_[number];
        const std::uint32_t host = held.message.destination.index();
        auto share = std::ranges::find(shares_, host, &Share::index);
        if (share == shares_.end()) {
            share = shares_.insert(share, {host, 0});
        }
        share->packets += std::min(held.pace, packets_of(held.left));
    }
    level_shares(windows_->packets());
    std::vector<Number> staying;
    for (const Number number : lane.waiting) {
        const Held& held = held_[number];
        Share& share = *std::ranges::find(shares_, held.message.destination.index(), &Share::index);
        const std::int64_t packets = std::min({share.packets, held.pace, packets_of(held.left)});
        share.packets -= packets;
        const Bytes size = std::min(held.left, windows_->payload() * packets);
        if (size < held.left) {
            staying.push_back(number);
        }
        if (size > Bytes(0)) {
            due.push_back(take(number, size));
        }
    }
    lane.waiting = std::move(staying);
    lane.is_open = false;
    if (!lane.waiting.empty()) {
        wait(index);
    }
}

void CircuitGatedSend::level_shares(std::int64_t packets) {
    std::sort(shares_.begin(), shares_.end(), [](const Share& a, const Share& b) {
        return a.packets != b.packets ? a.packets < b.packets : a.index < b.index;
    });
    auto left = static_cast<std::int64_t>(shares_.size());
    for (Share& share : shares_) {
        const std::int64_t level = packets / left--;
        if (share.packets > level) {
            // None of the others needs less.
            for (Share* other = &share; other != shares_.data() + shares_.size(); ++other) {
                other->packets = level;
            }
            break;
        }
        packets -= share.packets;
    }
    std::sort(shares_.begin(), shares_.end(),
              [](const Share& a, const Share& b) { return a.index < b.index; });
}

CircuitGatedSend::Number CircuitGatedSend::hold(const Message& message) {
    if (free_.empty()) {
        free_.push_back(static_cast<Number>(held_.size()));
        held_.emplace_back();
    }
    const Number number = free_.back();
    free_.pop_back();
    held_[number] = {.message = message, .left = message.size};
    return number;
}

Message CircuitGatedSend::take(Number number, Bytes size) {
    Held& held = held_[number];
    Message piece = held.message;
    if (size == piece.size) {
        free_.push_back(number);
        return piece;
    }
    held.left -= size;
    ++held.in_copy;
    ++held.in_flight;
    piece.size = size;
    piece.on_delivered = this;
    piece.token = number;
    return piece;
}

std::optional<Message> CircuitGatedSend::sent(const Message& due) {
    if (due.on_delivered != this) {
        return due;
    }
    Held& held = held_[due.token];
    --held.in_copy;
    const bool is_last = held.left == Bytes(0) && held.in_copy == 0;
    return is_last ? std::optional(held.message) : std::nullopt;
}

void CircuitGatedSend::notify(std::uint64_t number) {
    Held& held = held_[number];
    if (--held.in_flight > 0 || held.left > Bytes(0)) {
        return;
    }
    const Message message = held.message;
    free_.push_back(static_cast<Number>(number));
    message.on_delivered->notify(message.token);
}

}  // namespace astrolabe::system::detail
