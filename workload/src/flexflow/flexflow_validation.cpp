#include "flexflow_cost.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

using detail::Int128;

// Bounds of single numbers; products of them are checked in 128 bits.
constexpr std::int64_t kMaxTables = std::int64_t{1} << 20;
constexpr std::int64_t kMaxRows = std::int64_t{1} << 40;
constexpr std::int64_t kLargestWidth = std::int64_t{1} << 24;
constexpr std::int64_t kMaxGpus = std::int64_t{1} << 20;
constexpr std::int64_t kMaxScaleDown = 1'000'000;
constexpr std::int64_t kLargestElement = 16;
constexpr std::int64_t kLargestPacket = std::int64_t{1} << 20;
constexpr std::size_t kMaxSizes = 1025;
constexpr std::int64_t kMax = std::int64_t{1} << 60;  // parameters, bytes and FLOP

void require_range(ValidationErrors& found, std::string key, std::int64_t value, std::int64_t largest) {
    if (value < 1 || value > largest) {
        std::string message = fmt::format("{} must be from 1 to {}, got {}", key, largest, value);
        add_error(found, std::move(key), std::move(message));
    }
}

void check_sizes(ValidationErrors& found, const std::string& key, const std::vector<std::int64_t>& sizes) {
    if (sizes.size() < 2 || sizes.size() > kMaxSizes) {
        add_error(found, key, fmt::format("{} has {} sizes, expected 2 to {}", key, sizes.size(), kMaxSizes),
                  "m sizes make m-1 layers");
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        require_range(found, fmt::format("{}.{}", key, i), sizes[i], kLargestWidth);
    }
}

Int128 count_dense_parameters(const FlexflowModel& model) {
    Int128 sum = 0;
    for (const MlpLayer& layer : dense_layers(model)) {
        sum += (static_cast<Int128>(layer.input_width) + 1) * layer.output_width;
    }
    return sum;
}

/// Precondition: every number by itself is in range.
void check_parameters(ValidationErrors& found, const FlexflowModel& model) {
    if (static_cast<Int128>(model.tables) * model.rows * model.dimension > kMax) {
        add_error(found, "tables", "the tables hold more than 2^60 parameters");
    }
    if (count_dense_parameters(model) > kMax) {
        add_error(found, "top_mlp", "the dense layers have more than 2^60 parameters");
    }
}

/// Bytes and FLOP of an iteration over all nodes must be countable. Precondition: every number by itself is
/// in range.
bool is_countable(const FlexflowModel& model, const FlexflowTraining& training, std::int64_t nodes) {
    const Int128 parameters = count_dense_parameters(model);
    const Int128 all_reduce = 2 * parameters * nodes * training.gradient_element_size.count();
    const std::int64_t element = std::max(training.element_size, training.gradient_element_size).count();
    const Int128 per_sample = 6 * parameters + 4 * static_cast<Int128>(concatenation_width(model)) * element;
    return all_reduce <= kMax && training.batch <= kMax / per_sample;
}

void check_batch(ValidationErrors& found, const FlexflowModel& model, const FlexflowTraining& training,
                 std::int64_t nodes) {
    const std::int64_t batch = training.batch;
    const std::int64_t gpus = training.gpus_per_node * nodes;
    if (batch < 1) {
        add_error(found, "batch", fmt::format("the batch must have at least one sample, got {}", batch));
    } else if (!is_countable(model, training, nodes)) {
        add_error(found, "batch",
                  fmt::format("a batch of {} on {} nodes is too large for this model", batch, nodes),
                  "the work and the traffic of an iteration must stay below 2^60");
    } else if (batch % gpus != 0) {
        const std::int64_t below = batch / gpus * gpus;
        const std::string or_below = below > 0 ? fmt::format("{} or ", below) : "";
        add_error(found, "batch",
                  fmt::format("a batch of {} cannot be shared evenly by {} nodes of {} GPUs", batch, nodes,
                              training.gpus_per_node),
                  fmt::format("use a batch of {}{}", or_below, below + gpus));
    }
}

void check_times(ValidationErrors& found, const TablePassTimes& embedding) {
    for (const auto& [key, time] : {std::pair("embedding.forward", embedding.forward),
                                    std::pair("embedding.backward", embedding.backward)}) {
        if (time < Time(0)) {
            add_error(found, key, fmt::format("a time cannot be negative, got {}", to_string(time)));
        }
    }
    require_range(found, "embedding.samples", embedding.samples, kMax);
}

void check_replay(ValidationErrors& found, const FlexflowReplay& replay) {
    require_range(found, "replay.packet", replay.packet.count(), kLargestPacket);
    if (replay.least_flow < Bytes(0) || replay.least_flow > replay.packet) {
        add_error(found, "replay.least_flow",
                  fmt::format("least_flow must be from 0 to the packet's {} bytes, got {}",
                              replay.packet.count(), replay.least_flow.count()),
                  "the study's are packet: 9000B with least_flow: 8936B, and on circuits 1500B with 0B");
    }
}

void check_gemm(ValidationErrors& found, const std::vector<GemmRate>& gemm) {
    for (std::size_t i = 0; i < gemm.size(); ++i) {
        const std::string key = fmt::format("gemm.{}", i);
        require_range(found, key + ".rows", gemm[i].rows, kMax);
        if (i > 0 && gemm[i].rows <= gemm[i - 1].rows) {
            add_error(found, key + ".rows",
                      fmt::format("rows must grow from entry to entry, got {} after {}", gemm[i].rows,
                                  gemm[i - 1].rows),
                      "order the entries by rows, one for each number of rows");
        }
        if (gemm[i].rate <= FlopRate(0)) {
            add_error(found, key + ".rate", "a rate must be positive");
        }
    }
}

/// All nodes and all tables, no more and no less.
void check_placement(ValidationErrors& found, const FlexflowModel& model, const FlexflowTraining& training,
                     std::int64_t nodes) {
    const std::string key = "tables_per_node";
    if (training.placement != FlexflowPlacement::kExplicit) {
        if (!training.tables_per_node.empty()) {
            add_error(found, key, "tables_per_node is of placement explicit",
                      "write placement: explicit, or leave it out");
        }
        return;
    }
    // A file holds at most a million numbers, and neither factor exceeds 2^20.
    std::int64_t named_nodes = 0;
    std::int64_t placed = 0;
    for (std::size_t i = 0; i < training.tables_per_node.size(); ++i) {
        const NodeTables& run = training.tables_per_node[i];
        require_range(found, fmt::format("{}.{}.nodes", key, i), run.nodes, nodes);
        if (run.tables < 0 || run.tables > model.tables) {
            add_error(found, fmt::format("{}.{}.tables", key, i),
                      fmt::format("a node has 0 to {} tables, got {}", model.tables, run.tables));
        }
        named_nodes += run.nodes;
        placed += found.empty() ? run.nodes * run.tables : 0;
    }
    if (found.empty() && (named_nodes != nodes || placed != model.tables)) {
        add_error(found, training.tables_per_node.empty() ? "placement" : key,
                  fmt::format("tables_per_node puts {} tables on {} nodes, not {} on {}", placed, named_nodes,
                              model.tables, nodes),
                  "write [{nodes: 104, tables: 8}, {nodes: 24, tables: 7}], from node 0 on");
    }
}

}  // namespace

ValidationErrors validation_errors(const FlexflowModel& model) {
    ValidationErrors found;
    require_range(found, "tables", model.tables, kMaxTables);
    require_range(found, "rows", model.rows, kMaxRows);
    require_range(found, "dimension", model.dimension, kLargestWidth);
    require_range(found, "bag_size", model.bag_size, kLargestWidth);
    check_sizes(found, "bottom_mlp", model.bottom_mlp);
    check_sizes(found, "top_mlp", model.top_mlp);
    if (found.empty()) {
        check_parameters(found, model);
    }
    return found;
}

ValidationErrors validation_errors(const FlexflowModel& model, const FlexflowTraining& training,
                                   std::size_t nodes) {
    ASTROLABE_ASSERT(nodes >= 1, "there are nodes");
    ValidationErrors found;
    require_range(found, "gpus_per_node", training.gpus_per_node, kMaxGpus);
    require_range(found, "element_size", training.element_size.count(), kLargestElement);
    require_range(found, "gradient_element_size", training.gradient_element_size.count(), kLargestElement);
    require_range(found, "scale_down", training.scale_down, kMaxScaleDown);
    require_range(found, "iterations", training.iterations, std::numeric_limits<int>::max());
    check_times(found, training.embedding);
    check_gemm(found, training.gemm);
    if (training.replay) {
        check_replay(found, *training.replay);
    }
    check_placement(found, model, training, static_cast<std::int64_t>(nodes));
    if (found.empty()) {
        check_batch(found, model, training, static_cast<std::int64_t>(nodes));
    }
    return found;
}

ValidationErrors validation_errors(const Device& device, const FlexflowTraining& training) {
    ValidationErrors found;
    const std::optional<FlopRate> peak = device.peak_of(Precision::kFp32);
    if (peak && *peak <= FlopRate(0)) {
        add_error(found, "peak", "peak must be positive");
    } else if (!peak && training.gemm.empty()) {
        add_error(found, "peak", "peak is missing and the workload has no 'gemm' rates",
                  "give peak, or rates by rows as the workload's 'gemm'");
    }
    if (!device.memory_bandwidth || *device.memory_bandwidth <= Bandwidth(0)) {
        add_error(found, "memory_bandwidth",
                  fmt::format("memory_bandwidth {}, and the concatenation needs it",
                              device.memory_bandwidth ? "must be positive" : "is missing"),
                  "give the bandwidth of the device's memory");
    }
    if (!device.measured.empty()) {
        add_error(found, "layers", "flexflow_dlrm does not use times by layer",
                  "take a device of kind roofline; the workload has 'embedding' and 'gemm'");
    }
    return found;
}

ValidationErrors validation_errors(const FlexflowModel& model, const FlexflowTraining& training,
                                   const Device& device, std::size_t nodes) {
    const FlexflowCost cost(model, training, device, nodes);
    // Every time by itself may have saturated.
    Int128 compute = 2 * static_cast<Int128>(cost.concatenation().count());
    const TableRounds rounds(model, training, nodes);
    const std::int64_t last = rounds.count() - 1;
    for (const Time table : {cost.table_forward(), cost.table_backward()}) {
        compute += static_cast<Int128>(last) * table.count() + rounds[last].part_of(table).count();
    }
    for (const MlpLayer& layer : dense_layers(model)) {
        compute += cost.layer_forward(layer).count();
        compute += cost.layer_backward(layer).count();
    }
    if (compute <= Time::max().count() / 2 / training.iterations) {
        return {};
    }
    return {{.key = "",
             .message = fmt::format("{} iterations compute for more than 53 days", training.iterations),
             .hint = "take fewer iterations or samples, or faster rates"}};
}

}  // namespace astrolabe::workload
