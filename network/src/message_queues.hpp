/// Messages that wait at their sources, in a queue for each pair of hosts.
///
/// Queues are many and long, and the processor waits for memory wherever one is read. So messages are stored
/// four to a line of the cache, each line for messages of one queue that notify one handler. Of the four,
/// the number of the first is kept, and of the others a byte: how much later than the one before, at most
/// 255.
///
/// Complexity: O(1) for each message; a change of handler looks for it among all that ever came, a handful.
/// Memory: 16 bytes per message in lines of 64, and 8 for one of 2 GiB or more.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include <astrolabe/core/containers/chunked_pool.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>

namespace astrolabe::network {

class MessageQueues {
public:
    class Queue {
    public:
        [[nodiscard]] bool empty() const { return first_ == kNone; }

    private:
        friend class MessageQueues;
        std::uint32_t first_ = kNone;  // line
        std::uint32_t last_ = kNone;
    };
    struct Waiting {
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        Bytes size;
        /// Number of the message, its lower 32 bits; of one that was queued, less where it came more than 255
        /// messages after the one before it.
        std::uint32_t sent_as = 0;
    };

    void append(Queue& queue, const Waiting& message);

    // Precondition: the queue is not empty.

    [[nodiscard]] Waiting first(const Queue& queue) const {
        const Line& line = lines_[queue.first_];
        return waiting(line, line.begin);
    }
    [[nodiscard]] Bytes first_size(const Queue& queue) const {
        const Line& line = lines_[queue.first_];
        return size_of(line.messages[line.begin]);
    }
    void remove_first(Queue& queue);

    /// Calls visit(Waiting) for all of a queue, in order.
    template <class Visitor>
    void for_each(const Queue& queue, Visitor&& visit) const {
        for (std::uint32_t number = queue.first_; number != kNone; number = lines_[number].next) {
            const Line& line = lines_[number];
            for (std::uint32_t i = line.begin; i < line.end; ++i) {
                visit(waiting(line, i));
            }
        }
    }

    // From memory into the cache, before messages are read or written: the first line of a queue, the one
    // behind it, the last one.

    void prefetch_first(const Queue& queue) const {
        if (!queue.empty()) {
            __builtin_prefetch(&lines_[queue.first_]);
        }
    }
    void prefetch_second(const Queue& queue) const {
        if (!queue.empty() && lines_[queue.first_].next != kNone) {
            __builtin_prefetch(&lines_[lines_[queue.first_].next]);
        }
    }
    void prefetch_last(const Queue& queue) const {
        if (!queue.empty()) {
            __builtin_prefetch(&lines_[queue.last_], 1);
        }
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    /// Aligned to four bytes, so that four fit.
    struct Item {
        std::uint32_t token_high = 0;
        std::uint32_t token_low = 0;
        std::uint32_t size = 0;  // bytes; from kLarge on an index of large_sizes_
    };
    static constexpr std::uint32_t kLarge = 1U << 31;
    /// Messages begin <= i < end.
    struct alignas(64) Line {
        std::uint32_t next = kNone;
        std::uint32_t sent_as = 0;  // the first one
        std::uint16_t handler = 0;
        std::uint8_t begin = 0;
        std::uint8_t end = 0;
        std::array<Item, 4> messages{};
        std::array<std::uint8_t, 3> later{};  // from one number to the next
    };
    static_assert(sizeof(Line) == 64);

    [[nodiscard]] Bytes size_of(const Item& item) const {
        return item.size < kLarge ? Bytes(item.size) : large_sizes_[item.size - kLarge];
    }
    [[nodiscard]] Waiting waiting(const Line& line, std::uint32_t i) const {
        const Item& item = line.messages[i];
        return {handlers_[line.handler], std::uint64_t{item.token_high} << 32 | item.token_low, size_of(item),
                number_in(line, i)};
    }
    [[nodiscard]] static std::uint32_t number_in(const Line& line, std::uint32_t i) {
        return std::accumulate(line.later.begin(), line.later.begin() + i, line.sent_as);
    }
    [[nodiscard]] Item item_of(const Waiting& message);
    [[nodiscard]] std::uint16_t number_of(NotificationHandler* handler);

    std::vector<NotificationHandler*> handlers_;
    std::uint16_t newest_handler_ = 0;
    ChunkedPool<Line> lines_;
    ChunkedPool<Bytes> large_sizes_;
};

}  // namespace astrolabe::network
