#include "../slots/slot_engine.hpp"
#include "../switching_names.hpp"
#include "fluid_backend.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>

#include <astrolabe/network/components.hpp>

namespace astrolabe::network {

namespace {

constexpr Range<Bytes> kSizes{Bytes(1), Bytes(std::int64_t{1} << 40)};
constexpr Range<Bytes> kHeaders{Bytes(1), Bytes(65'536)};
/// A million seconds, so that simulated time, 9.2 million, ends no earlier than a few of them.
constexpr Range<Time> kTimes{Time(0), Time(1'000'000 * kPicosecondsPerSecond)};

Schema<Framing> framing_schema() {
    Schema<Framing> schema("framing", "packets with headers");
    schema.optional("mtu", &Framing::mtu, "payload of a full packet", kSizes)
        .optional("header", &Framing::header, "of a packet, beside its payload", kHeaders)
        .optional("switching", &Framing::switching, "when a node may send a packet on");
    return schema;
}

Schema<SlowStart> slow_start_schema() {
    Schema<SlowStart> schema("slow_start", "a window that doubles every round trip");
    schema.optional("initial_window", &SlowStart::initial_window, "payload of the first round", kSizes)
        .optional("restart_after", &SlowStart::restart_after,
                  "a pair of hosts that sent nothing for so long begins again", kTimes);
    return schema;
}

Schema<Incast> incast_schema() {
    Schema<Incast> schema("incast", "windows that find no room wait for a timeout");
    schema.required("buffer", &Incast::buffer, "room in front of a host", {Bytes(0), kSizes.max})
        .required("timeout", &Incast::timeout, "before what was lost is sent again", kTimes);
    return schema;
}

Schema<TransportTerms> fluid_schema() {
    Schema<TransportTerms> schema("fluid",
                                  "max-min fair rates, event by event; cost follows rate changes, not bytes");
    schema.optional("latency", &TransportTerms::latency, "messages arrive the latency of their path later")
        .section("framing", &TransportTerms::framing, framing_schema(), "headers of packets take time")
        .optional("window", &TransportTerms::window,
                  "most payload of a pair of hosts that is not acknowledged: limits its rate", kSizes)
        .section("slow_start", &TransportTerms::slow_start, slow_start_schema(),
                 "pairs that were idle take round trips to get going")
        .section("incast", &TransportTerms::incast, incast_schema(),
                 "many senders to one host lose windows (needs window)")
        .check([](const TransportTerms& terms) { return validation_errors(terms); });
    return schema;
}

/// Rotor networks have the packets and latencies of their own service, and no windows.
std::optional<std::string> refusal_of(const TransportTerms& terms, const Fabric& fabric) {
    if (fabric.reconfiguration() != nullptr && terms != TransportTerms()) {
        return "its circuits move while messages wait, and the terms of fluid know one path for a pair: "
               "leave out all keys of fluid";
    }
    if (rotor::rotors_of(fabric) == nullptr) {
        return std::nullopt;
    }
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
    return rotor::slot_engine_refusal(fabric);
}

}  // namespace

void register_fluid_backend(Registry<BackendMaker>& registry) {
    registry.add<TransportTerms>(fluid_schema(), [](const TransportTerms& terms) {
        BackendMaker maker;
        // Without latency messages may beat bounds that count it.
        maker.shares_links = terms.latency;
        maker.refusal = [terms](const Fabric& fabric) { return refusal_of(terms, fabric); };
        // RotorLB sends packets around through other racks, and circuits that move change the routes that a
        // fabric begins with.
        maker.follows_routes = [](const Fabric& fabric) {
            return rotor::rotors_of(fabric) == nullptr && fabric.reconfiguration() == nullptr;
        };
        maker.make = [terms](std::shared_ptr<const Fabric> fabric,
                             std::uint64_t) -> std::unique_ptr<NetworkBackend> {
            if (rotor::rotors_of(*fabric) != nullptr) {
                return std::make_unique<rotor::SlotEngine>(std::move(fabric));
            }
            return std::make_unique<FluidBackend>(std::move(fabric), FluidOptions{.terms = terms});
        };
        if (terms.incast) {
            // Who finds no room depends on the order among images.
            return maker;
        }
        maker.make_folded = [terms](std::shared_ptr<const LinkClasses> classes, std::uint64_t) {
            return std::make_unique<FluidBackend>(std::move(classes), FluidOptions{.terms = terms});
        };
        return maker;
    });
}

}  // namespace astrolabe::network
