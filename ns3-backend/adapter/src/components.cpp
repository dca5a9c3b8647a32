// SPDX-License-Identifier: GPL-2.0-only
#include <astrolabe/ns3/components.hpp>
#include <astrolabe/ns3/packet_backend.hpp>
#include <astrolabe/ns3/tcp_backend.hpp>
#include <astrolabe/ns3/tcp_options.hpp>

namespace astrolabe {

template <>
struct EnumNames<ns3::TcpVariant> {
    static constexpr std::array<std::pair<std::string_view, ns3::TcpVariant>, 3> kNames{
        {{"new_reno", ns3::TcpVariant::kNewReno},
         {"cubic", ns3::TcpVariant::kCubic},
         {"dctcp", ns3::TcpVariant::kDctcp}}};
};
template <>
struct EnumNames<ns3::PacketSwitching> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketSwitching>, 2> kNames{
        {{"store_and_forward", ns3::PacketSwitching::kStoreAndForward},
         {"cut_through", ns3::PacketSwitching::kCutThrough}}};
};
template <>
struct EnumNames<ns3::PacketCongestion> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketCongestion>, 2> kNames{
        {{"none", ns3::PacketCongestion::kNone}, {"dctcp", ns3::PacketCongestion::kDctcp}}};
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
template <>
struct EnumNames<ns3::BufferSharing> {
    static constexpr std::array<std::pair<std::string_view, ns3::BufferSharing>, 2> kNames{
        {{"per_port", ns3::BufferSharing::kPerPort}, {"shared", ns3::BufferSharing::kShared}}};
};

}  // namespace astrolabe

namespace astrolabe::ns3 {
namespace {

/// The `ns3` section: what reaches past our keys into ns-3.
struct Ns3Keys {
    std::vector<std::pair<std::string, std::string>> attributes;
};

struct TcpKeys : TcpOptions {
    Ns3Keys ns3;
};

Schema<Ns3Keys> ns3_schema() {
    Schema<Ns3Keys> schema("ns3", "settings of ns-3 itself");
    schema.field(
        {"attributes",
         "mapping of ns-3 attribute names to values",
         "{}",
         false,
         {},
         "ns-3 attribute defaults, applied after all other keys: {'ns3::TcpSocketBase::MinRto': 2ms}",
         {}},
        [](Ns3Keys& keys, const ConfigNode& node, ReadContext& context) {
            if (!node.is_mapping()) {
                context.error("config.type", node.where,
                              "'attributes' takes a mapping, found " + std::string(node.kind_name()),
                              "write {'ns3::TcpSocketBase::MinRto': 2ms}");
                return;
            }
            for (const ConfigEntry& entry : node.entries) {
                if (!entry.value.is_scalar()) {
                    context.error(
                        "config.type", entry.value.where,
                        "'" + entry.key + "' takes a value, found " + std::string(entry.value.kind_name()),
                        "write {'ns3::TcpSocketBase::MinRto': 2ms}");
                } else if (const auto problem = attribute_problem(entry.key, entry.value.text)) {
                    context.error("config.ns3-attribute", entry.key_where, *problem,
                                  "docs/models/tcp.md says which attributes matter and what they are");
                } else {
                    keys.attributes.emplace_back(entry.key, entry.value.text);
                }
            }
        },
        [](const Ns3Keys& keys) -> std::optional<ConfigNode> {
            ConfigNode node = ConfigNode::mapping();
            for (const auto& [name, value] : keys.attributes) {
                node.set(name, ConfigNode::scalar(value));
            }
            return node;
        });
    return schema;
}

Schema<TcpKeys> tcp_schema() {
    Schema<TcpKeys> schema("tcp", "stock ns-3 TCP/IP sockets over ns-3 devices, packet by packet");
    schema
        .optional("window", &TcpKeys::window, "send and receive buffer of a connection: most bytes in flight",
                  {Bytes(1), {}})
        .optional("mtu", &TcpKeys::mtu, "largest IP datagram, 576B to 65535B")
        .optional("variant", &TcpKeys::variant, "congestion control")
        .optional("min_rto", &TcpKeys::min_rto, "least retransmission timeout")
        .optional("connect_timeout", &TcpKeys::connect_timeout, "first timeout of a connection request")
        .optional("initial_window", &TcpKeys::initial_window, "initial congestion window in segments",
                  {1, 1'000'000})
        .optional("delayed_ack", &TcpKeys::delayed_ack, "segments per acknowledgement", {1, 64})
        .optional("delayed_ack_timeout", &TcpKeys::delayed_ack_timeout, "longest delay of an acknowledgement")
        .optional("timestamps", &TcpKeys::timestamps, "use the TCP timestamp option (12 B per segment)")
        .optional("buffer_sharing", &TcpKeys::buffer_sharing,
                  "how the ports of a switch share its packet memory")
        .optional("ecn_threshold", &TcpKeys::ecn_threshold, "queue above which packets are marked (dctcp)")
        .optional("frame_header", &TcpKeys::frame_header,
                  "header in front of every message in the byte stream", {Bytes(1), Bytes(65'535)})
        .section("ns3", &TcpKeys::ns3, ns3_schema(), "settings of ns-3 itself")
        .check([](const TcpKeys& keys) {
            TcpOptions options = keys;
            options.attributes = keys.ns3.attributes;
            std::vector<ParameterProblem> found;
            for (const OptionProblem& problem : problems(options)) {
                found.push_back({problem.key == "attributes" ? "ns3.attributes" : problem.key,
                                 problem.message, problem.hint});
            }
            return found;
        });
    return schema;
}

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
                  "one that leaves more than that is; no more than ecn_threshold: a step there", {Bytes(0), {}})
        .optional("ecn_probability", &PacketOptions::ecn_probability,
                  "of a mark at ecn_max_threshold, rising linearly from ecn_threshold", {0.0, 1.0})
        .optional("flow_control", &PacketOptions::flow_control,
                  "what keeps links from carrying what the next node has no room for")
        .optional("pause_threshold", &PacketOptions::pause_threshold,
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
    schema.optional("mtu", &PacketOptions::mtu, "payload of a full packet", {Bytes(1), {}})
        .optional("header", &PacketOptions::header, "of a data packet on the wire, beside its payload",
                  {Bytes(1), {}})
        .optional("ack_size", &PacketOptions::ack_size, "of an acknowledgement on the wire", {Bytes(1), {}})
        .optional("window", &PacketOptions::window,
                  "most payload of a pair of hosts that is not acknowledged; always one packet",
                  {Bytes(1), {}})
        .optional("ack_every", &PacketOptions::ack_every, "packets per acknowledgement", {1, 1'000'000})
        .optional("congestion_control", &PacketOptions::congestion_control,
                  "how a pair's window adapts: not at all, or to marks as in DCTCP")
        .optional("initial_window", &PacketOptions::initial_window,
                  "window of a pair that starts, in packets (dctcp)", {1, 1'000'000})
        .optional("timeout", &PacketOptions::timeout,
                  "without an acknowledgement before packets are sent again");
    add_port_keys(schema);
    schema.check([](const PacketOptions& options) { return problems(options); });
    return schema;
}

}  // namespace

void register_backends(Registry<network::BackendMaker>& registry) {
    registry.add<PacketOptions>(packet_schema(), [](const PacketOptions& options) {
        network::BackendMaker maker;
        maker.has_traffic_classes = options.traffic_classes > 1;
        maker.tells_of_packets = true;
        maker.refusal = [options](const network::Fabric& fabric) { return refusal(fabric, options); };
        maker.make = [options](std::shared_ptr<const network::Fabric> fabric, std::uint64_t seed) {
            return std::make_unique<PacketBackend>(std::move(fabric), options, seed);
        };
        return maker;
    });
    registry.add<TcpKeys>(tcp_schema(), [](const TcpKeys& keys) {
        TcpOptions options = keys;
        options.attributes = keys.ns3.attributes;
        network::BackendMaker maker;
        maker.refusal = [options](const network::Fabric& fabric) { return refusal(fabric, options); };
        maker.make = [options](std::shared_ptr<const network::Fabric> fabric, std::uint64_t seed) {
            TcpOptions seeded = options;
            seeded.seed = seed;
            return std::make_unique<TcpBackend>(std::move(fabric), std::move(seeded));
        };
        return maker;
    });
}

}  // namespace astrolabe::ns3
