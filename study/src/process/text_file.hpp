#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include <astrolabe/core/limits.hpp>

namespace astrolabe::study {

/// For files whose size others limit, and what this process wrote.
inline constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();

/// All of a file; nothing if it is none, cannot be read to its end or has more than `most` bytes.
[[nodiscard]] std::optional<std::string> text_of_file(const std::filesystem::path& path,
                                                      std::size_t most = limits::kFileBytes);
/// Why there was nothing: "cannot be read".
[[nodiscard]] std::string why_not_read(const std::filesystem::path& path,
                                       std::size_t most = limits::kFileBytes);

}  // namespace astrolabe::study
