/// Traces that other programs wrote: what they hold, and all that is wrong with them.
///
/// Which formats there are is a table of the workload layer; docs/models/traces.md lists them.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/result.hpp>

namespace astrolabe::workload {

struct ForeignTraces {
    std::string format;  ///< "chakra"
    std::string help;    ///< what that is, in one sentence without a period
    /// For people, one (name, value) a line: ranks, tasks, bytes by collective and group, compute, critical
    /// path.
    std::vector<std::pair<std::string, std::string>> facts;
    std::vector<std::string> notes;  ///< what is unusual, but no error
};

/// Whether a file or folder is of a known format, by its name and its beginning.
[[nodiscard]] bool is_foreign_trace(const std::filesystem::path& path);

/// Reads and checks all of it. Precondition: is_foreign_trace(path). Errors name file and place.
[[nodiscard]] Result<ForeignTraces> describe_foreign_traces(const std::filesystem::path& path);

}  // namespace astrolabe::workload
