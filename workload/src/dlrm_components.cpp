#include <fmt/format.h>

#include <astrolabe/workload/dlrm_model.hpp>
#include <astrolabe/workload/dlrm_training.hpp>

#include "components.hpp"

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

}  // namespace

void register_dlrm(Registry<Job>& registry) {
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
}

}  // namespace astrolabe::workload
