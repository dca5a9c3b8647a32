/// Numbered objects that come and go by the million: a number of one that was given back is used again.
///
/// Objects live in blocks of 2 MiB that never move, so growing copies nothing and needs no second copy beside
/// the first. All blocks but the first ask the system for large pages: objects are asked for in no order, and
/// with pages of 4 KiB every one would miss the processor's table of pages too.
///
/// Numbers given back are reused in ascending order, again and again, and only while they
/// are an eighth of all; else there is a new one. So objects that come one after another are neighbours in
/// memory, and a caller that uses them in that order waits for it less: the number returned last would be
/// near in the cache, but after a while neighbours are anywhere.
///
/// Complexity: amortised O(1). Memory: an eighth more than of the most objects at a time, rounded up to
/// blocks, and a bit for each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include <astrolabe/core/assert.hpp>

namespace astrolabe {

inline constexpr std::size_t kPoolBlockBytes = std::size_t{1} << 21;

/// `kPoolBlockBytes`, aligned to as many; to be given back with std::free. Throws std::bad_alloc.
[[nodiscard]] void* allocate_pool_block(bool in_large_pages);

template <class T>
class ChunkedPool {
public:
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    static constexpr std::uint32_t kNone = 0xffffffffU;

    /// The number of an object that is equal to `object`.
    [[nodiscard]] std::uint32_t add(const T& object) {
        const std::uint32_t number = left_ > used_ / 8 ? next_left() : next_new();
        ::new (&(*this)[number]) T(object);
        return number;
    }
    void remove(std::uint32_t number) {
        is_left_[number / kWord] |= std::uint64_t{1} << number % kWord;
        ++left_;
    }
    /// Numbers ever in use are below it.
    [[nodiscard]] std::uint32_t size() const { return used_; }

    [[nodiscard]] T& operator[](std::uint32_t number) { return blocks_[number / kBlock][number % kBlock]; }
    [[nodiscard]] const T& operator[](std::uint32_t number) const {
        return blocks_[number / kBlock][number % kBlock];
    }

private:
    static constexpr std::uint32_t kBlock = std::bit_floor(kPoolBlockBytes / sizeof(T));
    static constexpr std::uint32_t kWord = std::numeric_limits<std::uint64_t>::digits;
    static_assert(kBlock % kWord == 0);
    struct Free {
        void operator()(T* block) const { std::free(block); }
    };

    [[nodiscard]] std::uint32_t next_new() {
        ASTROLABE_ASSERT(used_ < kNone, "objects are numbered in 32 bits");
        if (used_ % kBlock == 0) {
            blocks_.emplace_back(static_cast<T*>(allocate_pool_block(!blocks_.empty())));
            is_left_.resize(is_left_.size() + kBlock / kWord, 0);
        }
        return used_++;
    }
    /// Precondition: one was given back.
    [[nodiscard]] std::uint32_t next_left() {
        while (is_left_[word_] == 0) {
            word_ = word_ + 1 == is_left_.size() ? 0 : word_ + 1;
        }
        std::uint64_t& word = is_left_[word_];
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
        word &= word - 1;
        --left_;
        return word_ * kWord + bit;
    }

    std::vector<std::unique_ptr<T[], Free>> blocks_;
    std::uint32_t used_ = 0;
    std::uint32_t left_ = 0;              // numbers that were given back
    std::vector<std::uint64_t> is_left_;  // by number, a bit
    std::uint32_t word_ = 0;              // of is_left_, where the next one is looked for
};

}  // namespace astrolabe
