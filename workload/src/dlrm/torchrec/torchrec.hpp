/// `training: torchrec`: what the DLRM workload needs of it.
#pragma once

#include "../dlrm_training.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace astrolabe::workload::torchrec {

/// What this training does not have. Keys: "training", "priorities", "gradient_buckets.order", ….
void check(ValidationErrors& found, const DlrmTraining& training);
/// What its groups cannot take from the device. Keys: "layers.Embedding".
void check(ValidationErrors& found, const Device& device, const DlrmTraining& training,
           const DlrmModel& model);

/// At least what the host and the least times of kernels add to an iteration, in picoseconds.
[[nodiscard]] detail::Int128 longest_launches(const DlrmModel& model, const Device& device,
                                              std::size_t ranks);

/// Requires arguments without validation errors.
[[nodiscard]] system::Program build_program(const DlrmModel& model, const DlrmTraining& training,
                                            const Device& device, std::size_t ranks);

/// The collectives of an iteration in the order of issue, with the bytes that a rank holds for each at most,
/// and their sums by kind.
struct Operations {
    std::vector<std::pair<std::string, Bytes>> collectives;
    std::array<Bytes, system::kCollectiveKinds> traffic{};
};
[[nodiscard]] Operations operations_of(const system::Program& program);

}  // namespace astrolabe::workload::torchrec
