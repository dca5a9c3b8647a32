// SPDX-License-Identifier: GPL-2.0-only
/// A static Fabric made of ns-3 nodes, point-to-point devices and queues.
///
/// Where the routing names paths of a pair (LoadBalancing::kPaths) the pair has a connection for each of
/// them, whose packets and acknowledgements keep to that path: its number is in the port that the
/// destination listens on. A pair of whose paths some are cut uses the others, connection n of them path n
/// modulo how many are left.
#pragma once

#include "failing_links.hpp"
#include "tcp/tcp_network.hpp"
#include "tcp/tcp_options.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ns3/data-rate.h>
#include <ns3/fabric-queue.h>
#include <ns3/ipv4-address.h>
#include <ns3/node.h>
#include <ns3/packet.h>
#include <ns3/point-to-point-net-device.h>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/link_observer.hpp>

namespace astrolabe::ns3 {

class Ns3Network final : public TcpNetwork {
public:
    Ns3Network(std::shared_ptr<const network::Fabric> fabric, const TcpOptions& options);

    [[nodiscard]] ::ns3::Ptr<::ns3::Node> host(network::HostId id) const override {
        return nodes_[fabric().node_of(id)];
    }
    [[nodiscard]] Lanes lanes_of(const network::Message& message) const override;
    [[nodiscard]] bool splits() const override { return splits_; }
    [[nodiscard]] std::uint16_t port(network::HostId source, std::uint32_t lane) const override;
    void observe(network::LinkObserver& observer) override;
    [[nodiscard]] Bytes carried(network::LinkId link) const override;
    [[nodiscard]] Bytes waiting(network::LinkId link) const override;
    void add_counters(network::NetworkStatistics& statistics) const override;
    [[nodiscard]] std::string explain_stall(
        const std::vector<network::OutstandingMessage>& messages) const override;

private:
    /// A link whose frames are reported.
    struct Transmitter {
        network::LinkObserver& observer;
        network::LinkId link;
        ::ns3::DataRate rate;
    };
    /// A device starts to transmit a frame that leaves its queue.
    static void transmitted(Transmitter* transmitter, ::ns3::Ptr<const ::ns3::Packet> frame);

    void make_node(network::NodeId id, const TcpOptions& options);
    void connect(network::LinkId id, const TcpOptions& options);
    [[nodiscard]] ::ns3::Ptr<::ns3::FabricQueue> make_queue(network::LinkId link, const TcpOptions& options);
    [[nodiscard]] ::ns3::Ptr<::ns3::NetDevice> next_device(network::NodeId at, ::ns3::Ipv4Address source,
                                                           ::ns3::Ipv4Address destination,
                                                           std::uint32_t ports) const;
    /// The link has this share of its rate from the next frame on; 0: it is down, and what is on it and in
    /// the queue in front of it is lost.
    void change_rate(network::LinkId link, double factor);
    /// Routes are these from now on; they outlive their use.
    void change_routes(const network::RoutingPolicy& routing);

    const network::RoutingPolicy* routing_;
    bool splits_;  // packets of a pair over several paths
    IndexedVector<network::NodeId, ::ns3::Ptr<::ns3::Node>> nodes_;
    IndexedVector<network::NodeId, ::ns3::Ptr<::ns3::SharedPacketMemory>> memories_;  // null: not shared
    IndexedVector<network::LinkId, ::ns3::Ptr<::ns3::PointToPointNetDevice>>
        devices_;  // the one that sends into a link
    IndexedVector<network::LinkId, ::ns3::Ptr<::ns3::FabricQueue>> queues_;
    std::deque<Transmitter> transmitters_;  // as many as links where they are observed
    std::optional<FailingLinks> failures_;  // none: nothing fails
};

}  // namespace astrolabe::ns3
