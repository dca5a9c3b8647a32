/// First-in first-out queue in one block of memory that grows by doubling and is never given back: no
/// allocation once a queue has seen its maximum length.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace astrolabe {

template <class T>
class RingQueue {
public:
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const T& front() const { return slots_[first_]; }
    /// The one pushed last; must not be called when empty.
    [[nodiscard]] T& back() { return slots_[(first_ + size_ - 1) & (slots_.size() - 1)]; }
    [[nodiscard]] const T& operator[](std::size_t i) const {
        return slots_[(first_ + i) & (slots_.size() - 1)];
    }

    void push(const T& item) { add() = item; }
    /// A place behind all others, which holds anything: to be written member by member where an item is made
    /// only for the queue. A copy of one just written waits until all of it is out of the store buffer.
    [[nodiscard]] T& add() {
        if (size_ == slots_.size()) {
            grow();
        }
        return slots_[(first_ + size_++) & (slots_.size() - 1)];
    }
    void pop() {
        first_ = (first_ + 1) & (slots_.size() - 1);
        --size_;
    }

private:
    void grow() {
        std::vector<T> larger(slots_.empty() ? 2 : 2 * slots_.size());
        for (std::size_t i = 0; i < size_; ++i) {
            larger[i] = (*this)[i];
        }
        slots_ = std::move(larger);
        first_ = 0;
    }

    std::vector<T> slots_;  // a power of two of them
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace astrolabe
