/// Lines of tables in READMEs, as tests expect them.
#pragma once

#include "process.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace astrolabe::testing {

/// | a | b | c |
inline std::string table_line(const std::vector<std::string>& cells) {
    return fmt::format("| {} |", fmt::join(cells, " | "));
}

/// Four significant digits, in milliseconds.
inline std::string milliseconds(double seconds) {
    std::string text = fmt::format("{:#.4g}", seconds * 1e3);
    return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

inline void expect_lines(const std::filesystem::path& page, const std::vector<std::string>& lines) {
    const std::string text = read_file(page);
    for (const std::string& line : lines) {
        EXPECT_NE(text.find(line + "\n"), std::string::npos) << page << " lacks\n" << line;
    }
}

}  // namespace astrolabe::testing
