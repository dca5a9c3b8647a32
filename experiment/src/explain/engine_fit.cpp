#include "transport_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/experiment/explain/engine_fit.hpp>

namespace astrolabe::experiment {
namespace {

using network::Transport;

constexpr double kNothing = 0.001;
constexpr std::string_view kCables = "cables";

std::string bytes_text(double bytes) {
    return readable(Bytes(std::llround(bytes)));
}

/// The way from one transport to another, a term at a time.
struct Step {
    std::string_view name;
    void (*take)(Transport& own, const Transport& other);
    std::string (*cause)(const Experiment& experiment, const Transport& other, const TransportTime& time);
};

std::string sharing_cause(const Experiment&, const Transport& other, const TransportTime&) {
    return other.shares_links ? "messages on one link share its rate" : "messages pass through one another";
}

std::string latency_cause(const Experiment&, const Transport&, const TransportTime&) {
    return "latencies of links";
}

std::string headers_cause(const Experiment&, const Transport& other, const TransportTime&) {
    return other.payload == Bytes(0)
               ? "links carry payload alone"
               : fmt::format("{} B a packet of {} B, {} B an acknowledgement of {:g} packets",
                             other.header.count(), other.payload.count(), other.acknowledgement.count(),
                             other.acknowledged);
}

std::string storing_cause(const Experiment&, const Transport& other, const TransportTime&) {
    return other.stores_packets ? fmt::format("every node waits for whole packets of {} B",
                                              (other.payload + other.header).count())
                                : "nodes send on what has not come whole";
}

std::string window_cause(const Experiment&, const Transport& other, const TransportTime&) {
    if (!other.window) {
        return "no window";
    }
    if (other.window_counts_packets) {
        return fmt::format("{} packets, short or full, a round trip for each pair of hosts",
                           *other.window / other.payload);
    }
    return fmt::format("{} a round trip for each pair of hosts", readable(*other.window));
}

std::string connection_cause(const Experiment&, const Transport& other, const TransportTime&) {
    const std::string start =
        other.initial_window ? fmt::format(", and windows that start at {}", readable(*other.initial_window))
                             : "";
    return (other.has_handshake ? "a round trip for each new connection" : "no handshake") + start;
}

std::string buffer_cause(const Experiment& experiment, const Transport&, const TransportTime& time) {
    if (!time.overflow) {
        return "buffers that never lose";
    }
    const network::Fabric& fabric = *experiment.fabric;
    const Overflow& overflow = *time.overflow;
    return fmt::format(
        "for {} to {}, with room for {}, {} may wait, of {:.0f} senders in {}; order of magnitude",
        fabric.node(fabric.source(overflow.link)).name, fabric.node(fabric.target(overflow.link)).name,
        bytes_text(overflow.room), bytes_text(overflow.bytes), overflow.senders, overflow.operation);
}

std::string spraying_cause(const Experiment&, const Transport&, const TransportTime&) {
    return "packets that take one of several paths at random meet";
}

std::string cable_cause(const Experiment&, const Transport&, const TransportTime&) {
    return "a burst keeps to one of a host's cables";
}

std::string queue_cause(const Experiment&, const Transport&, const TransportTime&) {
    return "bytes for a busy receiver wait in switches while their sender goes on";
}

constexpr std::array<Step, 10> kSteps{{
    {"sharing", [](Transport& own, const Transport& other) { own.shares_links = other.shares_links; },
     sharing_cause},
    {"latency", [](Transport& own, const Transport& other) { own.has_latency = other.has_latency; },
     latency_cause},
    {"headers",
     [](Transport& own, const Transport& other) {
         own.payload = other.payload;
         own.header = other.header;
         own.message_header = other.message_header;
         own.acknowledgement = other.acknowledgement;
         own.acknowledged = other.acknowledged;
     },
     headers_cause},
    {"store_and_forward",
     [](Transport& own, const Transport& other) { own.stores_packets = other.stores_packets; },
     storing_cause},
    {"window",
     [](Transport& own, const Transport& other) {
         own.window = other.window;
         own.window_counts_packets = other.window_counts_packets;
     },
     window_cause},
    {"connections",
     [](Transport& own, const Transport& other) {
         own.has_handshake = other.has_handshake;
         own.initial_window = other.initial_window;
         own.connects_messages = other.connects_messages;
     },
     connection_cause},
    {"spraying", [](Transport& own, const Transport& other) { own.sprays_packets = other.sprays_packets; },
     spraying_cause},
    {kCables, [](Transport& own, const Transport& other) { own.keeps_to_cable = other.keeps_to_cable; },
     cable_cause},
    {"queues", [](Transport& own, const Transport& other) { own.has_queues = other.has_queues; },
     queue_cause},
    {kBufferTerm,
     [](Transport& own, const Transport& other) {
         own.loses_packets = other.loses_packets;
         own.timeout = other.timeout;
         own.memory_share = other.memory_share;
     },
     buffer_cause},
}};

/// Whether the other engine has anything that the own one leaves out.
bool adds_something(const Transport& own, const Transport& other) {
    const auto adds = [](bool is_own, bool is_other) { return is_other && !is_own; };
    return adds(own.shares_links, other.shares_links) || adds(own.has_latency, other.has_latency) ||
           adds(own.payload > Bytes(0), other.payload > Bytes(0)) ||
           adds(own.stores_packets, other.stores_packets) ||
           adds(own.window.has_value(), other.window.has_value()) ||
           adds(own.initial_window.has_value(), other.initial_window.has_value()) ||
           adds(own.has_handshake, other.has_handshake) || adds(own.loses_packets, other.loses_packets) ||
           adds(own.has_queues, other.has_queues);
}

double weight_of(const EngineTerm& term) {
    return term.error ? std::abs(*term.error) : std::numeric_limits<double>::infinity();
}

std::vector<EngineTerm> terms_between(const Experiment& experiment, const TransportEstimate& estimate,
                                      const std::string& kind, const Transport& other) {
    Transport transport = experiment.backend.transport;
    const TransportTime own_time = estimate.time(transport);
    std::vector<EngineTerm> terms;
    if (own_time.seconds <= 0) {
        return terms;
    }
    // What is lost on both hides what else they differ in, and is a term by itself.
    const TransportTime others = estimate.time(other);
    const bool both_lose = own_time.overflow && others.overflow;
    if (both_lose) {
        transport.loses_packets = false;
    }
    const double whole = both_lose ? estimate.time(transport).seconds : own_time.seconds;
    double before = whole;
    for (const Step& step : kSteps) {
        if (both_lose && step.name == kBufferTerm) {
            terms.push_back(
                {std::string(step.name), kind, std::nullopt, step.cause(experiment, other, others)});
            continue;
        }
        step.take(transport, other);
        const TransportTime time = estimate.time(transport);
        const double error = (time.seconds - before) / whole;
        before = time.seconds;
        if (step.name == kCables && time.has_cable_choice && error < kWorthAWord) {
            // Whose bursts meet on a cable is beyond the estimate.
            terms.push_back(
                {std::string(step.name), kind, std::nullopt, step.cause(experiment, other, time)});
        } else if (std::abs(error) >= kNothing) {
            terms.push_back({std::string(step.name), kind, error, step.cause(experiment, other, time)});
        }
    }
    std::ranges::stable_sort(terms, std::ranges::greater(), weight_of);
    return terms;
}

}  // namespace

double all_of(std::span<const EngineTerm> terms) {
    double all = 0;
    for (const EngineTerm& term : terms) {
        all += term.error.value_or(0);
    }
    return all;
}

std::vector<EngineTerm> terms_of(const Experiment& experiment, const std::string& kind,
                                 const network::BackendMaker& other) {
    const TransportEstimate estimate(experiment);
    return estimate.omission().empty() ? terms_between(experiment, estimate, kind, other.transport)
                                       : std::vector<EngineTerm>{};
}

std::vector<EngineTerm> ignored_terms(const Experiment& experiment, std::span<const NamedEngine> others) {
    std::vector<EngineTerm> told;
    if (!experiment.fabric->is_static()) {
        return told;
    }
    const TransportEstimate estimate(experiment);
    if (!estimate.omission().empty()) {
        return told;
    }
    for (const NamedEngine& other : others) {
        if (!adds_something(experiment.backend.transport, other.maker.transport) ||
            other.maker.unsupported(*experiment.fabric)) {
            continue;
        }
        const std::vector<EngineTerm> terms =
            terms_between(experiment, estimate, other.kind, other.maker.transport);
        if (std::abs(all_of(terms)) < kWorthAWord && (terms.empty() || terms.front().error)) {
            continue;
        }
        for (const EngineTerm& term : terms) {
            const auto known =
                std::ranges::find(told, term.name, [](const EngineTerm& one) { return one.name; });
            const double told_before = known == told.end() ? 0 : known->error.value_or(0);
            if (!term.error || std::abs(*term.error - told_before) >= kSmallestTerm) {
                told.push_back(term);
            }
        }
    }
    return told;
}

std::vector<EngineTerm> ignored_terms(const Experiment& experiment, const Components& components) {
    std::vector<NamedEngine> others;
    for (const std::string& kind : components.backends.names()) {
        if (kind == experiment.backend_kind) {
            continue;
        }
        ConfigNode node = ConfigNode::mapping();
        node.set(components.backends.discriminator(), ConfigNode::scalar(kind));
        ReadContext context;
        if (const auto configured = components.backends.read(node, context)) {
            others.push_back({kind, configured->make()});
        }
    }
    return ignored_terms(experiment, others);
}

std::string engine_term_text(const EngineTerm& term) {
    if (!term.error) {
        return fmt::format("{}: {} takes another time, not estimated ({})", term.name, term.engine,
                           term.cause);
    }
    constexpr double kManyTimes = 10;
    const std::string much =
        *term.error >= kManyTimes
            ? fmt::format("{:.0f} times as long", 1 + *term.error)
            : fmt::format("{:.1f} % {}", 100 * std::abs(*term.error), *term.error > 0 ? "longer" : "less");
    return fmt::format("{}: {} takes {} ({})", term.name, term.engine, much, term.cause);
}

nlohmann::ordered_json engine_terms_json(std::span<const EngineTerm> terms) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const EngineTerm& term : terms) {
        list.push_back(
            {{"name", term.name},
             {"engine", term.engine},
             {"error", term.error ? nlohmann::ordered_json(*term.error) : nlohmann::ordered_json()},
             {"cause", term.cause}});
    }
    return list;
}

}  // namespace astrolabe::experiment
