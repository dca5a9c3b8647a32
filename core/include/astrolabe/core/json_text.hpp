/// JSON of files that others may have written. nlohmann::json parses without recursion, but copies, compares
/// and writes what it has parsed with one, so that a file of a few hundred kilobytes could take the stack.
/// O(bytes), beside the parser's time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/limits.hpp>

namespace astrolabe {

/// The byte at which lists and objects come to be more than limits::kNesting inside each other; nothing: they
/// never are. Of text that is no JSON it says no more than that.
[[nodiscard]] inline std::optional<std::size_t> place_of_deep_nesting(std::string_view text) {
    std::size_t depth = 0;
    bool is_in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (is_in_string) {
            i += letter == '\\' ? 1 : 0;
            is_in_string = letter != '"';
        } else if (letter == '"') {
            is_in_string = true;
        } else if (letter == '[' || letter == '{') {
            if (++depth > limits::kNesting) {
                return i;
            }
        } else if (letter == ']' || letter == '}') {
            depth -= depth > 0 ? 1 : 0;
        }
    }
    return std::nullopt;
}

/// Discarded where it is no JSON or nests too deep.
template <class Json>
[[nodiscard]] Json parse_json(std::string_view text) {
    return place_of_deep_nesting(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

/// A whole number that fits, which nlohmann::json does not look at. \throws std::out_of_range
template <class Whole, class Json>
[[nodiscard]] Whole whole_in(const Json& value) {
    if (value.is_number_unsigned() && std::in_range<Whole>(value.template get<std::uint64_t>())) {
        return static_cast<Whole>(value.template get<std::uint64_t>());
    }
    if (value.is_number_integer() && !value.is_number_unsigned() &&
        std::in_range<Whole>(value.template get<std::int64_t>())) {
        return static_cast<Whole>(value.template get<std::int64_t>());
    }
    throw std::out_of_range(fmt::format("{} is no whole number that can be", value.dump()));
}

}  // namespace astrolabe
