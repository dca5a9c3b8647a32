/// Algorithms that a file names although another is more than twice as fast.
///
/// Of every kind whose algorithm is named, the largest collective of the program is looked at: candidates and
/// estimates are those of the choice (experiment/src/choice/candidates.hpp). Where the best estimate is below
/// half of that of the named method, the two best and the named one are simulated alone, the named one up to
/// 50 times the best. What estimates do not show is not found.
#pragma once

#include <vector>

#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

[[nodiscard]] std::vector<SlowMethod> slow_methods(const Experiment& experiment,
                                                   const Components& components);

}  // namespace astrolabe::experiment
