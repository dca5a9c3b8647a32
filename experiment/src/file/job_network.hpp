/// Networks that are built for the job of their experiment: TopoOpt's (network/topoopt/topology_finder.hpp).
///
/// The program says what its collectives put on the network (system/program/network_demand.hpp), the network
/// is found for it, and collectives on rings of the network are then told which these are. So algorithms,
/// sizes and placements shape the network, and the network the rings.
#pragma once

#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::experiment {

/// Gives all_reduce, reduce_scatter and all_gather the rings of the network where the file, of which `root`
/// is the root, does not choose an algorithm.
void prefer_rings_of_network(ConfigNode& root);

/// By number of members, strides in steps of a group: all rings, both ways round where they go both ways.
/// Sizes of which there are none are left out.
[[nodiscard]] system::RingStrides ring_strides(const network::topoopt::Topology& topology);

/// Builds the network for the program, of which no algorithm refuses anything, and sets fabric, topology and
/// collectives of the experiment; or says what is wrong with it. Keys are those of the network section,
/// or empty.
[[nodiscard]] ValidationErrors build_for_job(Experiment& experiment,
                                             const network::FabricMaker::BuildForJob& build);

}  // namespace astrolabe::experiment
