#include "../register.hpp"
#include "flexflow_dlrm.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/config/section_list.hpp>

namespace astrolabe {

template <>
struct EnumNames<workload::FlexflowPlacement> {
    static constexpr std::array<std::pair<std::string_view, workload::FlexflowPlacement>, 3> kNames{
        {{"round_robin", workload::FlexflowPlacement::kRoundRobin},
         {"balanced", workload::FlexflowPlacement::kBalanced},
         {"explicit", workload::FlexflowPlacement::kExplicit}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

/// The keys of FlexFlow's DLRM: how it is trained, beside the model.
struct FlexflowParameters : FlexflowTraining {
    FlexflowModel model;
};

Schema<FlexflowModel> model_schema() {
    Schema<FlexflowModel> schema("model", "a DLRM in the numbers of FlexFlow's options");
    schema.required("tables", &FlexflowModel::tables, "number of embedding tables, all alike", {1, {}})
        .required("rows", &FlexflowModel::rows, "rows of each table", {1, {}})
        .required("dimension", &FlexflowModel::dimension, "values in a row", {1, {}})
        .required("bag_size", &FlexflowModel::bag_size,
                  "rows a sample looks up in a table; its cost is in the table's times", {1, {}})
        .list("bottom_mlp", &FlexflowModel::bottom_mlp,
              "sizes of the bottom MLP, dense features first: m sizes make m-1 layers", true, {1, {}})
        .list("top_mlp", &FlexflowModel::top_mlp,
              "sizes of the top MLP: m sizes make m-1 layers; the first is ignored, the concatenation is the "
              "input",
              true, {1, {}})
        .check([](const FlexflowModel& model) { return validation_errors(model); });
    return schema;
}

Schema<TablePassTimes> embedding_schema() {
    Schema<TablePassTimes> schema("embedding", "measured times of one table");
    schema.required("forward", &TablePassTimes::forward, "lookup of all samples", {Time(0), {}})
        .required("backward", &TablePassTimes::backward, "update with the gradients of all samples",
                  {Time(0), {}})
        .required("samples", &TablePassTimes::samples, "for which the times are; others in proportion",
                  {1, {}});
    return schema;
}

Schema<GemmRate> gemm_schema() {
    Schema<GemmRate> schema("gemm", "a measured rate of matrix products");
    schema.required("rows", &GemmRate::rows, "per GPU, from which on the rate holds", {1, {}})
        .required("rate", &GemmRate::rate, "what the product reaches", {FlopRate(1), {}});
    return schema;
}

Schema<NodeTables> node_tables_schema() {
    Schema<NodeTables> schema("tables_per_node", "consecutive nodes with as many tables each");
    schema.required("nodes", &NodeTables::nodes, "how many, counted on from those before", {1, {}})
        .required("tables", &NodeTables::tables, "of each of them", {0, {}});
    return schema;
}

Schema<FlexflowParameters> flexflow_schema() {
    Schema<FlexflowParameters> schema(
        "flexflow_dlrm",
        "one DLRM iteration as FlexFlow's simulators replay it, task by task (EuroMLSys 2024)");
    schema
        .section("model", &FlexflowParameters::model, model_schema(),
                 "the model, or the path of a file that holds it", true)
        .required("batch", &FlexflowParameters::batch, "samples of an iteration over all nodes", {1, {}})
        .optional("placement", &FlexflowParameters::placement,
                  "round_robin: table t on node t mod N; balanced: T/N of the tables on every node, parts of "
                  "tables where N does not divide T; explicit: as in tables_per_node");
    add_section_list(schema, "tables_per_node", &FlexflowParameters::tables_per_node, node_tables_schema(),
                     "of placement explicit: tables of each node, all nodes from 0 on");
    schema
        .optional("gpus_per_node", &FlexflowParameters::gpus_per_node,
                  "GPUs that share the dense layers of a node, which is a rank", {1, {}})
        .optional("element_size", &FlexflowParameters::element_size,
                  "of what tables exchange; the study counts 8 bytes", {Bytes(1), Bytes(16)})
        .optional("gradient_element_size", &FlexflowParameters::gradient_element_size,
                  "of dense parameters, their gradients, and activations that are copied",
                  {Bytes(1), Bytes(16)})
        .optional("separate_bias", &FlexflowParameters::separate_bias,
                  "all-reduce the bias of a layer by itself, not with its kernel")
        .section("embedding", &FlexflowParameters::embedding, embedding_schema(),
                 "time of one table on one node", true)
        .list("gemm", &FlexflowParameters::gemm, gemm_schema(),
              "rates of dense layers by rows per GPU; none: the device's peak",
              "[{rows: 512, rate: 9.4TFLOPS}, …]")
        .optional("scale_down", &FlexflowParameters::scale_down,
                  "divides every transfer and every time: a shorter run of nearly the same shape",
                  {1, 1'000'000})
        .optional("iterations", &FlexflowParameters::iterations, "training iterations to simulate",
                  {1, 100'000});
    return schema;
}

ValidationErrors job_errors(const FlexflowParameters& parameters, const Device& device, std::size_t ranks) {
    const FlexflowTraining& training = parameters;
    ValidationErrors found = validation_errors(parameters.model, training, ranks);
    if (found.empty() && validation_errors(device, training).empty()) {
        found = validation_errors(parameters.model, training, device, ranks);
    }
    return found;
}

Facts flexflow_facts(const FlexflowParameters& parameters, const Device& device, std::size_t ranks) {
    const FlexflowModel& model = parameters.model;
    const FlexflowCounts counts = count(model, parameters, ranks);
    const FlexflowCompute compute = compute_times(model, parameters, device, ranks);
    const auto nodes = static_cast<std::int64_t>(ranks);
    const std::int64_t per_node = parameters.batch / nodes;
    const std::int64_t whole_slices = 2 * model.tables * (nodes - 1);
    return {
        {"batch", fmt::format("{} samples, {} per node, {} per GPU", parameters.batch, per_node,
                              per_node / parameters.gpus_per_node)},
        {"parameters",
         fmt::format("{} dense, {} in embeddings", dense_parameters(model), embedding_parameters(model))},
        {"compute per iteration",
         fmt::format("tables {}, MLP {}, concatenation {} (node with the most tables)",
                     readable(compute.embedding), readable(compute.mlp), readable(compute.concatenation))},
        {"tasks per iteration", fmt::format("{}", counts.tasks)},
        {"slices per iteration", fmt::format("{} of {}{} bytes, {} bytes in all", counts.slices,
                                             counts.slices == whole_slices ? "" : "at most ",
                                             counts.slice.count(), counts.slice_traffic.count())},
        {"all-reduces per iteration",
         fmt::format("{} bytes, {:.4f} of the traffic", counts.all_reduce.count(), counts.all_reduce_share)}};
}

}  // namespace

void register_flexflow_dlrm(Registry<Job>& registry) {
    registry.add<FlexflowParameters>(flexflow_schema(), [](const FlexflowParameters& parameters) {
        Job job;
        job.iterations = parameters.iterations;
        job.validation_errors = [parameters](const Device& device, std::size_t ranks) {
            return job_errors(parameters, device, ranks);
        };
        job.device_errors = [parameters](const Device& device) {
            return validation_errors(device, parameters);
        };
        job.program = [parameters](const Device& device, std::size_t ranks) {
            return build_flexflow_program(parameters.model, parameters, device, ranks);
        };
        job.tables = [parameters](const Device&, std::size_t ranks) -> MovableTables {
            if (parameters.placement == FlexflowPlacement::kBalanced) {
                return {};
            }
            return CountedTables{tables_of_nodes(parameters.model, parameters, ranks)};
        };
        job.facts = [parameters](const Device& device, std::size_t ranks) {
            return flexflow_facts(parameters, device, ranks);
        };
        return job;
    });
}

}  // namespace astrolabe::workload
