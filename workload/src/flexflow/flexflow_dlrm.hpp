/// The DLRM iteration that FlexFlow's packet simulators replay: task graph, compute times and byte counts.
///
/// Source: Imes et al., "Evaluating Deep Learning Recommendation Model Training Scalability with the Dynamic
/// Opera Network", EuroMLSys 2024, and the code published with it (docs/theory/opera-dlrm-study.md,
/// "Workloads", "Compute times", "Task graph" and "Traffic"). It differs from `dlrm_loop` in that a table's
/// lookup is not divided, slices leave as each table finishes, a layer's backward pass is one task, and
/// kernel and bias are reduced separately.
///
/// Model. N nodes of G GPUs, each node one device; B samples, b = B/(G·N) rows per GPU. T tables of dimension
/// D, placed on nodes as below. A list of m sizes makes m-1 dense layers with biases; the first number of the
/// *top* list is ignored, its input is the concatenation of W + T·D values, W the last number of the bottom
/// list. Dense layers and the concatenation are data-parallel over all nodes.
///
/// Compute, one task at a time per node:
///     table           given for a number of samples, in proportion to B: its node passes over all B samples,
///                     whatever N is
///     k × n layer     2·b·k·n FLOP forward and 4·b·k·n backward, at a rate that depends on b
///     concatenation   2·b·(W + T·D)·g bytes of memory traffic, forward and backward alike
///
/// Traffic, e: bytes of an exchanged element, g: of a parameter, its gradient and a copied activation:
///     slice = (B/N)·D·e  from each table to each other node, and its gradient back
///     an all-reduce of k·n·g and one of n·g bytes for each layer
/// e is 4, a float, unless a file says otherwise: 8 in the study, which accounts the output of a lookup like
/// its 64-bit indices.
///
/// Placement of tables. Node n has c_n of them and passes over one each round: max c_n rounds, and in round k
/// those with c_n > k pass over a table, the others compute and send nothing.
///     round_robin  table t is on node t mod N: ⌈T/N⌉ rounds, N tables a round and on the first
///                  r = T mod N nodes one in the last where N does not divide T
///     explicit     c_n as given, T in all
///     balanced     every node has T/N of the tables: in the last round each passes over the r/N-th part of
///                  one, in r/N of its time, rounded up to a picosecond. It holds r slices for all nodes, one
///                  r/N of a slice for each, cut like any all_to_all: where N does not divide r slices, bytes
///                  of pairs differ by at most one. The sum over all pairs is round_robin's to the byte
/// The sum over all pairs of nodes is the same in every placement, and so is that of the compute times but
/// for balanced's rounding.
/// balanced is the limit of tables that can be cut or differ enough in cost to be shared out evenly; nodes
/// are alike then, and a symmetric network folds them (system/symmetry/folding.hpp). It leaves out what
/// round_robin adds to the busiest node, N·⌈T/N⌉/T - 1 of the embedding time: 2.4 % for 1000 tables on 1024
/// nodes or on 128, 0.8 % on 16.
///
/// Program of an iteration, in the order in which every node computes.
///     table forward, round 0, 1, …        after each the all_to_all of its slices
///     bottom layers forward
///     concatenation forward               waits for the slices of all rounds
///     top layers forward, then backward   after each backward its all-reduces
///     concatenation backward              after it the all_to_alls of all rounds' gradients, in order
///     bottom layers backward              after each its all-reduces
///     table backward, round 0, 1, …       waits for its round's gradients
///     wait for all all-reduces            the iteration ends when everything has ended
///
/// With `replay` (flexflow_replay.hpp) the order of tasks, the start of all-reduces and their bytes may be
/// those of the replay. In first-come order dependencies are those of the task graph: a layer waits for the
/// one before it, the wait for all-reduces also for all tables, the next iteration for that wait. Where
/// all-reduces wait for all nodes, a collective without bytes is between a layer's backward pass and them.
///
/// Limits. Unless `replay` says otherwise, the order of tasks is fixed, so a gradient that arrives early does
/// not let its table overtake the bottom layers or an earlier table, and an all-reduce starts on a node when
/// that node has its gradient. The replay's delay of rings inside a node is left out. No optimiser, no index
/// exchange, no loss.
///
/// Complexity: O(max c_n + layers) operations an iteration, O(N) memory more for each number of nodes that
/// pass over tables in the same round and are not all.
#pragma once

#include "flexflow_replay.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {

/// The numbers of FlexFlow's DLRM options.
struct FlexflowModel {
    std::int64_t tables = 1;     ///< T
    std::int64_t rows = 1;       ///< of each table
    std::int64_t dimension = 1;  ///< D
    std::int64_t bag_size = 1;   ///< rows a sample looks up in a table; already in the table's time
    std::vector<std::int64_t> bottom_mlp = {};  ///< sizes, the dense features first
    std::vector<std::int64_t> top_mlp = {};     ///< sizes, the first ignored
};

/// Times of one table's passes over `samples` samples.
struct TablePassTimes {
    Time forward{};
    Time backward{};
    std::int64_t samples = 1;
};

/// The rate of matrix products with at least that many rows per GPU.
struct GemmRate {
    std::int64_t rows = 1;
    FlopRate rate{};
};

enum class FlexflowPlacement : std::uint8_t { kRoundRobin, kBalanced, kExplicit };

/// Consecutive nodes with as many tables each.
struct NodeTables {
    std::int64_t nodes = 1;
    std::int64_t tables = 0;
};

struct FlexflowTraining {
    std::int64_t batch = 1;  ///< B, over all nodes
    FlexflowPlacement placement = FlexflowPlacement::kRoundRobin;
    std::vector<NodeTables> tables_per_node = {};  ///< kExplicit only: from node 0 on, all nodes and tables
    std::int64_t gpus_per_node = 8;
    Bytes element_size = Bytes(4);           ///< e; the study counts 8
    Bytes gradient_element_size = Bytes(4);  ///< g
    bool separate_bias = true;               ///< else one all-reduce a layer
    TablePassTimes embedding;
    std::vector<GemmRate> gemm;  ///< by rows, growing; empty: the device's peak
    /// Every transfer and every time is divided by it, rounded up: what bytes and times make up grows in
    /// proportion, latencies and packets do not (the study replays at 1/16).
    std::int64_t scale_down = 1;
    int iterations = 1;
    std::optional<FlexflowReplay> replay = {};  ///< unset: nothing is as in the replay
};

/// What makes a model inconsistent or its parameters too many to count. Keys: "tables", "bottom_mlp.2", ….
[[nodiscard]] ValidationErrors validation_errors(const FlexflowModel& model);

// The rest requires a model without validation errors.

/// What is wrong with training it on `nodes` >= 1 nodes. Keys: "batch", "gemm.1.rows", ….
[[nodiscard]] ValidationErrors validation_errors(const FlexflowModel& model, const FlexflowTraining& training,
                                                 std::size_t nodes);
/// What the device lacks, or has that would not be used. Keys: "peak", "memory_bandwidth", "layers".
[[nodiscard]] ValidationErrors validation_errors(const Device& device, const FlexflowTraining& training);
/// All iterations together must compute for at most half of Time::max(), as with DlrmTraining. Key "". The
/// other arguments have no validation errors.
[[nodiscard]] ValidationErrors validation_errors(const FlexflowModel& model, const FlexflowTraining& training,
                                                 const Device& device, std::size_t nodes);

// The rest requires arguments without validation errors.

/// k × n of each layer without its n biases.
[[nodiscard]] std::vector<MlpLayer> bottom_layers(const FlexflowModel& model);
[[nodiscard]] std::vector<MlpLayer> top_layers(const FlexflowModel& model);
[[nodiscard]] std::int64_t concatenation_width(const FlexflowModel& model);   ///< W + T·D
[[nodiscard]] std::int64_t dense_parameters(const FlexflowModel& model);      ///< P, with biases
[[nodiscard]] std::int64_t embedding_parameters(const FlexflowModel& model);  ///< T·rows·D

/// The rate at `rows` rows per GPU: that of the last entry which does not ask for more rows, else that of the
/// first entry. Measured rates jump where the library changes its kernel, so nothing is interpolated.
[[nodiscard]] FlopRate gemm_rate(const FlexflowTraining& training, const Device& device, std::int64_t rows);

/// Compute of an iteration on the node with most tables, all passes.
struct FlexflowCompute {
    Time embedding;
    Time mlp;
    Time concatenation;
};
[[nodiscard]] FlexflowCompute compute_times(const FlexflowModel& model, const FlexflowTraining& training,
                                            const Device& device, std::size_t nodes);

[[nodiscard]] system::Program build_flexflow_program(const FlexflowModel& model,
                                                     const FlexflowTraining& training, const Device& device,
                                                     std::size_t nodes);

/// c, the whole tables of each node: of a balanced placement as round_robin has them.
[[nodiscard]] std::vector<std::int64_t> tables_of_nodes(const FlexflowModel& model,
                                                        const FlexflowTraining& training, std::size_t nodes);

/// The tensors that are all-reduced in an iteration, in bytes, bottom layers first.
[[nodiscard]] std::vector<Bytes> gradient_tensors(const FlexflowModel& model,
                                                  const FlexflowTraining& training);

/// Both directions, over all nodes: 2·T·(N-1)·(B/N)·D·e.
[[nodiscard]] Bytes slice_traffic(const FlexflowModel& model, const FlexflowTraining& training,
                                  std::size_t nodes);

/// An iteration in numbers, over all nodes. Parts of tables count as tables: T is N·⌈T/N⌉ in tasks and slices
/// of a balanced placement.
struct FlexflowCounts {
    /// 2·N·(layers + 1) dense and concatenation tasks, 2·T table tasks, the slices, an all-reduce for each
    /// tensor and one of a single member for each table.
    std::int64_t tasks = 0;
    Bytes slice;              ///< of a whole table
    std::int64_t slices = 0;  ///< between nodes: 2·T·(N-1)
    Bytes slice_traffic;      ///< 2·T·(N-1)·slice, T tables for any placement
    /// 2·(N-1)·g·P, what any all-reduce without rounding sends; with an early stop what the replay's ring
    /// does.
    Bytes all_reduce;
    double all_reduce_share = 0.0;  ///< all_reduce / (all_reduce + slice_traffic); 0 where nothing is sent
};
[[nodiscard]] FlexflowCounts count(const FlexflowModel& model, const FlexflowTraining& training,
                                   std::size_t nodes);

}  // namespace astrolabe::workload
