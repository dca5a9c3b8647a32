/// PARAM's basic communication traces (commsTraceReplay, trace type "basic"), a file for each rank, replayed
/// as replay_tasks.hpp says.
///
/// An entry with `comms` is a call: sizes are elements of `dtype`, splits elements, `root`, `src_rank` and
/// `dst_rank` global ranks, `pg_id` a group that an `init` before it made, absent: all ranks. A `wait` is for
/// the latest call of its `req` before it. `barrier` is an all_reduce of 0 bytes that is waited for;
/// `batch_isend_irecv` marks a batch and does nothing itself. An entry with `compute` is a computation of the
/// device's roofline:
///     gemm         m × k by k × n, `count` times: 2 m k n operations of `dtype`, and the three matrices
///     moved;
///                  `mm_dim` is all three
///     emb_lookup   `count` times: with r = batch_size · num_emb_tables · emb_dim elements, bag_size · r read
///                  and r written; backward r read, and bag_size · r read and written
///
/// With `timestamps` a call begins startTime_ns after the beginning at the earliest.
///
/// Also read are names in capitals and `marker_stack`, as torch_ucc's logger has them. Errors, each with
/// file, line and entry: what call_book.hpp says; keys that are missing or are no numbers; sums of splits;
/// waits for requests that were never made; unknown operations and types, unless lenient: then those entries
/// are left out.
#pragma once

#include "../rank_graphs/rank_graphs.hpp"
#include "replay_tasks.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload::pytorch {

struct ParamOptions {
    std::vector<std::string> traces{};  ///< as rank_files takes them
    Overlap overlap = Overlap::kWaited;
    bool timestamps = false;
    bool lenient = false;
};

struct ParamTraces {
    RankGraphs graphs;                    ///< computations take no time yet
    std::vector<std::vector<Work>> work;  ///< by rank and task
    std::vector<std::uint32_t> ranks;     ///< of the recorded world, that have a trace
    std::size_t world_size = 0;
    std::vector<std::string> notes;

    [[nodiscard]] bool is_whole() const { return ranks.size() == world_size; }
};

[[nodiscard]] Result<ParamTraces> read_param_traces(const ParamOptions& options);

/// Whether the beginning of a file is one of such a trace.
[[nodiscard]] bool is_param_trace(const std::filesystem::path& path);

}  // namespace astrolabe::workload::pytorch
