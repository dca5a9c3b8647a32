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

template <>
struct EnumNames<workload::AllReduceStart> {
    static constexpr std::array<std::pair<std::string_view, workload::AllReduceStart>, 2> kNames{
        {{"own_gradient", workload::AllReduceStart::kOwnGradient},
         {"all_gradients", workload::AllReduceStart::kAllGradients}}};
};

template <>
struct EnumNames<workload::TaskOrder> {
    static constexpr std::array<std::pair<std::string_view, workload::TaskOrder>, 2> kNames{
        {{"fixed", workload::TaskOrder::kFixed}, {"first_come", workload::TaskOrder::kFirstCome}}};
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

Schema<FlexflowReplay> replay_schema() {
    Schema<FlexflowReplay> schema("replay", "what the study's simulators do otherwise");
    schema
        .optional("all_reduce_start", &FlexflowReplay::all_reduce_start,
                  "when an all-reduce starts on a node: when it has its own gradient, or when all nodes have "
                  "theirs")
        .optional(
            "task_order", &FlexflowReplay::task_order,
            "in which a node computes: always the same, or of its ready tasks the first to become ready")
        .optional("early_stop", &FlexflowReplay::early_stop,
                  "send the bytes of the replay's ring: shards rounded down, and small tensors once around")
        .optional("packet", &FlexflowReplay::packet,
                  "of the ring's rule: tensors of at most 2(N-1) of them go around once",
                  {Bytes(1), Bytes(1 << 20)})
        .optional("least_flow", &FlexflowReplay::least_flow, "bytes that a node sends in a round at least",
                  {Bytes(0), Bytes(1 << 20)});
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
                  "of what tables exchange; the study counts 8B, the size of its indices",
                  {Bytes(1), Bytes(16)})
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
                  {1, 100'000})
        .section("replay", &FlexflowParameters::replay, replay_schema(),
                 "what is as in the study's replay, and how it counts all-reduces; unset: nothing is");
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

std::string difference(const FlexflowReplay& replay, const ReplayTraffic& traffic) {
    if (replay.early_stop) {
        return "early_stop: the run sends what the replay counts";
    }
    std::string least = replay.least_flow > Bytes(0)
                            ? fmt::format(", flows are of at least {} bytes", replay.least_flow.count())
                            : "";
    return fmt::format(
        "the replay's ring rounds shards down to whole bytes{}, and {} of {} tensors, those of at most "
        "2(N-1) "
        "packets of {} bytes, go around once instead of 2(N-1) times; the run sends whole all-reduces",
        least, traffic.sent_once_around, traffic.tensors, replay.packet.count());
}

SourceCounts flexflow_source_counts(const FlexflowParameters& parameters, std::size_t ranks) {
    const FlexflowReplay replay = parameters.replay.value_or(FlexflowReplay{});
    const FlexflowCounts sent = count(parameters.model, parameters, ranks);
    const ReplayTraffic counted = replay_traffic(parameters.model, parameters, ranks);
    const std::string why = difference(replay, counted);
    return {
        .key = "replay",
        .json = {{"all_reduce_bytes", counted.all_reduce.count()},
                 {"slice_bytes", sent.slice_traffic.count()},
                 {"all_reduce_share", counted.all_reduce_share},
                 {"packet_bytes", replay.packet.count()},
                 {"least_flow_bytes", replay.least_flow.count()},
                 {"tensors", counted.tensors},
                 {"tensors_sent_once_around", counted.sent_once_around},
                 {"sent",
                  {{"all_reduce_bytes", sent.all_reduce.count()},
                   {"slice_bytes", sent.slice_traffic.count()},
                   {"all_reduce_share", sent.all_reduce_share}}},
                 {"difference", why}},
        .text = fmt::format("{} bytes of all-reduces an iteration, {} of the traffic, where a run sends {}, "
                            "{}: {}",
                            counted.all_reduce.count(), counted.all_reduce_share, sent.all_reduce.count(),
                            sent.all_reduce_share, why)};
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
        job.source_counts = [parameters](const Device&, std::size_t ranks) {
            return flexflow_source_counts(parameters, ranks);
        };
        return job;
    });
}

}  // namespace astrolabe::workload
