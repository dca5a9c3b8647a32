#include <astrolabe/system/collectives.hpp>

namespace astrolabe::system {

std::vector<AlgorithmEntry> builtin_algorithms() {
    return {
        {"direct", "Every rank exchanges with every other at once: fewest steps, one incast per rank.",
         make_direct()},
        {"double_binary_tree",
         "Chunks are reduced up and broadcast down two complementary binary trees: logarithmic steps at full "
         "rate.",
         make_double_binary_tree()},
        {"ring", "Every rank sends to its neighbour only, step after step: least traffic, most steps.",
         make_ring()},
    };
}

}  // namespace astrolabe::system
