/// What it costs to bring values into the wire format of a collective and back.
#pragma once

#include "../loops/training_loop.hpp"
#include "wire_format.hpp"

#include <optional>
#include <vector>

#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload {

/// `communication` with the times to encode what every rank holds and to decode what it receives.
[[nodiscard]] LayerCommunication converted(LayerCommunication communication, const Payload& held,
                                           const Payload& received, const Device& device);

/// One value for all where all are equal.
[[nodiscard]] system::PerRank<Time> per_rank(std::vector<Time> each);
/// Times that are all there or all not.
[[nodiscard]] std::optional<system::PerRank<Time>> per_rank(const std::vector<std::optional<Time>>& each);

}  // namespace astrolabe::workload
