/// Deterministic mutation of files that knows what they are made of.
///
/// One to four changes of a seed, each drawn from
///     all formats    bits flipped, a byte replaced, a range cut, repeated or filled with noise, the end cut
///                    off, the beginning of one seed before the end of another
///     texts          a word replaced by an edge value (0, -1, 2^63, 1e400, nan, nothing, 35,000 letters,
///     bytes
///                    that are not UTF-8), with its unit or without, misspelt, or swapped with another; lines
///                    cut, repeated, swapped, joined or indented
///     YAML, JSON     a node (a line with the deeper ones below it, or what a pair of brackets holds) cut,
///                    repeated, replaced by another or put deeper; thousands of brackets
///     XML            the same of elements
///     protobuf       a field of a message cut, repeated, renumbered or given another value; a length that
///     lies
#pragma once

#include "format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace astrolabe::fuzzing {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same on every machine, which `std::` distributions
/// are not.
class Draw {
public:
    explicit Draw(std::uint64_t seed)
        : state_(seed) {}

    [[nodiscard]] std::uint64_t bits();
    /// 0 … bound - 1; 0 where bound is 0. Its bias does not matter here.
    [[nodiscard]] std::size_t below(std::size_t bound) {
        return bound == 0 ? 0 : static_cast<std::size_t>(bits() % bound);
    }
    [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

/// One change.
void change(std::string& bytes, const Format& format, Draw& draw);

/// Input `index` of a format: depends on nothing but the format's name and seeds, `seed` and `index`.
struct Input {
    std::filesystem::path file;  ///< of the seed
    std::string bytes;
};
[[nodiscard]] Input input_of(const Format& format, std::uint64_t seed, std::uint64_t index);

}  // namespace astrolabe::fuzzing
