/// Regular rings: which strides there are, and which of them to build.
///
/// Model. Among n servers a *stride* s sends server i to i + s mod n. For groups of k servers that stand n/k
/// apart, s = (n/k)·p joins every group to one ring of all its members iff gcd(p, k) = 1, and does so for all
/// n/k groups at once: φ(k) strides, Euler's totient (TotientPerms). Where links are full-duplex, s and n - s
/// are the same ring.
///
/// Choice (SelectPermutations). A few strides close to a geometric sequence make a graph of low diameter,
/// O(c·k^{1/c}) for c strides. Targets, in multiples of n/k, for c wanted:
///
///     nearest               t_i = k^{i/c}, i = 0 … c-1; takes the nearest stride that is not taken yet, of
///                           two as near the smaller
///     at_least              t_i = r^i, r = p_m^{1/c} for full-duplex rings and p_m^{1/(c-1)} for one-way
///                           ones, p_m the greatest candidate; takes the smallest stride >= t_i that is not
///                           taken yet, or the greatest of all if there is none
///     at_least_repeating    the same, but a stride may be taken again
///
/// `nearest` is the paper's rule, `at_least` that of the released code, `at_least_repeating` that of its fork
/// of 2024. When all strides are taken, all may be taken once more: the same ring in parallel. Targets are
/// doubles, powers of the rounded root, as in the released code: one that lies half-way between two strides
/// in exact arithmetic may be rounded to either side. 1024^½ = 32 takes 31, (1024^¼)² takes 33.
///
/// Here targets count in steps of the group; the paper gives them for n servers and one group of all, where
/// that makes no difference.
///
/// Source: TopoOpt (NSDI 2023), section 4.3 and its appendix; FlexFlow fork of its authors. C++17, for the
/// ns-3 module.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/containers/span.hpp>

namespace astrolabe::network::topoopt {

enum class Candidates : std::uint8_t {
    kAll,
    kPrimes  ///< p = 1 and primes alone, to keep the set small for many servers
};

enum class Selection : std::uint8_t { kNearest, kAtLeast, kAtLeastRepeating };

/// Strides of groups of `members` among `servers`, a multiple of them; ascending, the first is
/// servers / members. 2 <= members. O(members · log members).
[[nodiscard]] std::vector<std::uint32_t> totient_strides(std::uint32_t servers, std::uint32_t members,
                                                         Candidates candidates = Candidates::kAll);

/// What is wanted of them.
struct StrideChoice {
    std::uint32_t count = 1;
    Selection selection = Selection::kNearest;
    bool full_duplex = false;  ///< rings go both ways; with kNearest, s and n - s are then one candidate
};

/// `choice.count` strides, ascending. `candidates` are those of `totient_strides` for the same numbers.
/// O(count · |candidates|).
[[nodiscard]] std::vector<std::uint32_t> select_strides(std::uint32_t servers, std::uint32_t members,
                                                        Span<const std::uint32_t> candidates,
                                                        const StrideChoice& choice);

}  // namespace astrolabe::network::topoopt
