#include "../slots/components.hpp"

#include "../switching_names.hpp"
#include "fluid_backend.hpp"

#include <optional>
#include <string>

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

bool never(const Fabric& /*fabric*/) {
    return false;
}

/// A FluidBackend, on links taken together too where `folds`.
Engine fluid_engine(std::string_view networks, std::string help, const TransportTerms& terms, bool folds) {
    Engine engine;
    engine.networks = networks;
    engine.help = std::move(help);
    engine.make = [terms](std::shared_ptr<const Fabric> fabric, std::uint64_t) {
        return std::make_unique<FluidBackend>(std::move(fabric), FluidOptions{.terms = terms});
    };
    if (folds) {
        engine.make_folded = [terms](std::shared_ptr<const LinkClasses> classes, std::uint64_t) {
            return std::make_unique<FluidBackend>(std::move(classes), FluidOptions{.terms = terms});
        };
    }
    return engine;
}

/// One that links may fail under, where the terms are not of a path that then changes.
Engine static_engine(const TransportTerms& terms) {
    Engine engine = fluid_engine(kStaticNetworks, "max-min fair rates", terms, !terms.incast);
    engine.breaks_links = true;
    engine.unsupported = [terms](const Fabric& fabric) -> std::optional<std::string> {
        return terms == TransportTerms() || fabric.failures() == nullptr
                   ? std::nullopt
                   : std::optional<std::string>(
                         "its links fail, and the terms of fluid know one path for a pair: leave out all "
                         "keys of fluid");
    };
    return engine;
}

Engine demand_aware_engine(const TransportTerms& terms) {
    Engine engine = fluid_engine(kDemandAwareNetworks, "max-min fair rates, anew at every change of circuits",
                                 terms, !terms.incast);
    engine.unsupported = [terms](const Fabric& fabric) -> std::optional<std::string> {
        if (fabric.failures() != nullptr) {
            return "its links fail, and its circuits move with the demand: a controller that moves them "
                   "knows "
                   "none that is down; leave reconfiguration out";
        }
        return terms == TransportTerms()
                   ? std::nullopt
                   : std::optional<std::string>(
                         "its circuits move while messages wait, and the terms of fluid know one path for a "
                         "pair: leave out all keys of fluid");
    };
    engine.follows_routes = never;  // a change of circuits changes the routes that a fabric starts with
    return engine;
}

Transport transport_of(const TransportTerms& terms) {
    Transport transport;
    transport.has_latency = terms.latency;
    if (terms.framing) {
        transport.payload = terms.framing->mtu;
        transport.header = terms.framing->header;
        transport.stores_packets = terms.framing->switching == Switching::kStoreAndForward;
    }
    transport.window = terms.window;
    if (terms.slow_start) {
        transport.initial_window = terms.slow_start->initial_window;
    }
    if (terms.incast) {
        transport.loses_packets = true;
        transport.timeout = terms.incast->timeout;
    }
    return transport;
}

}  // namespace

void register_fluid_backend(Registry<BackendMaker>& registry) {
    registry.add<TransportTerms>(fluid_schema(), [](const TransportTerms& terms) {
        BackendMaker maker;
        // Without latency messages may beat bounds that count it.
        maker.shares_links = terms.latency;
        maker.transport = transport_of(terms);
        // Who finds no room for a window depends on the order among messages that are alike.
        maker.engines = {static_engine(terms),
                         fluid_engine(kScheduledNetworks, "max-min fair rates that repeat with the schedule",
                                      terms, !terms.incast),
                         demand_aware_engine(terms), slot_engine(terms)};
        return maker;
    });
}

}  // namespace astrolabe::network
