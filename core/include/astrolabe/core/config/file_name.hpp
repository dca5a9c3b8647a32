/// Names of files as commands take them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace astrolabe {

/// Standard input, in place of a file. Paths in it are relative to the current folder.
inline constexpr std::string_view kStandardInput = "-";

/// What a file is called where it has no name of its own: without folder and suffix, "stdin".
[[nodiscard]] std::string name_of(const std::filesystem::path& file);

}  // namespace astrolabe
