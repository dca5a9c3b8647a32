// SPDX-License-Identifier: GPL-2.0-only
#include "tcp/ns3_network.hpp"

#include "failing_links.hpp"
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
using network::NodeId;

namespace {

constexpr std::uint32_t kFirstAddress = 0x0A000001;  // 10.0.0.1

sim::FabricHelper::Direction direction(const network::Link& link, sim::Ptr<sim::FabricQueue> queue) {
    return {sim::DataRate(static_cast<std::uint64_t>(link.rate.count())),
            sim::TimeStep(static_cast<std::uint64_t>(link.latency.count())), queue};
}

}  // namespace

sim::Ipv4Address Ns3Network::address(HostId id) {
    return sim::Ipv4Address(kFirstAddress + id.index());
}

HostId Ns3Network::host_of(sim::Ipv4Address address) {
    return HostId(address.Get() - kFirstAddress);
}

Ns3Network::Ns3Network(std::shared_ptr<const network::Fabric> fabric, const TcpOptions& options)
    : fabric_(std::move(fabric)),
      routing_(&fabric_->routing()) {
    const sim::FabricHelper helper(static_cast<std::uint16_t>(options.mtu.count()));
    nodes_.resize(fabric_->node_count());
    memories_.resize(fabric_->node_count());
    devices_.resize(fabric_->link_count());
    queues_.resize(fabric_->link_count());

    for (NodeId id; id.index() < fabric_->node_count(); ++id) {
        const auto route = [this, id](sim::Ipv4Address source, sim::Ipv4Address destination) {
            return next_device(id, source, destination);
        };
        if (id.index() < fabric_->host_count()) {
            nodes_[id] =
                helper.CreateHost(address(HostId(id.index())), sim::FabricRouting::RouteCallback(route));
            continue;
        }
        nodes_[id] = helper.CreateSwitch(sim::FabricSwitch::RouteCallback(route));
        const Bytes memory = fabric_->node(id).buffer;
        if (options.buffer_sharing == BufferSharing::kShared && memory > Bytes(0)) {
            memories_[id] = sim::Create<sim::SharedPacketMemory>(static_cast<std::uint64_t>(memory.count()));
        }
    }
    for (LinkId id; id.index() < fabric_->link_count(); ++id) {
        queues_[id] = make_queue(id, options);
    }
    for (LinkId id; id.index() < fabric_->link_count(); ++id) {
        const network::Link& forward = fabric_->link(id);
        const LinkId back = *forward.reverse;  // others are refused
        if (back < id) {
            continue;
        }
        const network::Link& backward = fabric_->link(back);
        const auto [first, second] =
            helper.Connect(nodes_[fabric_->source(id)], nodes_[fabric_->target(id)],
                           direction(forward, queues_[id]), direction(backward, queues_[back]));
        devices_[id] = first;
        devices_[back] = second;
    }
    // A connection may be opened before the simulator runs its first event, which is when ns-3 would do this.
    for (const auto& node : nodes_) {
        node->Initialize();
    }
}

sim::Ptr<sim::FabricQueue> Ns3Network::make_queue(LinkId link, const TcpOptions& options) {
    const NodeId source = fabric_->source(link);
    const network::Node& node = fabric_->node(source);
    if (node.kind == network::NodeKind::kHost) {
        return sim::CreateObject<sim::FabricHostQueue>();
    }
    auto queue = sim::CreateObject<sim::FabricQueue>();
    Bytes limit = fabric_->link(link).buffer;
    if (limit == Bytes(0)) {
        if (memories_[source] != nullptr) {
            queue->SetSharedMemory(memories_[source]);
        } else {
            limit = node.buffer / fabric_->out_degree(source);
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
                                                 sim::Ipv4Address destination) const {
    const HostId to = host_of(destination);
    if (to.index() >= fabric_->host_count() || routing_->next_links(at, to).empty()) {
        return nullptr;
    }
    return devices_[routing_->select(at, host_of(source), to)];
}

void Ns3Network::change_rate(LinkId link, double factor) {
    const sim::Ptr<sim::PointToPointNetDevice> device = devices_[link];
    const auto channel = sim::DynamicCast<sim::FabricChannel>(device->GetChannel());
    if (factor > 0) {
        const sim::DataRate rate(degraded_rate(fabric_->link(link).rate, factor));
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
    for (std::size_t host = 0; host < fabric_->host_count(); ++host) {
        nodes_[NodeId(host)]->GetObject<sim::FabricRouting>()->ForgetRoutes();
    }
}

void Ns3Network::observe(network::LinkObserver& observer) {
    for (LinkId id; id.index() < fabric_->link_count(); ++id) {
        sim::DataRateValue rate;
        devices_[id]->GetAttribute("DataRate", rate);
        Transmitter& transmitter = transmitters_.emplace_back(Transmitter{observer, id, rate.Get()});
        queues_[id]->TraceConnectWithoutContext(
            "Dequeue", sim::MakeBoundCallback(&Ns3Network::transmitted, &transmitter));
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

void Ns3Network::add_counters(network::NetworkStatistics& statistics) const {
    statistics.links.resize(fabric_->link_count());
    for (LinkId id; id.index() < fabric_->link_count(); ++id) {
        const auto& counters = queues_[id]->GetCounters();
        network::LinkStatistics& link = statistics.links[id];
        link.carried = Bytes(static_cast<std::int64_t>(counters.carriedBytes));
        link.queue_peak = Bytes(static_cast<std::int64_t>(counters.peakBytes));
        link.drops = counters.drops;
        statistics.packet_hops += counters.dataPackets;
        statistics.drops += counters.drops;
        statistics.ecn_marks += counters.marks;
        // The queue of a host is host memory; the network's queues are those of the switches.
        if (fabric_->node(fabric_->source(id)).kind == network::NodeKind::kSwitch) {
            statistics.queue_peak = std::max(statistics.queue_peak, link.queue_peak);
        }
    }
}

}  // namespace astrolabe::ns3
