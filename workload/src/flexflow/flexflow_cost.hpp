/// Times of the tasks of FlexFlow's DLRM on one node; equations in flexflow_dlrm.hpp.
#pragma once

#include "flexflow_dlrm.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload {

class FlexflowCost {
public:
    FlexflowCost(const FlexflowModel& model, const FlexflowTraining& training, const Device& device,
                 std::size_t nodes);

    /// Of one whole table; saturates at Time::max(), as all times do.
    [[nodiscard]] Time table_forward() const { return table_forward_; }
    [[nodiscard]] Time table_backward() const { return table_backward_; }
    [[nodiscard]] Time layer_forward(const MlpLayer& layer) const { return products(layer, 1); }
    /// Gradients of the input and of the kernel.
    [[nodiscard]] Time layer_backward(const MlpLayer& layer) const { return products(layer, 2); }
    /// Forward or backward.
    [[nodiscard]] Time concatenation() const { return concatenation_; }

private:
    [[nodiscard]] Time products(const MlpLayer& layer, std::int64_t number) const;

    std::int64_t rows_;  // per GPU
    FlopRate rate_;
    std::int64_t scale_down_;
    Time table_forward_;
    Time table_backward_;
    Time concatenation_;
};

/// Tables of a round, and the nodes that pass over them in equal parts: tables/owners of a table each.
struct TableRound {
    std::int64_t tables = 0;
    std::int64_t owners = 0;

    /// The part of an owner, rounded up; saturates.
    [[nodiscard]] Time part_of(Time table) const;
};

/// The rounds in which nodes pass over their tables. O(T + N) time and memory.
class TableRounds {
public:
    TableRounds(const FlexflowModel& model, const FlexflowTraining& training, std::size_t nodes);

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(rounds_.size()); }
    [[nodiscard]] const TableRound& operator[](std::int64_t round) const {
        return rounds_[static_cast<std::size_t>(round)];
    }
    [[nodiscard]] bool is_owner(std::size_t node, std::int64_t round) const {
        return shared_out_ || tables_[node] > round;
    }
    /// Tables and parts of tables that nodes pass over, in all rounds.
    [[nodiscard]] std::int64_t parts() const;
    /// What the node with the most tables passes over. All rounds but the last are of whole tables.
    [[nodiscard]] Time passes(Time table) const;

private:
    bool shared_out_;                   // in parts: every node takes part in every round
    std::vector<std::int64_t> tables_;  // of nodes
    std::vector<TableRound> rounds_;
};
/// Bottom layers, then top layers.
[[nodiscard]] std::vector<MlpLayer> dense_layers(const FlexflowModel& model);

}  // namespace astrolabe::workload
