#include <astrolabe/network/components.hpp>

// Every topology that comes with the project by one line, in the order in which `astrolabe list` prints them;
// the source of the same name here or in the folder of a family defines its `register_…`.
#define ASTROLABE_TOPOLOGIES(TOPOLOGY) \
    TOPOLOGY(flat)                     \
    TOPOLOGY(leaf_spine)               \
    TOPOLOGY(fat_tree)                 \
    TOPOLOGY(ring)                     \
    TOPOLOGY(torus)                    \
    TOPOLOGY(mesh)                     \
    TOPOLOGY(hypercube)                \
    TOPOLOGY(dragonfly)                \
    TOPOLOGY(fully_connected)          \
    TOPOLOGY(hierarchical)             \
    TOPOLOGY(servers)                  \
    TOPOLOGY(graph)                    \
    TOPOLOGY(direct_connect)           \
    TOPOLOGY(topoopt)                  \
    TOPOLOGY(opera)                    \
    TOPOLOGY(rotornet)                 \
    TOPOLOGY(expander)

namespace astrolabe::network {

#define ASTROLABE_DECLARE(name) void register_##name(Registry<FabricMaker>& registry);
ASTROLABE_TOPOLOGIES(ASTROLABE_DECLARE)
#undef ASTROLABE_DECLARE

void register_builtin_topologies(Registry<FabricMaker>& registry) {
#define ASTROLABE_REGISTER(name) register_##name(registry);
    ASTROLABE_TOPOLOGIES(ASTROLABE_REGISTER)
#undef ASTROLABE_REGISTER
}

}  // namespace astrolabe::network
