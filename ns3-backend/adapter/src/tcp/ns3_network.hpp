// SPDX-License-Identifier: GPL-2.0-only
/// A Fabric made of ns-3 nodes, devices and queues.
#pragma once

#include "tcp/tcp_options.hpp"

#include <deque>
#include <memory>
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

class Ns3Network {
public:
    Ns3Network(std::shared_ptr<const network::Fabric> fabric, const TcpOptions& options);
    Ns3Network(const Ns3Network&) = delete;
    Ns3Network& operator=(const Ns3Network&) = delete;

    [[nodiscard]] const network::Fabric& fabric() const { return *fabric_; }
    [[nodiscard]] ::ns3::Ptr<::ns3::Node> host(network::HostId id) const {
        return nodes_[fabric_->node_of(id)];
    }
    [[nodiscard]] static ::ns3::Ipv4Address address(network::HostId id);
    [[nodiscard]] static network::HostId host_of(::ns3::Ipv4Address address);

    /// The link has this share of its rate from the next frame on; 0: it is down, and what is on it and in
    /// the queue in front of it is lost.
    void change_rate(network::LinkId link, double factor);
    /// Routes are these from now on; they outlive their use.
    void change_routes(const network::RoutingPolicy& routing);

    /// Reports every frame that a device transmits to `observer`, which outlives this.
    void observe(network::LinkObserver& observer);
    [[nodiscard]] Bytes carried(network::LinkId link) const;
    /// Adds what the queues counted: packets, hops, drops, marks, peaks, links.
    void add_counters(network::NetworkStatistics& statistics) const;

private:
    /// A link whose frames are reported.
    struct Transmitter {
        network::LinkObserver& observer;
        network::LinkId link;
        ::ns3::DataRate rate;
    };
    /// A device starts to transmit a frame that leaves its queue.
    static void transmitted(Transmitter* transmitter, ::ns3::Ptr<const ::ns3::Packet> frame);

    [[nodiscard]] ::ns3::Ptr<::ns3::FabricQueue> make_queue(network::LinkId link, const TcpOptions& options);
    [[nodiscard]] ::ns3::Ptr<::ns3::NetDevice> next_device(network::NodeId at, ::ns3::Ipv4Address source,
                                                           ::ns3::Ipv4Address destination) const;

    std::shared_ptr<const network::Fabric> fabric_;
    const network::RoutingPolicy* routing_;
    IndexedVector<network::NodeId, ::ns3::Ptr<::ns3::Node>> nodes_;
    IndexedVector<network::NodeId, ::ns3::Ptr<::ns3::SharedPacketMemory>> memories_;  // null: not shared
    IndexedVector<network::LinkId, ::ns3::Ptr<::ns3::PointToPointNetDevice>>
        devices_;  // the one that sends into a link
    IndexedVector<network::LinkId, ::ns3::Ptr<::ns3::FabricQueue>> queues_;
    std::deque<Transmitter> transmitters_;  // as many as links where they are observed
};

}  // namespace astrolabe::ns3
