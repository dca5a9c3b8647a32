#include "pipeline.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace astrolabe::workload {
namespace {

constexpr std::int64_t kMostPipelineLayers = 100'000;
constexpr std::int64_t kMostPipelineOperations = 10'000'000;
constexpr std::int64_t kMostOfAMicroBatch = std::int64_t{1} << 60;  ///< FLOP or bytes

std::int64_t layer_count(const PipelineModel& model) {
    std::int64_t layers = 0;
    for (const PipelineLayer& layer : model.layers) {
        layers += layer.count;
    }
    return layers;
}

void check_layers(ValidationErrors& errors, const PipelineModel& model) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const PipelineLayer& layer = model.layers[i];
        const std::string key = fmt::format("model.layers.{}", i);
        require(errors, names.insert(layer.name).second, key + ".name",
                fmt::format("'{}' is the name of two layers", layer.name),
                "names differ; 'count' repeats a layer");
        require(errors, !layer.backward || layer.forward, key + ".backward", "is given without 'forward'",
                "give both, or neither");
        require(errors, !layer.forward || layer.flops == 0, key + ".flops",
                "has no effect where 'forward' is given", "give one of them");
    }
    require(errors, !model.layers.empty(), "model.layers", "the model has no layers",
            "write [{name: encoder, count: 24, flops: 13958643712, …}]");
    require(errors, layer_count(model) <= kMostPipelineLayers, "model.layers",
            fmt::format("there are {} layers, expected at most {}", layer_count(model), kMostPipelineLayers));
}

void check_split(ValidationErrors& errors, const PipelineModel& model, const PipelineTraining& training) {
    const std::int64_t layers = layer_count(model);
    const std::int64_t parts = training.stages * training.virtual_stages;
    require(errors, layers >= parts, "stages",
            fmt::format("{} layers cannot be cut in {} parts", layers, parts),
            "take fewer stages, or list smaller layers");
    if (training.split.empty()) {
        return;
    }
    const std::int64_t sum = std::accumulate(training.split.begin(), training.split.end(), std::int64_t{0});
    require(errors, static_cast<std::int64_t>(training.split.size()) == parts && sum == layers, "split",
            fmt::format("puts {} layers in {} parts, expected {} in {}", sum, training.split.size(), layers,
                        parts),
            "say how many layers each part has, in the order of the model, or leave it out");
}

void check_schedule(ValidationErrors& errors, const PipelineTraining& training) {
    if (training.schedule != PipelineSchedule::kInterleaved) {
        require(errors, training.virtual_stages == 1, "virtual_stages",
                fmt::format("is {}, and this schedule has one part of the model on a stage",
                            training.virtual_stages),
                "write schedule: interleaved");
        return;
    }
    require(errors, training.stages > 1, "stages", "is 1, and there is nothing to interleave",
            "take more stages, or schedule: 1f1b");
    require(errors, training.micro_batches % training.stages == 0, "micro_batches",
            fmt::format("is {}, expected a multiple of {}", training.micro_batches, training.stages),
            "micro-batches go through a part as many at a time as there are stages");
}

/// "FLOP", "bytes": what of a micro-batch of a layer cannot be counted; or nothing.
std::optional<std::string> what_is_too_much(const PipelineLayer& layer, const PipelineModel& model,
                                            std::int64_t input, std::int64_t samples) {
    using astrolabe::detail::Int128;
    const Int128 element = std::max(model.element_size.count(), model.gradient_element_size.count());
    const Int128 bytes = Int128{layer.parameters} * element +
                         Int128{samples} * (Int128{input} + layer.output) * element +
                         Int128{samples} * layer.kept.value_or(Bytes(0)).count();
    if (Int128{layer.flops} * samples > kMostOfAMicroBatch) {
        return "FLOP";
    }
    return bytes > kMostOfAMicroBatch ? std::optional<std::string>("bytes") : std::nullopt;
}

}  // namespace

ValidationErrors validation_errors(const PipelineModel& model, const PipelineTraining& training,
                                   std::size_t ranks) {
    ValidationErrors errors;
    check_layers(errors, model);
    check_split(errors, model, training);
    check_schedule(errors, training);
    const std::int64_t ranks_of_replica = training.stages * training.tensor_parallel;
    const auto all = static_cast<std::int64_t>(ranks);
    if (all % ranks_of_replica != 0) {
        add_error(errors, training.stages > 1 ? "stages" : "tensor_parallel",
                  fmt::format("{} stages of {} tensor-parallel ranks are {} ranks, and the cluster has {}",
                              training.stages, training.tensor_parallel, ranks_of_replica, ranks),
                  "the ranks of the cluster are a multiple");
    } else if (const std::int64_t shares = all / ranks_of_replica * training.micro_batches;
               training.batch % shares != 0) {
        add_error(errors, "batch",
                  fmt::format("is {}, expected a multiple of {}: {} replicas times {} micro-batches",
                              training.batch, shares, all / ranks_of_replica, training.micro_batches),
                  "every micro-batch has as many samples");
    }
    return errors;
}

ValidationErrors size_errors(const PipelineModel& model, const PipelineTraining& training,
                             const Device& device, std::size_t ranks) {
    ValidationErrors errors;
    const std::int64_t shares = static_cast<std::int64_t>(ranks) /
                                (training.stages * training.tensor_parallel) * training.micro_batches;
    std::int64_t input = 0;
    astrolabe::detail::Int128 operations = 0;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const PipelineLayer& layer = model.layers[i];
        if (const auto what = what_is_too_much(layer, model, input, training.batch / shares)) {
            add_error(errors, fmt::format("model.layers.{}", i),
                      fmt::format("has more than 2^60 {} in a micro-batch", *what), "take a smaller batch");
        }
        input = layer.output;
        operations += astrolabe::detail::Int128{layer.count} * 4 * layer.all_reduces;
    }
    operations = (operations + 8 * training.stages * training.virtual_stages) * training.micro_batches *
                 training.iterations;
    require(errors, operations <= kMostPipelineOperations, "micro_batches",
            fmt::format("the program would have {} operations, expected at most {}",
                        static_cast<std::int64_t>(
                            std::min<astrolabe::detail::Int128>(operations, kMostOfAMicroBatch)),
                        kMostPipelineOperations),
            "take fewer micro-batches, stages or iterations");
    if (!errors.empty()) {
        return errors;
    }
    // Each time by itself may have saturated, and there are few of them: a sum of halves of 128 bits.
    PipelineTraining whole = training;
    whole.stages = 1;
    whole.virtual_stages = 1;
    whole.schedule = PipelineSchedule::kGpipe;
    whole.split = {};
    double picoseconds = 0;
    for (const PipelineLayer& layer : model.layers) {
        PipelineModel one = model;
        one.layers = {layer};
        one.layers.front().count = 1;
        const PipelinePlan plan(one, whole, device, ranks / static_cast<std::size_t>(training.stages));
        picoseconds += static_cast<double>(layer.count) * (static_cast<double>(plan.forward(0).count()) +
                                                           static_cast<double>(plan.backward(0).count()));
    }
    picoseconds *= static_cast<double>(training.micro_batches) * training.iterations;
    require(errors, picoseconds < static_cast<double>(Time::max().count()) / 4, "",
            fmt::format("{} iterations compute for more than 26 days", training.iterations),
            "take fewer iterations or samples, or faster rates");
    return errors;
}

ValidationErrors validation_errors(const Device& device, const PipelineModel& model,
                                   const PipelineTraining& training) {
    ValidationErrors errors;
    for (const PipelineLayer& layer : model.layers) {
        const auto measured = device.measured.find(layer.name);
        const bool is_measured = measured != device.measured.end() && measured->second.forward;
        if (layer.flops > 0 && !layer.forward && !is_measured && !device.gemm_rate(training.precision)) {
            add_error(errors, "peak",
                      fmt::format("the device says no rate for the FLOP of layer '{}'", layer.name),
                      "give peak, for this precision or all");
            break;
        }
    }
    for (const auto& measured : device.measured) {
        const std::string& name = measured.first;
        require(
            errors,
            std::ranges::any_of(model.layers, [&](const PipelineLayer& layer) { return layer.name == name; }),
            "layers", fmt::format("'{}' is no layer of the model", name),
            "times are by the names of the model's layers");
    }
    require(errors, !device.tables, "tables", "has no effect: the model has no tables", "leave it out");
    return errors;
}

}  // namespace astrolabe::workload
