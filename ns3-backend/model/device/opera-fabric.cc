// SPDX-License-Identifier: GPL-2.0-only
/// Addresses, services, paths and failures of an Opera network's devices; its bulk frames are in
/// opera-fabric-bulk.cc.
#include "opera-fabric.h"

#include "opera-net-device.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/opera-bulk.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OperaFabric);

TypeId
OperaFabric::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::OperaFabric")
            .SetParent<Object>()
            .SetGroupName("Astrolabe")
            .AddConstructor<OperaFabric>()
            .AddAttribute("Reroute",
                          "A low-latency frame whose path has ended in another rack than its own, because "
                          "circuits have moved meanwhile, gets a path from there; else it is lost, as in the "
                          "simulator of Opera's authors.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&OperaFabric::m_isRerouting),
                          MakeBooleanChecker())
            .AddAttribute("Classifier",
                          "Which service a datagram gets.",
                          PointerValue(),
                          MakePointerAccessor(&OperaFabric::m_classifier),
                          MakePointerChecker<OperaClassifier>())
            .AddTraceSource("Granted",
                            "A host may send bulk frames through a circuit: rotor, grant.",
                            MakeTraceSourceAccessor(&OperaFabric::m_granted),
                            "ns3::OperaFabric::GrantTracedCallback")
            .AddTraceSource("Returned",
                            "A bulk frame has come to a circuit that leads elsewhere, and waits again: host, "
                            "datagram.",
                            MakeTraceSourceAccessor(&OperaFabric::m_returned),
                            "ns3::OperaFabric::HostTracedCallback")
            .AddTraceSource("Relayed",
                            "A bulk frame waits at a host that relays it: host, datagram.",
                            MakeTraceSourceAccessor(&OperaFabric::m_relays),
                            "ns3::OperaFabric::HostTracedCallback")
            .AddTraceSource("Delivered",
                            "A datagram goes up the stack of its destination: host, datagram.",
                            MakeTraceSourceAccessor(&OperaFabric::m_delivered),
                            "ns3::OperaFabric::HostTracedCallback")
            .AddTraceSource("Lost",
                            "A low-latency frame was lost on a dark circuit or had no path: host that sent "
                            "it, datagram.",
                            MakeTraceSourceAccessor(&OperaFabric::m_lostTrace),
                            "ns3::OperaFabric::HostTracedCallback")
            .AddTraceSource(
                "Crossed",
                "A frame has come out of a circuit: rotor, its matching, rack that sent it, frame.",
                MakeTraceSourceAccessor(&OperaFabric::m_crossed),
                "ns3::OperaFabric::CrossedTracedCallback");
    return tid;
}

OperaFabric::OperaFabric()
    : OperaBulkSlots(m_layout, m_schedule),
      m_classifier(CreateObject<OperaClassifier>())
{
}

OperaFabric::~OperaFabric() = default;

void
OperaFabric::Build(const OperaSchedule& schedule,
                   uint32_t hostsPerRack,
                   uint64_t hostRate,
                   uint64_t rate,
                   uint32_t frameBytes)
{
    NS_ABORT_MSG_IF(Time::GetResolution() != Time::PS,
                    "the clock counts another unit than picoseconds: call Time::SetResolution(Time::PS) "
                    "first");
    m_first = schedule;
    m_schedule = schedule;
    m_hostRate = hostRate;
    m_frameBytes = frameBytes;
    const unsigned __int128 offered = static_cast<unsigned __int128>(hostsPerRack) * hostRate;
    m_layout = {schedule.GetRacks(),
                hostsPerRack,
                schedule.GetRotors(),
                static_cast<uint32_t>((offered + rate - 1) / rate)};
    m_carriedBytes.assign(
        std::size_t{schedule.GetRotors()} * schedule.GetMatchingsPerRotor() * schedule.GetRacks(), 0);
}

void
OperaFabric::SetPolicy(std::unique_ptr<OperaBulkPolicy> policy)
{
    m_policy = std::move(policy);
}

void
OperaFabric::SetPaths(std::unique_ptr<OperaPathSource> paths)
{
    m_paths = std::move(paths);
}

void
OperaFabric::AddHost(Ptr<OperaNetDevice> device)
{
    m_hosts.emplace_back(m_layout.GetTransmissionSlots(),
                         OperaBulk::Serialize(m_frameBytes, m_hostRate),
                         m_schedule.GetBulkSlot());
    m_hosts.back().device = device;
    m_addresses.push_back(Mac48Address::ConvertFrom(device->GetAddress()));
}

uint32_t
OperaFabric::GetSlotPackets() const
{
    return OperaBulk::GetSlotPackets(m_layout, m_schedule, m_hostRate, m_frameBytes);
}

void
OperaFabric::FailRotor(uint32_t rotor, Time when)
{
    NS_ABORT_MSG_IF(rotor >= m_layout.rotors, "rotor " << rotor << ", expected 0 to " << m_layout.rotors - 1);
    Fail({when.GetPicoSeconds(), ALL, rotor});
}

void
OperaFabric::FailCable(uint32_t rack, uint32_t rotor, Time when)
{
    NS_ABORT_MSG_IF(rotor >= m_layout.rotors, "rotor " << rotor << ", expected 0 to " << m_layout.rotors - 1);
    NS_ABORT_MSG_IF(rack >= m_layout.racks, "rack " << rack << ", expected 0 to " << m_layout.racks - 1);
    Fail({when.GetPicoSeconds(), rack, rotor});
}

void
OperaFabric::FailRack(uint32_t rack, Time when)
{
    NS_ABORT_MSG_IF(rack >= m_layout.racks, "rack " << rack << ", expected 0 to " << m_layout.racks - 1);
    Fail({when.GetPicoSeconds(), rack, ALL});
}

void
OperaFabric::Fail(const Failure& failure)
{
    NS_ABORT_MSG_IF(failure.when <= Now(),
                    "a failure at " << PicoSeconds(failure.when).As(Time::US) << ", expected after now, "
                                    << Simulator::Now().As(Time::US));
    m_failures.push_back(failure);
    std::stable_sort(m_failures.begin(), m_failures.end(), [](const Failure& a, const Failure& b) {
        return a.when < b.when;
    });
    // All of it anew: a failure may come before one that is known, and states follow one another.
    m_schedule = m_first;
    std::vector<std::vector<OperaSchedule::Matching>> matchings = m_first.GetMatchings();
    for (std::size_t i = 0; i < m_failures.size(); ++i)
    {
        for (uint32_t rotor = 0; rotor < m_layout.rotors; ++rotor)
        {
            if (m_failures[i].rotor != ALL && m_failures[i].rotor != rotor)
            {
                continue;
            }
            for (OperaSchedule::Matching& matching : matchings[rotor])
            {
                for (uint32_t rack = 0; rack < m_layout.racks; ++rack)
                {
                    if (m_failures[i].rack == ALL || m_failures[i].rack == rack)
                    {
                        matching[matching[rack]] = matching[rack];
                        matching[rack] = rack;
                    }
                }
            }
        }
        if (i + 1 == m_failures.size() || m_failures[i + 1].when != m_failures[i].when)
        {
            m_schedule.Fail(m_failures[i].when, matchings);
        }
    }
}

uint32_t
OperaFabric::GetPeer(uint32_t rotor, uint32_t rack, int64_t when) const
{
    const uint32_t matching = m_schedule.GetMatchingIndex(rotor, m_schedule.GetSuperslice(when));
    return m_schedule.GetPeer(rotor, matching, rack, when);
}

bool
OperaFabric::IsDark(uint32_t rotor) const
{
    return m_schedule.IsDark(rotor, Now());
}

Mac48Address
OperaFabric::GetAddress(uint32_t host) const
{
    return m_addresses[host];
}

void
OperaFabric::ReadAddresses()
{
    for (uint32_t host = 0; host < m_hosts.size(); ++host)
    {
        const Ptr<OperaNetDevice> device = m_hosts[host].device;
        const auto ip = device->GetNode()->GetObject<Ipv4>();
        const int32_t interface = ip ? ip->GetInterfaceForDevice(device) : -1;
        for (uint32_t i = 0; interface >= 0 && i < ip->GetNAddresses(static_cast<uint32_t>(interface)); ++i)
        {
            m_hostByIp[ip->GetAddress(static_cast<uint32_t>(interface), i).GetLocal().Get()] = host;
        }
    }
}

bool
OperaFabric::FindHost(Ptr<const Packet> datagram, Mac48Address address, uint32_t& host)
{
    if (!address.IsBroadcast())
    {
        const auto known = std::find(m_addresses.begin(), m_addresses.end(), address);
        host = static_cast<uint32_t>(known - m_addresses.begin());
        return known != m_addresses.end();
    }
    Ipv4Header header;
    if (datagram->PeekHeader(header) == 0)
    {
        return false;
    }
    auto known = m_hostByIp.find(header.GetDestination().Get());
    if (known == m_hostByIp.end())
    {
        ReadAddresses(); // since one may have been given meanwhile
        known = m_hostByIp.find(header.GetDestination().Get());
    }
    if (known == m_hostByIp.end())
    {
        return false;
    }
    host = known->second;
    return true;
}

bool
OperaFabric::IsBulk(Ptr<const Packet> datagram)
{
    return !m_paths || m_classifier->Classify(datagram) == OperaService::BULK;
}

bool
OperaFabric::StartPath(OperaFrame& frame)
{
    const uint32_t from = m_layout.GetRackOf(frame.source);
    if (from == m_layout.GetRackOf(frame.destination))
    {
        return true;
    }
    frame.taken = 0;
    return m_paths->Find(
        m_schedule.GetSuperslice(Now()), from, m_layout.GetRackOf(frame.destination), frame.uplinks);
}

bool
OperaFabric::FindPath(OperaFrame& frame, uint32_t rack)
{
    ++m_counters.rerouted;
    frame.taken = 0;
    return m_paths->Find(
        m_schedule.GetSuperslice(Now()), rack, m_layout.GetRackOf(frame.destination), frame.uplinks);
}

void
OperaFabric::NoteDelivered(Ptr<OperaFrame> frame)
{
    ++m_counters.packets;
    m_counters.bytes += frame->packet->GetSize();
    if (frame->isBulk)
    {
        ++m_counters.bulkPackets;
        EndFlight();
    }
    m_delivered(frame->destination, frame->packet);
}

void
OperaFabric::CountLost(Ptr<OperaFrame> frame)
{
    ++m_counters.lost;
    m_lostTrace(frame->source, frame->packet);
}

std::size_t
OperaFabric::GetCircuit(uint32_t rotor, uint32_t matching, uint32_t rack) const
{
    return (std::size_t{rotor} * m_schedule.GetMatchingsPerRotor() + matching) * m_layout.racks + rack;
}

void
OperaFabric::NoteCrossed(uint32_t rotor, uint32_t rack, const OperaFrame& frame)
{
    const uint32_t matching = m_schedule.GetMatchingIndex(rotor, m_schedule.GetSuperslice(Now()));
    m_carriedBytes[GetCircuit(rotor, matching, rack)] += frame.GetBytes();
    m_crossed(rotor, matching, rack, frame);
}

void
OperaFabric::DoDispose()
{
    Stop();
    m_hosts.clear();
    m_classifier = nullptr;
    Object::DoDispose();
}

} // namespace ns3
