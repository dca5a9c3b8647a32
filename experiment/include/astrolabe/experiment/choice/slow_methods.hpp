/// Algorithms that a file names although another is more than twice as fast.
///
/// Of every kind whose algorithm is named, the largest collective of the program is looked at: candidates and
/// estimates are those of the choice (experiment/src/choice/candidates.hpp). Where the best estimate is below
/// half of that of the named method, the two best and the named one are simulated alone, the named one up to
/// 50 times the best. What estimates do not show is not found, nor what is of more work than it may cost
/// (experiment/src/choice/choose.hpp has the measure).
///
/// What was found of a collective is kept with the choices of the same components.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/choice/choice.hpp>
#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::experiment {

/// What a simulation for it may cost: some seconds, behind a run, or tenths of one, beside it.
enum class SlowMethodsCost : std::uint8_t { kSeconds, kTenths };

[[nodiscard]] std::vector<SlowMethod> slow_methods(const Experiment& experiment, const Components& components,
                                                   SlowMethodsCost cost = SlowMethodsCost::kSeconds);

/// Whether the named `active_chunks` cost more than a quarter beside a window of all chunks of an iteration.
/// Looked at where an iteration has more chunks than the window holds, and where simulating the first
/// iterations costs some tenths of a second at most. `total` is the time of the finished run.
[[nodiscard]] std::optional<SlowWindow> slow_window(const Experiment& experiment, Time total,
                                                    const Components& components);

/// All that these components know, as a text for another process of the same program, and back.
[[nodiscard]] std::string write_slow_methods(const Components& components);
void read_slow_methods(const std::string& text, const Components& components);

}  // namespace astrolabe::experiment
