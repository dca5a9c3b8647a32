/// `training: mlperf`: what the DLRM workload needs of it.
#pragma once

#include "../dlrm_training.hpp"

#include <string>
#include <utility>
#include <vector>

namespace astrolabe::workload::mlperf {

/// What this training does not have, or lacks. Keys: "training", "training.ranks_per_host",
/// "embedding_time", ….
void check(ValidationErrors& found, const DlrmTraining& training, std::size_t ranks);
/// Of a training without errors: whether there is room for the tables. Key: "training.memory".
[[nodiscard]] ValidationErrors memory_errors(const DlrmModel& model, const DlrmTraining& training,
                                             std::size_t ranks);

/// Requires arguments without validation errors.
[[nodiscard]] system::Program build_program(const DlrmModel& model, const DlrmTraining& training,
                                            const Device& device, std::size_t ranks);

/// Of lookups, updates, sums and copies, on the rank that takes longest.
[[nodiscard]] Time embedding_compute(const DlrmModel& model, const DlrmTraining& training,
                                     const Device& device, std::size_t ranks);
/// Where the tables are, and what is reduced, for `validate`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts(const DlrmModel& model,
                                                                     const DlrmTraining& training,
                                                                     const Device& device, std::size_t ranks);

}  // namespace astrolabe::workload::mlperf
