/// Traces of PyTorch, execution traces and Kineto timelines, of some or all ranks of a run, as rank graphs.
///
/// Execution traces alone have neither starts nor durations: they are replayed (replay_tasks.hpp), for their
/// communication. A timeline makes the tasks of its rank (timeline_tasks.hpp), and takes sizes, groups and
/// sequence numbers from the execution trace of the same rank where one is given, else from the arguments of
/// its kernels, as PyTorch writes them since 2024.
///
/// Ranks. A timeline says its rank; else its name does (rank_files.hpp), else the one device of its tensors.
/// The recorded world has as many ranks as the traces say of any group, or `world_size`; ranks without a
/// trace are left to `replicate`.
///
/// Steps. Each `ProfilerStep#n` is an iteration, or the one of number `step` alone; a trace without is one.
#pragma once

#include "../rank_graphs/rank_graphs.hpp"
#include "replay_tasks.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload::pytorch {

struct ReadOptions {
    std::vector<std::string> execution_traces{};  ///< paths as rank_files takes them
    std::vector<std::string> kineto{};
    std::optional<std::int64_t> step = std::nullopt;
    Overlap overlap = Overlap::kWaited;
    bool lenient = false;
    std::optional<std::int64_t> world_size = std::nullopt;
};

struct PytorchTraces {
    RankGraphs graphs;                 ///< of the traces at hand; groups are of the recorded world
    std::vector<std::uint32_t> ranks;  ///< of the recorded world, that have a trace
    std::size_t world_size = 0;
    std::vector<std::string> notes;

    [[nodiscard]] bool is_whole() const { return ranks.size() == world_size; }
};

[[nodiscard]] Result<PytorchTraces> read_traces(const ReadOptions& options);

/// What the beginning of a file says that it is.
[[nodiscard]] bool is_execution_trace(const std::filesystem::path& path);
[[nodiscard]] bool is_kineto_trace(const std::filesystem::path& path);

}  // namespace astrolabe::workload::pytorch
