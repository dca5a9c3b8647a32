/// A network without a network, for tests of the layers above.
///
/// Model: a message takes cost(message), by default latency + size × time_per_byte, from the moment it is
/// sent; messages never share anything, except that those of one (source, destination) pair are delivered in
/// the order sent, as every backend promises. Time 0 costs are legal: everything may happen at one instant.
///
/// Faults on request: `lose_message` = k makes the k-th message sent (counting from 1) vanish,
/// `stop_at_event` = k stops the run from inside the k-th notification, as an interrupt does.
///
/// Complexity: O(log n) per message and timer with n of them pending; hosts² times of 8 bytes for pair order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/backend.hpp>

namespace astrolabe::testing {

struct FakeBackendOptions {
    Time latency{};
    Time time_per_byte{};
    std::uint64_t lose_message = 0;   ///< 1-based; 0: none is lost
    std::uint64_t stop_at_event = 0;  ///< 1-based; 0: never
};

class FakeBackend final : public network::NetworkBackend {
public:
    using CostFunction = std::function<Time(const network::Message&)>;

    explicit FakeBackend(std::size_t hosts, FakeBackendOptions options = {})
        : hosts_(hosts),
          options_(options),
          cost_([options](const network::Message& message) {
              return options.latency + options.time_per_byte * message.size.count();
          }),
          last_delivery_(hosts * hosts) {}

    FakeBackend(std::size_t hosts, CostFunction cost, FakeBackendOptions faults = {})
        : hosts_(hosts),
          options_(faults),
          cost_(std::move(cost)),
          last_delivery_(hosts * hosts) {}

    [[nodiscard]] Time now() const override { return now_; }

    void send(const network::Message& message) override {
        ASTROLABE_ASSERT(message.source.index() < hosts_ && message.destination.index() < hosts_,
                         "host exists");
        ASTROLABE_ASSERT(message.source != message.destination, "source and destination differ");
        ASTROLABE_ASSERT(message.size >= Bytes(0), "sizes are not negative");
        ASTROLABE_ASSERT(message.on_delivered != nullptr, "a message has a handler");
        ++statistics_.messages;
        const std::uint64_t sequence = next_sequence_++;
        if (statistics_.messages == options_.lose_message) {
            lost_.push_back(Event{.sequence = sequence, .message = message, .is_message = true});
            return;
        }
        Time& last = last_delivery_[message.source.index() * hosts_ + message.destination.index()];
        last = std::max(last, now_ + cost_(message));
        push(Event{.time = last, .sequence = sequence, .message = message, .is_message = true});
    }

    void schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) override {
        ASTROLABE_ASSERT(delay >= Time(0), "timers do not look back");
        network::Message timer;
        timer.on_delivered = &handler;
        timer.token = token;
        push(Event{.time = now_ + delay, .sequence = next_sequence_++, .message = timer});
    }

    void run() override {
        stopped_ = false;
        while (!heap_.empty() && !stopped_) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            const Event event = heap_.back();
            heap_.pop_back();
            now_ = event.time;
            ++statistics_.events;
            if (event.is_message) {
                ++delivered_;
                statistics_.bytes_delivered += event.message.size;
            }
            if (statistics_.events == options_.stop_at_event) {
                stop();
            }
            event.message.on_delivered->notify(event.message.token);
        }
    }

    void stop() override { stopped_ = true; }

    [[nodiscard]] std::uint64_t outstanding_messages() const override {
        return statistics_.messages - delivered_;
    }

    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(
        std::size_t limit) const override {
        std::vector<Event> events = lost_;
        std::copy_if(heap_.begin(), heap_.end(), std::back_inserter(events),
                     [](const Event& event) { return event.is_message; });
        std::sort(events.begin(), events.end(),
                  [](const Event& a, const Event& b) { return a.sequence < b.sequence; });
        std::vector<network::OutstandingMessage> described;
        for (std::size_t i = 0; i < std::min(limit, events.size()); ++i) {
            const network::Message& message = events[i].message;
            described.push_back({message.source, message.destination, message.size, message.size});
        }
        return described;
    }

    [[nodiscard]] std::uint64_t events_processed() const override { return statistics_.events; }
    [[nodiscard]] network::NetworkStatistics statistics() const override { return statistics_; }

private:
    struct Event {
        Time time{};
        std::uint64_t sequence = 0;
        network::Message message;  // of a timer: handler and token only
        bool is_message = false;
    };

    static bool later(const Event& a, const Event& b) {
        return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
    }
    void push(const Event& event) {
        heap_.push_back(event);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    std::size_t hosts_;
    FakeBackendOptions options_;
    CostFunction cost_;
    std::vector<Time> last_delivery_;  // by source × hosts + destination
    std::vector<Event> heap_;
    std::vector<Event> lost_;
    Time now_;
    std::uint64_t next_sequence_ = 0;
    std::uint64_t delivered_ = 0;
    bool stopped_ = false;
    network::NetworkStatistics statistics_;
};

}  // namespace astrolabe::testing
