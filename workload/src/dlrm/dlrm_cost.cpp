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
      looked_up_(samples_ * lookup_width(model)),
      rows_(row_count(model)) {}

Time DlrmCost::lookup() const {
    const auto measured = measured_embedding(&LayerTimes::forward, &TableTimes::forward);
    if (!measured && has_kernels()) {
        return even_kernels(sharers(), true).forward;
    }
    return measured ? *measured : embedding_time(looked_up_, 1);
}

Time DlrmCost::embedding_update() const {
    const auto measured = measured_embedding(&LayerTimes::weight_gradient, &TableTimes::backward);
    if (!measured && has_kernels()) {
        return even_kernels(sharers(), true).backward;
    }
    return measured ? *measured : embedding_time(looked_up_, 2);
}

Time DlrmCost::embedding_gradient() const {
    const auto measured = measured_embedding(&LayerTimes::weight_gradient, &TableTimes::backward);
    if (!measured && has_kernels()) {
        return even_kernels(1, false).backward;
    }
    return measured ? *measured : embedding_time(looked_up_, 1);
}

std::optional<Time> DlrmCost::embedding_fetch() const {
    const std::vector<EqualTables> tables = equal_tables(model_);
    const bool is_cached = std::any_of(tables.begin(), tables.end(), [](const EqualTables& table) {
        return table.traits.memory == TableMemory::kCached;
    });
    if (!is_cached || !has_kernels() ||
        device_.measured_time(kEmbeddingLayer, &LayerTimes::forward, samples_)) {
        return std::nullopt;
    }
    return even_kernels(sharers(), true).fetch;
}

Time DlrmCost::replica_update(std::string_view layer, std::int64_t values) const {
    const bool measured = device_.measured_time(layer, &LayerTimes::weight_gradient, samples_).has_value() ||
                          (device_.tables && !device_.tables->backward.empty());
    return measured ? Time(0) : embedding_time(values, 2);
}

Time DlrmCost::shard_lookup(const EqualTables& table, std::size_t index, std::int64_t columns,
                            std::int64_t samples, std::int64_t blocks) const {
    const auto measured = measured_shard(&TableTimes::forward, table, index, columns, samples);
    if (!measured && training_.embedding_time == EmbeddingTime::kFbgemm) {
        return shard_kernels(table, columns, samples, blocks, true).forward;
    }
    const std::int64_t lookups = samples * table.pooling;
    return measured ? *measured
                    : embedding_time(lookups * columns, 1, lookups * training_.sharding.bytes_per_index());
}

Time DlrmCost::shard_update(const EqualTables& table, std::size_t index, std::int64_t columns,
                            std::int64_t samples, std::int64_t blocks) const {
    const auto measured = measured_shard(&TableTimes::backward, table, index, columns, samples);
    if (!measured && training_.embedding_time == EmbeddingTime::kFbgemm) {
        return shard_kernels(table, columns, samples, blocks, true).backward;
    }
    const std::int64_t lookups = samples * table.pooling;
    return measured ? *measured
                    : embedding_time(lookups * columns, 2, lookups * training_.sharding.bytes_per_index());
}

Time DlrmCost::replica_gradient(const EqualTables& table, std::size_t index, std::int64_t samples) const {
    const auto measured = measured_shard(&TableTimes::backward, table, index, table.dimension, samples);
    if (!measured && training_.embedding_time == EmbeddingTime::kFbgemm) {
        return shard_kernels(table, table.dimension, samples, 1, false).backward;
    }
    return measured ? *measured : embedding_time(samples * table.pooling * table.dimension, 1);
}

bool DlrmCost::has_kernels() const {
    return training_.embedding_time == EmbeddingTime::kFbgemm && !device_.tables;
}

LookupTimes DlrmCost::kernel_times(std::span<const LookupShard> shards, bool updates) const {
    return call_times(device_, lookup_format(updates), shards);
}

LookupMemory DlrmCost::memory(const EqualTables& table, std::int64_t rows, std::int64_t columns) const {
    return memory_of_shard(lookup_format(true), table.traits, rows, columns);
}

std::int64_t DlrmCost::sharers() const {
    return training_.parallelism == Parallelism::kData ? 1 : ranks_;
}

LookupFormat DlrmCost::lookup_format(bool updates) const {
    return {.element = model_.element_size,
            .output = activation_element_size(model_),
            .index = training_.sharding.bytes_per_index(),
            .optimizer = training_.embedding_optimizer,
            .updates = updates};
}

LookupTimes DlrmCost::shard_kernels(const EqualTables& table, std::int64_t columns, std::int64_t samples,
                                    std::int64_t blocks, bool updates) const {
    const std::int64_t lookups = samples * table.pooling;
    const std::int64_t rows = divide_up(table.rows, blocks);
    return shard_times(device_, lookup_format(updates),
                       {.rows = rows,
                        .columns = columns,
                        .bags = samples * blocks,
                        .lookups = lookups,
                        .unique_rows = unique_rows(table.traits, rows, lookups, samples * blocks),
                        .weighted = table.traits.weighted,
                        .memory = table.traits.memory,
                        .hit_rate = table.traits.cache.hit_rate},
                       sort_passes(rows_));
}

LookupTimes DlrmCost::even_kernels(std::int64_t blocks, bool updates) const {
    std::vector<LookupShard> shards;
    for (const EqualTables& table : equal_tables(model_)) {
        const std::int64_t rows = divide_up(table.rows, blocks);
        const std::int64_t lookups = samples_ * table.pooling;
        shards.push_back({.rows = rows,
                          .columns = table.dimension,
                          .bags = samples_,
                          .lookups = lookups,
                          .unique_rows = unique_rows(table.traits, rows, lookups, blocks * samples_),
                          .weighted = table.traits.weighted,
                          .memory = table.traits.memory,
                          .hit_rate = table.traits.cache.hit_rate,
                          .count = table.count});
    }
    return kernel_times(shards, updates);
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
        case EmbeddingTime::kFbgemm:  // of copies of tables, whose rows are updated one after the other
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
    const PassTimes computed = computed_mlp(layer);
    return {.forward = times.forward ? times.forward : computed.forward,
            .input_gradient = times.input_gradient ? times.input_gradient : computed.input_gradient,
            .weight_gradient = times.weight_gradient ? times.weight_gradient : computed.weight_gradient};
}

PassTimes DlrmCost::computed_mlp(const MlpLayer& layer) const {
    if (training_.mlp_time == MlpTime::kGemm) {
        return products(layer);
    }
    // Model parallelism: all ranks' samples through 1/N of the columns, as much work as N times fewer samples
    // through all of them.
    Work work{.flops = Flops(2 * samples_ * layer.weights()), .precision = precision(training_)};
    if (training_.mlp_time == MlpTime::kRoofline) {
        const bool is_sharded = training_.parallelism == Parallelism::kModel;
        const std::int64_t rows = is_sharded ? ranks_ * samples_ : samples_;
        const std::int64_t weights = is_sharded ? divide_up(layer.weights(), ranks_) : layer.weights();
        const std::int64_t output = samples_ * layer.output_width;
        const std::int64_t between = 2 * samples_ * layer.rank;  // written by one product, read by the other
        work.bytes = (rows * layer.input_width + between + output) * activation_element_size(model_) +
                     weights * model_.element_size;
    }
    const Time time = time_of(device_, work);
    return {.forward = time, .input_gradient = time, .weight_gradient = time};
}

PassTimes DlrmCost::products(const MlpLayer& layer) const {
    const auto product = [&](std::int64_t k, std::int64_t n) {
        return product_time(device_, Flops(2 * samples_ * k * n), samples_, n, precision(training_));
    };
    const Time work = layer.rank == 0
                          ? product(layer.input_width, layer.output_width)
                          : product(layer.input_width, layer.rank) + product(layer.rank, layer.output_width);
    const GemmRates rates = device_.gemm.value_or(GemmRates());
    const Time gradient = std::max(work, (rates.backward_floor + Time(1)) / 2);
    // The activation reads and writes the output, backward also its gradient; a cross layer reads x0, the
    // product and x and writes the sum, backward the gradient, x0 and the product for the gradients of both.
    // The bias' gradient is the sum of the output's over the samples.
    const auto traffic = [&](std::int64_t passes) {
        return time_of(device_,
                       {.bytes = passes * samples_ * layer.output_width * activation_element_size(model_)});
    };
    return {.forward = std::max(work, rates.floor) + traffic(layer.is_cross ? 4 : 2),
            .input_gradient = gradient + traffic(layer.is_cross ? 6 : 3),
            .weight_gradient = gradient + traffic(layer.has_bias ? 1 : 0)};
}

Time DlrmCost::dense_update(const MlpLayer& layer) const {
    ASTROLABE_ASSERT(training_.dense_optimizer, "there is an optimiser");
    return time_of(device_, {.bytes = layer.parameters() * dense_update_of(*training_.dense_optimizer)});
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
    Work work{.flops = Flops(samples_ * interaction_work(model_)), .precision = precision(training_)};
    if (training_.mlp_time != MlpTime::kFlops) {
        const std::int64_t values =
            pooled_width(model_) + model_.bottom_mlp.back() + interaction_width(model_);
        work.bytes = samples_ * values * activation_element_size(model_);
    }
    const Time computed = time_of(device_, work);
    return {.forward = forward.value_or(computed), .input_gradient = backward.value_or(computed)};
}

}  // namespace astrolabe::workload
