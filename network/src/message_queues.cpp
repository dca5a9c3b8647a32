#include "message_queues.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

constexpr std::uint32_t kMostLater = std::numeric_limits<std::uint8_t>::max();

}  // namespace

MessageQueues::Item MessageQueues::item_of(const Waiting& message) {
    const auto high = static_cast<std::uint32_t>(message.token >> 32);
    const auto low = static_cast<std::uint32_t>(message.token);
    if (message.size < Bytes(kLarge)) {
        return {high, low, static_cast<std::uint32_t>(message.size.count())};
    }
    const std::uint32_t number = large_sizes_.add(message.size);
    ASTROLABE_ASSERT(number < kLarge, "large messages are numbered in 31 bits");
    return {high, low, kLarge + number};
}

std::uint16_t MessageQueues::number_of(NotificationHandler* handler) {
    if (handlers_.empty() || handlers_[newest_handler_] != handler) {
        const auto known = std::ranges::find(handlers_, handler);
        ASTROLABE_ASSERT(known - handlers_.begin() <= std::numeric_limits<std::uint16_t>::max(),
                         "handlers are numbered in 16 bits");
        newest_handler_ = static_cast<std::uint16_t>(known - handlers_.begin());
        if (known == handlers_.end()) {
            handlers_.push_back(handler);
        }
    }
    return newest_handler_;
}

void MessageQueues::append(Queue& queue, const Waiting& message) {
    const Item item = item_of(message);
    const std::uint16_t handler = number_of(message.handler);
    if (!queue.empty()) {
        Line& last = lines_[queue.last_];
        if (last.end < last.messages.size() && last.handler == handler) {
            const std::uint32_t later = message.sent_as - number_in(last, last.end - 1U);
            last.later[last.end - 1U] = static_cast<std::uint8_t>(std::min(later, kMostLater));
            last.messages[last.end++] = item;
            return;
        }
    }
    const std::uint32_t number = lines_.add({kNone, message.sent_as, handler, 0, 1, {item}, {}});
    (queue.empty() ? queue.first_ : lines_[queue.last_].next) = number;
    queue.last_ = number;
}

void MessageQueues::remove_first(Queue& queue) {
    Line& line = lines_[queue.first_];
    if (const std::uint32_t size = line.messages[line.begin].size; size >= kLarge) {
        large_sizes_.remove(size - kLarge);
    }
    if (++line.begin == line.end) {
        lines_.remove(std::exchange(queue.first_, line.next));
    }
}

}  // namespace astrolabe::network
