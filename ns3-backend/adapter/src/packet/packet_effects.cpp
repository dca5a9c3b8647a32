// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_effects.hpp"

#include <map>
#include <string>
#include <type_traits>

namespace astrolabe::ns3 {

namespace sim = ::ns3;

namespace {

/// What a key is for, where that is not what was chosen.
using Purposes = std::map<std::string, std::string>;

/// "dctcp or dcqcn".
std::string controls_with(sim::PacketControlKind::Trait trait) {
    std::string names;
    sim::PacketCongestionControls::Visit([&](const sim::PacketControlKind& kind, const auto&) {
        if (kind.Has(trait)) {
            names += (names.empty() ? "" : " or ") + std::string(kind.name);
        }
    });
    return names;
}

std::string chosen(const sim::PacketTransportParameters& transport) {
    return ", and " + std::string(transport.congestionControl->name) + " is chosen";
}

Purposes unserved(const PacketOptions& options) {
    const sim::PacketTransportParameters& transport = options.transport;
    const sim::PacketFabricParameters& ports = options.ports;
    Purposes purposes;
    if (!transport.rttEstimation) {
        purposes["min_timeout"] = "it is for rtt_estimation: true";
    }
    if (!transport.IsSelective()) {
        purposes["reorder_tolerance"] = "it is for recovery: selective";
    }
    if (transport.IsPulled()) {
        purposes["ack_every"] =
            "receivers under " + std::string(transport.congestionControl->name) + " answer every packet";
    }
    if (!transport.congestionControl->Has(sim::PacketControlKind::USES_MARKS)) {
        const std::string marks =
            "it is for congestion_control: " + controls_with(sim::PacketControlKind::USES_MARKS) +
            chosen(transport);
        for (const char* key : {"ecn_threshold", "ecn_max_threshold", "ecn_probability"}) {
            purposes[key] = marks;
        }
    } else if (ports.ecnMaxThreshold <= ports.ecnThreshold) {
        purposes["ecn_probability"] =
            "it is for an ecn_max_threshold above ecn_threshold; all packets above "
            "ecn_threshold are marked without";
    }
    if (ports.bufferSharing != sim::PacketBuffers::DYNAMIC) {
        purposes["dynamic_share"] = "it is for buffer_sharing: dynamic";
    }
    if (ports.flowControl != sim::PacketFlowControlKind::PFC) {
        purposes["pause_threshold"] = "it is for flow_control: pfc";
    }
    if (ports.flowControl != sim::PacketFlowControlKind::CREDIT) {
        purposes["credit_room"] = "it is for flow_control: credit";
    }
    return purposes;
}

/// Calls `report(key)` for every parameter that differs from `usual`.
template <class Parameters, class Report>
void for_each_changed(const Parameters& set, const Parameters& usual, Report report) {
    Parameters::VisitParameters([&](const char* key, auto member, const char*, const auto&) {
        if (!(set.*member == usual.*member)) {
            report(std::string(key));
        }
    });
}

}  // namespace

ValidationErrors effect_errors(const PacketOptions& options) {
    ValidationErrors found;
    const auto refuse = [&found](const std::string& key, const std::string& purpose) {
        found.push_back({key, "has no effect", purpose});
    };
    const PacketOptions usual =
        options.preset == PacketPreset::kLegacyDctcp ? legacy_dctcp() : PacketOptions();
    const Purposes purposes = unserved(options);
    const auto refuse_unserved = [&](const std::string& key) {
        if (const auto purpose = purposes.find(key); purpose != purposes.end()) {
            refuse(key, purpose->second);
        }
    };
    for_each_changed<sim::PacketTransportParameters>(options.transport, usual.transport, refuse_unserved);
    for_each_changed<sim::PacketFabricParameters>(options.ports, usual.ports, refuse_unserved);
    if (!options.weights.empty() && options.ports.service != sim::PacketService::WEIGHTED) {
        refuse("weights", "it is for service: weighted");
    }
    sim::PacketCongestionControls::Visit([&](const sim::PacketControlKind& kind, const auto& plain) {
        using Parameters = std::decay_t<decltype(plain)>;
        if (kind.name == std::string(options.transport.congestionControl->name)) {
            return;
        }
        const std::string section =
            kind.Has(sim::PacketControlKind::HAS_NO_SECTION) ? "" : std::string(kind.name) + ".";
        for_each_changed<Parameters>(
            options.transport.Get<Parameters>(), usual.transport.Get<Parameters>(),
            [&](const std::string& key) {
                refuse(section + key,
                       "it is for congestion_control: " + std::string(kind.name) + chosen(options.transport));
            });
    });
    return found;
}

}  // namespace astrolabe::ns3
