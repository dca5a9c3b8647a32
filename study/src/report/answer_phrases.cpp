#include "answer_phrases.hpp"

#include <fmt/format.h>

namespace astrolabe::study {

std::string counted(std::size_t count, const std::string& noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& words, const char* last) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += i == 0 ? "" : i + 1 == words.size() ? last : ", ";
        text += words[i];
    }
    return text;
}

std::string part_words(std::size_t part, std::size_t all) {
    return part < all ? fmt::format(" in {} of {} settings", part, all) : "";
}

std::string percents(double share) {
    const double percent = 100 * share;
    return percent < 9.95 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent);
}

std::string times(double factor) {
    return factor < 9.95 ? fmt::format("{:.2f}", factor) : fmt::format("{:.0f}", factor);
}

std::string longer_words(const Extent& margins) {
    return margins.greatest < 1
               ? extent_words(margins, percents) + " % longer"
               : extent_words(margins, [](double margin) { return times(1 + margin); }) + " times as long";
}

std::string dollars(double amount) {
    std::string digits = fmt::format("{:.0f}", amount);
    for (std::size_t i = digits.size(); i > 3; i -= 3) {
        digits.insert(i - 3, ",");
    }
    return "$" + digits;
}

std::string label_of(const Dimension& dimension) {
    return dimension.label;
}

std::string value_words(const Dimension& dimension, std::size_t value) {
    constexpr std::size_t kMost = 60;
    std::string text = dimension.values[value];
    if (text.size() > kMost) {
        std::size_t end = kMost;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
            --end;  // of UTF-8, a byte within a character
        }
        text = text.substr(0, end) + "…";
    }
    return text;
}

const Dimension& circumstance(const StudyAxes& axes, const Contest& contest, std::size_t c) {
    return axes.dimensions[contest.circumstances[c]];
}

std::string name_of(const StudyAxes& axes, const Contest& contest, std::size_t value) {
    return value_words(axes.dimensions[*contest.contested], value);
}

std::string setting_words(const StudyAxes& axes, const Contest& contest, const Setting& setting) {
    std::vector<std::string> values;
    for (std::size_t c = 0; c < setting.at.size(); ++c) {
        const Dimension& dimension = circumstance(axes, contest, c);
        values.push_back(label_of(dimension) + " " + value_words(dimension, setting.at[c]));
    }
    return listed(values);
}

}  // namespace astrolabe::study
