/// The collective algorithms that come with the project, each in its own file under src/collectives/.
///
/// Model (N ranks, S bytes per rank, one chunk; three-layers, sections 3.5 and 5). On full-duplex ports of
/// rate 1/β, a non-blocking crossbar and α per message they take, exactly:
///
///     ring                reduce_scatter, all_gather (S: the result)   (N-1)(α + Sβ/N)
///                         all_reduce                                  2(N-1)(α + Sβ/N)
///                         all_to_all, forwarded by software           N(N-1)/2 · (α + Sβ/N)
///     direct              reduce_scatter, all_to_all                  α + (N-1)Sβ/N
///                         all_gather (S: the result)                  α + (N-1)Sβ/N
///                         all_reduce                                  2[α + (N-1)Sβ/N]
///     double_binary_tree  all_reduce, N = 2^k: contention-free        2k(α + Sβ)
///
/// Limits: reduction costs nothing; algorithms do not know the fabric under them.
/// Complexity: ring and direct build one program for all ranks (N actions; N² for the ring's all_to_all), the
/// trees one small program per rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <astrolabe/system/algorithm.hpp>

namespace astrolabe::system {

struct AlgorithmEntry {
    std::string name;     ///< as files name it
    std::string summary;  ///< one sentence
    std::shared_ptr<const CollectiveAlgorithm> algorithm;
};

/// All of them, by name. Every one passes the proof of proof.hpp for every kind it does not refuse.
[[nodiscard]] std::vector<AlgorithmEntry> builtin_algorithms();

/// All kinds: neighbours on a ring, one message at a time, each step waiting for the one before.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_ring();

/// All kinds: every rank sends to every other at once, to rank i+1, i+2, … in this order.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_direct();

/// all_reduce for any N: reduce up and broadcast down a binary tree; odd chunks use a second tree in which
/// the leaves of the first are interior, so two chunks load every rank equally.
[[nodiscard]] std::shared_ptr<const CollectiveAlgorithm> make_double_binary_tree();

/// The parent of `rank` in tree `variant` (0 or 1) of the double binary tree over `ranks` >= 2; the root is
/// its own parent.
[[nodiscard]] Position double_binary_tree_parent(Position rank, Position ranks, unsigned variant);

}  // namespace astrolabe::system
