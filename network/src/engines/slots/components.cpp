#include "components.hpp"

#include "../../rotor/rotor_family.hpp"
#include "slot_engine.hpp"

#include <utility>

#include <fmt/format.h>

namespace astrolabe::network {

namespace {

/// Rotor networks have the packets and latencies of their own service, and no windows.
std::optional<std::string> unsupported_term(const TransportTerms& terms) {
    const auto cannot = [](const char* key, const char* reason) {
        return fmt::format("slots of rotor switches leave no room for the term {}: {}", key, reason);
    };
    if (!terms.latency) {
        return cannot("latency: false", "the last packet of a slot leaves and arrives when it can");
    }
    if (terms.framing) {
        return cannot("framing",
                      "packets are those of the network's bulk service, bulk.payload and bulk.header");
    }
    if (terms.window || terms.slow_start || terms.incast) {
        return cannot(terms.window       ? "window"
                      : terms.slow_start ? "slow_start"
                                         : "incast",
                      "hosts send what they are granted, and wait for no acknowledgement");
    }
    return std::nullopt;
}

}  // namespace

Engine slot_engine(const TransportTerms& terms) {
    Engine engine;
    engine.networks = rotor::kRotorEngines;
    engine.help = "slots of circuits, shared out by RotorLB";
    engine.unsupported = [terms](const Fabric& fabric) {
        const std::optional<std::string> term = unsupported_term(terms);
        return term ? term : rotor::slot_engine_unsupported(fabric);
    };
    engine.make = [](std::shared_ptr<const Fabric> fabric, std::uint64_t) {
        return std::make_unique<rotor::SlotEngine>(std::move(fabric));
    };
    engine.follows_routes = [](const Fabric&) { return false; };  // packets go around through other racks
    return engine;
}

}  // namespace astrolabe::network
