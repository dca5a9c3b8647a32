#include "dlrm_cost.hpp"

#include "../integer_division.hpp"

#include <algorithm>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

DlrmCost::DlrmCost(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                   std::size_t ranks)
    : model_(model),
      training_(training),
      device_(device),
      ranks_(static_cast<std::int64_t>(ranks)),
      samples_(local_batch(training, ranks)),
      looked_up_(samples_ * lookup_width(model)) {}

Time DlrmCost::lookup() const {
    const auto measured = measured_embedding(&LayerTimes::forward, &TableTimes::forward);
    return measured ? *measured : embedding_time(looked_up_, 1);
}

Time DlrmCost::embedding_update() const {
    const auto measured = measured_embedding(&LayerTimes::weight_gradient, &TableTimes::backward);
    return measured ? *measured : embedding_time(looked_up_, 2);
}

Time DlrmCost::embedding_gradient() const {
    const auto measured = measured_embedding(&LayerTimes::weight_gradient, &TableTimes::backward);
    return measured ? *measured : embedding_time(looked_up_, 1);
}

Time DlrmCost::replica_update(std::string_view layer, std::int64_t values) const {
    const bool measured = device_.measured_time(layer, &LayerTimes::weight_gradient, samples_).has_value() ||
                          (device_.tables && !device_.tables->backward.empty());
    return measured ? Time(0) : embedding_time(values, 2);
}

Time DlrmCost::shard_lookup(const EqualTables& table, std::size_t index, std::int64_t columns,
                            std::int64_t samples) const {
    const auto measured = measured_shard(&TableTimes::forward, table, index, columns, samples);
    const std::int64_t lookups = samples * table.pooling;
    return measured ? *measured
                    : embedding_time(lookups * columns, 1, lookups * training_.sharding.bytes_per_index());
}

Time DlrmCost::shard_update(const EqualTables& table, std::size_t index, std::int64_t columns,
                            std::int64_t samples) const {
    const auto measured = measured_shard(&TableTimes::backward, table, index, columns, samples);
    const std::int64_t lookups = samples * table.pooling;
    return measured ? *measured
                    : embedding_time(lookups * columns, 2, lookups * training_.sharding.bytes_per_index());
}

Time DlrmCost::replica_gradient(const EqualTables& table, std::size_t index, std::int64_t samples) const {
    const auto measured = measured_shard(&TableTimes::backward, table, index, table.dimension, samples);
    return measured ? *measured : embedding_time(samples * table.pooling * table.dimension, 1);
}

std::optional<Time> DlrmCost::measured_embedding(std::optional<MeasuredTime> LayerTimes::*layer_pass,
                                                 std::vector<Time> TableTimes::*table_pass) const {
    const auto measured = device_.measured_time(kEmbeddingLayer, layer_pass, samples_);
    return measured ? measured : measured_tables(table_pass);
}

std::optional<Time> DlrmCost::measured_tables(std::vector<Time> TableTimes::*pass) const {
    if (!device_.tables || ((*device_.tables).*pass).empty()) {
        return std::nullopt;
    }
    Time sum;
    std::size_t index = 0;
    for (const EqualTables& run : equal_tables(model_)) {
        for (std::int64_t i = 0; i < run.count; ++i) {
            const Time time = *measured_shard(pass, run, index++, run.dimension, samples_);
            sum = std::min(sum, Time::max() / 2) + std::min(time, Time::max() / 2);
        }
    }
    return sum;
}

std::optional<Time> DlrmCost::measured_shard(std::vector<Time> TableTimes::*pass, const EqualTables& table,
                                             std::size_t index, std::int64_t columns,
                                             std::int64_t samples) const {
    if (!device_.tables || ((*device_.tables).*pass).empty()) {
        return std::nullopt;
    }
    return Time(detail::multiply_divide_up(device_.tables->time(pass, index).count(), columns * samples,
                                           table.dimension * device_.tables->samples));
}

Time DlrmCost::embedding_time(std::int64_t values, std::int64_t accesses, Bytes indices) const {
    switch (training_.embedding_time) {
        case EmbeddingTime::kBandwidth:
            return time_of(device_, {.bytes = accesses * values * model_.element_size + indices});
        case EmbeddingTime::kFlops:
            return time_of(device_, {.flops = Flops(accesses * values)});
        case EmbeddingTime::kFixed:
            return Time(detail::multiply_divide_up(training_.fixed_embedding_time.count(), accesses * values,
                                                   looked_up_));
    }
    ASTROLABE_ASSERT(false, "every rule has its time");
}

PassTimes DlrmCost::mlp(const MlpLayer& layer) const {
    const PassTimes times{
        .forward = device_.measured_time(layer.name, &LayerTimes::forward, samples_),
        .input_gradient = device_.measured_time(layer.name, &LayerTimes::input_gradient, samples_),
        .weight_gradient = device_.measured_time(layer.name, &LayerTimes::weight_gradient, samples_)};
    if (times.forward && times.input_gradient && times.weight_gradient) {
        return times;
    }
    // Model parallelism: all ranks' samples through 1/N of the columns, as much work as N times fewer samples
    // through all of them.
    Work work{.flops = Flops(2 * samples_ * layer.parameters())};
    if (training_.mlp_time == MlpTime::kRoofline) {
        const bool is_sharded = training_.parallelism == Parallelism::kModel;
        const std::int64_t rows = is_sharded ? ranks_ * samples_ : samples_;
        const std::int64_t weights = is_sharded ? divide_up(layer.parameters(), ranks_) : layer.parameters();
        const std::int64_t output = samples_ * layer.output_width;
        work.bytes = (rows * layer.input_width + output) * activation_element_size(model_) +
                     weights * model_.element_size;
    }
    const Time computed = time_of(device_, work);
    return {.forward = times.forward.value_or(computed),
            .input_gradient = times.input_gradient.value_or(computed),
            .weight_gradient = times.weight_gradient.value_or(computed)};
}

PassTimes DlrmCost::interaction() const {
    if (!training_.interaction_time) {
        return {.forward = Time(0), .input_gradient = Time(0)};
    }
    const auto forward = device_.measured_time(kInteractionLayer, &LayerTimes::forward, samples_);
    const auto backward = device_.measured_time(kInteractionLayer, &LayerTimes::input_gradient, samples_);
    if (forward && backward) {
        return {.forward = forward, .input_gradient = backward};
    }
    Work work{.flops = Flops(samples_ * interaction_work(model_))};
    if (training_.mlp_time == MlpTime::kRoofline) {
        const std::int64_t values =
            pooled_width(model_) + model_.bottom_mlp.back() + interaction_width(model_);
        work.bytes = samples_ * values * activation_element_size(model_);
    }
    const Time computed = time_of(device_, work);
    return {.forward = forward.value_or(computed), .input_gradient = backward.value_or(computed)};
}

}  // namespace astrolabe::workload
