#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace astrolabe::study {

/// All of a file; nothing if it cannot be read to its end, or is a folder.
[[nodiscard]] std::optional<std::string> text_of_file(const std::filesystem::path& path);

}  // namespace astrolabe::study
