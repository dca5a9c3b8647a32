/// Folding: of ranks that behave alike one is simulated, where the network treats them alike.
///
/// Model. The N ranks form r equivalence classes of N/r ranks, where r divides N. Rank i < r is the
/// *representative* of its class:
///     rotation       ranks i + t·r (mod N)
///     exclusive or   ranks i xor t·r, N and r powers of two
/// for t = 0 … N/r - 1. So the representative of rank j is rank j mod r either way: of 8 ranks and r = 2,
/// rank 0 represents 0, 2, 4 and 6. These maps of ranks are a group G, and only the neutral one leaves any
/// rank in place. G also maps the flow from host a to host b to the flow between the images of a and b.
///
/// What is checked. Let g be one of the maps that make all others: + r, or xor r, 2r, 4r, … For every flow f
/// of the ranks and its image g(f), leg by leg: equal load, links of equal rate, and equal latency of the
/// route; and one map of classes serves all flows, "the class of leg k of f goes to the class of leg k of
/// g(f)", and no two classes go to the same one. Legs are compared in the order in which the flow meets
/// them. Where a fabric branches into unlike parts of equal length that order may differ between images; then
/// the check fails, and nothing folds although it might.
///
/// Why that is enough. The flows are closed under G, so each g is a permutation of the classes in use, and
///
///     a_{g(f),g(c)} = a_fc,    C_g(c) = C_c      for all flows f, classes c and g of G.
///
/// If x is max-min fair, so is x∘g: it loads class c as x loads g(c). Fair rates are unique
/// (max_min_solver.hpp), hence x∘g = x: images have one rate as long as they start alike, and so they end
/// alike. Let O be the images of flow f, C those of class c. Σ_{h∈O} a_hd is the same for all d of C, and
/// summed over C it is |O| · Σ_{d∈C} a_fd, so every link of C carries, of all images of f,
///
///     x_f · (|O| / |C|) · Σ_{d∈C} a_fd,          |O| = N/r,
///
/// which is what LinkClasses::fold makes of a route. Hence x, restricted to flows of representatives, meets
/// criterion (B) in the folded problem if and only if x meets it in the whole network. Latencies are equal,
/// so deliveries are, too.
///
/// A network whose circuits come and go is not folded: equivalent ranks would need their circuits at the same
/// times.
///
/// Complexity, with s switches that hosts hang on by one cable: O(N + s² · classes of a route) for all pairs
/// under spraying, or on one switch; else O(pairs · N/r). A check ends where it first fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/link_classes.hpp>

namespace astrolabe::network {

/// Which ranks form an equivalence class.
enum class Equivalence : std::uint8_t { kRotation, kExclusiveOr };

struct Folding {
    std::size_t ranks = 0;
    std::size_t representatives = 0;  ///< the first of `ranks`, whose number it divides; all: not folded
    Equivalence equivalence = Equivalence::kRotation;

    [[nodiscard]] std::size_t class_size() const { return ranks / representatives; }
    /// Those t·r from which all others follow.
    [[nodiscard]] std::vector<std::size_t> generators() const;
    /// Of `rank`, by an offset t·r.
    [[nodiscard]] std::size_t image(std::size_t rank, std::size_t offset) const {
        if (equivalence == Equivalence::kExclusiveOr) {
            return rank ^ offset;
        }
        const std::size_t sum = rank + offset;
        return sum < ranks ? sum : sum - ranks;
    }
};

/// The pairs of ranks that send to each other: for each of these, all its images; none given: all pairs.
using RankPairs = std::optional<std::vector<std::pair<std::size_t, std::size_t>>>;

/// Exactly one of the two is there.
struct FoldedClasses {
    std::optional<LinkClasses> classes;
    std::string refusal;  ///< "the route from rank 0 to rank 1 is not like that from rank 8 to rank 9"
};

/// `hosts[i]` is the host of rank i. `classes` must not be folded, `folding` must have fewer representatives
/// than ranks.
[[nodiscard]] FoldedClasses fold_classes(const LinkClasses& classes, std::span<const HostId> hosts,
                                         const Folding& folding, const RankPairs& pairs);

}  // namespace astrolabe::network
