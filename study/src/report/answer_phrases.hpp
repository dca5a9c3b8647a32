/// Words and numbers of which the sentences of an answer are made.
#pragma once

#include "verdict.hpp"

#include <algorithm>

namespace astrolabe::study {

/// The least and the greatest of some numbers.
struct Extent {
    double least = 0;
    double greatest = 0;
    std::size_t count = 0;

    void add(double value) {
        least = count == 0 ? value : std::min(least, value);
        greatest = count == 0 ? value : std::max(greatest, value);
        ++count;
    }
};

/// "1 setting", "2 settings".
[[nodiscard]] std::string counted(std::size_t count, const std::string& noun);
/// "a, b and c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words, const char* last = " and ");
/// " in 3 of 4 settings"; nothing of all.
[[nodiscard]] std::string part_words(std::size_t part, std::size_t all);

/// `format` of both ends, once where they read alike.
template <class Format>
std::string extent_words(const Extent& extent, const Format& format) {
    const std::string least = format(extent.least);
    const std::string greatest = format(extent.greatest);
    return least == greatest ? least : least + " to " + greatest;
}

/// "4.1" of 0.0411, "24" of 0.242.
[[nodiscard]] std::string percents(double share);
/// "1.25", "12".
[[nodiscard]] std::string times(double factor);
/// Of margins: "4.1 to 24 % longer", "1.05 to 2.41 times as long".
[[nodiscard]] std::string longer_words(const Extent& margins);
/// "$4,588".
[[nodiscard]] std::string dollars(double amount);

/// "global batch".
[[nodiscard]] std::string label_of(const Dimension& dimension);
/// A value of a parameter as it stands in a sentence; names may be anything, and long.
[[nodiscard]] std::string value_words(const Dimension& dimension, std::size_t value);
[[nodiscard]] const Dimension& circumstance(const StudyAxes& axes, const Contest& contest, std::size_t c);
/// Of a value of the contested dimension.
[[nodiscard]] std::string name_of(const StudyAxes& axes, const Contest& contest, std::size_t value);
/// "global batch 2048 and tables 64": where among the circumstances a setting is.
[[nodiscard]] std::string setting_words(const StudyAxes& axes, const Contest& contest,
                                        const Setting& setting);

}  // namespace astrolabe::study
