/// Task graphs of FlexFlow (.fbuf): one training iteration whose strategy FlexFlow has chosen, server by
/// server.
///
/// Format: FlatBuffers, root table TaskGraph, no file identifier. Used are the number of servers, devices and
/// tasks:
///     forward, backward, update   `runtime` ms on a GPU of a server
///     nominal comm                `xfersize` bytes over an end-to-end device, whose deviceproperty is
///                                 from · (servers + switches) + to; its runtime, FlexFlow's estimate, is not
///                                 used
///     all-reduce                  `xfersize` bytes held by each of the servers that `nexttasks` lists: its
///                                 members, no successors
/// Ids are memory addresses, which mean nothing but that they are equal.
///
/// A server is a rank. A computation is one of its rank, with a stream for each of the server's GPUs; a
/// transfer a send and a receive; an all-reduce a collective of its members, whose parts each wait for the
/// predecessors on their own server. Tasks are listed in topological order, those that could come next by
/// their place in the file.
///
/// Errors ("flexflow.graph", with the place of the task in the file and its id): no such buffer or a
/// truncated one; ids that repeat or do not exist; a circle; members that repeat or are no servers; a runtime
/// that is negative or no number; a dependency between servers without a transfer; tasks of other types and
/// devices; lists of successors and members that, shared between tasks, are longer than the file.
///
/// Limits: routes, connections, operators and rings are not used: the network is the experiment's, and so are
/// the algorithms of all-reduces. Transfers of one pair may overlap, where the simulator that the files are
/// made for sends them one after another. The part of an all-reduce inside the servers, which is its runtime,
/// is left out. Files up to 1 GiB.
///
/// Complexity: O(t log t + dependencies).
#pragma once

#include "../rank_graphs/rank_graphs.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>

namespace astrolabe::workload {

struct FlexFlowTask {
    enum class Kind : std::uint8_t { kForward, kBackward, kUpdate, kTransfer, kAllReduce };

    Kind kind = Kind::kForward;
    std::uint64_t id = 0;                     ///< in the file
    std::uint32_t server = 0;                 ///< of a computation; of a transfer the one that sends
    std::uint32_t receiver = 0;               ///< of a transfer
    std::uint32_t gpu = 0;                    ///< of a computation: of its server, from 0
    Time runtime;                             ///< of a computation
    Bytes size;                               ///< of a transfer; of an all-reduce what each member holds
    std::vector<std::uint32_t> members{};     ///< of an all-reduce, ascending
    std::vector<std::uint32_t> successors{};  ///< places in FlexFlowGraph::tasks

    [[nodiscard]] bool is_compute() const { return kind < Kind::kTransfer; }
};

struct FlexFlowGraph {
    std::string source;
    std::uint32_t servers = 0;
    std::uint32_t gpus_of_a_server = 1;
    std::vector<FlexFlowTask> tasks;   ///< in the order of the file
    std::vector<std::uint32_t> order;  ///< topological, ties by the place in the file
};

/// `source` is the name of the file in diagnostics.
[[nodiscard]] Result<FlexFlowGraph> read_flexflow_graph(std::string_view buffer, const std::string& source);
[[nodiscard]] Result<FlexFlowGraph> load_flexflow_graph(const std::filesystem::path& path);

/// So many iterations, each of which starts on a server when all of its tasks of the one before have ended.
[[nodiscard]] RankGraphs rank_graphs_of(const FlexFlowGraph& graph, int iterations);

/// The longest chain of computations over dependencies, as if everything else took no time.
[[nodiscard]] Time longest_compute_chain(const FlexFlowGraph& graph);

}  // namespace astrolabe::workload
