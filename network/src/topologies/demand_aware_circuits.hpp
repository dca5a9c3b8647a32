// What circuits that move while a job runs ask of a network of hosts alone.
#pragma once

#include "checks.hpp"
#include "direct_connect.hpp"

#include <memory>
#include <optional>

namespace astrolabe::network::detail {

/// Of the network that they move in.
struct DemandAwareNetwork {
    Medium medium = Medium::kFibre;
    std::optional<DirectRouting> routing;  ///< none: the user did not choose
    Time forwarding;
    std::int64_t paths = 0;
    std::int64_t detour = 0;
};

void check_demand_aware(ParameterCheck& check, const DemandAwareParameters& moves,
                        const DemandAwareNetwork& network);
/// A ring that joins all hosts takes `ring` of `degree` interfaces where hosts forward.
void check_free_interfaces(ParameterCheck& check, const DemandAwareParameters& moves, std::int64_t degree,
                           std::int64_t ring);
/// Of a network whose circuits are given.
void check_given_circuits(ParameterCheck& check, const DirectConnectParameters& parameters);

/// Circuits on one panel, at first the links that are given. Precondition: no problems, and a
/// reconfiguration.
[[nodiscard]] std::shared_ptr<const Fabric> build_demand_aware(const DirectConnectParameters& parameters);

}  // namespace astrolabe::network::detail
