/// What a piece of computation costs on one device.
///
/// Model, the roofline (Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for
/// multicore architectures", CACM 2009):
///
///     time = max(FLOP / peak, bytes moved / memory bandwidth),  either term may be absent
///
/// each term rounded up to the next picosecond. A matrix product of m × k by k × n takes 2·m·k·n FLOP and
/// moves (m·k + k·n + m·n) elements; the input gradient and the weight gradient are products of the same
/// three matrices and cost the same (three-layers, 2.3).
///
/// Times that were measured, by layer name, replace computed ones pass by pass.
///
/// Limits: one engine, so nothing on a device overlaps; `peak` is what dense layers reach, not what the data
/// sheet promises; no cache, no kernel launch. A collective takes nothing from the device.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload {

struct Work {
    Flops flops = Flops(0);
    Bytes bytes = Bytes(0);  ///< moved to and from memory; 0: not counted
};

/// Times of a layer's three passes on one rank; a pass that is not there is not known.
struct LayerTimes {
    std::optional<Time> forward = std::nullopt;
    std::optional<Time> input_gradient = std::nullopt;
    std::optional<Time> weight_gradient = std::nullopt;
};

struct Device {
    std::optional<FlopRate> peak = std::nullopt;
    std::optional<Bandwidth> memory_bandwidth = std::nullopt;
    std::map<std::string, LayerTimes, std::less<>> measured = {};  ///< by layer name

    /// The measured time of one pass, if there is one.
    [[nodiscard]] std::optional<Time> measured_time(std::string_view layer,
                                                    std::optional<Time> LayerTimes::*pass) const;
};

/// The roofline. The rate of each term that is not zero must be known and positive.
[[nodiscard]] Time time_of(const Device& device, const Work& work);

}  // namespace astrolabe::workload
