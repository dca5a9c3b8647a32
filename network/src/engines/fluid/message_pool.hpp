/// Messages that have left their sources, in lists that pass them on without copying: of those delivered at
/// one time. One block of memory that grows by doubling; 40 bytes per message.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>

namespace astrolabe::network {

class MessagePool {
public:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Item {
        Bytes size;
        NotificationHandler* handler = nullptr;
        std::uint64_t token = 0;
        std::uint32_t sent_as = 0;  ///< number of the message, its lower 32 bits
        std::uint32_t connection = 0;
        std::uint32_t next = kNone;  ///< in its list
    };
    struct List {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;

        [[nodiscard]] bool empty() const { return first == kNone; }
    };

    [[nodiscard]] const Item& operator[](std::uint32_t number) const { return items_[number]; }

    [[nodiscard]] std::uint32_t add(const Item& item) {
        if (free_ == kNone) {
            items_.push_back(item);
            return static_cast<std::uint32_t>(items_.size() - 1);
        }
        const std::uint32_t number = free_;
        free_ = items_[number].next;
        items_[number] = item;
        return number;
    }
    void remove(std::uint32_t number) {
        items_[number].next = free_;
        free_ = number;
    }

    /// The item must be in no list.
    void append(List& list, std::uint32_t number) {
        items_[number].next = kNone;
        (list.empty() ? list.first : items_[list.last].next) = number;
        list.last = number;
    }
    /// Takes the first one out of the list, which must not be empty.
    std::uint32_t pop(List& list) {
        const std::uint32_t number = list.first;
        list.first = items_[number].next;
        return number;
    }

    /// Calls visit(item) for all in a list, in order.
    template <class Visitor>
    void for_each(const List& list, Visitor&& visit) const {
        for (std::uint32_t i = list.first; i != kNone; i = items_[i].next) {
            visit(items_[i]);
        }
    }

private:
    std::vector<Item> items_;
    std::uint32_t free_ = kNone;
};

}  // namespace astrolabe::network
