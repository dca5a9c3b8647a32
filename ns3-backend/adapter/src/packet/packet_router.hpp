// SPDX-License-Identifier: GPL-2.0-only
/// The routes of a Fabric, for packets hop by hop: by hash of the pair or of the connection, by flowlet, or
/// each packet by itself. Where a routing names the paths of a pair (LoadBalancing::kPaths), each packet
/// takes one of them, by hash of what it is, so that all nodes agree on it.
#pragma once

#include <memory>
#include <vector>

#include <ns3/packet-fabric.h>
#include <ns3/packet-node.h>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {

/// Flowlets: a pair whose packets have paused for `flowlet_gap` at a node takes a random one of the equal
/// next links, and keeps it until the next pause (Vanini et al., "Let it flow: resilient asymmetric load
/// balancing with flowlet switching", NSDI 2017, section 3). A node remembers kFlowlets pairs by hash; pairs
/// that fall on one entry share it, as in switches. 12 KiB a node, once it has had a choice.
class PacketFabricRouter final : public ::ns3::PacketRouter {
public:
    /// `by_connection`: a pair's connections hash by themselves, where they do not spray or pause.
    /// `flowlet_gap` 0: none. Ports of `ports` are numbered as the links.
    PacketFabricRouter(const network::Fabric& fabric, ::ns3::PacketFabric& ports, bool by_connection,
                       Time flowlet_gap, std::uint64_t seed);

    ::ns3::PacketPort* Route(std::uint32_t node, ::ns3::PacketDescriptor& packet) override;
    /// Its random numbers are its own.
    [[nodiscard]] bool RoutesAtOnce() const override { return true; }
    [[nodiscard]] bool RoutesInParallel() const override { return !sprays_ && flowlet_gap_ == 0; }
    [[nodiscard]] std::uint32_t Foresee(std::uint32_t node,
                                        const ::ns3::PacketDescriptor& packet) const override;

    /// Routes are these from now on; they outlive their use, and balance loads as those of the fabric.
    void set_routing(const network::RoutingPolicy& routing) { routing_ = &routing; }

    /// Whether every packet of a pair takes the same way, whatever has been before.
    [[nodiscard]] bool is_fixed() const { return !reorders() && !by_connection_; }

    /// Whether packets of a pair may overtake one another.
    [[nodiscard]] bool reorders() const { return sprays_ || splits_ || flowlet_gap_ > 0; }

private:
    static constexpr std::size_t kFlowlets = 1024;
    struct Flowlet {
        std::int64_t last = 0;
        std::uint32_t choice = 0;
    };

    /// Of the paths that the routing names for the packet's pair.
    [[nodiscard]] network::LinkId next_on_path(std::uint32_t node,
                                               const ::ns3::PacketDescriptor& packet) const;
    /// By connection, by flowlet or by packet.
    network::LinkId choose(std::uint32_t node, const ::ns3::PacketDescriptor& packet,
                           std::span<const network::LinkId> links);

    const network::RoutingPolicy* routing_;
    ::ns3::PacketFabric& ports_;
    bool sprays_;
    bool splits_;
    bool by_connection_;
    std::int64_t flowlet_gap_;
    std::uint64_t seed_;
    ::ns3::PacketRandom random_;
    std::vector<std::vector<Flowlet>> flowlets_;  // by node
};

}  // namespace astrolabe::ns3
