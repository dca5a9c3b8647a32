/// The text that nccl-tests prints.
///
/// Format (NVIDIA/nccl-tests, its source and its notes on performance). Lines that begin with `#` are
/// comments, among them one for each rank (`Rank  0 … device  0 [0x00] NAME`) and two of column names and
/// units. A row has size (B), count, type, then redop and root as far as the version and the test have them,
/// then out of place time (us), algbw, busbw and a check, and the same four in place; so three fields are
/// read from the left and those from the right. A launcher may prefix lines (`0: `, `[0] `), and other
/// programs may print between them. Rows of size 0, to which the smallest sizes are rounded, say nothing of
/// the machine.
///
/// `time` has four digits; `algbw` may be 0.00 and is not read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/experiment/calibration/measured_collectives.hpp>

namespace astrolabe::experiment {

struct NcclLog {
    std::optional<system::CollectiveKind> kind;  ///< where the text or the file's name says it
    std::string machine;                         ///< name of the devices; empty where it has none
    std::size_t ranks = 0;                       ///< lines of ranks; 0 where it has none
    std::size_t devices_per_process = 1;         ///< one process launches on all of them in turn
    std::vector<std::size_t> ranks_by_node{};    ///< in the order of its lines of ranks
    bool is_graph = false;                       ///< replays of a CUDA graph: device time without launches
    std::vector<MeasuredPoint> points;           ///< out of place, sizes rising; of equal ones the mean
};

/// Errors name the line: a row that is none, sizes that fall, a time of zero or none, a row that was found
/// wrong, no rows at all.
[[nodiscard]] Result<NcclLog> parse_nccl_log(std::string_view text, const std::filesystem::path& name);

}  // namespace astrolabe::experiment
