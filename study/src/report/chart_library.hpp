/// Apache ECharts, which draws the figures: fetched once with npm, pinned by a lock file that is part of the
/// program.
#pragma once

#include <filesystem>

#include <astrolabe/core/result.hpp>

namespace astrolabe::study {

/// The file echarts.min.js in the user's cache, which is filled first if need be: npm checks what it fetches
/// against the hashes of the lock file, and the cache gets all or nothing. Errors say what is missing: node,
/// npm, a network, or a folder for the cache.
[[nodiscard]] Result<std::filesystem::path> chart_library();

}  // namespace astrolabe::study
