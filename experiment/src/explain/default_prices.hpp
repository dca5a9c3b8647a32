/// inputs/costs/default.yaml, made part of the program by the build.
#pragma once

#include <string_view>

namespace astrolabe::experiment {

extern const std::string_view kDefaultPrices;

}  // namespace astrolabe::experiment
