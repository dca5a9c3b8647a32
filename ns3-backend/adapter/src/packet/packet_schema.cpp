// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_schema.hpp"

#include "packet/packet_effects.hpp"
#include "transport/transport_keys.hpp"

namespace astrolabe {

template <>
struct EnumNames<ns3::PacketPreset> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketPreset>, 2> kNames{
        {{"none", ns3::PacketPreset::kNone}, {"legacy_dctcp", ns3::PacketPreset::kLegacyDctcp}}};
};

}  // namespace astrolabe

namespace astrolabe::ns3 {

namespace {

/// Read first: it sets the defaults of all other keys.
void add_preset(Schema<PacketOptions>& schema) {
    schema.field(
        {"preset",
         ValueTraits<PacketPreset>::type(),
         ValueTraits<PacketPreset>::format(PacketPreset::kNone),
         false,
         {},
         "defaults of all other keys: those below, or the transport of the DLRM study on Opera",
         {}},
        [](PacketOptions& options, const ConfigNode& node, ReadContext& context) {
            const auto preset = read_scalar<PacketPreset>(node, "'preset'", context);
            if (preset == PacketPreset::kLegacyDctcp) {
                options = legacy_dctcp();
            }
        },
        [](const PacketOptions& options) -> std::optional<ConfigNode> {
            return ConfigNode::scalar(ValueTraits<PacketPreset>::format(options.preset));
        });
}

}  // namespace

void add_port_keys(Schema<PacketOptions>& schema) {
    using Ports = ::ns3::PacketFabricParameters;
    Ports::VisitParameters(KeyMaker<PacketOptions, Ports>(
        schema, [](PacketOptions& options) -> Ports& { return options.ports; }));
    schema
        .list("weights", &PacketOptions::weights, "of the classes, lowest class first (weighted)", false,
              {1, 1'000'000})
        .optional("flowlet_gap", &PacketOptions::flowlet_gap,
                  "a pair that pauses so long at a switch may take another way; 0: never", {Time(0), {}})
        .optional("loss_rate", &PacketOptions::loss_rate, "of packets on every link, at random", {0.0, 0.99});
}

Schema<PacketOptions> packet_schema() {
    Schema<PacketOptions> schema("packet", "lean packet engine on ns-3's event loop: every packet and queue");
    add_preset(schema);
    add_transport_keys(schema);
    add_port_keys(schema);
    schema.check([](const PacketOptions& options) { return validation_errors(options); });
    schema.check([](const PacketOptions& options) { return effect_errors(options); });
    return schema;
}

}  // namespace astrolabe::ns3
