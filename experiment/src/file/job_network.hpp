/// Networks that are built for the job of their experiment.
///
/// What the collectives of the program put on the network is its demand (system/program/network_demand.hpp).
/// The network is built for it, and collectives on rings of the network then get these rings
/// (NetworkFamily::job_rings). So algorithms, sizes and placements shape the network, and the network the
/// rings.
#pragma once

#include <memory>
#include <string>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/file/job_networks.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::experiment {

/// The network for the program, of which no algorithm refuses anything, and behind it those to compare it
/// with; or what is wrong with the network's section, by its keys, or none of them. `section` is that of the
/// network as it is written, by which `known` has what was built before.
[[nodiscard]] JobNetworks::Built networks_for_job(const Experiment& experiment,
                                                  const network::FabricMaker::BuildForJob& build,
                                                  const std::string& section, JobNetworks& known);

/// Sets fabric and collectives of an experiment that has none yet.
void take_network(Experiment& experiment, std::shared_ptr<const network::Fabric> fabric);

}  // namespace astrolabe::experiment
