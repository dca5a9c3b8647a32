#pragma once

#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::experiment {

/// Of an error number of the system.
inline Diagnostic output_error(const std::filesystem::path& path, int error) {
    return {"output.write",
            {},
            fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)),
            "check that the folder exists, is writable and has room, or choose another",
            {}};
}

}  // namespace astrolabe::experiment
