#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <astrolabe/workload/astra_text.hpp>
#include <astrolabe/workload/components.hpp>
#include <astrolabe/workload/dlrm_model.hpp>
#include <astrolabe/workload/dlrm_training.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::Interaction> {
    static constexpr std::array<std::pair<std::string_view, workload::Interaction>, 2> kNames{
        {{"dot", workload::Interaction::kDot}, {"concatenation", workload::Interaction::kConcatenation}}};
};
template <>
struct EnumNames<workload::Parallelism> {
    static constexpr std::array<std::pair<std::string_view, workload::Parallelism>, 3> kNames{
        {{"data", workload::Parallelism::kData},
         {"model", workload::Parallelism::kModel},
         {"hybrid", workload::Parallelism::kHybrid}}};
};
template <>
struct EnumNames<workload::MlpTime> {
    static constexpr std::array<std::pair<std::string_view, workload::MlpTime>, 2> kNames{
        {{"flops", workload::MlpTime::kFlops}, {"roofline", workload::MlpTime::kRoofline}}};
};
template <>
struct EnumNames<workload::EmbeddingUpdate> {
    static constexpr std::array<std::pair<std::string_view, workload::EmbeddingUpdate>, 3> kNames{
        {{"after_gradients", workload::EmbeddingUpdate::kAfterGradients},
         {"before_gradients", workload::EmbeddingUpdate::kBeforeGradients},
         {"stale", workload::EmbeddingUpdate::kStale}}};
};
template <>
struct EnumNames<workload::EmbeddingGradients> {
    static constexpr std::array<std::pair<std::string_view, workload::EmbeddingGradients>, 2> kNames{
        {{"sparse", workload::EmbeddingGradients::kSparse}, {"dense", workload::EmbeddingGradients::kDense}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

/// The keys of a DLRM workload: training options beside the model.
struct DlrmParameters : DlrmTraining {
    DlrmModel model;
};

Schema<EmbeddingTables> tables_schema() {
    Schema<EmbeddingTables> schema("tables", "a group of equal embedding tables");
    schema.required("count", &EmbeddingTables::count, "number of tables", {1, {}})
        .required("rows", &EmbeddingTables::rows, "rows of each table", {1, {}})
        .required("dimension", &EmbeddingTables::dimension, "values in a row", {1, {}})
        .required("pooling", &EmbeddingTables::pooling, "rows a sample looks up and sums", {1, {}});
    return schema;
}

Schema<DlrmModel> model_schema() {
    Schema<DlrmModel> schema("model", "a deep learning recommendation model");
    schema.required("dense_features", &DlrmModel::dense_features, "dense inputs of a sample", {1, {}})
        .list("bottom_mlp", &DlrmModel::bottom_mlp, "output widths of the bottom MLP, first layer first",
              true, {1, {}})
        .list("top_mlp", &DlrmModel::top_mlp, "output widths of the top MLP, first layer first", true,
              {1, {}})
        .field(
            {"tables",
             "mapping, or list of mappings",
             "",
             true,
             {},
             "embedding tables, or groups of them",
             tables_schema().parameters()},
            [](DlrmModel& model, const ConfigNode& node, ReadContext& context) {
                const Schema<EmbeddingTables> group = tables_schema();
                const std::vector<ConfigNode> groups =
                    node.is_sequence() ? node.items : std::vector<ConfigNode>{node};
                for (const ConfigNode& item : groups) {
                    if (std::optional<EmbeddingTables> tables = group.read(item, context)) {
                        model.tables.push_back(*tables);
                    }
                }
            },
            [](const DlrmModel& model) -> std::optional<ConfigNode> {
                std::vector<ConfigNode> groups;
                for (const EmbeddingTables& tables : model.tables) {
                    groups.push_back(tables_schema().write(tables));
                }
                return groups.size() == 1 ? groups.front() : ConfigNode::sequence(std::move(groups));
            })
        .optional("interaction", &DlrmModel::interaction, "how embeddings and dense features are joined")
        .optional("element_size", &DlrmModel::element_size, "of weights, activations and embeddings",
                  {Bytes(1), Bytes(16)})
        .optional("gradient_element_size", &DlrmModel::gradient_element_size,
                  "of the MLP gradients that are all-reduced; unset: element_size", {Bytes(1), Bytes(16)})
        .check([](const DlrmModel& model) { return problems(model); });
    return schema;
}

Schema<DlrmTraining> batch_schema() {
    Schema<DlrmTraining> schema("batch", "samples of an iteration: one of the two");
    schema
        .optional("global", &DlrmTraining::global_batch, "over all ranks, a multiple of their number",
                  {1, {}})
        .optional("local", &DlrmTraining::local_batch, "of each rank", {1, {}});
    return schema;
}

std::string embedding_time_text(const DlrmTraining& training) {
    switch (training.embedding_time) {
        case EmbeddingTime::kBandwidth:
            return "bandwidth";
        case EmbeddingTime::kFlops:
            return "flops";
        case EmbeddingTime::kFixed:
            return to_string(training.fixed_embedding_time);
    }
    invariant_failed("embedding time rule", "every rule has a text");
}

void read_embedding_time(DlrmParameters& parameters, const ConfigNode& node, ReadContext& context) {
    if (node.is_scalar() && node.text == "bandwidth") {
        parameters.embedding_time = EmbeddingTime::kBandwidth;
    } else if (node.is_scalar() && node.text == "flops") {
        parameters.embedding_time = EmbeddingTime::kFlops;
    } else if (std::optional<Time> fixed = read_scalar<Time>(
                   node, "'embedding_time' (bandwidth, flops or a time)", context, {Time(0), {}})) {
        parameters.embedding_time = EmbeddingTime::kFixed;
        parameters.fixed_embedding_time = *fixed;
    }
}

Schema<DlrmParameters> dlrm_schema() {
    Schema<DlrmParameters> schema("dlrm", "training of a deep learning recommendation model");
    schema
        .section("model", &DlrmParameters::model, model_schema(),
                 "the model, or the path of a file that holds it", true)
        .optional("parallelism", &DlrmParameters::parallelism,
                  "hybrid: embedding tables spread over the ranks, MLPs on every rank")
        .field(
            {"batch", "mapping", "", true, {}, "samples of an iteration", batch_schema().parameters()},
            [](DlrmParameters& parameters, const ConfigNode& node, ReadContext& context) {
                if (const std::optional<DlrmTraining> batch = batch_schema().read(node, context)) {
                    parameters.global_batch = batch->global_batch;
                    parameters.local_batch = batch->local_batch;
                    if (batch->global_batch.has_value() == batch->local_batch.has_value()) {
                        context.error("config.batch", node.where,
                                      "'batch' takes exactly one of 'global' and 'local'",
                                      "write {global: 65536} or {local: 512}");
                    }
                }
            },
            [](const DlrmParameters& parameters) { return std::optional(batch_schema().write(parameters)); })
        .optional("iterations", &DlrmParameters::iterations, "training iterations to simulate", {1, 100'000})
        .optional("mlp_time", &DlrmParameters::mlp_time,
                  "time of an MLP layer: FLOP only, or roofline with its memory traffic")
        .field({"embedding_time",
                "bandwidth, flops or a time",
                embedding_time_text({}),
                false,
                {},
                "time of the embedding lookup: by memory bandwidth, by FLOP, or fixed",
                {}},
               read_embedding_time,
               [](const DlrmParameters& parameters) {
                   return std::optional(ConfigNode::scalar(embedding_time_text(parameters)));
               })
        .optional("interaction_time", &DlrmParameters::interaction_time,
                  "count the interaction's compute time")
        .optional(
            "dense_feature_gradient", &DlrmParameters::dense_feature_gradient,
            "compute the gradient of the dense features, as the reference loop does although nobody needs it")
        .optional(
            "embedding_update", &DlrmParameters::embedding_update,
            "when the embedding update runs relative to the all-to-all that brings its gradients (hybrid)")
        .optional("embedding_gradients", &DlrmParameters::embedding_gradients,
                  "how data parallelism exchanges embedding gradients: touched rows only, or whole tables");
    return schema;
}

using Facts = std::vector<std::pair<std::string, std::string>>;

void append_traffic(Facts& facts, const std::array<Bytes, system::kCollectiveKinds>& traffic) {
    for (std::size_t kind = 0; kind < system::kCollectiveKinds; ++kind) {
        if (traffic[kind] > Bytes(0)) {
            facts.emplace_back(fmt::format("{} per rank and iteration",
                                           system::to_string(static_cast<system::CollectiveKind>(kind))),
                               fmt::format("{} bytes", traffic[kind].count()));
        }
    }
}

Facts dlrm_facts(const DlrmParameters& parameters, const Device& device, std::size_t ranks) {
    const DlrmSummary summary = summarise(parameters.model, parameters, device, ranks);
    Facts facts{{"batch", fmt::format("{} samples, {} per rank", summary.global_batch, summary.local_batch)},
                {"parameters", fmt::format("{} dense, {} in embeddings ({})", summary.mlp_parameters,
                                           summary.embedding_parameters, readable(summary.embedding_size))},
                {"compute per iteration",
                 fmt::format("MLP {}, embeddings {}, interaction {}", readable(summary.mlp_compute),
                             readable(summary.embedding_compute), readable(summary.interaction_compute))}};
    append_traffic(facts, summary.traffic);
    return facts;
}

/// The keys of an ASTRA-sim text workload.
struct AstraParameters : AstraOptions {
    std::string trace;  ///< absolute, so that a resolved experiment finds it from anywhere
    AstraText text;
};

void read_trace(AstraParameters& parameters, const ConfigNode& node, ReadContext& context) {
    const std::optional<std::string> given = read_scalar<std::string>(node, "'trace'", context);
    if (!given) {
        return;
    }
    const std::filesystem::path path = (directory_of(node) / *given).lexically_normal();
    std::ifstream file(path, std::ios::binary);
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure) || !file) {
        context.error("config.file", node.where, fmt::format("cannot read the trace '{}'", path.string()),
                      "paths resolve against the file that names them");
        return;
    }
    Result<AstraText> text = read_astra_text(
        {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, path.string());
    if (!text) {
        for (const Diagnostic& diagnostic : text.error()) {
            context.error(diagnostic);
        }
        return;
    }
    parameters.trace = std::filesystem::absolute(path).lexically_normal().string();
    parameters.text = *std::move(text);
}

Schema<AstraParameters> astra_schema() {
    Schema<AstraParameters> schema("astra_text",
                                   "a text workload of ASTRA-sim 1.0; its times replace the device's");
    schema
        .field({"trace", "path", "", true, {}, "the workload's file, relative to the file that names it", {}},
               read_trace,
               [](const AstraParameters& parameters) {
                   return std::optional(ConfigNode::scalar(parameters.trace));
               })
        .list("dimensions", &AstraParameters::dimensions,
              "sizes of the logical dimensions, fastest first; none: one of all ranks", false, {1, {}})
        .optional("passes", &AstraParameters::passes, "iterations to simulate", {1, 100'000})
        .optional("compute_scale", &AstraParameters::compute_scale,
                  "multiplies the compute cycles, 1 ns each", {0.0, 1e9})
        .optional("comm_scale", &AstraParameters::comm_scale, "multiplies the sizes of collectives",
                  {1e-9, 1e9})
        .optional("embedding_update", &AstraParameters::embedding_update,
                  "when the embedding update of HYBRID_DLRM runs; unset: after_gradients, stale for the "
                  "enhanced loop");
    return schema;
}

Facts astra_facts(const AstraParameters& parameters, std::size_t ranks) {
    Time compute;
    std::array<Bytes, system::kCollectiveKinds> traffic{};
    for (const system::Operation& operation :
         build_astra_program(parameters.text, parameters, ranks).operations) {
        if (operation.iteration != 0) {
            continue;
        }
        if (operation.is_compute()) {
            compute += operation.compute().duration[system::RankId(0)];
        } else {
            traffic[static_cast<std::size_t>(operation.collective().kind)] += operation.collective().size;
        }
    }
    Facts facts{{"layers", fmt::format("{}", parameters.text.layers.size())},
                {"compute per iteration", readable(compute)}};
    append_traffic(facts, traffic);
    return facts;
}

Schema<LayerTimes> layer_times_schema() {
    Schema<LayerTimes> schema("layer", "measured times of a layer");
    schema.optional("forward", &LayerTimes::forward, "forward pass", {Time(0), {}})
        .optional("input_gradient", &LayerTimes::input_gradient, "gradient of the layer's input",
                  {Time(0), {}})
        .optional("weight_gradient", &LayerTimes::weight_gradient,
                  "gradient of the weights, or the embedding update", {Time(0), {}});
    return schema;
}

}  // namespace

void register_builtin_workloads(Registry<Job>& registry) {
    registry.add<DlrmParameters>(dlrm_schema(), [](const DlrmParameters& parameters) {
        Job job;
        job.iterations = parameters.iterations;
        job.problems = [parameters](const Device& device, std::size_t ranks) {
            const DlrmTraining& training = parameters;
            std::vector<ParameterProblem> found = problems(training, parameters.model, ranks);
            if (found.empty() && problems(device, training, parameters.model).empty()) {
                found = problems(parameters.model, training, device, ranks);
            }
            return found;
        };
        job.device_problems = [parameters](const Device& device) {
            return problems(device, parameters, parameters.model);
        };
        job.program = [parameters](const Device& device, std::size_t ranks) {
            return build_dlrm_program(parameters.model, parameters, device, ranks);
        };
        job.facts = [parameters](const Device& device, std::size_t ranks) {
            return dlrm_facts(parameters, device, ranks);
        };
        return job;
    });
    registry.add<AstraParameters>(astra_schema(), [](const AstraParameters& parameters) {
        Job job;
        job.iterations = parameters.passes;
        job.problems = [parameters](const Device&, std::size_t ranks) {
            return problems(parameters.text, parameters, ranks);
        };
        job.device_problems = [](const Device&) { return std::vector<ParameterProblem>{}; };
        job.program = [parameters](const Device&, std::size_t ranks) {
            return build_astra_program(parameters.text, parameters, ranks);
        };
        job.facts = [parameters](const Device&, std::size_t ranks) { return astra_facts(parameters, ranks); };
        return job;
    });
}

void register_builtin_devices(Registry<Device>& registry) {
    Schema<Device> roofline("roofline", "time = max(FLOP / peak, bytes / memory_bandwidth)");
    roofline.optional("peak", &Device::peak, "what dense layers reach", {FlopRate(1), {}})
        .optional("memory_bandwidth", &Device::memory_bandwidth, "of the device's memory",
                  {Bandwidth(1), {}});
    registry.add<Device>(roofline, [](const Device& device) { return device; });

    Schema<Device> measured("measured", "measured times by layer; roofline for what was not measured");
    measured.optional("peak", &Device::peak, "for layers that were not measured", {FlopRate(1), {}})
        .optional("memory_bandwidth", &Device::memory_bandwidth, "for layers that were not measured",
                  {Bandwidth(1), {}})
        .field(
            {"layers",
             "mapping of layer names",
             "",
             true,
             {},
             "times by layer name: Embedding, Bottom_0, Top_0, …",
             layer_times_schema().parameters()},
            [](Device& device, const ConfigNode& node, ReadContext& context) {
                if (!node.is_mapping()) {
                    context.error("config.type", node.where,
                                  fmt::format("'layers' takes a mapping, found {}", node.kind_name()),
                                  "write Top_0: {forward: 75us, …}");
                    return;
                }
                for (const ConfigEntry& entry : node.entries) {
                    if (const std::optional<LayerTimes> times =
                            layer_times_schema().read(entry.value, context)) {
                        device.measured[entry.key] = *times;
                    }
                }
            },
            [](const Device& device) -> std::optional<ConfigNode> {
                ConfigNode layers = ConfigNode::mapping();
                for (const auto& [name, times] : device.measured) {
                    layers.set(name, layer_times_schema().write(times));
                }
                return layers;
            });
    registry.add<Device>(measured, [](const Device& device) { return device; });
}

}  // namespace astrolabe::workload
