/// Paths to a value of a configuration: keys and numbers of items with dots between them, "jobs.0.name".
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace astrolabe {

/// The number of an item of a list, or nothing.
[[nodiscard]] inline std::optional<std::size_t> list_index(std::string_view step) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    if (error != std::errc{} || end != step.data() + step.size()) {
        return std::nullopt;
    }
    return index;
}

/// Takes the part up to the first dot off `path`, and the dot.
[[nodiscard]] inline std::string_view take_step(std::string_view& path) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    return step;
}

}  // namespace astrolabe
