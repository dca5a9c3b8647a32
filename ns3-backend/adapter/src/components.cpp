// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_packet_backend.hpp"
#include "packet/packet_backend.hpp"
#include "tcp/tcp_backend.hpp"
#include "tcp/tcp_options.hpp"

#include <astrolabe/network/routing.hpp>
#include <astrolabe/ns3/components.hpp>

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
    static constexpr std::array<std::pair<std::string_view, ns3::PacketCongestion>, 5> kNames{
        {{"none", ns3::PacketCongestion::kNone},
         {"dctcp", ns3::PacketCongestion::kDctcp},
         {"dcqcn", ns3::PacketCongestion::kDcqcn},
         {"hpcc", ns3::PacketCongestion::kHpcc},
         {"ndp", ns3::PacketCongestion::kNdp}}};
};
template <>
struct EnumNames<ns3::PacketRecovery> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketRecovery>, 2> kNames{
        {{"go_back_n", ns3::PacketRecovery::kGoBackN}, {"selective", ns3::PacketRecovery::kSelective}}};
};
template <>
struct EnumNames<ns3::PacketConnections> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketConnections>, 2> kNames{
        {{"per_pair", ns3::PacketConnections::kPerPair},
         {"per_message", ns3::PacketConnections::kPerMessage}}};
};
template <>
struct EnumNames<ns3::PacketHostQueue> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketHostQueue>, 2> kNames{
        {{"on_demand", ns3::PacketHostQueue::kOnDemand}, {"fifo", ns3::PacketHostQueue::kFifo}}};
};
template <>
struct EnumNames<ns3::PacketPullPacing> {
    static constexpr std::array<std::pair<std::string_view, ns3::PacketPullPacing>, 2> kNames{
        {{"per_host", ns3::PacketPullPacing::kPerHost}, {"per_pair", ns3::PacketPullPacing::kPerPair}}};
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

Schema<DcqcnOptions> dcqcn_schema() {
    Schema<DcqcnOptions> schema("dcqcn", "DCQCN (Zhu et al., SIGCOMM 2015)");
    schema.optional("gain", &DcqcnOptions::gain, "g, of alpha")
        .optional("notify_interval", &DcqcnOptions::notify_interval,
                  "N, least between two notifications of a pair")
        .optional("alpha_interval", &DcqcnOptions::alpha_interval,
                  "K, without a notification before alpha decays")
        .optional("increase_interval", &DcqcnOptions::increase_interval, "T, between steps of increase")
        .optional("increase_bytes", &DcqcnOptions::increase_bytes, "B, sent between steps of increase")
        .optional("fast_recovery", &DcqcnOptions::fast_recovery, "F, steps of fast recovery", {1, 1'000'000})
        .optional("additive_increase", &DcqcnOptions::additive_increase, "R_AI, of the target rate by a step")
        .optional("hyper_increase", &DcqcnOptions::hyper_increase,
                  "R_HAI, of the target rate by a step, times i")
        .optional("min_rate", &DcqcnOptions::min_rate, "least rate of a pair")
        .optional("clamp_target", &DcqcnOptions::clamp_target,
                  "every cut lowers the target rate, not only the first in a row");
    return schema;
}

Schema<HpccOptions> hpcc_schema() {
    Schema<HpccOptions> schema("hpcc", "HPCC (Li et al., SIGCOMM 2019)");
    schema.optional("base_rtt", &HpccOptions::base_rtt, "T, the longest round trip without queues")
        .optional("utilization", &HpccOptions::utilization, "eta, of links that is aimed at")
        .optional("max_stage", &HpccOptions::max_stage, "additive steps in a row", {0, 1'000'000})
        .optional("additive_increase", &HpccOptions::additive_increase, "W_AI, of the window by a step");
    return schema;
}

Schema<NdpOptions> ndp_schema() {
    Schema<NdpOptions> schema("ndp", "NDP (Handley et al., SIGCOMM 2017)");
    schema
        .optional("initial_window", &NdpOptions::initial_window, "packets sent before the first pull",
                  {1, 1'000'000})
        .optional("pull_rate", &NdpOptions::pull_rate, "of pulls, as a share of the link into the receiver")
        .optional("pull_pacing", &NdpOptions::pull_pacing, "what shares that rate");
    return schema;
}

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

void add_transport_keys(Schema<PacketOptions>& schema) {
    schema.optional("mtu", &PacketOptions::mtu, "payload of a full packet", {Bytes(1), {}})
        .optional("header", &PacketOptions::header, "of a data packet on the wire, beside its payload",
                  {Bytes(1), {}})
        .optional("ack_size", &PacketOptions::ack_size, "of an acknowledgement on the wire", {Bytes(1), {}})
        .optional("window", &PacketOptions::window,
                  "most payload of a pair of hosts that is not acknowledged; always one packet",
                  {Bytes(1), {}})
        .optional("ack_every", &PacketOptions::ack_every, "packets per acknowledgement", {1, 1'000'000})
        .optional("connections", &PacketOptions::connections,
                  "which messages share a connection: those of a pair of hosts and class, or none")
        .optional("handshake", &PacketOptions::handshake,
                  "a connection begins with a packet without payload, alone")
        .optional("host_queue", &PacketOptions::host_queue,
                  "where packets wait for the host's link: connections take turns, or all in one queue")
        .optional("recovery", &PacketOptions::recovery,
                  "what is sent again: all from the first missing packet on, or the missing ones")
        .optional("reorder_tolerance", &PacketOptions::reorder_tolerance,
                  "later packets that come before one is held lost, where routes reorder (selective)",
                  {1, 1'000'000})
        .optional("timeout", &PacketOptions::timeout,
                  "without an acknowledgement before packets are sent again, the first")
        .optional("max_backoff", &PacketOptions::max_backoff,
                  "a timeout doubles each time, to so many times the first", {1, 1U << 30})
        .optional("retry_limit", &PacketOptions::retry_limit,
                  "timeouts in a row before a connection gives up, and the run with it", {1, 1'000})
        .optional("rtt_estimation", &PacketOptions::rtt_estimation,
                  "the timeout follows measured round-trip times, as in RFC 6298")
        .optional("min_timeout", &PacketOptions::min_timeout,
                  "least timeout that is estimated (rtt_estimation)")
        .optional("congestion_control", &PacketOptions::congestion_control,
                  "how a connection's window or rate adapts, or receivers pull")
        .optional("initial_window", &PacketOptions::initial_window,
                  "window of a connection that starts, in packets (dctcp)", {1, 1'000'000})
        .optional("slow_start_threshold", &PacketOptions::slow_start_threshold,
                  "window at which slow start ends, in packets (dctcp)", {1, 1'000'000})
        .optional("gain", &PacketOptions::gain, "g, of the share of marks (dctcp)")
        .section("dcqcn", &PacketOptions::dcqcn, dcqcn_schema(), "of congestion_control: dcqcn")
        .section("hpcc", &PacketOptions::hpcc, hpcc_schema(), "of congestion_control: hpcc")
        .section("ndp", &PacketOptions::ndp, ndp_schema(), "of congestion_control: ndp");
}

Schema<PacketOptions> packet_schema() {
    Schema<PacketOptions> schema("packet", "lean packet engine on ns-3's event loop: every packet and queue");
    add_preset(schema);
    add_transport_keys(schema);
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
        maker.packet_payload = options.mtu;
        maker.follows_routes = [options](const network::Fabric& fabric) {
            return fabric.rotors() == nullptr &&
                   fabric.routing().load_balancing() == network::LoadBalancing::kFlowHash &&
                   options.connections != PacketConnections::kPerMessage && options.flowlet_gap == Time(0);
        };
        maker.refusal = [options](const network::Fabric& fabric) { return refusal(fabric, options); };
        maker.make = [options](std::shared_ptr<const network::Fabric> fabric,
                               std::uint64_t seed) -> std::unique_ptr<network::NetworkBackend> {
            if (fabric->rotors() != nullptr) {
                return std::make_unique<OperaPacketBackend>(std::move(fabric), options, seed);
            }
            return std::make_unique<PacketBackend>(std::move(fabric), options, seed);
        };
        return maker;
    });
    registry.add<TcpKeys>(tcp_schema(), [](const TcpKeys& keys) {
        TcpOptions options = keys;
        options.attributes = keys.ns3.attributes;
        network::BackendMaker maker;
        maker.packet_payload = options.segment_size();
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
