/// What a rank's memory holds in training, under every plan.
///
/// Of tables, what their pieces on a rank hold (table_options.hpp): weights, the optimiser's state, pooled
/// values with gradients, indices. The balanced plan, and model parallelism, give every rank 1/N of it, data
/// parallelism all. Of the rest, with m samples a rank:
///
///     parameters   dense parameters in the model's elements, their gradients, and the dense optimiser's
///     state;
///                  1/N of it where they are sharded (fsdp, model parallelism)
///     activations  outputs of the dense layers and of the interaction, kept for the backward pass, and the
///                  pooled values of the rank's own samples with their gradients
///
/// Limits: one batch of pooled values; no workspace of kernels and communication, no fragments, no caches of
/// the framework: TorchRec's planner reserves 15 % for these.
#pragma once

#include "../dlrm_training.hpp"
#include "table_options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload::planner {

struct RankMemory {
    PieceMemory tables;
    Bytes parameters = Bytes(0);
    Bytes activations = Bytes(0);

    [[nodiscard]] Bytes total() const { return tables.total() + parameters + activations; }
};

/// All but the tables, on every rank alike.
[[nodiscard]] RankMemory dense_memory(const DlrmModel& model, const DlrmTraining& training,
                                      std::size_t ranks);

/// By rank; `plan` is there where the tables are placed.
[[nodiscard]] std::vector<RankMemory> memory_use(const DlrmModel& model, const DlrmTraining& training,
                                                 const TrainingCosts& costs,
                                                 const std::optional<ShardingPlan>& plan);

/// The first of the ranks that hold most.
[[nodiscard]] std::size_t fullest(const std::vector<RankMemory>& ranks);
/// "30 GB: 20 GB of tables, …", of the parts that are there.
[[nodiscard]] std::string describe(const RankMemory& memory);
/// The fullest rank does not fit the device; nothing where its memory is not known.
[[nodiscard]] ValidationErrors memory_errors(const std::vector<RankMemory>& ranks, const Device& device);

}  // namespace astrolabe::workload::planner
