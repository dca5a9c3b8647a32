// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-helper.h"

#include "ns3/abort.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-host-queue.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/mac48-address.h"
#include "ns3/tcp-peer-demux.h"
#include "ns3/traffic-control-layer.h"

#include <memory>

namespace ns3
{

FabricHelper::FabricHelper(uint16_t mtu)
    : m_mtu(mtu)
{
}

Ptr<Node>
FabricHelper::CreateHost(Ipv4Address address, FabricRouting::RouteCallback route) const
{
    auto routing = CreateObject<FabricRouting>();
    routing->SetAddress(address);
    routing->SetRouteCallback(route);

    auto node = CreateObject<Node>();
    node->AggregateObject(CreateObject<TrafficControlLayer>());
    auto ip = CreateObject<Ipv4L3Protocol>();
    node->AggregateObject(ip);
    ip->SetRoutingProtocol(routing);
    node->AggregateObject(routing);
    CreateObject<TcpPeerDemux>()->Install(node);
    return node;
}

Ptr<Node>
FabricHelper::CreateSwitch(FabricSwitch::RouteCallback route) const
{
    auto forwarder = CreateObject<FabricSwitch>();
    forwarder->SetRouteCallback(route);
    auto node = CreateObject<Node>();
    node->AggregateObject(forwarder);
    return node;
}

FabricHelper::DevicePair
FabricHelper::Connect(Ptr<Node> a, Ptr<Node> b, const Direction& forward, const Direction& backward) const
{
    const DevicePair devices{AddDevice(a, forward), AddDevice(b, backward)};
    auto channel = CreateObject<FabricChannel>();
    channel->SetDelays(forward.delay, backward.delay);
    devices.first->Attach(channel);
    devices.second->Attach(channel);
    Attach(a, devices.first);
    Attach(b, devices.second);
    return devices;
}

FabricHelper::Star
FabricHelper::CreateStar(uint32_t hosts, DataRate rate, Time delay, const ObjectFactory& queue) const
{
    NS_ABORT_MSG_IF(hosts < 1 || hosts > 65536, "a star has 1 to 65536 hosts");
    constexpr uint32_t FIRST = 0x0a000001;
    // Shared with the callbacks, which live as long as the nodes.
    const auto downlinks = std::make_shared<std::vector<Ptr<NetDevice>>>(hosts);
    Star star;
    star.center =
        CreateSwitch(FabricSwitch::RouteCallback([downlinks](Ipv4Address, Ipv4Address to) -> Ptr<NetDevice> {
            const uint32_t host = to.Get() - FIRST; // wraps below the first
            return host < downlinks->size() ? (*downlinks)[host] : nullptr;
        }));
    for (uint32_t host = 0; host < hosts; ++host)
    {
        const auto uplink = std::make_shared<Ptr<NetDevice>>();
        star.hosts.push_back(
            CreateHost(Ipv4Address(FIRST + host),
                       FabricRouting::RouteCallback([uplink](Ipv4Address, Ipv4Address) { return *uplink; })));
        star.queues.push_back(queue.Create<FabricQueue>());
        const DevicePair cable = Connect(star.hosts.back(),
                                         star.center,
                                         {rate, delay, CreateObject<FabricHostQueue>()},
                                         {rate, delay, star.queues.back()});
        *uplink = cable.first;
        (*downlinks)[host] = cable.second;
        star.hosts.back()->Initialize();
    }
    return star;
}

Ptr<PointToPointNetDevice>
FabricHelper::AddDevice(Ptr<Node> node, const Direction& outward) const
{
    auto device = CreateObject<PointToPointNetDevice>();
    device->SetAddress(Mac48Address::Allocate());
    device->SetDataRate(outward.rate);
    device->SetMtu(m_mtu);
    device->SetQueue(outward.queue);
    node->AddDevice(device);
    return device;
}

void
FabricHelper::Attach(Ptr<Node> node, Ptr<PointToPointNetDevice> device)
{
    if (auto forwarder = node->GetObject<FabricSwitch>())
    {
        forwarder->AddPort(device);
        return;
    }
    // A /32 on every interface: the routing protocol, not a subnet, decides which way a packet goes.
    auto ip = node->GetObject<Ipv4L3Protocol>();
    const uint32_t interface = ip->AddInterface(device);
    const Ipv4Address address = node->GetObject<FabricRouting>()->GetAddress();
    ip->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask::GetOnes()));
    ip->SetUp(interface);
}

} // namespace ns3
