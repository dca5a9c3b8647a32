// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_packet_backend.hpp"
#include "opera/opera_tcp_network.hpp"
#include "packet/packet_backend.hpp"
#include "packet/packet_schema.hpp"
#include "tcp/tcp_backend.hpp"
#include "tcp/tcp_schema.hpp"

#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/ns3/components.hpp>

namespace astrolabe::ns3 {

namespace {

template <class Options>
auto unsupported_by(const Options& options) {
    return [options](const network::Fabric& fabric) { return unsupported(fabric, options); };
}

template <class Backend>
auto made_of(const PacketOptions& options) {
    return [options](std::shared_ptr<const network::Fabric> fabric, std::uint64_t seed) {
        return std::make_unique<Backend>(std::move(fabric), options, seed);
    };
}

network::Engine tcp_engine(const TcpOptions& options) {
    return {.networks = std::string(network::kStaticNetworks),
            .help = "sockets of ns-3's TCP, packet by packet",
            .unsupported = unsupported_by<TcpOptions>(options),
            .make =
                [options](std::shared_ptr<const network::Fabric> fabric, std::uint64_t seed) {
                    TcpOptions seeded = options;
                    seeded.seed = seed;
                    return std::make_unique<TcpBackend>(std::move(fabric), std::move(seeded));
                },
            .make_folded = {},
            .follows_routes = {},
            .breaks_links = true};
}

network::Engine opera_tcp_engine(const TcpOptions& options) {
    return {.networks = std::string(network::rotor::kRotorEngines),
            .help = "sockets of ns-3's TCP, with Opera's two services",
            .unsupported =
                [options](const network::Fabric& fabric) { return opera_tcp_unsupported(fabric, options); },
            .make =
                [options](std::shared_ptr<const network::Fabric> fabric, std::uint64_t seed) {
                    TcpOptions seeded = options;
                    seeded.seed = seed;
                    return make_opera_tcp(std::move(fabric), seeded);
                },
            .make_folded = {},
            .follows_routes = [](const network::Fabric&) { return false; }};
}

network::Engine none(std::string_view networks, std::string reason) {
    return {std::string(networks), std::move(reason), {}, {}, {}, {}};
}

network::Engine opera_engine(const PacketOptions& options) {
    return {.networks = std::string(network::rotor::kRotorEngines),
            .help = "every packet, with Opera's two services",
            .unsupported = unsupported_by<PacketOptions>(options),
            .make = made_of<OperaPacketBackend>(options),
            .make_folded = {},
            .follows_routes = [](const network::Fabric&) { return false; }};
}

/// The memory that one busy port may take of a switch's (network::Transport).
double memory_share(const ::ns3::PacketFabricParameters& ports) {
    switch (ports.bufferSharing) {
        case ::ns3::PacketBuffers::SHARED:
            return 1;
        case ::ns3::PacketBuffers::DYNAMIC:
            return ports.dynamicShare / (1 + ports.dynamicShare);
        case ::ns3::PacketBuffers::PER_PORT:
            break;
    }
    return 0;
}

network::Transport transport_of(const PacketOptions& options) {
    const ::ns3::PacketTransportParameters& own = options.transport;
    network::Transport transport;
    transport.payload = Bytes(own.mtu);
    transport.header = Bytes(own.header);
    transport.acknowledgement = Bytes(own.ackSize);
    transport.acknowledged = own.ackEvery;
    transport.stores_packets = options.ports.switching == ::ns3::PacketSwitching::STORE_AND_FORWARD;
    transport.window = Bytes(std::int64_t{own.mtu} * own.GetWindowPackets());
    transport.window_counts_packets = true;
    if (own.congestionControl->Has(::ns3::PacketControlKind::IS_WINDOWED) &&
        own.congestionControl->Has(::ns3::PacketControlKind::USES_MARKS)) {
        const auto& dctcp = own.Get<::ns3::PacketDctcpParameters>();
        transport.initial_window = Bytes(std::int64_t{own.mtu} * dctcp.initialWindow);
    }
    transport.has_handshake = own.handshake;
    transport.connects_messages = own.connections == ::ns3::PacketConnections::PER_MESSAGE;
    transport.loses_packets = options.ports.flowControl == ::ns3::PacketFlowControlKind::NONE;
    transport.timeout = Time(own.rttEstimation ? own.minTimeout : own.timeout);
    transport.memory_share = memory_share(options.ports);
    transport.has_queues = true;
    transport.sprays_packets = true;
    transport.keeps_to_cable = true;
    return transport;
}

/// A frame of ns-3's devices is 2 B of PPP around a datagram; an acknowledgement is a datagram of headers
/// alone.
network::Transport transport_of(const TcpOptions& options) {
    constexpr Bytes kFrame(2);
    network::Transport transport;
    transport.payload = options.segment_size();
    transport.header = options.mtu - options.segment_size() + kFrame;
    transport.message_header = options.frame_header;
    transport.acknowledgement = transport.header;
    transport.acknowledged = options.delayed_ack;
    transport.stores_packets = true;
    transport.window = options.window;
    transport.initial_window = options.segment_size() * options.initial_window;
    transport.has_handshake = true;
    transport.loses_packets = true;
    transport.timeout = options.min_rto;
    transport.memory_share = options.buffer_sharing == BufferSharing::kShared ? 1 : 0;
    transport.has_queues = true;
    transport.sprays_packets = true;
    transport.keeps_to_cable = true;
    return transport;
}

}  // namespace

void register_backends(Registry<network::BackendMaker>& registry) {
    registry.add<PacketOptions>(packet_schema(), [](const PacketOptions& options) {
        network::BackendMaker maker;
        maker.has_traffic_classes = options.ports.trafficClasses > 1;
        maker.reports_packets = true;
        maker.packet_payload = Bytes(options.transport.mtu);
        maker.transport = transport_of(options);
        network::Engine packets{.networks = std::string(network::kStaticNetworks),
                                .help = "every packet and every queue",
                                .unsupported = unsupported_by<PacketOptions>(options),
                                .make = made_of<PacketBackend>(options),
                                .make_folded = {},
                                .follows_routes = {},
                                .breaks_links = true};
        packets.follows_routes = [options](const network::Fabric& fabric) {
            return fabric.routing().load_balancing() == network::LoadBalancing::kFlowHash &&
                   options.transport.connections != ::ns3::PacketConnections::PER_MESSAGE &&
                   options.flowlet_gap == Time(0);
        };
        maker.engines = {
            std::move(packets),
            none(network::kScheduledNetworks,
                 "its links come and go with time, and the packet engine runs on static fabrics only"),
            none(
                network::kDemandAwareNetworks,
                "its circuits move with the demand, and the packet engine has no controller that moves them: "
                "use the fluid engine, or a network without reconfiguration"),
            opera_engine(options)};
        return maker;
    });
    registry.add<TcpKeys>(tcp_schema(), [](const TcpKeys& keys) {
        TcpOptions options = keys;
        options.attributes = keys.ns3.attributes;
        network::BackendMaker maker;
        maker.packet_payload = options.segment_size();
        maker.transport = transport_of(options);
        maker.engines = {
            tcp_engine(options),
            none(network::kScheduledNetworks,
                 "its links come and go with time, and TCP over ns-3 devices runs on static fabrics and on "
                 "rotor switches alone"),
            none(network::kDemandAwareNetworks,
                 "its circuits move with the demand, and TCP over ns-3 devices has no controller that moves "
                 "them: use the fluid engine, or a network without reconfiguration"),
            opera_tcp_engine(options)};
        return maker;
    });
}

}  // namespace astrolabe::ns3
