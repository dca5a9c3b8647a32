/// The keys of a DLRM's model in files.
#pragma once

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {

[[nodiscard]] Schema<DlrmModel> model_schema();

}  // namespace astrolabe::workload
