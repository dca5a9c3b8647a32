#include "../device/precision_names.hpp"
#include "../register.hpp"
#include "pipeline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <astrolabe/core/config/section_list.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::PipelineSchedule> {
    static constexpr std::array<std::pair<std::string_view, workload::PipelineSchedule>, 3> kNames{
        {{"gpipe", workload::PipelineSchedule::kGpipe},
         {"1f1b", workload::PipelineSchedule::kOneForwardOneBackward},
         {"interleaved", workload::PipelineSchedule::kInterleaved}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

constexpr std::int64_t kMostCounted = std::int64_t{1} << 50;
constexpr Range<Time> kPassTimes{Time(0), Time(1000 * kPicosecondsPerSecond)};

struct PipelineParameters : PipelineTraining {
    PipelineModel model;
};

Schema<PipelineLayer> pipeline_layer_schema() {
    Schema<PipelineLayer> schema("layer", "a layer, or several that are alike");
    schema.required("name", &PipelineLayer::name, "of the layer, for measured times")
        .optional("count", &PipelineLayer::count, "how many of them follow one another", {1, 100'000})
        .optional("flops", &PipelineLayer::flops, "floating-point operations of a sample, forward",
                  {0, kMostCounted})
        .optional("parameters", &PipelineLayer::parameters, "of one layer", {0, kMostCounted})
        .optional("output", &PipelineLayer::output, "values of a sample that go on to the next layer",
                  {0, kMostCounted})
        .optional("kept", &PipelineLayer::kept,
                  "bytes of a sample that stay until the backward pass; unset: those of its output",
                  {Bytes(0), Bytes(kMostCounted)})
        .optional("all_reduces", &PipelineLayer::all_reduces,
                  "of its output in a group of tensor-parallel ranks, each way", {0, 1024})
        .optional("forward", &PipelineLayer::forward,
                  "time of a micro-batch on a rank; unset: computed by the device", kPassTimes)
        .optional("backward", &PipelineLayer::backward, "likewise; unset: twice the forward pass",
                  kPassTimes);
    return schema;
}

Schema<PipelineModel> pipeline_model_schema() {
    Schema<PipelineModel> schema("model", "layers one after another");
    schema
        .list("layers", &PipelineModel::layers, pipeline_layer_schema(), "from the input on",
              "[{name: encoder, count: 24, flops: 13958643712, parameters: 12596224, output: 524288}]")
        .optional("element_size", &PipelineModel::element_size, "of values and of parameters that are read",
                  {Bytes(1), Bytes(16)})
        .optional("gradient_element_size", &PipelineModel::gradient_element_size,
                  "of gradients of parameters", {Bytes(1), Bytes(16)});
    return schema;
}

Schema<PipelineParameters> pipeline_schema() {
    Schema<PipelineParameters> schema(
        "pipeline",
        "training of any list of layers, cut in pipeline stages, tensor-parallel ranks and replicas");
    schema
        .section("model", &PipelineParameters::model, pipeline_model_schema(),
                 "the model, or the path of a file that holds it", true)
        .required("batch", &PipelineParameters::batch, "samples of an iteration over all replicas",
                  {1, std::int64_t{1} << 32})
        .optional("schedule", &PipelineParameters::schedule,
                  "order of the passes: all forward, then all backward; one of each in turn; the same with "
                  "several parts of the model on a stage")
        .optional("stages", &PipelineParameters::stages, "the model is cut in", {1, 65'536})
        .optional("micro_batches", &PipelineParameters::micro_batches, "of a replica in an iteration",
                  {1, 65'536})
        .optional("virtual_stages", &PipelineParameters::virtual_stages,
                  "parts of the model on every stage, of schedule interleaved", {1, 1024})
        .optional("tensor_parallel", &PipelineParameters::tensor_parallel,
                  "ranks that share every layer of a stage", {1, 65'536})
        .list("split", &PipelineParameters::split,
              "layers of every part, in the order of the model; empty: parts that take about as long", false,
              {1, 100'000})
        .optional("recompute", &PipelineParameters::recompute,
                  "keep the input of a part only, and repeat its forward pass for the backward pass")
        .optional("bucket", &PipelineParameters::bucket,
                  "gradients are all-reduced in buckets of at least so many bytes; unset: a part at once",
                  {Bytes(1), {}})
        .optional("precision", &PipelineParameters::precision, "of matrix products")
        .optional("iterations", &PipelineParameters::iterations, "training iterations to simulate",
                  {1, 100'000});
    return schema;
}

ValidationErrors pipeline_errors(const PipelineParameters& parameters, const Device& device,
                                 std::size_t ranks) {
    ValidationErrors errors = validation_errors(parameters.model, parameters, ranks);
    if (errors.empty() && validation_errors(device, parameters.model, parameters).empty()) {
        errors = size_errors(parameters.model, parameters, device, ranks);
    }
    return errors;
}

/// "4, 3, 2, 1", or of many "1 to 16".
template <class Value, class Text>
std::string listed(const std::vector<Value>& values, const Text& text) {
    constexpr std::size_t kMostListed = 16;
    if (values.size() > kMostListed) {
        const auto [least, most] = std::ranges::minmax_element(values);
        return fmt::format("{} to {}", text(*least), text(*most));
    }
    std::string all;
    for (const Value& value : values) {
        all += (all.empty() ? "" : ", ") + text(value);
    }
    return all;
}

Facts pipeline_facts(const PipelineParameters& parameters, const Device& device, std::size_t ranks) {
    const PipelinePlan plan(parameters.model, parameters, device, ranks);
    const PipelineSize& size = plan.size();
    std::vector<std::int64_t> layers(size.stages);
    std::vector<std::int64_t> parameters_of(size.stages);
    std::vector<Time> compute;
    std::vector<std::size_t> in_flight;
    Bytes most_kept;
    Bytes sent;
    Bytes gradients;
    for (std::size_t part = 0; part < size.parts(); ++part) {
        const std::size_t stage = size.stage_of(part);
        layers[stage] += static_cast<std::int64_t>(plan.parts()[part].end - plan.parts()[part].first);
        parameters_of[stage] += plan.parameters(part);
        if (part + 1 < size.parts()) {
            sent += 2 * plan.message(part) * size.micro_batches * plan.replicas() * plan.tensor();
        }
    }
    Time busy;
    for (std::size_t stage = 0; stage < size.stages; ++stage) {
        compute.push_back(plan.compute(stage));
        busy += compute.back();
        in_flight.push_back(most_in_flight(steps_of_stage(size, stage)));
        most_kept = std::max(most_kept, plan.most_kept(stage));
        Bytes of_stage;
        for (std::size_t part = stage; part < size.parts(); part += size.stages) {
            of_stage += plan.gradients(part);
        }
        gradients = std::max(gradients, of_stage);
    }
    const auto number = [](auto value) { return std::to_string(value); };
    const auto time = [](Time value) { return readable(value); };
    const Time whole = plan.free_network_time();
    const double idle = whole == Time(0)
                            ? 0
                            : 1 - static_cast<double>(busy.count()) / static_cast<double>(size.stages) /
                                      static_cast<double>(whole.count());
    return {{"layout", fmt::format("{} stages of {} replicas of {} ranks", size.stages, plan.replicas(),
                                   plan.tensor())},
            {"layers of stages", listed(layers, number)},
            {"parameters of stages", listed(parameters_of, number)},
            {"compute of stages per iteration", listed(compute, time)},
            {"iteration on a free network",
             fmt::format("{}, of which stages are idle for a share of {:.4f}", readable(whole), idle)},
            {"micro-batches in flight", listed(in_flight, number)},
            {"activations of a rank", fmt::format("at most {} bytes", most_kept.count())},
            {"between stages per iteration", fmt::format("{} bytes", sent.count())},
            {"gradients of a rank per iteration",
             fmt::format("at most {} bytes, over {} replicas", gradients.count(), plan.replicas())}};
}

}  // namespace

void register_pipeline(Registry<Job>& registry) {
    registry.add<PipelineParameters>(pipeline_schema(), [](const PipelineParameters& parameters) {
        Job job;
        job.iterations = parameters.iterations;
        job.validation_errors = [parameters](const Device& device, std::size_t ranks) {
            return pipeline_errors(parameters, device, ranks);
        };
        job.device_errors = [parameters](const Device& device) {
            return validation_errors(device, parameters.model, parameters);
        };
        job.program = [parameters](const Device& device, std::size_t ranks) {
            return pipeline_program(PipelinePlan(parameters.model, parameters, device, ranks),
                                    parameters.iterations);
        };
        job.facts = [parameters](const Device& device, std::size_t ranks) {
            return pipeline_facts(parameters, device, ranks);
        };
        return job;
    });
}

}  // namespace astrolabe::workload
