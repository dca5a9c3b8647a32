/// What the parts of `astrolabe calibrate` share: one part for each sort of measurement.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/result.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::cli {

struct CalibrateArguments {
    std::vector<std::string> files;
    std::string collective;
    std::optional<std::size_t> ranks;
    std::string machine;
    std::string launch;
    std::string launch_per_device;
    std::optional<std::size_t> ranks_per_node;
    std::size_t fit_every = 1;
    std::string memory_bandwidth;
    std::size_t lookups = 1;
    std::string precision = "fp32";
    std::string out;
    std::string device_out;
    std::string plot;
    bool json = false;
};

[[nodiscard]] Diagnostic calibrate_error(std::string message, std::string hint);
/// "all-reduce" or "all_reduce"; nothing for what is no collective.
[[nodiscard]] std::optional<system::CollectiveKind> collective_named(const std::string& name);
[[nodiscard]] Result<std::string> calibration_text(const std::string& path);
/// Writes what has a path; the exit code.
[[nodiscard]] int write_calibration(const std::vector<std::pair<std::string, std::string>>& texts_by_path);

/// Each writes what was asked for and prints what it found; the exit code.
[[nodiscard]] int calibrate_logs(const CalibrateArguments& arguments);
[[nodiscard]] int calibrate_traces(const CalibrateArguments& arguments);
[[nodiscard]] int calibrate_kernels(const CalibrateArguments& arguments);

}  // namespace astrolabe::cli
