#include "collectives.hpp"

namespace astrolabe::system {

std::vector<AlgorithmEntry> builtin_algorithms() {
    return {
        {"barrier_direct", make_barrier_direct()},
        {"bidirectional_ring", make_bidirectional_ring()},
        {"binomial_tree", make_binomial_tree()},
        {"bruck", make_bruck()},
        {"direct", make_direct()},
        {"double_binary_tree", make_double_binary_tree()},
        {"halving_doubling", make_halving_doubling()},
        {"hierarchical", make_hierarchical()},
        {"multi_ring", make_multi_ring()},
        {"pairwise", make_pairwise()},
        {"recursive_doubling", make_recursive_doubling()},
        {"ring", make_ring()},
        {"rotor_direct", make_rotor_direct()},
        {"rotor_ring", make_rotor_ring()},
        {"windowed_direct", make_windowed_direct()},
    };
}

}  // namespace astrolabe::system
