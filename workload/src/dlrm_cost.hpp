/// Compute times of a DLRM's layers on one rank; equations in dlrm_training.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device.hpp>
#include <astrolabe/workload/dlrm_model.hpp>
#include <astrolabe/workload/dlrm_training.hpp>

namespace astrolabe::workload {

class DlrmCost {
public:
    /// The references must outlive the object.
    DlrmCost(const DlrmModel& model, const DlrmTraining& training, const Device& device, std::size_t ranks);

    [[nodiscard]] Time lookup() const;
    /// Update of the rows looked up, tables spread over the ranks.
    [[nodiscard]] Time embedding_update() const;
    /// Writing the gradients of the rows looked up, tables on every rank.
    [[nodiscard]] Time embedding_gradient() const;
    /// Update of `values` values of this rank's copy of the tables; nothing where the embedding's weight
    /// gradient was measured, which then holds it.
    [[nodiscard]] Time replica_update(std::int64_t values) const;

    /// All three passes are there.
    [[nodiscard]] LayerTimes mlp(const MlpLayer& layer) const;
    /// Forward and input gradient are there.
    [[nodiscard]] LayerTimes interaction() const;

private:
    /// Of `values` values by the embedding time rule, each `accesses` times; fixed time scales with them.
    [[nodiscard]] Time embedding_time(std::int64_t values, std::int64_t accesses) const;

    const DlrmModel& model_;
    const DlrmTraining& training_;
    const Device& device_;
    std::int64_t ranks_;
    std::int64_t samples_;  // per rank
    std::int64_t looked_up_;
};

}  // namespace astrolabe::workload
