/// PyTorch's execution trace of one rank ("ET": ExecutionTraceObserver), all schemas from 1.0.1 to 1.1.1.
///
/// Read are the calls of c10d, `record_param_comms`, and what says where they belong: process groups
/// (`## process_group:init ##`), steps (`ProfilerStep#n`), and the number by which Kineto's events name a
/// call (rf_id). Nodes are taken by id, which is the order in which calls start over all threads; the trace
/// has neither starts nor durations.
///
/// Arguments of a call: tensors, sequence number, group, rank, name, splits of input and output, and, by
/// schema, nothing (1.0.1), the size of the group (1.0.2), or first rank, stride and size of it. Those of a
/// wait or a barrier lack the tensors. Where a node has attributes for sizes (1.1.0) those count.
///
/// Errors, each with file, line and node: ids that repeat; calls that enclose one
/// another in a circle; arguments that are not as above; negative sizes; splits that do not sum to their
/// tensor; operations that are not known, unless `is_lenient`, where they are left out with a note.
#pragma once

#include "comm_call.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload::pytorch {

/// Members of process groups by name. Empty: all ranks.
using ProcessGroups = std::map<std::string, GroupRanks, std::less<>>;

struct TraceStep {
    std::int64_t number = 0;     ///< of ProfilerStep#number
    std::uint64_t first_id = 0;  ///< of its node
};

struct ExecutionTrace {
    std::string file;
    std::string schema;
    std::size_t nodes = 0;
    std::vector<CommCall> calls;        ///< by id
    std::vector<std::uint64_t> rf_ids;  ///< by call
    std::map<std::string, std::size_t>
        group_numbers;             ///< of addresses: 1, 2, … in the order of their first use
    std::vector<TraceStep> steps;  ///< by id
    ProcessGroups groups;
    /// The most ranks that a group of it has; 0: not said.
    std::int64_t world_size = 0;
    std::optional<std::size_t> rank = {};  ///< the device of its tensors, where all have one
    std::vector<std::string> notes;
};

[[nodiscard]] Result<ExecutionTrace> read_execution_trace(const std::filesystem::path& path, bool is_lenient);

/// Groups of the JSON text of a process group's init node or of Kineto's pg_config, added to `groups`; false
/// where the text is none. `world_size` becomes the size of the largest if that is more.
bool add_process_groups(const nlohmann::json& list, ProcessGroups& groups, std::int64_t& world_size);

}  // namespace astrolabe::workload::pytorch
