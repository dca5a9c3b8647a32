/// Networks that are built for the job of their experiment.
///
/// What the collectives of the program put on the network is its demand (system/program/network_demand.hpp).
/// The network is built for it, and collectives on rings of the network then get these rings
/// (NetworkFamily::job_rings). So algorithms, sizes and placements shape the network, and the network the
/// rings.
#pragma once

#include <vector>

#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::experiment {

/// Builds the network for the program, of which no algorithm refuses anything, and sets fabric and
/// collectives of the experiment; or says what is wrong with it. Keys are those of the network section,
/// or empty.
[[nodiscard]] ValidationErrors build_for_job(Experiment& experiment,
                                             const network::FabricMaker::BuildForJob& build);

}  // namespace astrolabe::experiment
