// SPDX-License-Identifier: GPL-2.0-only
#include "opera-classifier.h"

#include "ns3/boolean.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OperaClassifier);

namespace
{

constexpr uint8_t PROTOCOL_TCP = 6;
constexpr uint8_t PROTOCOL_UDP = 17;
constexpr std::size_t TCP_OFFSET_AT = 12;

} // namespace

TypeId
OperaClassifier::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::OperaClassifier")
            .SetParent<Object>()
            .SetGroupName("Astrolabe")
            .AddConstructor<OperaClassifier>()
            .AddAttribute("Cutoff",
                          "Bytes of a flow that are low-latency, IP headers included; what follows is bulk.",
                          UintegerValue(15'000'000),
                          MakeUintegerAccessor(&OperaClassifier::m_cutoff),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("HeadersFirst",
                          "TCP segments without payload are low-latency, whatever else is said of them.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&OperaClassifier::m_headersFirst),
                          MakeBooleanChecker());
    return tid;
}

void
OperaClassifier::SetDscp(Ipv4Header::DscpType dscp, OperaService service)
{
    m_byDscp[static_cast<uint8_t>(dscp)] = service;
}

void
OperaClassifier::SetPort(uint16_t port, OperaService service)
{
    m_byPort[port] = service;
}

OperaClassifier::Ports
OperaClassifier::GetPorts(Ptr<const Packet> datagram, const Ipv4Header& header)
{
    Ports ports;
    const uint8_t protocol = header.GetProtocol();
    if (header.GetFragmentOffset() != 0 || (protocol != PROTOCOL_TCP && protocol != PROTOCOL_UDP))
    {
        return ports;
    }
    std::array<uint8_t, 60 + TCP_OFFSET_AT + 1> bytes{};
    const uint32_t ip = header.GetSerializedSize();
    if (datagram->CopyData(bytes.data(), bytes.size()) < ip + 4)
    {
        return ports;
    }
    ports.source = static_cast<uint16_t>(bytes[ip] << 8 | bytes[ip + 1]);
    ports.destination = static_cast<uint16_t>(bytes[ip + 2] << 8 | bytes[ip + 3]);
    if (protocol == PROTOCOL_TCP)
    {
        const uint32_t headers = ip + static_cast<uint32_t>(bytes[ip + TCP_OFFSET_AT] >> 4) * 4;
        ports.payload = datagram->GetSize() - std::min(datagram->GetSize(), headers);
    }
    return ports;
}

uint32_t
OperaClassifier::GetPayload(Ptr<const Packet> datagram)
{
    constexpr uint32_t UDP_BYTES = 8;
    Ipv4Header header;
    if (datagram->PeekHeader(header) == 0)
    {
        return 0;
    }
    const bool hasPorts = header.GetFragmentOffset() == 0;
    if (hasPorts && header.GetProtocol() == PROTOCOL_TCP)
    {
        return GetPorts(datagram, header).payload;
    }
    const uint32_t udp = hasPorts && header.GetProtocol() == PROTOCOL_UDP ? UDP_BYTES : 0;
    const uint32_t headers = header.GetSerializedSize() + udp;
    return datagram->GetSize() - std::min(datagram->GetSize(), headers);
}

OperaService
OperaClassifier::Classify(Ptr<const Packet> datagram)
{
    Ipv4Header header;
    if (datagram->PeekHeader(header) == 0)
    {
        return OperaService::LOW_LATENCY;
    }
    const Ports ports = GetPorts(datagram, header);
    if (m_headersFirst && ports.payload == 0)
    {
        return OperaService::LOW_LATENCY;
    }
    if (const auto rule = m_byDscp.find(static_cast<uint8_t>(header.GetDscp())); rule != m_byDscp.end())
    {
        return rule->second;
    }
    for (const uint16_t port : {ports.destination, ports.source})
    {
        if (const auto rule = m_byPort.find(port); rule != m_byPort.end() && port != 0)
        {
            return rule->second;
        }
    }
    const Flow flow{uint64_t{header.GetSource().Get()} << 32 | header.GetDestination().Get(),
                    uint64_t{header.GetProtocol()} << 32 | uint32_t{ports.source} << 16 | ports.destination};
    uint64_t& sent = m_sent[flow];
    sent += datagram->GetSize();
    return sent <= m_cutoff ? OperaService::LOW_LATENCY : OperaService::BULK;
}

} // namespace ns3
