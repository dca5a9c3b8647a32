/// The plan of a training's tables, by whatever method its sharding asks for.
#pragma once

#include "../dlrm_training.hpp"
#include "memory_use.hpp"
#include "table_options.hpp"

#include <cstddef>
#include <optional>

#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload::planner {

/// The arguments must outlive what is given back.
[[nodiscard]] TrainingCosts training_costs(const DlrmModel& model, const DlrmTraining& training,
                                           const Device& device, std::size_t ranks);

/// Requires a sharding that is not balanced. Where the memory of the device is known, the full search keeps
/// to it.
[[nodiscard]] ShardingResult place_tables(const DlrmModel& model, const DlrmTraining& training,
                                          const Device& device, std::size_t ranks);

}  // namespace astrolabe::workload::planner
