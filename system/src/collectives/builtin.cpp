#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

std::vector<AlgorithmEntry> builtin_algorithms() {
    return {
        {"bidirectional_ring",
         "Chunks go round the ring in alternate directions, an all_to_all's blocks the shorter way: both "
         "directions of a ring carry load.",
         make_bidirectional_ring()},
        {"binomial_tree",
         "The whole chunk down a tree to one child at a time, or up and added: logarithmic steps.",
         make_binomial_tree()},
        {"bruck",
         "Logarithmic steps for any number of ranks; the all_to_all forwards blocks: least latency, more "
         "bytes.",
         make_bruck()},
        {"direct", "Every rank exchanges with every other at once: fewest steps, one incast per rank.",
         make_direct()},
        {"double_binary_tree",
         "Chunks are reduced up and broadcast down two complementary binary trees: logarithmic steps at full "
         "rate.",
         make_double_binary_tree()},
        {"halving_doubling",
         "Partners at distances 1, 2, 4, … exchange half as much each step, then the mirror image: "
         "logarithmic steps, least traffic.",
         make_halving_doubling()},
        {"hierarchical",
         "Phase by phase through the dimensions of the group's grid, by an algorithm of each dimension.",
         make_hierarchical()},
        {"multi_ring",
         "Chunks go round several rings of different strides in turn: as many links of a rank carry load.",
         make_multi_ring()},
        {"pairwise", "One partner at a time, a permutation of the ranks each step: no port is ever shared.",
         make_pairwise()},
        {"recursive_doubling",
         "Partners at distances 1, 2, 4, … exchange the whole vector: fewest steps for small sizes.",
         make_recursive_doubling()},
        {"ring", "Every rank sends to its neighbour only, step after step: least traffic, most steps.",
         make_ring()},
        {"windowed_direct", "As direct, with at most eight sends of a rank under way: a bounded incast.",
         make_windowed_direct()},
    };
}

}  // namespace astrolabe::system
