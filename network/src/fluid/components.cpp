#include <utility>

#include <astrolabe/network/components.hpp>
#include <astrolabe/network/fluid/fluid_backend.hpp>

namespace astrolabe::network {

void register_fluid_backend(Registry<BackendMaker>& registry) {
    Schema<TransportParameters> schema(
        "fluid", "max-min fair rates, event by event; cost follows rate changes, not bytes");
    schema
        .optional("latency", &TransportParameters::latency,
                  "what cables take; off: nothing, and runs may beat their lower bounds")
        .optional("mtu", &TransportParameters::mtu, "payload of a packet, with header; unset: no packets")
        .optional("header", &TransportParameters::header,
                  "bytes that go with every packet: 58B for TCP over Ethernet")
        .optional("window", &TransportParameters::window,
                  "bytes under way at most per pair of hosts: a rate of window / round trip; unset: any")
        .optional("initial_window", &TransportParameters::initial_window,
                  "slow start of idle connections from so many bytes, doubled every round trip; unset: none")
        .check([](const TransportParameters& transport) { return problems(transport); });
    registry.add<TransportParameters>(std::move(schema), [](const TransportParameters& transport) {
        const FluidOptions options{.transport = transport};
        BackendMaker maker;
        maker.shares_links = transport.latency;
        maker.refusal = [transport](const Fabric& fabric) -> std::optional<std::string> {
            if (!fabric.is_static() && Transport(transport).needs_round_trip()) {
                return "window and initial_window of the fluid backend take round trips as fixed, and "
                       "circuits "
                       "come and go; leave both out, or choose backend packet";
            }
            return std::nullopt;
        };
        maker.make = [options](std::shared_ptr<const Fabric> fabric, std::uint64_t) {
            return std::make_unique<FluidBackend>(std::move(fabric), options);
        };
        // Slow start asks what a connection gets alone, and images never are.
        if (!transport.initial_window) {
            maker.make_folded = [options](std::shared_ptr<const LinkClasses> classes, std::uint64_t) {
                return std::make_unique<FluidBackend>(std::move(classes), options);
            };
        }
        return maker;
    });
}

}  // namespace astrolabe::network
