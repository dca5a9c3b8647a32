/// `astrolabe export --format msccl`: an algorithm over n ranks in the XML of MSCCL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <astrolabe/experiment/file/experiment.hpp>

namespace astrolabe::cli {

struct MscclExport {
    std::string algorithm;
    std::string kind = "all_reduce";
    std::optional<std::uint32_t> ranks;
    std::string dimensions;
    std::uint32_t variant = 0;
};

void add_msccl_options(CLI::App& command, MscclExport& arguments);

/// Writes to `path`, or to standard output where it is empty; the exit code.
[[nodiscard]] int export_msccl(const MscclExport& arguments, const std::string& path,
                               const experiment::Components& components);

}  // namespace astrolabe::cli
