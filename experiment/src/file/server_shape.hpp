/// The logical dimensions of ranks on a network of servers.
#pragma once

#include <cstddef>
#include <optional>

#include <astrolabe/experiment/file/placement.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/system/schedule/shape.hpp>

namespace astrolabe::experiment {

/// [GPUs of a server, servers], where servers are equal, have several GPUs each, and the ranks fill two or
/// more of them in order; else nothing. O(servers).
[[nodiscard]] std::optional<system::Shape> server_shape(const network::Fabric& fabric,
                                                        const Placement& placement, std::size_t ranks);

/// Of servers of so many hosts, in order.
[[nodiscard]] std::optional<system::Shape> server_shape(std::uint32_t inside, std::size_t ranks);

}  // namespace astrolabe::experiment
