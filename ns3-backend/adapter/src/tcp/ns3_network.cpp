// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/ns3_network.hpp"

#include "tcp/attributes.hpp"

#include <algorithm>
#include <limits>

#include <ns3/fabric-channel.h>
#include <ns3/fabric-helper.h>
#include <ns3/fabric-host-queue.h>
#include <ns3/fabric-routing.h>
#include <ns3/simulator.h>
#include <ns3/uinteger.h>

#include <astrolabe/network/routing.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::HostId;
using network::LinkId;
using network::Message;
using network::NodeId;

namespace {

sim::FabricHelper::Direction direction(const network::Link& link, sim::Ptr<sim::FabricQueue> queue) {
    return {sim::DataRate(static_cast<std::uint64_t>(link.rate.count())),
            sim::TimeStep(static_cast<std::uint64_t>(link.latency.count())), queue};
}

}  // namespace

Ns3Network::Ns3Network(std::shared_ptr<const network::Fabric> fabric, const TcpOptions& options)
    : TcpNetwork(std::move(fabric)),
      routing_(&this->fabric().routing()),
      splits_(routing_->load_balancing() == network::LoadBalancing::kPaths) {
    nodes_.resize(this->fabric().node_count());
    memories_.resize(this->fabric().node_count());
    devices_.resize(this->fabric().link_count());
    queues_.resize(this->fabric().link_count());
    for (NodeId id; id.index() < nodes_.size(); ++id) {
        make_node(id, options);
    }
    for (LinkId id; id.index() < queues_.size(); ++id) {
        queues_[id] = make_queue(id, options);
    }
    for (LinkId id; id.index() < devices_.size(); ++id) {
        connect(id, options);
    }
    // A connection may be opened before the simulator runs its first event, which is when ns-3 would do this.
    for (const auto& node : nodes_) {
        node->Initialize();
    }
    if (this->fabric().failures() != nullptr) {
        failures_.emplace(
            this->fabric(), [this](LinkId link, double factor) { change_rate(link, factor); },
            [this](const network::RoutingPolicy& routing) { change_routes(routing); });
    }
}

void Ns3Network::make_node(NodeId id, const TcpOptions& options) {
    const sim::FabricHelper helper(static_cast<std::uint16_t>(options.mtu.count()));
    const auto by_pair = [this, id](sim::Ipv4Address source, sim::Ipv4Address destination) {
        return next_device(id, source, destination, 0);
    };
    const auto by_flow = [this, id](sim::Ipv4Address source, sim::Ipv4Address destination,
                                    std::uint32_t ports) {
        return next_device(id, source, destination, ports);
    };
    const network::Node& node = fabric().node(id);
    if (id.index() < fabric().host_count()) {
        nodes_[id] =
            helper.CreateHost(address(HostId(id.index())), sim::FabricRouting::RouteCallback(by_pair));
        const auto routing = nodes_[id]->GetObject<sim::FabricRouting>();
        routing->SetForwardingDelay(sim::TimeStep(static_cast<std::uint64_t>(node.forwarding.count())));
        if (splits_) {
            routing->SetFlowRouteCallback(sim::FabricRouting::FlowRouteCallback(by_flow));
        }
        return;
    }
    nodes_[id] = helper.CreateSwitch(sim::FabricSwitch::RouteCallback(by_pair));
    if (splits_) {
        nodes_[id]->GetObject<sim::FabricSwitch>()->SetFlowRouteCallback(
            sim::FabricSwitch::FlowRouteCallback(by_flow));
    }
    if (options.buffer_sharing == BufferSharing::kShared && node.buffer > Bytes(0)) {
        memories_[id] = sim::Create<sim::SharedPacketMemory>(static_cast<std::uint64_t>(node.buffer.count()));
    }
}

/// A channel of ns-3 carries both ways: nothing is ever sent back over that of a link without the other way.
void Ns3Network::connect(LinkId id, const TcpOptions& options) {
    const network::Link& forward = fabric().link(id);
    if (forward.reverse && *forward.reverse < id) {
        return;
    }
    const sim::FabricHelper helper(static_cast<std::uint16_t>(options.mtu.count()));
    const network::Link& backward = forward.reverse ? fabric().link(*forward.reverse) : forward;
    const auto [first, second] = helper.Connect(
        nodes_[fabric().source(id)], nodes_[fabric().target(id)], direction(forward, queues_[id]),
        direction(backward, forward.reverse ? queues_[*forward.reverse] : make_queue(id, options)));
    devices_[id] = first;
    if (forward.reverse) {
        devices_[*forward.reverse] = second;
    }
}

Lanes Ns3Network::lanes_of(const Message& message) const {
    if (!splits_) {
        return {};
    }
    const std::size_t paths = routing_->path_count(message.source, message.destination);
    return {0, static_cast<std::uint32_t>(std::max<std::size_t>(paths, 1))};
}

std::uint16_t Ns3Network::port(HostId source, std::uint32_t lane) const {
    return static_cast<std::uint16_t>(kFirstPort + (splits_ ? lane : source.index() % kPorts));
}

sim::Ptr<sim::FabricQueue> Ns3Network::make_queue(LinkId link, const TcpOptions& options) {
    const NodeId source = fabric().source(link);
    const network::Node& node = fabric().node(source);
    if (node.kind == network::NodeKind::kHost) {
        return sim::CreateObject<sim::FabricHostQueue>();
    }
    auto queue = sim::CreateObject<sim::FabricQueue>();
    Bytes limit = fabric().link(link).buffer;
    if (limit == Bytes(0)) {
        if (memories_[source] != nullptr) {
            queue->SetSharedMemory(memories_[source]);
        } else {
            limit = node.buffer / fabric().out_degree(source);
        }
    }
    // ns-3 counts the bytes of a queue in 32 bits.
    const auto bytes = static_cast<std::uint64_t>(limit.count());
    queue->SetAttribute("ByteLimit", sim::UintegerValue(std::min<std::uint64_t>(
                                         bytes, std::numeric_limits<std::uint32_t>::max())));
    if (uses_ecn(options)) {
        queue->SetAttribute("MarkThreshold",
                            sim::UintegerValue(static_cast<std::uint64_t>(options.ecn_threshold.count())));
    }
    return queue;
}

sim::Ptr<sim::NetDevice> Ns3Network::next_device(NodeId at, sim::Ipv4Address source,
                                                 sim::Ipv4Address destination, std::uint32_t ports) const {
    const HostId from = host_of(source);
    const HostId to = host_of(destination);
    if (to.index() >= fabric().host_count() || routing_->next_links(at, to).empty()) {
        return nullptr;
    }
    if (!splits_) {
        return devices_[routing_->select(at, from, to)];
    }
    // The listener's port is that of the destination, or of the source of what answers it.
    const std::uint32_t port = std::min(ports >> 16, ports & 0xffffU);
    const std::size_t paths = routing_->path_count(from, to);
    const std::size_t lane = port > kFirstPort ? port - kFirstPort : 0;
    return devices_[paths == 0 ? routing_->select(at, from, to)
                               : routing_->select_on(lane % paths, at, from, to)];
}

void Ns3Network::change_rate(LinkId link, double factor) {
    const sim::Ptr<sim::PointToPointNetDevice> device = devices_[link];
    const auto channel = sim::DynamicCast<sim::FabricChannel>(device->GetChannel());
    if (factor > 0) {
        const sim::DataRate rate(degraded_rate(fabric().link(link).rate, factor));
        device->SetDataRate(rate);
        if (!transmitters_.empty()) {
            transmitters_[link.index()].rate = rate;
        }
    } else {
        channel->SetLossCallback(device, sim::MakeCallback(&sim::FabricQueue::CountLoss, queues_[link]));
    }
    channel->SetUp(device, factor > 0);
    queues_[link]->SetUp(factor > 0);
}

void Ns3Network::change_routes(const network::RoutingPolicy& routing) {
    routing_ = &routing;
    for (std::size_t host = 0; host < fabric().host_count(); ++host) {
        nodes_[NodeId(host)]->GetObject<sim::FabricRouting>()->ForgetRoutes();
    }
}

void Ns3Network::observe(network::LinkObserver& observer) {
    for (LinkId id; id.index() < fabric().link_count(); ++id) {
        sim::DataRateValue rate;
        devices_[id]->GetAttribute("DataRate", rate);
        Transmitter& transmitter = transmitters_.emplace_back(Transmitter{observer, id, rate.Get()});
        // Not the queue's "Dequeue", which it also fires for packets that are lost as their link goes down.
        devices_[id]->TraceConnectWithoutContext(
            "PhyTxBegin", sim::MakeBoundCallback(&Ns3Network::transmitted, &transmitter));
    }
}

void Ns3Network::transmitted(Transmitter* transmitter, sim::Ptr<const sim::Packet> frame) {
    const sim::Time now = sim::Simulator::Now();
    const sim::Time end = now + transmitter->rate.CalculateBytesTxTime(frame->GetSize());
    transmitter->observer.carried(
        transmitter->link, Time(now.GetTimeStep()), Time(end.GetTimeStep()),
        {static_cast<double>(frame->GetSize()), static_cast<double>(sim::FabricQueue::GetTcpPayload(frame))});
}

Bytes Ns3Network::carried(LinkId link) const {
    return Bytes(static_cast<std::int64_t>(queues_[link]->GetCounters().carriedBytes));
}

Bytes Ns3Network::waiting(LinkId link) const {
    return Bytes(queues_[link]->GetNBytes());
}

void Ns3Network::add_counters(network::NetworkStatistics& statistics) const {
    statistics.links.resize(fabric().link_count());
    for (LinkId id; id.index() < fabric().link_count(); ++id) {
        const auto& counters = queues_[id]->GetCounters();
        network::LinkStatistics& link = statistics.links[id];
        link.carried = Bytes(static_cast<std::int64_t>(counters.carriedBytes));
        link.queue_peak = Bytes(static_cast<std::int64_t>(counters.peakBytes));
        link.drops = counters.drops;
        statistics.packet_hops += counters.dataPackets;
        statistics.drops += counters.drops;
        statistics.ecn_marks += counters.marks;
        // The queue of a host is host memory; the network's queues are those of the switches.
        if (fabric().node(fabric().source(id)).kind == network::NodeKind::kSwitch) {
            statistics.queue_peak = std::max(statistics.queue_peak, link.queue_peak);
        }
    }
}

std::string Ns3Network::explain_stall(const std::vector<network::OutstandingMessage>& messages) const {
    return failures_ ? failures_->name_cut_pairs(messages) : std::string();
}

}  // namespace astrolabe::ns3
