/// Chakra records written by hand, without the library that the program reads them with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace astrolabe::testing {

inline std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value > 0x7f; value >>= 7U) {
        bytes += static_cast<char>(value | 0x80U);
    }
    return bytes + static_cast<char>(value);
}

inline std::string number_field(unsigned field, std::uint64_t value) {
    return varint(field << 3U) + varint(value);
}

inline std::string bytes_field(unsigned field, std::string_view bytes) {
    return varint((field << 3U) | 2U) + varint(bytes.size()) + std::string(bytes);
}

inline std::string packed(const std::vector<std::uint64_t>& values) {
    std::string bytes;
    for (const std::uint64_t value : values) {
        bytes += varint(value);
    }
    return bytes;
}

/// A message with its length before it.
inline std::string record(std::string_view message) {
    return varint(message.size()) + std::string(message);
}

/// An attribute whose value is the field given, as `number_field(9, 4)` for an int64 of 4.
inline std::string attribute(std::string_view name, std::string_view value) {
    return bytes_field(10, bytes_field(1, name) + std::string(value));
}
inline std::string flag(std::string_view name, bool value) {
    return attribute(name, number_field(27, value ? 1 : 0));
}
inline std::string int64(std::string_view name, std::int64_t value) {
    return attribute(name, number_field(9, static_cast<std::uint64_t>(value)));
}
inline std::string text(std::string_view name, std::string_view value) {
    return attribute(name, bytes_field(29, value));
}

/// A node without its attributes; types are those of the schema.
inline std::string node(std::uint64_t id, std::string_view name, unsigned type,
                        const std::vector<std::uint64_t>& data_dependencies = {},
                        std::uint64_t duration_micros = 0) {
    return number_field(1, id) + bytes_field(2, name) + number_field(3, type) +
           (data_dependencies.empty() ? "" : bytes_field(5, packed(data_dependencies))) +
           (duration_micros == 0 ? "" : number_field(7, duration_micros));
}

inline const std::string kChakraHeader = record(bytes_field(1, "0.0.4"));

}  // namespace astrolabe::testing
