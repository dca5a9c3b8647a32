// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_packet_backend.hpp"
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

}  // namespace

void register_backends(Registry<network::BackendMaker>& registry) {
    registry.add<PacketOptions>(packet_schema(), [](const PacketOptions& options) {
        network::BackendMaker maker;
        maker.has_traffic_classes = options.ports.trafficClasses > 1;
        maker.reports_packets = true;
        maker.packet_payload = Bytes(options.transport.mtu);
        network::Engine packets{.networks = std::string(network::kStaticNetworks),
                                .help = "every packet and every queue",
                                .unsupported = unsupported_by<PacketOptions>(options),
                                .make = made_of<PacketBackend>(options),
                                .make_folded = {},
                                .follows_routes = {}};
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
        maker.engines = {
            {.networks = std::string(network::kStaticNetworks),
             .help = "sockets of ns-3's TCP, packet by packet",
             .unsupported = unsupported_by<TcpOptions>(options),
             .make =
                 [options](std::shared_ptr<const network::Fabric> fabric, std::uint64_t seed) {
                     TcpOptions seeded = options;
                     seeded.seed = seed;
                     return std::make_unique<TcpBackend>(std::move(fabric), std::move(seeded));
                 },
             .make_folded = {},
             .follows_routes = {}},
            none(network::kScheduledNetworks,
                 "its links come and go with time, and TCP over ns-3 devices runs on static fabrics only"),
            none(network::kDemandAwareNetworks,
                 "its circuits move with the demand, and TCP over ns-3 devices runs on static fabrics only: "
                 "use "
                 "the fluid engine, or a network without reconfiguration")};
        return maker;
    });
}

}  // namespace astrolabe::ns3
