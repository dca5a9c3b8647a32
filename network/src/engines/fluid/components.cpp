#include "../slots/components.hpp"

#include "../switching_names.hpp"
#include "fluid_backend.hpp"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/network/components.hpp>

namespace astrolabe::network {

namespace {

constexpr Range<Bytes> kSizes{Bytes(1), Bytes(std::int64_t{1} << 40)};
constexpr Range<Bytes> kHeaders{Bytes(1), Bytes(65'536)};
constexpr Range<double> kSlack{0.0, 0.1};
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

struct FluidParameters : TransportTerms {
    std::optional<Time> rate_interval;
    std::optional<double> rate_slack;

    [[nodiscard]] bool has_interval() const { return rate_interval.value_or(Time(0)) > Time(0); }
    [[nodiscard]] bool has_slack() const { return rate_slack.value_or(0.0) > 0.0; }
};

ValidationErrors fluid_errors(const FluidParameters& parameters) {
    ValidationErrors errors = validation_errors(parameters);
    if (parameters.has_interval() && (parameters.slow_start || parameters.incast)) {
        errors.push_back(
            {"rate_interval",
             "rates that are updated now and then make connections wait, and slow_start and incast "
             "make them wait from the instant they start",
             "leave out rate_interval, or slow_start and incast"});
    }
    if (parameters.has_slack() &&
        (parameters.has_interval() || static_cast<const TransportTerms&>(parameters) != TransportTerms())) {
        errors.push_back(
            {"rate_slack",
             "links leave slack where nothing else limits a connection, and terms of a transport "
             "and a rate_interval do",
             "leave out rate_slack, or all other keys of fluid"});
    }
    return errors;
}

Schema<FluidParameters> fluid_schema() {
    Schema<FluidParameters> schema(
        "fluid", "max-min fair rates, event by event; cost follows rate changes, not bytes");
    schema.optional("latency", &TransportTerms::latency, "messages arrive the latency of their path later")
        .section("framing", &TransportTerms::framing, framing_schema(), "headers of packets take time")
        .optional("window", &TransportTerms::window,
                  "most payload of a pair of hosts that is not acknowledged: limits its rate", kSizes)
        .section("slow_start", &TransportTerms::slow_start, slow_start_schema(),
                 "pairs that were idle take round trips to get going")
        .section("incast", &TransportTerms::incast, incast_schema(),
                 "many senders to one host lose windows (needs window)")
        .optional(
            "rate_interval", &FluidParameters::rate_interval,
            "least time between two updates of rates, an approximation whose error results state; 0, or left "
            "out: rates adapt at once",
            kTimes)
        .optional("rate_slack", &FluidParameters::rate_slack,
                  "part of its rate that a link may leave unused rather than change rates, an approximation "
                  "that results state; 0, or left out: none",
                  kSlack)
        .check(fluid_errors);
    return schema;
}

bool never(const Fabric& /*fabric*/) {
    return false;
}

/// A FluidBackend, on links taken together too where it folds.
Engine fluid_engine(std::string_view networks, std::string help, const FluidParameters& parameters) {
    const FluidOptions options{.terms = parameters,
                               .rate_interval = parameters.rate_interval.value_or(Time(0)),
                               .rate_slack = parameters.rate_slack.value_or(0.0)};
    Engine engine;
    engine.networks = networks;
    engine.help = std::move(help);
    engine.make = [options](std::shared_ptr<const Fabric> fabric, std::uint64_t) {
        return std::make_unique<FluidBackend>(std::move(fabric), options);
    };
    // With incast, who finds no room for a window depends on the order among messages that are alike; with
    // slack, which of several rates they have.
    if (!parameters.incast && !parameters.has_slack()) {
        engine.make_folded = [options](std::shared_ptr<const LinkClasses> classes, std::uint64_t) {
            return std::make_unique<FluidBackend>(std::move(classes), options);
        };
    }
    return engine;
}

std::optional<std::string> unsupported_interval(const FluidParameters& parameters, const char* reason) {
    if (parameters.has_slack()) {
        return fmt::format("{}, and rate_slack is of links that are shared all the time: leave it out",
                           reason);
    }
    return parameters.has_interval()
               ? std::optional(
                     fmt::format("{}, and a rate_interval would have rates wait: leave it out", reason))
               : std::nullopt;
}

/// One that links may fail under, where the terms are not of a path that then changes.
Engine static_engine(const FluidParameters& terms) {
    Engine engine = fluid_engine(kStaticNetworks, "max-min fair rates", terms);
    engine.breaks_links = true;
    engine.unsupported = [terms](const Fabric& fabric) -> std::optional<std::string> {
        if (fabric.failures() == nullptr) {
            return std::nullopt;
        }
        return terms == TransportTerms()
                   ? unsupported_interval(terms, "its links fail, which changes rates at once")
                   : std::optional<std::string>(
                         "its links fail, and the terms of fluid know one path for a pair: leave out all "
                         "keys of fluid");
    };
    return engine;
}

Engine scheduled_engine(const FluidParameters& parameters) {
    Engine engine =
        fluid_engine(kScheduledNetworks, "max-min fair rates that repeat with the schedule", parameters);
    engine.unsupported = [parameters](const Fabric&) {
        return unsupported_interval(parameters, "its circuits come and go, which changes rates at once");
    };
    return engine;
}

Engine demand_aware_engine(const FluidParameters& terms) {
    Engine engine =
        fluid_engine(kDemandAwareNetworks, "max-min fair rates, anew at every change of circuits", terms);
    engine.unsupported = [terms](const Fabric& fabric) -> std::optional<std::string> {
        if (fabric.failures() != nullptr) {
            return "its links fail, and its circuits move with the demand: a controller that moves them "
                   "knows "
                   "none that is down; leave reconfiguration out";
        }
        return terms == TransportTerms()
                   ? unsupported_interval(terms, "its circuits move, which changes rates at once")
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
    registry.add<FluidParameters>(fluid_schema(), [](const FluidParameters& terms) {
        BackendMaker maker;
        // Without latency messages may beat bounds that count it.
        maker.shares_links = terms.latency;
        maker.transport = transport_of(terms);
        Engine slots = slot_engine(terms);
        if (terms.has_interval() || terms.has_slack()) {
            slots.unsupported = [terms](const Fabric&) {
                return unsupported_interval(terms, "hosts send what slots grant them");
            };
        }
        maker.engines = {static_engine(terms), scheduled_engine(terms), demand_aware_engine(terms),
                         std::move(slots)};
        return maker;
    });
}

}  // namespace astrolabe::network
