// SPDX-License-Identifier: GPL-2.0-only
#include "opera-router.h"

#include "ns3/packet-port.h"

namespace ns3
{

OperaRouter::OperaRouter(const OperaLayout& layout,
                         const OperaSchedule& schedule,
                         PacketFabric& fabric,
                         OperaBulk& bulk,
                         OperaPathSource* paths)
    : m_layout(layout),
      m_schedule(schedule),
      m_context(fabric.GetContext()),
      m_bulk(bulk),
      m_paths(paths),
      m_carriedBytes(std::size_t{layout.rotors} * schedule.GetMatchingsPerRotor() * layout.racks)
{
}

PacketPort*
OperaRouter::Route(uint32_t node, PacketDescriptor& packet)
{
    const uint32_t hosts = m_layout.GetHosts();
    if (node < hosts)
    {
        return packet.Is(PacketDescriptor::BULK) ? nullptr : m_context.ports[m_layout.GetHostPort(node)];
    }
    if (node < m_layout.GetRotorNode(0))
    {
        return RouteAtRack(node - hosts, packet);
    }
    return RouteAtRotor(node - m_layout.GetRotorNode(0), packet);
}

PacketPort*
OperaRouter::RouteDown(uint32_t rack, uint32_t host)
{
    return m_layout.GetRackOf(host) == rack ? m_context.ports[m_layout.GetDownPort(host)] : nullptr;
}

PacketPort*
OperaRouter::RouteAtRack(uint32_t rack, PacketDescriptor& packet)
{
    if (packet.Is(PacketDescriptor::BULK))
    {
        PacketPort* down = RouteDown(rack, packet.heading);
        return down != nullptr ? down : m_context.ports[m_layout.GetUpPort(rack, packet.rotor)];
    }
    const bool enters = packet.ingress == PACKET_NONE || m_layout.IsHostPort(packet.ingress);
    if (enters && m_layout.GetRackOf(packet.destination) != rack && !FixPath(rack, packet))
    {
        return nullptr;
    }
    if (packet.Is(PacketDescriptor::ROUTED))
    {
        PacketPath& path = m_context.paths[packet.path];
        if (path.taken < path.uplinks.size())
        {
            return m_context.ports[m_layout.GetUpPort(rack, path.uplinks[path.taken++])];
        }
        m_context.EndPath(packet);
    }
    return RouteDown(rack, packet.destination);
}

int64_t
OperaRouter::GetDeparture(const PacketDescriptor& packet) const
{
    if (packet.ingress == PACKET_NONE)
    {
        return packet.arrival;
    }
    const PacketPort& link = *m_context.ports[packet.ingress];
    return packet.arrival - link.GetLatency() - OperaBulk::Serialize(packet.bytes, link.GetBitsPerSecond());
}

bool
OperaRouter::FixPath(uint32_t rack, PacketDescriptor& packet)
{
    if (m_paths == nullptr)
    {
        return false;
    }
    const uint32_t number = m_context.paths.Allocate();
    PacketPath& path = m_context.paths[number];
    path.taken = 0;
    const uint64_t superslice = m_schedule.GetSuperslice(GetDeparture(packet));
    if (!m_paths->Find(superslice, rack, m_layout.GetRackOf(packet.destination), path.uplinks))
    {
        m_context.paths.Free(number);
        return false;
    }
    packet.path = number;
    packet.flags |= PacketDescriptor::ROUTED;
    return true;
}

PacketPort*
OperaRouter::RouteAtRotor(uint32_t rotor, PacketDescriptor& packet)
{
    const uint32_t from = m_layout.GetRackOfUpPort(packet.ingress);
    const uint64_t superslice = m_schedule.GetSuperslice(packet.arrival);
    const uint32_t matching = m_schedule.GetMatchingIndex(rotor, superslice);
    const uint32_t to = m_schedule.GetPeer(rotor, matching, from, packet.arrival);
    const bool isBulk = packet.Is(PacketDescriptor::BULK);
    if (m_schedule.IsDark(rotor, packet.arrival) || to == from ||
        (isBulk && to != m_layout.GetRackOf(packet.heading)))
    {
        m_lost += isBulk ? 0 : 1;
        return nullptr;
    }
    m_carriedBytes[GetCircuit(rotor, matching, from)] += packet.bytes;
    crossed(rotor, matching, from, packet);
    return RouteAtRack(to, packet);
}

bool
OperaRouter::Keep(uint32_t node, uint32_t packet)
{
    if (!m_context.packets[packet].Is(PacketDescriptor::BULK))
    {
        return false;
    }
    if (node < m_layout.GetHosts())
    {
        m_bulk.Relay(packet);
    }
    else
    {
        m_bulk.TakeBack(packet);
    }
    return true;
}

std::size_t
OperaRouter::GetCircuit(uint32_t rotor, uint32_t matching, uint32_t rack) const
{
    return (std::size_t{rotor} * m_schedule.GetMatchingsPerRotor() + matching) * m_layout.racks + rack;
}

} // namespace ns3
