// SPDX-License-Identifier: GPL-2.0-only
/// The keys of the packet backend's transport and of its congestion controls. The module declares them, with
/// their defaults, ranges and help (ns3-backend/model/transport/packet-transport-parameters.h); here they
/// become keys of a schema.
#pragma once

#include "packet/packet_options.hpp"
#include "transport/parameter_keys.hpp"

#include <optional>
#include <string>
#include <type_traits>

#include <ns3/packet-transport-parameters.h>

namespace astrolabe::ns3 {

/// The keys of one congestion control: in a section of their own, or among those of the transport.
template <class Parameters>
void add_control_keys(Schema<PacketOptions>& schema, const sim::PacketControlKind& kind) {
    if (kind.Has(sim::PacketControlKind::HAS_NO_SECTION)) {
        Parameters::VisitParameters(KeyMaker<PacketOptions, Parameters>(
            schema,
            [](PacketOptions& options) -> Parameters& { return options.transport.Get<Parameters>(); }));
        return;
    }
    Schema<Parameters> section(kind.name, kind.title);
    Parameters::VisitParameters(KeyMaker<Parameters, Parameters>(
        section, [](Parameters& parameters) -> Parameters& { return parameters; }));
    schema.field(
        {kind.name,
         "mapping",
         "see its keys",
         false,
         {},
         "of congestion_control: " + std::string(kind.name),
         section.parameters()},
        [section](PacketOptions& options, const ConfigNode& node, ReadContext& context) {
            if (const std::optional<Parameters> read = section.read(node, context)) {
                options.transport.Get<Parameters>() = *read;
            }
        },
        [section](const PacketOptions& options) -> std::optional<ConfigNode> {
            return section.write(options.transport.Get<Parameters>());
        });
}

/// With the congestion controls of a PacketControlList.
template <class Controls = sim::PacketCongestionControls>
void add_transport_keys(Schema<PacketOptions>& schema) {
    using Transport = sim::PacketTransportParameters;
    Transport::VisitParameters<Controls>(KeyMaker<PacketOptions, Transport>(
        schema, [](PacketOptions& options) -> Transport& { return options.transport; }));
    Controls::Visit([&](const sim::PacketControlKind& kind, const auto& parameters) {
        using Parameters = std::decay_t<decltype(parameters)>;
        if constexpr (!std::is_same_v<Parameters, sim::PacketNoParameters>) {
            add_control_keys<Parameters>(schema, kind);
        }
    });
}

/// What does not go together.
[[nodiscard]] ValidationErrors transport_errors(const sim::PacketTransportParameters& transport);

}  // namespace astrolabe::ns3
