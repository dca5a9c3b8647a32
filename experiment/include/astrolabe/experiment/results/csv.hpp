/// How values are written in tables.
#pragma once

#include <string>

#include <fmt/format.h>

#include <astrolabe/core/units.hpp>

namespace astrolabe::experiment {

/// Seconds with every picosecond: 12 decimals.
inline std::string exact_seconds(Time time) {
    return fmt::format("{}.{:012}", time.count() / kPicosecondsPerSecond,
                       time.count() % kPicosecondsPerSecond);
}

/// A text as a field of a table, whatever is in it: the one place where texts of users become fields.
///
/// - A text that a spreadsheet would take for a formula, one that begins with = + - @, a tab, a carriage
///   return or a line feed and is no number, gets a ' in front; so does one that begins so behind any number
///   of '.
/// - Control characters other than tab, carriage return and line feed are U+FFFD.
/// - What has a comma, a quote or an end of line is quoted as RFC 4180 has it.
[[nodiscard]] std::string csv_field(const std::string& text);

/// What `csv_field` was given, of a field that is not quoted any more; control characters stay U+FFFD.
[[nodiscard]] std::string text_of_csv(const std::string& field);

}  // namespace astrolabe::experiment
