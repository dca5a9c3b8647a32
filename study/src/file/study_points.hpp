/// The points of a study, from its keys (study.hpp defines the order).
#pragma once

#include "sweep_keys.hpp"

#include <string>
#include <vector>

#include <astrolabe/study/file/study.hpp>

namespace astrolabe::study {

/// None where errors were reported. Takes the alternatives out of `keys`.
[[nodiscard]] std::vector<StudyPoint> study_points(SweepKeys& keys, ReadContext& context);

/// A parameter's value as it is written.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& value);

}  // namespace astrolabe::study
