// How the fluid engine runs ahead with a forwarder (forwarder.hpp).
//
// Ahead, messages are on the hops of the forwarder only, and timers alone wait in the queue of delays. What
// arrives before a time is known already if nothing sent from now on can arrive before it: a message sent on
// a hop waits there until all before it have left, and none is sent before the next delivery,
//
//     until = min over hops of max(end of all that is on the hop, next delivery on any) + service + latency,
//
// with the service of the least message. Up to there, and to the next timer or delivery that is to be
// notified, hops are gone through one after another. The instant after that is processed as any other; a
// message of another kind ends the run ahead.
//
// Complexity: O(1) for a message, O(hops) for each such span of time, O(messages outstanding + hops) to begin
// and to end.
#include "fluid_backend.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// Picoseconds that a byte takes at 1 bit/s.
constexpr double kBytePace = 8.0 * static_cast<double>(kPicosecondsPerSecond);

/// Messages of a hop that are handed over together, so that the memory they need is waited for at once.
constexpr std::size_t kForwardedAtOnce = 64;

/// A span is worth its cost with a message for so many hops.
constexpr std::size_t kHopsPerMessage = 8;

/// Else what is sent at a delivery could arrive at once, in the span that is known.
bool take_time(const std::vector<ForwardingHop>& hops) {
    return std::ranges::all_of(hops, [](const ForwardingHop& hop) { return hop.least_service > Time(0); });
}

}  // namespace

void FluidBackend::run_ahead_with(Forwarder& forwarder) {
    forwarder_ = &forwarder;
}

bool FluidBackend::goes_ahead() {
    if (forwarder_ == nullptr || rates_by_link_ == nullptr || events_ < ahead_again_at_) {
        return false;
    }
    // To ask costs a fraction of so many events.
    ahead_again_at_ = events_ + 4 * fabric().host_count() + outstanding_messages() / 8;
    const std::span<const Forwarder::Hop> hops = forwarder_->hops();
    return rates_by_link_->active_count() <= hops.size() &&
           outstanding_messages() * kHopsPerMessage >= hops.size() && find_hops(hops) && forwards_all();
}

bool FluidBackend::find_hops(std::span<const Forwarder::Hop> hops) {
    for (const ForwardingHop& hop : hops_) {
        hop_of_[hop.connection] = ForwardingHop::kNone;
    }
    hop_of_.resize(connections_.size(), ForwardingHop::kNone);
    hops_.resize(hops.size());
    ahead_.clear();
    std::vector<std::uint32_t> connections;
    for (std::uint32_t i = 0; i < hops.size(); ++i) {
        const std::uint32_t index = pairs_.find(hops[i].source, hops[i].destination);
        if (index == HostPairIndex::kNone || connections_[index].state == State::kNowhere) {
            return false;
        }
        ASTROLABE_ASSERT(hop_of_[index] == ForwardingHop::kNone, "a hop is named once");
        hop_of_[index] = i;
        ForwardingHop& hop = hops_[i];
        hop.connection = index;
        hop.next = hops[i].next;
        hop.latency = connections_[index].latency;
        hop.least_service = Time::max();
        hop.on_wire = 0;
        connections.push_back(index);
        ahead_.push_back(rates_by_link_->go_ahead(index));
    }
    return !hops.empty() && rates_by_link_->share_no_link(connections);
}

ForwardingHop* FluidBackend::hop_between(HostId source, HostId destination) {
    const std::uint32_t index = pairs_.find(source, destination);
    return index == HostPairIndex::kNone || index >= hop_of_.size() || hop_of_[index] == ForwardingHop::kNone
               ? nullptr
               : &hops_[hop_of_[index]];
}

bool FluidBackend::forwards_all() {
    std::uint64_t found = 0;
    Bytes least = Bytes::max();
    const auto count = [&](const auto& message) {
        if (message.handler != forwarder_) {
            return;
        }
        if (const auto forwarded = forwarder_->forwarded(message.token)) {
            ++found;
            least = std::min(least, forwarded->least);
        }
    };
    for (const ForwardingHop& hop : hops_) {
        const Connection& connection = connections_[hop.connection];
        if (connection.has_messages()) {
            count(connection.first);
            queues_.for_each(connection.behind, count);
        }
    }
    delayed_.for_each([&](Time /*time*/, const DelayedEvent& event) {
        in_flight_.for_each(event.deliveries, [&](const MessagePool::Item& message) {
            if (hop_of_[message.connection] != ForwardingHop::kNone) {
                count(message);
            }
        });
    });
    if (found < outstanding_messages()) {
        return false;
    }
    expect_no_less(least);
    return take_time(hops_);
}

void FluidBackend::expect_no_less(Bytes least) {
    least_ahead_ = least;
    for (std::size_t i = 0; i < hops_.size(); ++i) {
        // Ends are rounded up, so that two may be a picosecond less apart.
        const double service = static_cast<double>(least.count()) * kBytePace / ahead_[i].rate - 1.0;
        hops_[i].least_service = Time(static_cast<std::int64_t>(std::clamp(service, 0.0, 0x1p60)));
    }
}

void FluidBackend::begin_ahead() {
    is_ahead_ = true;
    delayed_.take_out([](const DelayedEvent& event) { return !event.deliveries.empty(); },
                      [&](Time time, const DelayedEvent& event) {
                          MessagePool::List deliveries = event.deliveries;
                          while (!deliveries.empty()) {
                              const std::uint32_t number = in_flight_.pop(deliveries);
                              const MessagePool::Item message = in_flight_[number];
                              in_flight_.remove(number);
                              ForwardingHop& hop = hops_[hop_of_[message.connection]];
                              hop.put(message.token, message.size, time - hop.latency, message.sent_as,
                                      forwarder_->forwarded(message.token)->ends);
                              ++hop.on_wire;
                          }
                      });
    for (std::size_t i = 0; i < hops_.size(); ++i) {
        Connection& connection = connections_[hops_[i].connection];
        for (bool is_first = true; connection.has_messages(); is_first = false) {
            const MessageQueues::Waiting message = take_first(connection);
            const Time end =
                is_first ? ahead_[i].last_end : rates_by_link_->serve_ahead(ahead_[i], message.size, now_);
            hops_[i].put(message.token, message.size, end, message.sent_as,
                         forwarder_->forwarded(message.token)->ends);
        }
    }
}

bool FluidBackend::send_ahead(const Message& message) {
    ForwardingHop* const hop = hop_between(message.source, message.destination);
    const auto forwarded = hop != nullptr && message.on_delivered == forwarder_
                               ? forwarder_->forwarded(message.token)
                               : std::nullopt;
    bool stays_ahead = forwarded.has_value();
    if (forwarded && forwarded->least < least_ahead_) {
        expect_no_less(forwarded->least);
        stays_ahead = take_time(hops_);
    }
    if (!stays_ahead) {
        end_ahead();
        return false;
    }
    const Time end =
        rates_by_link_->serve_ahead(ahead_[static_cast<std::size_t>(hop - hops_.data())], message.size, now_);
    hop->put(message.token, message.size, end, static_cast<std::uint32_t>(sent_++), forwarded->ends);
    return true;
}

Time FluidBackend::known_until() const {
    Time next = Time::max();
    for (const ForwardingHop& hop : hops_) {
        next = std::min(next, hop.next_delivery());
    }
    Time until = delayed_.next_time();
    if (next == Time::max()) {
        return until;
    }
    for (std::size_t i = 0; i < hops_.size(); ++i) {
        const ForwardingHop& hop = hops_[i];
        const Time leaves = std::max(ahead_[i].last_end, next);
        if (leaves < Time::max() - hop.latency - hop.least_service) {
            until = std::min(until, leaves + hop.least_service + hop.latency);
        }
        if (!hop.endings.empty()) {
            until = std::min(until, hop.endings.front());
        }
    }
    return until;
}

void FluidBackend::leave_hop(ForwardingHop& hop, Bytes size) {
    if (hop.on_wire > 0) {
        --hop.on_wire;
        return;
    }
    ++events_;
    Connection& connection = connections_[hop.connection];
    connection.served = sum_of(connection.served, size);
}

ForwardingHop::Message FluidBackend::arrive_ahead(ForwardingHop& hop) {
    const ForwardingHop::Message message = hop.messages.front();
    hop.messages.pop();
    leave_hop(hop, message.size);
    ++events_;
    ++delivered_;
    bytes_delivered_ = sum_of(bytes_delivered_, message.size);
    return message;
}

void FluidBackend::forward_until(Time until) {
    std::array<std::uint64_t, kForwardedAtOnce> tokens;
    std::array<Time, kForwardedAtOnce> times;
    std::array<Forwarder::Caused, kForwardedAtOnce> caused;
    for (ForwardingHop& hop : hops_) {
        std::size_t count = 0;
        do {
            for (count = 0; count < kForwardedAtOnce && hop.next_delivery() < until; ++count) {
                times[count] = hop.next_delivery();
                tokens[count] = arrive_ahead(hop).token;
            }
            if (count == 0) {
                break;
            }
            now_ = std::max(now_, times[count - 1]);
            forwarder_->forward(std::span(tokens).first(count), std::span(caused).first(count));
            for (std::size_t i = 0; i < count; ++i) {
                if (caused[i].size == Bytes(0)) {
                    continue;
                }
                ++forwarded_;
                const Time end = rates_by_link_->serve_ahead(ahead_[hop.next], caused[i].size, times[i]);
                hops_[hop.next].put(caused[i].token, caused[i].size, end, static_cast<std::uint32_t>(sent_++),
                                    caused[i].ends);
            }
        } while (count == kForwardedAtOnce);
    }
}

void FluidBackend::notify_ahead() {
    struct Due {
        Time end;
        std::uint32_t connection;
        std::uint32_t hop;
        auto operator<=>(const Due&) const = default;
    };
    std::vector<Due> due;
    for (std::uint32_t i = 0; i < hops_.size(); ++i) {
        if (hops_[i].next_delivery() == now_) {
            due.push_back({hops_[i].messages.front().end, hops_[i].connection, i});
        }
    }
    if (!due.empty() && delayed_.next_time() == now_) {
        end_ahead();
        return;
    }
    // In the order in which events would be.
    std::sort(due.begin(), due.end());
    for (const Due& next : due) {
        ForwardingHop& hop = hops_[next.hop];
        if (!is_ahead_) {
            return;  // the others are on the wire again, and due now
        }
        const ForwardingHop::Message message = arrive_ahead(hop);
        if (message.ends) {
            hop.endings.pop();
        }
        forwarder_->notify(message.token);
    }
    while (is_ahead_ && delayed_.next_time() == now_) {
        const DelayedEvent event = delayed_.pop();
        ++events_;
        event.handler->notify(event.token);
    }
}

void FluidBackend::run_ahead() {
    begin_ahead();
    while (is_ahead_) {
        const Time until = known_until();
        const bool is_watched = pulses_.are_due(events_);
        if (until == Time::max() || stop_requested_ || is_watched ||
            outstanding_messages() * kHopsPerMessage < hops_.size()) {
            end_ahead();
            ahead_again_at_ = is_watched ? events_ : ahead_again_at_;
            break;
        }
        forward_until(until);
        const bool is_notified =
            delayed_.next_time() == until || std::ranges::any_of(hops_, [until](const ForwardingHop& hop) {
                return !hop.endings.empty() && hop.endings.front() == until;
            });
        if (is_notified) {
            now_ = until;
            notify_ahead();
        }
    }
}

void FluidBackend::end_ahead() {
    is_ahead_ = false;
    struct OnWire {
        Time end;
        std::uint32_t connection;
        ForwardingHop::Message message;
    };
    std::vector<OnWire> on_wire;
    for (std::size_t i = 0; i < hops_.size(); ++i) {
        ForwardingHop& hop = hops_[i];
        Connection& connection = connections_[hop.connection];
        for (; !hop.messages.empty() && hop.messages.front().end <= now_; hop.messages.pop()) {
            leave_hop(hop, hop.messages.front().size);
            on_wire.push_back({hop.messages.front().end, hop.connection, hop.messages.front()});
        }
        ahead_[i].serves = !hop.messages.empty();
        ahead_[i].behind = Bytes(0);
        connection.state = ahead_[i].serves ? State::kServing : State::kIdle;
        for (; !hop.messages.empty(); hop.messages.pop()) {
            const ForwardingHop::Message& message = hop.messages.front();
            ahead_[i].behind += connection.has_messages() ? message.size : Bytes(0);
            append(connection, {forwarder_, message.token, message.size, message.sent_as});
        }
        while (!hop.endings.empty()) {
            hop.endings.pop();
        }
    }
    rates_by_link_->catch_up(ahead_);
    // In the order in which events would have put them there.
    std::ranges::sort(on_wire, [](const OnWire& a, const OnWire& b) {
        return std::tie(a.end, a.connection) < std::tie(b.end, b.connection);
    });
    for (const OnWire& item : on_wire) {
        const ForwardingHop::Message& message = item.message;
        put_on_wire(board(item.connection, {forwarder_, message.token, message.size, message.sent_as}),
                    item.end, connections_[item.connection].latency);
    }
}

}  // namespace astrolabe::network
