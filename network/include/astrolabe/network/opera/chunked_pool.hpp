/// Numbered objects that come and go by the million: a number of one that was given back is used again.
///
/// Objects live in blocks that never move, so growing copies nothing and needs no second copy beside the
/// first. Memory: that of the most objects at a time, and 4 bytes for each number given back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::opera {

template <class T>
class ChunkedPool {
public:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    /// The number of an object that is equal to `object`. O(1).
    [[nodiscard]] std::uint32_t add(const T& object) {
        if (!free_.empty()) {
            const std::uint32_t number = free_.back();
            free_.pop_back();
            (*this)[number] = object;
            return number;
        }
        ASTROLABE_ASSERT(used_ < kNone, "objects are numbered in 32 bits");
        if (used_ % kBlock == 0) {
            blocks_.push_back(std::make_unique<Block>());
        }
        (*this)[used_] = object;
        return used_++;
    }
    void remove(std::uint32_t number) { free_.push_back(number); }
    /// Numbers ever in use are below it.
    [[nodiscard]] std::uint32_t size() const { return used_; }

    [[nodiscard]] T& operator[](std::uint32_t number) { return (*blocks_[number / kBlock])[number % kBlock]; }
    [[nodiscard]] const T& operator[](std::uint32_t number) const {
        return (*blocks_[number / kBlock])[number % kBlock];
    }

private:
    static constexpr std::uint32_t kBlock = 1U << 12;
    using Block = std::array<T, kBlock>;

    std::vector<std::unique_ptr<Block>> blocks_;
    std::uint32_t used_ = 0;
    std::vector<std::uint32_t> free_;
};

}  // namespace astrolabe::network::opera
