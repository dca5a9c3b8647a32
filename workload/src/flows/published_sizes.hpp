/// Files of inputs/flows, which are part of the program wherever it is installed.
#pragma once

#include <string_view>

#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe::workload {

[[nodiscard]] std::string_view published_sizes_text(PublishedSizes which);

}  // namespace astrolabe::workload
