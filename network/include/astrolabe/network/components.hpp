/// What the network layer offers to experiment files: topologies, and the engine of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <astrolabe/core/registry.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

/// Builds the configured fabric; the experiment's seed enters the flow hash.
using FabricMaker = std::function<std::shared_ptr<const Fabric>(std::uint64_t seed)>;

/// A configured backend, not yet built.
struct BackendMaker {
    /// Why the backend cannot run this fabric, or nothing if it can.
    std::function<std::optional<std::string>(const Fabric&)> refusal;
    /// Precondition: no refusal.
    std::function<std::unique_ptr<NetworkBackend>(std::shared_ptr<const Fabric>, std::uint64_t seed)> make;
};

void register_builtin_topologies(Registry<FabricMaker>& registry);
void register_fluid_backend(Registry<BackendMaker>& registry);

}  // namespace astrolabe::network
