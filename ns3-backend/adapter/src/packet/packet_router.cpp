// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_router.hpp"

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::HostId;
using network::LinkId;
using network::NodeId;

PacketFabricRouter::PacketFabricRouter(const network::Fabric& fabric, sim::PacketFabric& ports,
                                       bool by_connection, Time flowlet_gap, std::uint64_t seed)
    : routing_(&fabric.routing()),
      ports_(ports),
      sprays_(fabric.routing().load_balancing() == network::LoadBalancing::kSpray),
      splits_(fabric.routing().load_balancing() == network::LoadBalancing::kPaths),
      by_connection_(by_connection),
      flowlet_gap_(flowlet_gap.count()),
      seed_(seed),
      random_(seed),
      flowlets_(flowlet_gap_ > 0 ? fabric.node_count() : 0) {}

sim::PacketPort* PacketFabricRouter::Route(std::uint32_t node, sim::PacketDescriptor& packet) {
    const NodeId at(node);
    const HostId to(packet.destination);
    const network::RoutingPolicy& routing = *routing_;
    // What has left its source arrives, by whichever of the shortest ways.
    if (node == packet.source && routing.next_links(at, to).empty()) {
        return nullptr;
    }
    if (splits_) {
        return &ports_.GetPort(next_on_path(node, packet).index());
    }
    if (!sprays_ && !by_connection_ && flowlet_gap_ == 0) {
        return &ports_.GetPort(routing.select(at, HostId(packet.source), to).index());
    }
    return &ports_.GetPort(choose(node, packet, routing.next_links(at, to)).index());
}

std::uint32_t PacketFabricRouter::Foresee(std::uint32_t node, const sim::PacketDescriptor& packet) const {
    if (sprays_ || splits_ || by_connection_ || flowlet_gap_ > 0 || node == packet.source) {
        return sim::PACKET_NONE;
    }
    return routing_->select(NodeId(node), HostId(packet.source), HostId(packet.destination)).index();
}

LinkId PacketFabricRouter::next_on_path(std::uint32_t node, const sim::PacketDescriptor& packet) const {
    const HostId from(packet.source);
    const HostId to(packet.destination);
    sim::PacketRandom of_pair((std::uint64_t{packet.source} << 32 | packet.destination) ^ seed_);
    sim::PacketRandom of_connection(of_pair.Next() ^ packet.queuePair);
    sim::PacketRandom of_packet(of_connection.Next() + packet.sequence);
    const std::size_t path = of_packet.Next() % routing_->path_count(from, to);
    return routing_->select_on(path, NodeId(node), from, to);
}

LinkId PacketFabricRouter::choose(std::uint32_t node, const sim::PacketDescriptor& packet,
                                  std::span<const LinkId> links) {
    if (links.size() == 1) {
        return links.front();
    }
    if (sprays_) {
        return links[random_.Next() % links.size()];
    }
    const std::uint64_t pair = std::uint64_t{packet.source} << 32 | packet.destination;
    if (flowlet_gap_ == 0) {
        const std::uint64_t connection = std::uint64_t{packet.incarnation} << 32 | packet.queuePair;
        sim::PacketRandom of_pair(pair ^ seed_);
        sim::PacketRandom of_connection(of_pair.Next() ^ connection);
        sim::PacketRandom of_node(of_connection.Next() + node);
        return links[of_node.Next() % links.size()];
    }
    std::vector<Flowlet>& table = flowlets_[node];
    if (table.empty()) {
        table.resize(kFlowlets, {-flowlet_gap_, 0});
    }
    sim::PacketRandom hash(pair);
    Flowlet& flowlet = table[hash.Next() % kFlowlets];
    if (packet.arrival - flowlet.last >= flowlet_gap_) {
        flowlet.choice = static_cast<std::uint32_t>(random_.Next());
    }
    flowlet.last = packet.arrival;
    return links[flowlet.choice % links.size()];
}

}  // namespace astrolabe::ns3
