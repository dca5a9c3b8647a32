/// Times of the tasks of FlexFlow's DLRM on one node; equations in flexflow_dlrm.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device.hpp>
#include <astrolabe/workload/flexflow_dlrm.hpp>

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
    std::int64_t owners = 0;  ///< the first so many nodes

    /// The part of an owner, rounded up; saturates.
    [[nodiscard]] Time part_of(Time table) const;
};
[[nodiscard]] TableRound table_round(const FlexflowModel& model, FlexflowPlacement placement,
                                     std::size_t nodes, std::int64_t round);
/// ⌈T/N⌉
[[nodiscard]] std::int64_t rounds(const FlexflowModel& model, std::size_t nodes);
/// Bottom layers, then top layers.
[[nodiscard]] std::vector<MlpLayer> dense_layers(const FlexflowModel& model);

}  // namespace astrolabe::workload
