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

/// RFC 4180 quoting where a text needs it.
inline std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

}  // namespace astrolabe::experiment
