/// Numbered objects that come and go by the million: a number of one that was given back is used again.
///
/// Objects live in blocks of 2 MiB that never move, so growing copies nothing and needs no second copy beside
/// the first. All blocks but the first ask the system for large pages: objects are asked for in no order, and
/// with pages of 4 KiB every one would miss the processor's table of pages too. Memory: that of the most
/// objects at a time, rounded up to blocks, and 4 bytes for each number given back.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::opera {

inline constexpr std::size_t kPoolBlockBytes = std::size_t{1} << 21;

/// `kPoolBlockBytes`, aligned to as many; to be given back with std::free. Throws std::bad_alloc.
[[nodiscard]] void* allocate_pool_block(bool in_large_pages);

template <class T>
class ChunkedPool {
public:
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
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
            blocks_.emplace_back(static_cast<T*>(allocate_pool_block(!blocks_.empty())));
        }
        ::new (&(*this)[used_]) T(object);
        return used_++;
    }
    void remove(std::uint32_t number) { free_.push_back(number); }
    /// Numbers ever in use are below it.
    [[nodiscard]] std::uint32_t size() const { return used_; }

    [[nodiscard]] T& operator[](std::uint32_t number) { return blocks_[number / kBlock][number % kBlock]; }
    [[nodiscard]] const T& operator[](std::uint32_t number) const {
        return blocks_[number / kBlock][number % kBlock];
    }

private:
    static constexpr std::uint32_t kBlock = std::bit_floor(kPoolBlockBytes / sizeof(T));
    struct Free {
        void operator()(T* block) const { std::free(block); }
    };

    std::vector<std::unique_ptr<T[], Free>> blocks_;
    std::uint32_t used_ = 0;
    std::vector<std::uint32_t> free_;
};

}  // namespace astrolabe::network::opera
