/// The page of a report as text: made by node, or, while a sweep runs, from a shell that node made once.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include <astrolabe/core/result.hpp>
#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {

inline constexpr const char* kPageName = "index.html";

/// What the page is told: figures, points, runs, parameters.
[[nodiscard]] nlohmann::ordered_json page_json(const StudyReport& report);

/// A page of this study without data. Needs node and the library of charts (chart_library.hpp).
[[nodiscard]] Result<std::string> page_shell(const std::string& study);
/// The page that a shell and its data make, without pictures beside it. O(data), nothing is started.
[[nodiscard]] std::string page_from_shell(const std::string& shell, const nlohmann::ordered_json& data);
/// The same, packed by node to take less room.
[[nodiscard]] Result<std::string> packed_page(const nlohmann::ordered_json& data);

/// Puts the page in place of one of the same study in the folder of a report, which it owns for that long:
/// false, and nothing is written, where another process owns it for longer than `patience`. An error
/// ("report.other-study") where the page there is of another study, as their titles say.
[[nodiscard]] Result<bool> replace_page(const std::filesystem::path& folder, const std::string& page,
                                        std::chrono::milliseconds patience);

}  // namespace astrolabe::study
