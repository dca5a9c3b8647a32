#include "flexflow_cost.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

using Problems = std::vector<ParameterProblem>;
using detail::Int128;

// Bounds of single numbers; products of them are checked in 128 bits.
constexpr std::int64_t kMostTables = std::int64_t{1} << 20;
constexpr std::int64_t kMostRows = std::int64_t{1} << 40;
constexpr std::int64_t kLargestWidth = std::int64_t{1} << 24;
constexpr std::int64_t kMostGpus = std::int64_t{1} << 20;
constexpr std::int64_t kMostScaleDown = 1'000'000;
constexpr std::int64_t kLargestElement = 16;
constexpr std::size_t kMostSizes = 1025;
constexpr std::int64_t kMost = std::int64_t{1} << 60;  // parameters, bytes and FLOP

void require_range(Problems& found, std::string key, std::int64_t value, std::int64_t largest) {
    if (value < 1 || value > largest) {
        std::string message = fmt::format("{} must be from 1 to {}, got {}", key, largest, value);
        found.push_back({.key = std::move(key), .message = std::move(message), .hint = ""});
    }
}

void check_sizes(Problems& found, const std::string& key, const std::vector<std::int64_t>& sizes) {
    if (sizes.size() < 2 || sizes.size() > kMostSizes) {
        found.push_back(
            {.key = key,
             .message = fmt::format("{} has {} sizes, expected 2 to {}", key, sizes.size(), kMostSizes),
             .hint = "m sizes make m-1 layers"});
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
void check_parameters(Problems& found, const FlexflowModel& model) {
    if (static_cast<Int128>(model.tables) * model.rows * model.dimension > kMost) {
        found.push_back(
            {.key = "tables", .message = "the tables hold more than 2^60 parameters", .hint = ""});
    }
    if (count_dense_parameters(model) > kMost) {
        found.push_back(
            {.key = "top_mlp", .message = "the dense layers have more than 2^60 parameters", .hint = ""});
    }
}

/// Bytes and FLOP of an iteration over all nodes must be countable. Precondition: every number by itself is
/// in range.
bool is_countable(const FlexflowModel& model, const FlexflowTraining& training, std::int64_t nodes) {
    const Int128 parameters = count_dense_parameters(model);
    const Int128 all_reduce = 2 * parameters * nodes * training.gradient_element_size.count();
    const std::int64_t element = std::max(training.element_size, training.gradient_element_size).count();
    const Int128 per_sample = 6 * parameters + 4 * static_cast<Int128>(concatenation_width(model)) * element;
    return all_reduce <= kMost && training.batch <= kMost / per_sample;
}

void check_batch(Problems& found, const FlexflowModel& model, const FlexflowTraining& training,
                 std::int64_t nodes) {
    const std::int64_t batch = training.batch;
    const std::int64_t gpus = training.gpus_per_node * nodes;
    if (batch < 1) {
        found.push_back({.key = "batch",
                         .message = fmt::format("the batch must have at least one sample, got {}", batch),
                         .hint = ""});
    } else if (!is_countable(model, training, nodes)) {
        found.push_back(
            {.key = "batch",
             .message = fmt::format("a batch of {} on {} nodes is too large for this model", batch, nodes),
             .hint = "the work and the traffic of an iteration must stay below 2^60"});
    } else if (batch % gpus != 0) {
        const std::int64_t below = batch / gpus * gpus;
        const std::string or_below = below > 0 ? fmt::format("{} or ", below) : "";
        found.push_back(
            {.key = "batch",
             .message = fmt::format("a batch of {} cannot be shared evenly by {} nodes of {} GPUs", batch,
                                    nodes, training.gpus_per_node),
             .hint = fmt::format("use a batch of {}{}", or_below, below + gpus)});
    }
}

void check_times(Problems& found, const TablePassTimes& embedding) {
    for (const auto& [key, time] : {std::pair("embedding.forward", embedding.forward),
                                    std::pair("embedding.backward", embedding.backward)}) {
        if (time < Time(0)) {
            found.push_back({.key = key,
                             .message = fmt::format("a time cannot be negative, got {}", to_string(time)),
                             .hint = ""});
        }
    }
    require_range(found, "embedding.samples", embedding.samples, kMost);
}

void check_gemm(Problems& found, const std::vector<GemmRate>& gemm) {
    for (std::size_t i = 0; i < gemm.size(); ++i) {
        const std::string key = fmt::format("gemm.{}", i);
        require_range(found, key + ".rows", gemm[i].rows, kMost);
        if (i > 0 && gemm[i].rows <= gemm[i - 1].rows) {
            found.push_back({.key = key + ".rows",
                             .message = fmt::format("rows must grow from entry to entry, got {} after {}",
                                                    gemm[i].rows, gemm[i - 1].rows),
                             .hint = "order the entries by rows, one for each number of rows"});
        }
        if (gemm[i].rate <= FlopRate(0)) {
            found.push_back({.key = key + ".rate", .message = "a rate must be positive", .hint = ""});
        }
    }
}

/// All nodes and all tables, no more and no less.
void check_placement(Problems& found, const FlexflowModel& model, const FlexflowTraining& training,
                     std::int64_t nodes) {
    const std::string key = "tables_per_node";
    if (training.placement != FlexflowPlacement::kExplicit) {
        if (!training.tables_per_node.empty()) {
            found.push_back({.key = key,
                             .message = "tables_per_node is of placement explicit",
                             .hint = "write placement: explicit, or leave it out"});
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
            found.push_back(
                {.key = fmt::format("{}.{}.tables", key, i),
                 .message = fmt::format("a node has 0 to {} tables, got {}", model.tables, run.tables),
                 .hint = ""});
        }
        named_nodes += run.nodes;
        placed += found.empty() ? run.nodes * run.tables : 0;
    }
    if (found.empty() && (named_nodes != nodes || placed != model.tables)) {
        found.push_back({.key = training.tables_per_node.empty() ? "placement" : key,
                         .message = fmt::format("tables_per_node puts {} tables on {} nodes, not {} on {}",
                                                placed, named_nodes, model.tables, nodes),
                         .hint = "write [{nodes: 104, tables: 8}, {nodes: 24, tables: 7}], from node 0 on"});
    }
}

}  // namespace

std::vector<ParameterProblem> problems(const FlexflowModel& model) {
    Problems found;
    require_range(found, "tables", model.tables, kMostTables);
    require_range(found, "rows", model.rows, kMostRows);
    require_range(found, "dimension", model.dimension, kLargestWidth);
    require_range(found, "bag_size", model.bag_size, kLargestWidth);
    check_sizes(found, "bottom_mlp", model.bottom_mlp);
    check_sizes(found, "top_mlp", model.top_mlp);
    if (found.empty()) {
        check_parameters(found, model);
    }
    return found;
}

std::vector<ParameterProblem> problems(const FlexflowModel& model, const FlexflowTraining& training,
                                       std::size_t nodes) {
    ASTROLABE_ASSERT(nodes >= 1, "somebody trains");
    Problems found;
    require_range(found, "gpus_per_node", training.gpus_per_node, kMostGpus);
    require_range(found, "element_size", training.element_size.count(), kLargestElement);
    require_range(found, "gradient_element_size", training.gradient_element_size.count(), kLargestElement);
    require_range(found, "scale_down", training.scale_down, kMostScaleDown);
    require_range(found, "iterations", training.iterations, std::numeric_limits<int>::max());
    check_times(found, training.embedding);
    check_gemm(found, training.gemm);
    check_placement(found, model, training, static_cast<std::int64_t>(nodes));
    if (found.empty()) {
        check_batch(found, model, training, static_cast<std::int64_t>(nodes));
    }
    return found;
}

std::vector<ParameterProblem> problems(const Device& device, const FlexflowTraining& training) {
    Problems found;
    if (device.peak && *device.peak <= FlopRate(0)) {
        found.push_back({.key = "peak", .message = "peak must be positive", .hint = ""});
    } else if (!device.peak && training.gemm.empty()) {
        found.push_back({.key = "peak",
                         .message = "peak is missing and the workload has no 'gemm' rates",
                         .hint = "give peak, or rates by rows as the workload's 'gemm'"});
    }
    if (!device.memory_bandwidth || *device.memory_bandwidth <= Bandwidth(0)) {
        found.push_back({.key = "memory_bandwidth",
                         .message = fmt::format("memory_bandwidth {}, and the concatenation needs it",
                                                device.memory_bandwidth ? "must be positive" : "is missing"),
                         .hint = "give the bandwidth of the device's memory"});
    }
    if (!device.measured.empty()) {
        found.push_back({.key = "layers",
                         .message = "flexflow_dlrm does not use times by layer",
                         .hint = "take a device of kind roofline; the workload has 'embedding' and 'gemm'"});
    }
    return found;
}

std::vector<ParameterProblem> problems(const FlexflowModel& model, const FlexflowTraining& training,
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
