#include "flexflow_cost.hpp"

#include "../integer_division.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

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
      concatenation_(scaled(
          time_of(device, {.bytes = 2 * rows_ * concatenation_width(model) * training.gradient_element_size}),
          training)) {}

Time FlexflowCost::products(const MlpLayer& layer, std::int64_t number) const {
    return Time(divide_up((Flops(2 * number * rows_ * layer.parameters()) / rate_).count(), scale_down_));
}

Time TableRound::part_of(Time table) const {
    return Time(detail::multiply_divide_up(table.count(), tables, owners));
}

TableRounds::TableRounds(const FlexflowModel& model, const FlexflowTraining& training, std::size_t nodes)
    : shared_out_(training.placement == FlexflowPlacement::kBalanced),
      tables_(tables_of_nodes(model, training, nodes)),
      rounds_(static_cast<std::size_t>(*std::ranges::max_element(tables_))) {
    for (const std::int64_t tables : tables_) {
        for (std::int64_t round = 0; round < tables; ++round) {
            ++rounds_[static_cast<std::size_t>(round)].tables;
        }
    }
    for (TableRound& round : rounds_) {
        round.owners = shared_out_ ? static_cast<std::int64_t>(nodes) : round.tables;
    }
}

std::int64_t TableRounds::parts() const {
    return std::accumulate(rounds_.begin(), rounds_.end(), std::int64_t{0},
                           [](std::int64_t sum, const TableRound& round) { return sum + round.owners; });
}

Time TableRounds::passes(Time table) const {
    return (count() - 1) * table + rounds_.back().part_of(table);
}

std::vector<std::int64_t> tables_of_nodes(const FlexflowModel& model, const FlexflowTraining& training,
                                          std::size_t nodes) {
    std::vector<std::int64_t> tables;
    if (training.placement == FlexflowPlacement::kExplicit) {
        for (const NodeTables& run : training.tables_per_node) {
            tables.insert(tables.end(), static_cast<std::size_t>(run.nodes), run.tables);
        }
        return tables;
    }
    const auto count = static_cast<std::int64_t>(nodes);
    tables.assign(nodes, model.tables / count);
    for (std::int64_t node = 0; node < model.tables % count; ++node) {
        ++tables[static_cast<std::size_t>(node)];
    }
    return tables;
}

std::vector<MlpLayer> dense_layers(const FlexflowModel& model) {
    std::vector<MlpLayer> layers = bottom_layers(model);
    std::ranges::move(top_layers(model), std::back_inserter(layers));
    return layers;
}

FlopRate gemm_rate(const FlexflowTraining& training, const Device& device, std::int64_t rows) {
    if (training.gemm.empty()) {
        const std::optional<FlopRate> peak = device.peak_of(Precision::kFp32);
        ASTROLABE_ASSERT(peak, "without measured rates the device has a peak");
        return *peak;
    }
    const auto above = std::ranges::upper_bound(training.gemm, rows, {}, &GemmRate::rows);
    return above == training.gemm.begin() ? above->rate : std::prev(above)->rate;
}

FlexflowCompute compute_times(const FlexflowModel& model, const FlexflowTraining& training,
                              const Device& device, std::size_t nodes) {
    const FlexflowCost cost(model, training, device, nodes);
    const TableRounds rounds(model, training, nodes);
    FlexflowCompute times{
        .embedding = rounds.passes(cost.table_forward()) + rounds.passes(cost.table_backward()),
        .mlp = Time(0),
        .concatenation = 2 * cost.concatenation()};
    for (const MlpLayer& layer : dense_layers(model)) {
        times.mlp += cost.layer_forward(layer) + cost.layer_backward(layer);
    }
    return times;
}

}  // namespace astrolabe::workload
