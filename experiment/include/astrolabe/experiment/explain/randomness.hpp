/// What of an experiment depends on its seed.
///
/// Every random choice has a stream of random numbers, which the seed of the experiment and the name of the
/// stream decide. Names are the key whose value pins the stream ("network.seed"), or, where there is no key,
///
///     network.flow_hash      a pair of hosts takes one of several shortest paths by hash
///     network.paths          which of equally long paths pairs are split over
///     network.<family>       what an engine of a family of networks draws while messages run
///     backend.packets        what an engine draws for packets: marks, ports, losses
///
/// An experiment without streams gives the same result for every seed. The list may name a stream that is
/// never drawn from (an engine of packets that marks none), never leave one out.
///
/// Complexity: O(switches · hosts), up to the first pair with a choice among paths.
#pragma once

#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// Each once, in the order above.
[[nodiscard]] std::vector<std::string> random_streams(const Experiment& experiment);

}  // namespace astrolabe::experiment
