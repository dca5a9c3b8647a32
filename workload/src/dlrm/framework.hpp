/// The loop of a training framework that a DLRM runs in, instead of one of training_loop.hpp.
#pragma once

#include "mlperf/options.hpp"
#include "torchrec/options.hpp"

#include <variant>

namespace astrolabe::workload {

/// None, or the options of one.
using Framework = std::variant<std::monostate, TorchrecTraining, MlperfTraining>;

}  // namespace astrolabe::workload
