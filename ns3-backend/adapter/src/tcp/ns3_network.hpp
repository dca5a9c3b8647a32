// SPDX-License-Identifier: GPL-2.0-only
/// A Fabric made of ns-3 nodes, devices and queues.
#pragma once

#include "tcp/tcp_options.hpp"

#include <memory>
#include <vector>

#include <ns3/fabric-queue.h>
#include <ns3/ipv4-address.h>
#include <ns3/node.h>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>

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

    [[nodiscard]] Bytes carried(network::LinkId link) const;
    /// Adds what the queues counted: packets, hops, drops, marks, peaks, links.
    void add_counters(network::NetworkStatistics& statistics) const;

private:
    [[nodiscard]] ::ns3::Ptr<::ns3::FabricQueue> make_queue(network::LinkId link, const TcpOptions& options);
    [[nodiscard]] ::ns3::Ptr<::ns3::NetDevice> next_device(network::NodeId at, ::ns3::Ipv4Address source,
                                                           ::ns3::Ipv4Address destination) const;

    std::shared_ptr<const network::Fabric> fabric_;
    IndexedVector<network::NodeId, ::ns3::Ptr<::ns3::Node>> nodes_;
    IndexedVector<network::NodeId, ::ns3::Ptr<::ns3::SharedPacketMemory>> memories_;  // null: not shared
    IndexedVector<network::LinkId, ::ns3::Ptr<::ns3::NetDevice>> devices_;  // the one that sends into a link
    IndexedVector<network::LinkId, ::ns3::Ptr<::ns3::FabricQueue>> queues_;
};

}  // namespace astrolabe::ns3
