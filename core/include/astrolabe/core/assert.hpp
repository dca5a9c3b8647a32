/// Broken invariants are defects of the program, never of its input: they throw `std::logic_error` naming the
/// place, in every build type. Input errors are `Diagnostic`s (diagnostic.hpp).
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace astrolabe {

[[noreturn]] inline void invariant_failed(std::string_view condition, std::string_view message,
                                          std::source_location where = std::source_location::current()) {
    throw std::logic_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                           ": invariant failed: " + std::string(condition) + " (" + std::string(message) +
                           ")");
}

}  // namespace astrolabe

/// ASTROLABE_ASSERT(condition, "what it means when this fails")
#define ASTROLABE_ASSERT(condition, message)                      \
    do {                                                          \
        if (!(condition)) [[unlikely]] {                          \
            ::astrolabe::invariant_failed(#condition, (message)); \
        }                                                         \
    } while (false)
