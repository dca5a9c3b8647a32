/// Broken invariants are defects of the program, never of its input: they throw `std::logic_error` naming the
/// place, in every build type. Input errors are `Diagnostic`s (diagnostic.hpp). C++17, for the ns-3 module.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace astrolabe {

/// The place is that of the caller.
[[noreturn]] inline void invariant_failed(std::string_view condition, std::string_view message,
                                          const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": invariant failed: " +
                           std::string(condition) + " (" + std::string(message) + ")");
}

}  // namespace astrolabe

/// ASTROLABE_ASSERT(condition, "what it means when this fails")
#define ASTROLABE_ASSERT(condition, message)                      \
    do {                                                          \
        if (__builtin_expect(!(condition), 0)) {                  \
            ::astrolabe::invariant_failed(#condition, (message)); \
        }                                                         \
    } while (false)
