/// Formats of traces that other programs write, in one table: what `astrolabe validate` recognises.
///
/// A format is known by a function `TraceFormat <name>_trace_format()` of its reader's source and its line in
/// trace_formats.cpp. A path is a file, a folder or what its reader takes beside these (a prefix of files);
/// formats are asked in the order of the table, and the first that recognises the path reads it. Recognising
/// looks at names and at the beginning of a file (`beginning_of`), never at all of it.
#pragma once

#include "rank_graphs.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

/// What a reader makes of a path with its own defaults.
struct ReadTraces {
    RankGraphs graphs;
    system::ComputeOrder order = system::ComputeOrder::kProgram;
    /// What is unusual but no error, for people: "2 waits for requests from before the trace".
    std::vector<std::string> notes;
};

struct TraceFormat {
    std::string_view name;  ///< "chakra"
    std::string_view help;  ///< what it is, in one sentence without a period
    bool (*recognises)(const std::filesystem::path& path);
    Result<ReadTraces> (*read)(const std::filesystem::path& path);
};

[[nodiscard]] std::span<const TraceFormat> trace_formats();

/// Null where no format recognises the path.
[[nodiscard]] const TraceFormat* format_of_trace(const std::filesystem::path& path);

/// At most the first `size` bytes of a file, unpacked where it is gzip; empty where it cannot be read.
[[nodiscard]] std::string beginning_of(const std::filesystem::path& file, std::size_t size = 4096);

/// The files of a folder whose names end so, by name; empty where it is no folder.
[[nodiscard]] std::vector<std::filesystem::path> files_ending(const std::filesystem::path& folder,
                                                              std::string_view ending);

}  // namespace astrolabe::workload
