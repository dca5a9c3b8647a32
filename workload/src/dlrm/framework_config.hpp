/// How files ask for the loop of a framework: by its name, or by a mapping with its name as `kind`.
#pragma once

#include "framework.hpp"

#include <optional>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe::workload {

[[nodiscard]] ParameterDescriptor framework_key();
/// None where an error is in `context`.
[[nodiscard]] Framework read_framework(const ConfigNode& node, ReadContext& context);
/// Nothing for none.
[[nodiscard]] std::optional<ConfigNode> write_framework(const Framework& framework);

}  // namespace astrolabe::workload
