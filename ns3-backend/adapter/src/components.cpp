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

void register_backends(Registry<network::BackendMaker>& registry) {
    registry.add<PacketOptions>(packet_schema(), [](const PacketOptions& options) {
        network::BackendMaker maker;
        maker.has_traffic_classes = options.traffic_classes > 1;
        maker.tells_of_packets = true;
        maker.packet_payload = Bytes(options.transport.mtu);
        maker.follows_routes = [options](const network::Fabric& fabric) {
            return network::rotor::rotors_of(fabric) == nullptr &&
                   fabric.routing().load_balancing() == network::LoadBalancing::kFlowHash &&
                   options.transport.connections != ::ns3::PacketConnections::PER_MESSAGE &&
                   options.flowlet_gap == Time(0);
        };
        maker.refusal = [options](const network::Fabric& fabric) { return refusal(fabric, options); };
        maker.make = [options](std::shared_ptr<const network::Fabric> fabric,
                               std::uint64_t seed) -> std::unique_ptr<network::NetworkBackend> {
            if (network::rotor::rotors_of(*fabric) != nullptr) {
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
