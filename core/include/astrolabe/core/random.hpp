/// Random streams that give the same numbers on every machine.
///
/// A stream is named: streams of one seed and different names are unrelated, so that a part of the program
/// that draws more or less moves no other part's numbers. The generator is SplitMix64 (Steele, Lea, Flood:
/// Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, figures 16 and 17): a counter of period 2^64
/// behind a bijection, 8 bytes of state. The distributions of the standard library differ between
/// implementations; `below` and `shuffle` replace them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe {

/// A bijection of 64-bit words in which every input bit reaches every output bit.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
}

/// Odd, near 2^64 / golden ratio: spreads small consecutive integers before mixing (same source, section 4).
inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15U;

class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::string_view name)
        : state_(mix_bits(seed + kGoldenGamma)) {
        for (const char letter : name) {
            state_ =
                mix_bits(state_ + kGoldenGamma * (static_cast<unsigned char>(letter) + std::uint64_t{1}));
        }
    }

    /// Any 64-bit word, all equally likely.
    [[nodiscard]] std::uint64_t next() { return mix_bits(state_ += kGoldenGamma); }

    /// One of 0 … count - 1, all equally likely; count > 0. Draws again where the words do not divide evenly:
    /// with a probability below count / 2^32.
    [[nodiscard]] std::uint32_t below(std::uint32_t count) {
        ASTROLABE_ASSERT(count > 0, "there is something to choose from");
        // Lemire, Fast Random Integer Generation in an Interval, ACM TOMACS 29 (2019), algorithm 5.
        const std::uint32_t uneven = (0U - count) % count;
        std::uint64_t product = 0;
        do {
            product = (next() >> 32) * count;
        } while (static_cast<std::uint32_t>(product) < uneven);
        return static_cast<std::uint32_t>(product >> 32);
    }

    /// All orders equally likely, as far as 2^64 states go; fewer than 2^32 items.
    template <class Items>
    void shuffle(Items& items) {
        for (std::size_t left = std::size(items); left > 1; --left) {
            std::swap(items[left - 1], items[below(static_cast<std::uint32_t>(left))]);
        }
    }

private:
    std::uint64_t state_;
};

}  // namespace astrolabe
