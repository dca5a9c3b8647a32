/// A set of Chakra traces, a file for each rank, as rank graphs.
///
/// Which nodes. COMP and MEM nodes are computations of their recorded duration, or of the roofline's.
/// COMM_COLL, COMM_SEND and COMM_RECV with is_cpu_op are the calls that launch them: computations. METADATA
/// and INVALID nodes finish at once: who depends on them depends on what they depend on. Nodes are listed by
/// id, the order in which ASTRA-sim issues what is ready.
///
/// Which dependencies. data_deps, and ctrl_deps where they are dependencies: not in traces of PyTorch, where
/// they name the enclosing call (attribute rf_id shows such a trace), and not in the JSON form.
///
/// Streams. A node of the device with attribute stream (else tid) is on that stream, one of the host on the
/// thread tid; what is on a numbered stream runs in the order of ids, collectives too. Other computations
/// share one stream, and any order that dependencies allow.
///
/// Collectives. comm_size is what system::CollectiveKind counts. The k-th of a group on each member are one.
///     REDUCE_SCATTER_BLOCK   a reduce_scatter
///     BARRIER                an all_reduce of 0 bytes
///     GATHER, SCATTER        uneven all_to_alls in which all but the pairs with the root have 0 bytes; of
///                            the S bytes of a scatter's root, member i of n gets the bytes from ⌊i·S/n⌋ to
///                            ⌊(i+1)·S/n⌋
///     comm_priority          an explicit priority
/// The root is the first member of the group.
///
/// Groups. pg_name "", "0" or none is all ranks, unless the trace or the file of groups says otherwise. Names
/// are those of the trace's process groups (a METADATA node ## process_group:init ##), else of the file, else
/// involved_dim chooses ranks that differ in those dimensions alone.
///
/// Exact where this program wrote the trace: chakra_node.hpp names the attributes that keep what Chakra
/// cannot say.
///
/// Memory: beside the graphs, that of one node, and of one rank 112 bytes a node and 8 a dependency.
#pragma once

#include "../rank_graphs/rank_graphs.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload::chakra {

/// Whether ctrl_deps are waited for.
enum class ControlDependencies : std::uint8_t { kDetect, kHonoured, kIgnored };

/// Whether a rank carries out its collectives and sends one after another, as ASTRA-sim does.
enum class CollectiveOrder : std::uint8_t { kConcurrent, kInOrder };

struct ReadOptions {
    ControlDependencies control = ControlDependencies::kDetect;
    CollectiveOrder collectives = CollectiveOrder::kConcurrent;
    /// JSON with the members of groups by name; empty: none.
    std::filesystem::path groups{};
    /// Sizes of logical dimensions, fastest first, for involved_dim; empty: one of all ranks.
    std::vector<std::int64_t> dimensions{};
    /// Keeps num_ops and tensor_size (`ChakraTraces::work`).
    bool keeps_work = false;
};

/// What a computation does, for the roofline.
struct TaskWork {
    std::int64_t operations = 0;
    std::int64_t bytes = 0;
};

struct ChakraTraces {
    RankGraphs graphs;
    system::ComputeOrder order = system::ComputeOrder::kProgram;
    /// By rank and task where asked for; both zero: the recorded duration is all that is known.
    std::vector<std::vector<TaskWork>> work;
    std::vector<std::string> notes;
};

/// The files of a set by rank: of a folder, of a prefix ("traces/all_reduce" of traces/all_reduce.0.et), or
/// of the prefix that the name of a file has. Errors name what is missing.
[[nodiscard]] Result<std::vector<std::filesystem::path>> files_of_traces(const std::filesystem::path& path);

/// `files` by rank. All errors of the files that can be found without looking at two ranks.
[[nodiscard]] Result<ChakraTraces> read_traces(const std::vector<std::filesystem::path>& files,
                                               const ReadOptions& options);

}  // namespace astrolabe::workload::chakra
