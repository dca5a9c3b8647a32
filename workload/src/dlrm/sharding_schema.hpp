/// The keys of `workload.sharding`.
#pragma once

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload {

[[nodiscard]] Schema<Sharding> sharding_schema();

}  // namespace astrolabe::workload
