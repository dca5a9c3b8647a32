// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/tcp_schema.hpp"

namespace astrolabe {

template <>
struct EnumNames<ns3::TcpVariant> {
    static constexpr std::array<std::pair<std::string_view, ns3::TcpVariant>, 3> kNames{
        {{"new_reno", ns3::TcpVariant::kNewReno},
         {"cubic", ns3::TcpVariant::kCubic},
         {"dctcp", ns3::TcpVariant::kDctcp}}};
};
template <>
struct EnumNames<ns3::BufferSharing> {
    static constexpr std::array<std::pair<std::string_view, ns3::BufferSharing>, 2> kNames{
        {{"per_port", ns3::BufferSharing::kPerPort}, {"shared", ns3::BufferSharing::kShared}}};
};

}  // namespace astrolabe

namespace astrolabe::ns3 {

namespace {

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
                                  "docs/models/tcp.md lists the attributes that matter");
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

}  // namespace

Schema<TcpKeys> tcp_schema() {
    Schema<TcpKeys> schema("tcp", "stock ns-3 TCP/IP sockets over ns-3 devices, packet by packet");
    schema
        .optional("window", &TcpKeys::window,
                  "send and receive buffer of a connection: largest number of bytes in flight",
                  {Bytes(1), {}})
        .optional("mtu", &TcpKeys::mtu, "largest IP datagram, 576B to 65535B")
        .optional("variant", &TcpKeys::variant, "congestion control")
        .optional("min_rto", &TcpKeys::min_rto, "smallest retransmission timeout")
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
            ValidationErrors found;
            std::vector<OptionProblem> problems = validation_errors(options);
            if (problems.empty()) {
                problems = effect_errors(options);
            }
            for (const OptionProblem& problem : problems) {
                found.push_back({problem.key == "attributes" ? "ns3.attributes" : problem.key,
                                 problem.message, problem.hint});
            }
            return found;
        });
    return schema;
}

}  // namespace astrolabe::ns3
