/// That the files of a run belong together.
///
/// summary.json, which is written last, has `files`: the size in bytes and the CRC-32 (ISO 3309, eight
/// hexadecimal digits) of every other file that the same run wrote into its folder. Equal runs give equal
/// `files`. A CRC finds what was cut, mixed or damaged by accident, not what was forged.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {

/// Writes `summary` with what the folder has by now as its `files`, and marks the run as whole. A folder that
/// no run owns has no `files`.
[[nodiscard]] std::optional<Diagnostic> write_summary(const OutputFolder& folder,
                                                      nlohmann::ordered_json summary);

/// Why `content`, nothing where there is no such file, is not the file `name` of the run of this summary;
/// nothing where it is, or where the summary is of a version that recorded no files. O(size).
[[nodiscard]] std::optional<Diagnostic> not_of_run(const nlohmann::ordered_json& summary,
                                                   const std::filesystem::path& folder,
                                                   const std::string& name,
                                                   const std::optional<std::string>& content);

}  // namespace astrolabe::experiment
