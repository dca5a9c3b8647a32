#include "server_shape.hpp"

#include <astrolabe/network/family.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::experiment {

std::optional<system::Shape> server_shape(const network::Fabric& fabric, const Placement& placement,
                                          std::size_t ranks) {
    const network::ServerLayout* servers = fabric.family().servers();
    if (servers == nullptr || !servers->shapes_collectives() || !placement.is_linear()) {
        return std::nullopt;
    }
    return server_shape(servers->hosts_per_server(), ranks);
}

std::optional<system::Shape> server_shape(std::uint32_t inside, std::size_t ranks) {
    if (inside < 2 || ranks % inside != 0 || ranks / inside < 2) {
        return std::nullopt;
    }
    return system::Shape({inside, static_cast<system::Position>(ranks / inside)});
}

}  // namespace astrolabe::experiment
