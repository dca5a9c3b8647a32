/// What parameters are called where people read them: on axes, in legends and in sentences.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace astrolabe::study {

struct ParameterLabel {
    std::string label;  ///< "global batch"
    std::string unit;   ///< "samples"; empty of what has none, and of quantities, whose values carry theirs
};

struct KnownLabel {
    std::string_view path;
    std::string_view label;
    std::string_view unit;
};

/// Of the keys that studies vary most, by dotted path (docs/reference.md has all keys).
[[nodiscard]] std::span<const KnownLabel> known_labels();

/// Of any parameter or derived value. One that is not in the list is its path in words, without the section
/// it is in: "network.dark_time" is "dark time".
[[nodiscard]] ParameterLabel label_of(std::string_view path);

}  // namespace astrolabe::study
