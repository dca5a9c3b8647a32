/// What answer.hpp says, in sentences.
#pragma once

#include "verdict.hpp"

namespace astrolabe::study {

/// What one contender wins.
struct WinnerRegion {
    std::size_t value = 0;
    std::vector<const Setting*> settings;
    std::vector<Box> boxes;
};

/// "global batch".
[[nodiscard]] std::string label_of(const Dimension& dimension);

[[nodiscard]] std::string headline_words(const StudyAxes& axes, const Contest& contest,
                                         const std::vector<WinnerRegion>& regions,
                                         const std::vector<Setting>& settings);
[[nodiscard]] std::string region_words(const StudyAxes& axes, const Contest& contest,
                                       const WinnerRegion& region);
[[nodiscard]] std::vector<std::string> would_change_words(const StudyAxes& axes, const Contest& contest,
                                                          const std::vector<WinnerRegion>& regions,
                                                          const std::vector<Crossover>& crossovers);
/// Of a study in which nothing competes.
[[nodiscard]] std::string survey_words(const StudyAxes& axes, const std::vector<Setting>& settings);
/// What was not simulated, and how sure the numbers are.
[[nodiscard]] std::vector<std::string> limits_words(const StudyAxes& axes, const Contest& contest,
                                                    const std::vector<Setting>& settings,
                                                    const std::vector<StudyRow>& rows);

}  // namespace astrolabe::study
