// SPDX-License-Identifier: GPL-2.0-only
#include "opera-network.h"

#include "ns3/packet-port.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OperaNetwork);

TypeId
OperaNetwork::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::OperaNetwork")
            .SetParent<Object>()
            .SetGroupName("Astrolabe")
            .AddConstructor<OperaNetwork>()
            .AddAttribute("Rate",
                          "Of every link, unless HostRate says otherwise.",
                          DataRateValue(DataRate(100'000'000'000)),
                          MakeDataRateAccessor(&OperaNetwork::m_rate),
                          MakeDataRateChecker())
            .AddAttribute("HostRate",
                          "Of the links of hosts; 0bps: Rate.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&OperaNetwork::m_hostRate),
                          MakeDataRateChecker())
            .AddAttribute("HostLatency",
                          "Of the links of hosts.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&OperaNetwork::m_hostLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Propagation",
                          "Between racks.",
                          TimeValue(NanoSeconds(500)),
                          MakeTimeAccessor(&OperaNetwork::m_propagation),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Payload",
                          "Of a full packet, bytes.",
                          UintegerValue(1436),
                          MakeUintegerAccessor(&OperaNetwork::m_payload),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Header",
                          "Of a packet, and the size of what has no payload, bytes.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&OperaNetwork::m_header),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Queue",
                          "Full packets of low-latency data that wait in a port before their payload is cut "
                          "off, and room for headers beside.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&OperaNetwork::m_queue),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Cutoff",
                          "Messages of fewer bytes are low-latency; 0: none is.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&OperaNetwork::m_cutoff),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Window",
                          "Low-latency packets sent before the first pull.",
                          UintegerValue(30),
                          MakeUintegerAccessor(&OperaNetwork::m_window),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Timeout",
                          "Without an answer before low-latency packets are sent again.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&OperaNetwork::m_timeout),
                          MakeTimeChecker(Time(1)))
            .AddAttribute("MaxBackoff",
                          "A timeout doubles each time, to so many times the first.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&OperaNetwork::m_maxBackoff),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("RetryLimit",
                          "Timeouts in a row before a pair of hosts gives up.",
                          UintegerValue(32),
                          MakeUintegerAccessor(&OperaNetwork::m_retryLimit),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource(
                "BulkDelivered",
                "A bulk message has arrived; the time since it was sent. Those of low latency are "
                "traced by the transport.",
                MakeTraceSourceAccessor(&OperaNetwork::m_delivered),
                "ns3::OperaNetwork::DeliveredTracedCallback")
            .AddTraceSource("Granted",
                            "Bulk packets may leave: rotor, grant.",
                            MakeTraceSourceAccessor(&OperaNetwork::m_granted),
                            "ns3::OperaNetwork::GrantTracedCallback")
            .AddTraceSource(
                "Returned",
                "A bulk packet came to a circuit that does not lead where it is heading: the host "
                "that has it back, packet, when (ps).",
                MakeTraceSourceAccessor(&OperaNetwork::m_returned),
                "ns3::PacketTraces::PacketCallback")
            .AddTraceSource("BulkReceived",
                            "A bulk packet is at its destination: host, bytes of its message, when (ps).",
                            MakeTraceSourceAccessor(&OperaNetwork::m_received),
                            "ns3::PacketTransport::ReceivedTracedCallback")
            .AddTraceSource(
                "Crossed",
                "A packet has come through a rotor: rotor, matching, the rack it came from, packet.",
                MakeTraceSourceAccessor(&OperaNetwork::m_crossed),
                "ns3::OperaNetwork::CrossedTracedCallback");
    return tid;
}

OperaNetwork::OperaNetwork() = default;
OperaNetwork::~OperaNetwork() = default;

void
OperaNetwork::Build(const OperaSchedule& schedule,
                    uint32_t hostsPerRack,
                    OperaBulkPolicy* policy,
                    OperaPathSource* paths,
                    PacketTransportClient* client)
{
    NS_ABORT_MSG_IF(m_fabric != nullptr, "a network is built once");
    NS_ABORT_MSG_IF(Time::GetResolution() != Time::PS, "call Time::SetResolution(Time::PS) first");
    NS_ABORT_MSG_IF(hostsPerRack == 0 || policy == nullptr,
                    "there are hosts, and a policy for what they send");
    m_schedule = schedule;
    m_hasPaths = paths != nullptr;
    m_layout = LayOut(schedule, hostsPerRack);
    BuildPorts();
    m_bulk = std::make_unique<OperaBulk>(
        m_layout, m_schedule, *m_fabric, *policy, OperaBulk::Parameters{m_payload, m_header}, client);
    m_bulk->traces.delivered.ConnectWithoutContext(
        MakeCallback(&TracedCallback<const PacketMessage&, Time>::operator(), &m_delivered));
    m_bulk->traces.granted.ConnectWithoutContext(
        MakeCallback(&TracedCallback<uint32_t, const OperaGrant&>::operator(), &m_granted));
    m_bulk->traces.returned.ConnectWithoutContext(
        MakeCallback(&TracedCallback<uint32_t, const PacketDescriptor&, int64_t>::operator(), &m_returned));
    m_bulk->traces.received.ConnectWithoutContext(
        MakeCallback(&TracedCallback<uint32_t, uint32_t, int64_t>::operator(), &m_received));
    m_router = std::make_unique<OperaRouter>(m_layout, m_schedule, *m_fabric, *m_bulk, paths);
    m_router->crossed.ConnectWithoutContext(MakeCallback(
        &TracedCallback<uint32_t, uint32_t, uint32_t, const PacketDescriptor&>::operator(), &m_crossed));
    BuildTransport(client);
    m_fabric->GetContext().returnsHeaders = true;
    m_fabric->Install(*m_router, *this, *this);
    for (uint32_t port = 0; port < m_fabric->GetPortCount(); ++port)
    {
        if (!m_layout.IsHostPort(port))
        {
            m_fabric->GetPort(port).GetQueue().SetUnlimited(BULK_PRIORITY);
        }
    }
}

void
OperaNetwork::BuildPorts()
{
    m_fabric = CreateObject<PacketFabric>();
    m_fabric->largestPacket = m_payload + m_header;
    m_fabric->trimmedSize = m_header;
    m_fabric->trimThreshold = uint64_t{m_queue} * m_fabric->largestPacket;
    m_fabric->ecnThreshold = PACKET_UNBOUNDED;
    for (uint32_t host = 0; host < m_layout.GetHosts(); ++host)
    {
        m_fabric->AddHost();
    }
    for (uint32_t i = 0; i < m_layout.racks + m_layout.rotors; ++i)
    {
        m_fabric->AddSwitch(0);
    }
    const uint64_t rate = m_rate.GetBitRate();
    for (uint32_t host = 0; host < m_layout.GetHosts(); ++host)
    {
        const uint32_t rack = m_layout.GetRackNode(m_layout.GetRackOf(host));
        const uint32_t up = m_fabric->AddPort(host, rack, GetHostRate(), m_hostLatency.GetTimeStep(), 0);
        const uint32_t down = m_fabric->AddPort(rack, host, GetHostRate(), m_hostLatency.GetTimeStep(), 0);
        m_fabric->Pair(up, down);
    }
    for (uint32_t rack = 0; rack < m_layout.racks; ++rack)
    {
        for (uint32_t rotor = 0; rotor < m_layout.rotors; ++rotor)
        {
            // What comes back through the rotor is in another rack's port.
            const uint32_t port = m_fabric->AddPort(m_layout.GetRackNode(rack),
                                                    m_layout.GetRotorNode(rotor),
                                                    rate,
                                                    m_propagation.GetTimeStep(),
                                                    0);
            m_fabric->Pair(port, port);
        }
    }
}

void
OperaNetwork::BuildTransport(PacketTransportClient* client)
{
    // That may be in flight: more than the network holds of a pair.
    constexpr uint64_t WINDOW_PACKETS = 1U << 16;
    PacketTransportParameters parameters;
    parameters.mtu = m_payload;
    parameters.header = m_header;
    parameters.ackSize = m_header;
    parameters.window = WINDOW_PACKETS * m_payload;
    parameters.congestionControl = &PacketNdp::KIND;
    parameters.isReordered = true;
    parameters.hasTimers = true;
    parameters.timeout = m_timeout.GetPicoSeconds();
    parameters.maxBackoff = m_maxBackoff;
    parameters.retryLimit = m_retryLimit;
    auto& ndp = parameters.Get<PacketNdpParameters>();
    ndp.initialWindow = m_window;
    // The released simulator paces pulls by payload.
    ndp.pullRate = static_cast<double>(m_payload + m_header) / m_payload;
    ndp.pullPacing = PacketPullPacing::PER_PAIR;
    m_transport = CreateObject<PacketTransport>();
    m_transport->SetParameters(parameters);
    m_transport->Bind(*m_fabric, *m_router, client);
}

void
OperaNetwork::DoDispose()
{
    if (m_fabric)
    {
        m_fabric->Detach(); // others may hold it still, and this router ends now
    }
    m_transport = nullptr;
    m_router.reset();
    m_bulk.reset();
    m_fabric = nullptr;
    Object::DoDispose();
}

void
OperaNetwork::Send(const PacketMessage& message)
{
    Send(message, IsLowLatency(message.bytes));
}

void
OperaNetwork::Send(const PacketMessage& message, bool isLowLatency)
{
    PacketMessage sent = message;
    if (isLowLatency)
    {
        NS_ASSERT_MSG(m_hasPaths, "low-latency messages have paths");
        sent.priority = LOW_LATENCY_PRIORITY;
        m_transport->Send(sent);
    }
    else
    {
        m_bulk->Send(sent);
    }
}

void
OperaNetwork::Take(uint32_t packet)
{
    if (m_fabric->GetContext().packets[packet].Is(PacketDescriptor::BULK))
    {
        m_bulk->Take(packet);
    }
    else
    {
        m_transport->Take(packet);
    }
}

int64_t
OperaNetwork::TakePacket(uint64_t offer, int64_t when, uint32_t& packet)
{
    return OperaBulk::IsOffer(offer) ? m_bulk->TakePacket(offer, when, packet)
                                     : m_transport->TakePacket(offer, when, packet);
}

uint32_t
OperaNetwork::GetSlotPackets(const OperaSchedule& schedule, uint32_t hostsPerRack) const
{
    return OperaBulk::GetSlotPackets(
        LayOut(schedule, hostsPerRack), schedule, GetHostRate(), m_payload + m_header);
}

uint64_t
OperaNetwork::GetHostRate() const
{
    return m_hostRate.GetBitRate() > 0 ? m_hostRate.GetBitRate() : m_rate.GetBitRate();
}

OperaLayout
OperaNetwork::LayOut(const OperaSchedule& schedule, uint32_t hostsPerRack) const
{
    const uint64_t rate = m_rate.GetBitRate();
    const unsigned __int128 offered = static_cast<unsigned __int128>(hostsPerRack) * GetHostRate();
    return {schedule.GetRacks(),
            hostsPerRack,
            schedule.GetRotors(),
            static_cast<uint32_t>((offered + rate - 1) / rate)};
}

} // namespace ns3
