// SPDX-License-Identifier: GPL-2.0-only
#include "packet_router.hpp"

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::HostId;
using network::LinkId;
using network::NodeId;

PacketFabricRouter::PacketFabricRouter(const network::Fabric& fabric, sim::PacketFabric& ports,
                                       Time flowlet_gap, std::uint64_t seed)
    : fabric_(fabric),
      ports_(ports),
      sprays_(fabric.routing().load_balancing() == network::LoadBalancing::kSpray),
      flowlet_gap_(flowlet_gap.count()),
      random_(seed),
      flowlets_(flowlet_gap_ > 0 ? fabric.node_count() : 0) {}

sim::PacketPort* PacketFabricRouter::Route(std::uint32_t node, const sim::PacketDescriptor& packet) {
    const auto links = fabric_.routing().next_links(NodeId(node), HostId(packet.destination));
    if (links.empty()) {
        return nullptr;
    }
    return &ports_.GetPort((links.size() == 1 ? links.front() : choose(node, packet, links)).index());
}

LinkId PacketFabricRouter::choose(std::uint32_t node, const sim::PacketDescriptor& packet,
                                  std::span<const LinkId> links) {
    if (sprays_) {
        return links[random_.Next() % links.size()];
    }
    if (flowlet_gap_ == 0) {
        return fabric_.routing().select(NodeId(node), HostId(packet.source), HostId(packet.destination));
    }
    std::vector<Flowlet>& table = flowlets_[node];
    if (table.empty()) {
        table.resize(kFlowlets, {-flowlet_gap_, 0});
    }
    sim::PacketRandom hash(std::uint64_t{packet.source} << 32 | packet.destination);
    Flowlet& flowlet = table[hash.Next() % kFlowlets];
    if (packet.arrival - flowlet.last >= flowlet_gap_) {
        flowlet.choice = static_cast<std::uint32_t>(random_.Next());
    }
    flowlet.last = packet.arrival;
    return links[flowlet.choice % links.size()];
}

}  // namespace astrolabe::ns3
