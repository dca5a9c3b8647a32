/// Seeds of networks and workloads that a file leaves out: they are that of the experiment.
///
/// A seed is a key `seed` of a section or of a part of it. What draws with it has a stream of random numbers
/// by a name of its own (core/random.hpp), so that sections of one seed are unrelated. Seeds are filled in
/// before sections are read, which checks what is drawn; the resolved file leaves them open again, so that
/// another seed of the experiment reaches them there too.
///
/// Values that are not drawn (a network from a file, tables that are all alike) have no seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// Fills them in and says which, as dotted paths: "network.seed", "network.failures.0.seed".
[[nodiscard]] std::vector<std::string> fill_open_seeds(ConfigNode& root, std::uint64_t seed,
                                                       const Components& components);
/// Takes them out of what was written of the same experiment.
void leave_seeds_open(ConfigNode& resolved, const std::vector<std::string>& paths,
                      const Components& components);

}  // namespace astrolabe::experiment
