// Where topologies that have a folder or a file of their own register (components.hpp).
#pragma once

#include <astrolabe/network/components.hpp>

namespace astrolabe::network {

void register_direct_connect(Registry<FabricMaker>& registry);
void register_topoopt(Registry<FabricMaker>& registry);
/// opera, rotornet, expander.
void register_rotor_topologies(Registry<FabricMaker>& registry);

}  // namespace astrolabe::network
