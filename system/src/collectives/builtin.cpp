#include <astrolabe/system/components.hpp>

// Every algorithm that computes its schedules by one line, in the order in which `astrolabe list` prints
// them; the source of the same name defines its `register_…`. The algorithms inside the dimensions of
// hierarchical are those before it: the messages of those after it could wait there neither for all ranks nor
// for circuits.
#define ASTROLABE_ALGORITHMS(ALGORITHM) \
    ALGORITHM(bidirectional_ring)       \
    ALGORITHM(binomial_tree)            \
    ALGORITHM(bruck)                    \
    ALGORITHM(direct)                   \
    ALGORITHM(double_binary_tree)       \
    ALGORITHM(halving_doubling)         \
    ALGORITHM(multi_ring)               \
    ALGORITHM(pairwise)                 \
    ALGORITHM(recursive_doubling)       \
    ALGORITHM(ring)                     \
    ALGORITHM(windowed_direct)          \
    ALGORITHM(hierarchical)             \
    ALGORITHM(barrier_direct)           \
    ALGORITHM(rotor)

namespace astrolabe::system {

#define ASTROLABE_DECLARE(name) void register_##name(AlgorithmRegistry& registry);
ASTROLABE_ALGORITHMS(ASTROLABE_DECLARE)
#undef ASTROLABE_DECLARE

void register_computed_algorithms(AlgorithmRegistry& registry) {
#define ASTROLABE_REGISTER(name) register_##name(registry);
    ASTROLABE_ALGORITHMS(ASTROLABE_REGISTER)
#undef ASTROLABE_REGISTER
}

}  // namespace astrolabe::system
