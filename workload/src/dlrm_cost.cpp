#include "dlrm_cost.hpp"

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace

DlrmCost::DlrmCost(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                   std::size_t ranks)
    : model_(model),
      training_(training),
      device_(device),
      ranks_(static_cast<std::int64_t>(ranks)),
      samples_(local_batch(training, ranks)),
      looked_up_(samples_ * lookup_width(model)) {}

Time DlrmCost::lookup() const {
    const auto measured = device_.measured_time(kEmbeddingLayer, &LayerTimes::forward);
    return measured ? *measured : embedding_time(looked_up_, 1);
}

Time DlrmCost::embedding_update() const {
    const auto measured = device_.measured_time(kEmbeddingLayer, &LayerTimes::weight_gradient);
    return measured ? *measured : embedding_time(looked_up_, 2);
}

Time DlrmCost::embedding_gradient() const {
    const auto measured = device_.measured_time(kEmbeddingLayer, &LayerTimes::weight_gradient);
    return measured ? *measured : embedding_time(looked_up_, 1);
}

Time DlrmCost::replica_update(std::int64_t values) const {
    const bool measured = device_.measured_time(kEmbeddingLayer, &LayerTimes::weight_gradient).has_value();
    return measured ? Time(0) : embedding_time(values, 2);
}

Time DlrmCost::embedding_time(std::int64_t values, std::int64_t accesses) const {
    switch (training_.embedding_time) {
        case EmbeddingTime::kBandwidth:
            return time_of(device_, {.bytes = accesses * values * model_.element_size});
        case EmbeddingTime::kFlops:
            return time_of(device_, {.flops = Flops(accesses * values)});
        case EmbeddingTime::kFixed:
            return Time(detail::multiply_divide_up(training_.fixed_embedding_time.count(), accesses * values,
                                                   looked_up_));
    }
    ASTROLABE_ASSERT(false, "every rule has its time");
}

LayerTimes DlrmCost::mlp(const MlpLayer& layer) const {
    LayerTimes times;
    const auto measured = device_.measured.find(layer.name);
    if (measured != device_.measured.end()) {
        times = measured->second;
    }
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
        work.bytes = (rows * layer.input_width + weights + output) * model_.element_size;
    }
    const Time computed = time_of(device_, work);
    return {.forward = times.forward.value_or(computed),
            .input_gradient = times.input_gradient.value_or(computed),
            .weight_gradient = times.weight_gradient.value_or(computed)};
}

LayerTimes DlrmCost::interaction() const {
    if (!training_.interaction_time) {
        return {.forward = Time(0), .input_gradient = Time(0)};
    }
    const auto forward = device_.measured_time(kInteractionLayer, &LayerTimes::forward);
    const auto backward = device_.measured_time(kInteractionLayer, &LayerTimes::input_gradient);
    if (forward && backward) {
        return {.forward = forward, .input_gradient = backward};
    }
    Work work{.flops = Flops(samples_ * interaction_work(model_))};
    if (training_.mlp_time == MlpTime::kRoofline) {
        const std::int64_t values =
            pooled_width(model_) + model_.bottom_mlp.back() + interaction_width(model_);
        work.bytes = samples_ * values * model_.element_size;
    }
    const Time computed = time_of(device_, work);
    return {.forward = forward.value_or(computed), .input_gradient = backward.value_or(computed)};
}

}  // namespace astrolabe::workload
