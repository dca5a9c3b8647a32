/// Random matchings for rotor switches: symmetric factorisations of the all-ones matrix.
///
/// Model. A *factorisation* of N racks is N involutions M of them (rotor_schedule.hpp) whose permutation
/// matrices sum to the N x N matrix of ones: every pair of racks is connected in exactly one matching, and
/// every rack is idle, M(x) = x, in exactly one. So the number of racks that are idle in a matching has the
/// parity of N; where N is odd, each matching leaves one idle.
///
/// Drawing: hill climbing after Dinitz and Stinson (A hill-climbing algorithm for the construction of
/// one-factorizations and Room squares, SIAM J. Algebraic Discrete Methods 8, 1987), here with idle racks.
/// All pairs, {x, x} too, start without a matching. While some have none, take a rack x of such a pair and a
/// matching m it is missing in, and toss a coin:
///   - put a pair {x, y} without a matching into m; the pair that y had in m, if any, loses its matching; or
///   - if a second such rack y is missing in m too, put {x, y} into m, from wherever it was.
/// No step leaves more pairs without a matching than there were, and what ends is a factorisation, since all
/// along every rack is at most once in each matching. That it ends is not proven: 136,000 runs with 1 to 512
/// racks took 1 to 6 steps for each cell of the matrix on average and never more than 14; a run past 10,000
/// is given up as a defect. 512 racks take 0.3 s, where backtracking takes minutes for 64.
///
/// Factorisations are not drawn with equal probabilities. Their slices are expanders like those of random
/// regular graphs (slice_graph.hpp), which those of a round-robin tournament are not. Idle racks spread more
/// evenly over the matchings than where matchings are taken greedily one after the other, as the generator of
/// the Opera paper does (mean square per matching 2.25 against 3.4), so that the mean number of hops is 0.1
/// to 0.5 % less than of its networks.
///
/// Lifting: J of N = n * f racks from a factorisation of n. Rack i of the base becomes racks i*f … i*f+f-1;
/// for each pair {i, j} of each base matching, {i, i} too, the f matchings of a random factorisation of f
/// racks, in random order, join the f racks of i with those of j, one in each of the f lifted matchings.
///
/// Source: Opera (NSDI 2020), section 3.3 and appendix A, and its released topology generator. C++17,
/// for the ns-3 module.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/matching.hpp>

namespace astrolabe::network::rotor {

/// The most racks that matchings are drawn for.
inline constexpr std::uint32_t kMaxRacks = 512;

/// A factorisation of 1 … kMaxRacks racks, in no order that means something. O(racks²) by
/// measurement; 16 bytes for each cell of the matrix.
[[nodiscard]] std::vector<Matching> draw_factorisation(std::uint32_t racks, RandomStream& random);

/// A factorisation of factor times as many racks as `base` has; matching t of base matching b is number
/// b * factor + t.
[[nodiscard]] std::vector<Matching> lift_factorisation(const std::vector<Matching>& base,
                                                       std::uint32_t factor, RandomStream& random);

/// Are these involutions of as many racks as there are matchings, and is every pair in exactly one of them?
[[nodiscard]] bool is_factorisation(const std::vector<Matching>& matchings);

/// Deals matchings to rotors: rotor a gets a * n … a * n + n - 1 in that order, n = matchings / uplinks,
/// which must divide.
[[nodiscard]] std::vector<std::vector<Matching>> deal(std::vector<Matching> matchings, std::uint32_t uplinks);

}  // namespace astrolabe::network::rotor
