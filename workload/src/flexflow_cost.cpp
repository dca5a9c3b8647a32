#include "flexflow_cost.hpp"
#include "integer_division.hpp"

#include <algorithm>
#include <iterator>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

Time scaled_to_batch(Time measured, const FlexflowTraining& training) {
    return Time(detail::multiply_divide_up(measured.count(), training.batch, training.embedding.samples));
}

Time scaled(Time time, const FlexflowTraining& training) {
    return Time(divide_up(time.count(), training.scale_down));
}

}  // namespace

FlexflowCost::FlexflowCost(const FlexflowModel& model, const FlexflowTraining& training, const Device& device,
                           std::size_t nodes)
    : rows_(training.batch / (training.gpus_per_node * static_cast<std::int64_t>(nodes))),
      rate_(gemm_rate(training, device, rows_)),
      scale_down_(training.scale_down),
      table_forward_(scaled(scaled_to_batch(training.embedding.forward, training), training)),
      table_backward_(scaled(scaled_to_batch(training.embedding.backward, training), training)),
      concatenation_(scaled(time_of(device, {.bytes = 2 * rows_ * concatenation_width(model) *
                                                      training.gradient_element_size}),
                            training)) {}

Time FlexflowCost::products(const MlpLayer& layer, std::int64_t number) const {
    return Time(divide_up((Flops(2 * number * rows_ * layer.parameters()) / rate_).count(), scale_down_));
}

Time TableRound::part_of(Time table) const {
    return Time(detail::multiply_divide_up(table.count(), tables, owners));
}

TableRound table_round(const FlexflowModel& model, FlexflowPlacement placement, std::size_t nodes,
                       std::int64_t round) {
    const auto all = static_cast<std::int64_t>(nodes);
    const std::int64_t tables = std::min(all, model.tables - round * all);
    return {.tables = tables, .owners = placement == FlexflowPlacement::kBalanced ? all : tables};
}

std::int64_t rounds(const FlexflowModel& model, std::size_t nodes) {
    const auto count = static_cast<std::int64_t>(nodes);
    return (model.tables + count - 1) / count;
}

std::vector<MlpLayer> dense_layers(const FlexflowModel& model) {
    std::vector<MlpLayer> layers = bottom_layers(model);
    std::ranges::move(top_layers(model), std::back_inserter(layers));
    return layers;
}

FlopRate gemm_rate(const FlexflowTraining& training, const Device& device, std::int64_t rows) {
    if (training.gemm.empty()) {
        ASTROLABE_ASSERT(device.peak, "without measured rates the device has a peak");
        return *device.peak;
    }
    const auto above = std::ranges::upper_bound(training.gemm, rows, {}, &GemmRate::rows);
    return above == training.gemm.begin() ? above->rate : std::prev(above)->rate;
}

FlexflowCompute compute_times(const FlexflowModel& model, const FlexflowTraining& training,
                              const Device& device, std::size_t nodes) {
    const FlexflowCost cost(model, training, device, nodes);
    const std::int64_t last = rounds(model, nodes) - 1;
    const TableRound rest = table_round(model, training.placement, nodes, last);
    FlexflowCompute times{.embedding = last * (cost.table_forward() + cost.table_backward()) +
                                       rest.part_of(cost.table_forward()) +
                                       rest.part_of(cost.table_backward()),
                          .mlp = Time(0),
                          .concatenation = 2 * cost.concatenation()};
    for (const MlpLayer& layer : dense_layers(model)) {
        times.mlp += cost.layer_forward(layer) + cost.layer_backward(layer);
    }
    return times;
}

}  // namespace astrolabe::workload
