/// Which file is of which rank.
///
/// Files are given as a folder, as a pattern with {rank} in the name ("traces/et.{rank}.json.gz"), as one
/// file, or as a list. In a pattern the number stands for {rank}. Of a folder, and where files are listed, it
/// is the number after "rank" in a name (dlrm_rank3.json), else the one before the ending (et.3.json.gz); of
/// a list in which some name has neither, or two have the same, the place in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload::pytorch {

struct RankFile {
    std::filesystem::path path;
    std::optional<std::uint32_t> rank;  ///< as its name has it
};

/// By rank. `recognises` says of a folder's files which count. Errors: nothing there; two files of a rank.
[[nodiscard]] Result<std::vector<RankFile>> rank_files(const std::vector<std::string>& paths,
                                                       bool (*recognises)(const std::filesystem::path&));

}  // namespace astrolabe::workload::pytorch
