/// A program of the machine, run to its end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace astrolabe::study {

struct ToolOutcome {
    int exit_code = 0;  ///< as exit_code.hpp has it; kNotStarted: there is no such program
    std::string out;
    std::string err;
};

/// Runs words[0], looked for on PATH, in a folder; what it reads is `input`. It ends with this process. The
/// caller has no threads.
[[nodiscard]] ToolOutcome run_tool(std::vector<std::string> words, std::string_view input = "",
                                   const std::filesystem::path& folder = ".");

/// Why it failed, in a line: what it said on standard error, or how it ended.
[[nodiscard]] std::string failure_text(const ToolOutcome& outcome);

}  // namespace astrolabe::study
