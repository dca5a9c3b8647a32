#include <astrolabe/network/components.hpp>
#include <astrolabe/network/fluid/fluid_backend.hpp>

namespace astrolabe::network {

void register_fluid_backend(Registry<BackendMaker>& registry) {
    struct NoKeys {};
    registry.add<NoKeys>(
        Schema<NoKeys>("fluid", "max-min fair rates, event by event; cost follows rate changes, not bytes"),
        [](const NoKeys&) {
            BackendMaker maker;
            maker.refusal = [](const Fabric&) { return std::nullopt; };
            maker.make = [](std::shared_ptr<const Fabric> fabric, std::uint64_t) {
                return std::make_unique<FluidBackend>(std::move(fabric));
            };
            maker.make_folded = [](std::shared_ptr<const LinkClasses> classes, std::uint64_t) {
                return std::make_unique<FluidBackend>(std::move(classes));
            };
            return maker;
        });
}

}  // namespace astrolabe::network
