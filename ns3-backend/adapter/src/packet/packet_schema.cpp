// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_schema.hpp"

#include "transport/transport_keys.hpp"

namespace astrolabe {

template <>
struct EnumNames<ns3::PacketSwitching> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketSwitching>, 2> kNames{
        {{"store_and_forward", ns3::PacketSwitching::kStoreAndForward},
         {"cut_through", ns3::PacketSwitching::kCutThrough}}};
};
template <>
struct EnumNames<ns3::PacketPreset> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketPreset>, 2> kNames{
        {{"none", ns3::PacketPreset::kNone}, {"legacy_dctcp", ns3::PacketPreset::kLegacyDctcp}}};
};
template <>
struct EnumNames<ns3::PacketBuffers> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketBuffers>, 3> kNames{
        {{"per_port", ns3::PacketBuffers::kPerPort},
         {"shared", ns3::PacketBuffers::kShared},
         {"dynamic", ns3::PacketBuffers::kDynamic}}};
};
template <>
struct EnumNames<ns3::PacketFlowControlKind> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketFlowControlKind>, 3> kNames{
        {{"none", ns3::PacketFlowControlKind::kNone},
         {"pfc", ns3::PacketFlowControlKind::kPfc},
         {"credit", ns3::PacketFlowControlKind::kCredit}}};
};
template <>
struct EnumNames<ns3::PacketServiceKind> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketServiceKind>, 2> kNames{
        {{"strict", ns3::PacketServiceKind::kStrict}, {"weighted", ns3::PacketServiceKind::kWeighted}}};
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
    schema
        .optional("switching", &PacketOptions::switching,
                  "when a switch may send a packet on: when all of it has arrived, or its header")
        .optional("buffer_sharing", &PacketOptions::buffer_sharing,
                  "how the ports of a switch share its packet memory")
        .optional("dynamic_share", &PacketOptions::dynamic_share,
                  "how many times the free memory a port may hold (dynamic)", {1.0 / 1024, 1024.0})
        .optional("ecn_threshold", &PacketOptions::ecn_threshold,
                  "a packet that leaves more than that waiting behind it may be marked")
        .optional("ecn_max_threshold", &PacketOptions::ecn_max_threshold,
                  "one that leaves more than that is; no more than ecn_threshold: a step there",
                  {Bytes(0), {}})
        .optional("ecn_probability", &PacketOptions::ecn_probability,
                  "of a mark at ecn_max_threshold, rising linearly from ecn_threshold", {0.0, 1.0})
        .optional("flow_control", &PacketOptions::flow_control,
                  "what keeps links from carrying what the next node has no room for")
        .optional(
            "pause_threshold", &PacketOptions::pause_threshold,
            "what a switch holds of a link's traffic class before it pauses it; 0: what its memory allows "
            "(pfc)",
            {Bytes(0), {}})
        .optional("credit_room", &PacketOptions::credit_room,
                  "room at the end of a link for each traffic class (credit)", {Bytes(1), {}})
        .optional("traffic_classes", &PacketOptions::traffic_classes,
                  "classes with queues of their own; messages above the last are of the last", {1, 8})
        .optional("service", &PacketOptions::service, "how the classes of a port share its link")
        .list("weights", &PacketOptions::weights, "of the classes, lowest class first (weighted)", false,
              {1, 1'000'000})
        .optional("trim_threshold", &PacketOptions::trim_threshold,
                  "data waiting in a port beyond which packets lose their payload; 0: never", {Bytes(0), {}})
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
    return schema;
}

}  // namespace astrolabe::ns3
