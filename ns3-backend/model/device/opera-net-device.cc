// SPDX-License-Identifier: GPL-2.0-only
#include "opera-net-device.h"

#include "opera-channel.h"
#include "opera-fabric.h"
#include "opera-switch.h"

#include "ns3/abort.h"
#include "ns3/ethernet-header.h"
#include "ns3/ipv4-header.h"
#include "ns3/node.h"
#include "ns3/opera-bulk.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OperaNetDevice);

namespace
{

constexpr uint16_t ETHERTYPE_IPV4 = 0x0800;

/// Fires with the frame as it is on the link, if anybody listens.
void
Fire(const TracedCallback<Ptr<const Packet>>& trace, const OperaNetDevice& device, const OperaFrame& frame)
{
    if (!trace.IsEmpty())
    {
        trace(device.GetFramed(frame));
    }
}

} // namespace

TypeId
OperaNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::OperaNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Astrolabe")
            .AddConstructor<OperaNetDevice>()
            .AddAttribute("Address",
                          "MAC address of the device.",
                          Mac48AddressValue(Mac48Address("ff:ff:ff:ff:ff:ff")),
                          MakeMac48AddressAccessor(&OperaNetDevice::m_address),
                          MakeMac48AddressChecker())
            .AddAttribute("Mtu",
                          "Largest datagram, bytes; a frame has 18 more.",
                          UintegerValue(1500 - OperaFrame::OVERHEAD),
                          MakeUintegerAccessor(&OperaNetDevice::SetMtu, &OperaNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(68))
            .AddAttribute("DataRate",
                          "Of the link, as the device sends.",
                          DataRateValue(DataRate(10'000'000'000)),
                          MakeDataRateAccessor(&OperaNetDevice::m_rate),
                          MakeDataRateChecker())
            .AddAttribute("Queue",
                          "Bytes of low-latency frames that may wait; 0: no limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&OperaNetDevice::m_queueLimit),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("MarkThreshold",
                          "A low-latency frame that finds more bytes than this waiting is ECN-marked; 0: "
                          "never.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&OperaNetDevice::m_markThreshold),
                          MakeUintegerChecker<uint64_t>())
            .AddTraceSource("MacTx",
                            "A datagram came from above.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_macTx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A datagram from above was dropped: no host of the fabric has its destination.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_macTxDrop),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A frame for this device has arrived, and goes up or on.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_macRx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "A frame has arrived, be it to be relayed.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_macPromiscRx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Enqueue",
                            "A frame waits.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_enqueue),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Dequeue",
                            "A frame waits no more, for it leaves.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_dequeue),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "A frame found no room.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_drop),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Mark",
                            "A frame was given the ECN mark.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_mark),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyTxBegin",
                            "The first bit of a frame leaves.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_phyTxBegin),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyTxEnd",
                            "The last bit of a frame has left.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_phyTxEnd),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyTxDrop",
                            "A frame was lost: its circuit was dark or led nowhere, or it had no path.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_phyTxDrop),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyRxEnd",
                            "The last bit of a frame has arrived.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_phyRxEnd),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Sniffer",
                            "What leaves the device, and arrives for it.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_sniffer),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "What leaves the device, and arrives.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_promiscSniffer),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("BytesInQueue",
                            "Of waiting low-latency frames.",
                            MakeTraceSourceAccessor(&OperaNetDevice::m_lowLatencyBytes),
                            "ns3::TracedValueCallback::Uint64");
    return tid;
}

OperaNetDevice::OperaNetDevice() = default;

OperaNetDevice::~OperaNetDevice() = default;

void
OperaNetDevice::Configure(Ptr<OperaFabric> fabric, uint32_t host, Ptr<OperaSwitch> of)
{
    m_fabric = fabric;
    m_host = host;
    m_switch = of;
}

void
OperaNetDevice::Attach(Ptr<OperaChannel> channel)
{
    m_channel = channel;
    m_atChannel = channel->Attach(this);
    m_linkChange();
}

Ptr<Packet>
OperaNetDevice::GetFramed(const OperaFrame& frame) const
{
    EthernetHeader header(false);
    header.SetSource(m_fabric->GetAddress(frame.source));
    header.SetDestination(m_fabric->GetAddress(frame.destination));
    header.SetLengthType(frame.protocol);
    Ptr<Packet> framed = frame.packet->Copy();
    framed->AddHeader(header);
    return framed;
}

bool
OperaNetDevice::Send(Ptr<Packet> packet, const Address& destination, uint16_t protocol)
{
    NS_ABORT_MSG_IF(!m_channel || m_switch, "a device sends from its host, once it is attached");
    auto frame = Create<OperaFrame>();
    frame->packet = packet;
    frame->protocol = protocol;
    frame->source = m_host;
    frame->payload = OperaClassifier::GetPayload(packet);
    m_macTx(packet);
    if (protocol != ETHERTYPE_IPV4 || packet->GetSize() > m_mtu ||
        !m_fabric->FindHost(packet, Mac48Address::ConvertFrom(destination), frame->destination) ||
        frame->destination == m_host)
    {
        m_macTxDrop(packet);
        return false;
    }
    if (m_fabric->IsBulk(packet))
    {
        frame->isBulk = true;
        Fire(m_enqueue, *this, *frame);
        m_fabric->SendBulk(m_host, frame);
        return true;
    }
    return EnqueueLowLatency(frame);
}

bool
OperaNetDevice::EnqueueLowLatency(Ptr<OperaFrame> frame)
{
    const uint64_t waiting = m_lowLatencyBytes.Get();
    if (m_queueLimit > 0 && waiting + frame->GetBytes() > m_queueLimit)
    {
        ++m_counters.drops;
        Fire(m_drop, *this, *frame);
        m_fabric->CountDrop();
        return false;
    }
    if (m_markThreshold > 0 && waiting > m_markThreshold && MarkIfCapable(*frame))
    {
        ++m_counters.marks;
        Fire(m_mark, *this, *frame);
    }
    m_lowLatency.push_back(frame);
    m_lowLatencyBytes += frame->GetBytes();
    m_counters.peakBytes = std::max(m_counters.peakBytes, m_lowLatencyBytes.Get());
    Fire(m_enqueue, *this, *frame);
    StartNext();
    return true;
}

bool
OperaNetDevice::MarkIfCapable(OperaFrame& frame)
{
    Ipv4Header header;
    if (frame.protocol != ETHERTYPE_IPV4 || frame.packet->PeekHeader(header) == 0 ||
        header.GetEcn() == Ipv4Header::ECN_NotECT)
    {
        return false;
    }
    Ptr<Packet> marked = frame.packet->Copy();
    marked->RemoveHeader(header);
    header.SetEcn(Ipv4Header::ECN_CE);
    if (Node::ChecksumEnabled())
    {
        header.EnableChecksum();
    }
    marked->AddHeader(header);
    frame.packet = marked;
    return true;
}

void
OperaNetDevice::Forward(Ptr<OperaFrame> frame)
{
    if (!frame->isBulk)
    {
        EnqueueLowLatency(frame);
        return;
    }
    m_bulk.push_back(frame);
    Fire(m_enqueue, *this, *frame);
    StartNext();
}

void
OperaNetDevice::Wake()
{
    StartNext();
}

Ptr<OperaFrame>
OperaNetDevice::TakeNext()
{
    while (!m_lowLatency.empty())
    {
        const Ptr<OperaFrame> frame = m_lowLatency.front();
        m_lowLatency.pop_front();
        m_lowLatencyBytes -= frame->GetBytes();
        if (m_switch || m_fabric->StartPath(*frame))
        {
            return frame;
        }
        NoteLost(frame);
        m_fabric->CountLost(frame);
    }
    if (!m_switch)
    {
        return m_fabric->TakeBulk(m_host);
    }
    if (m_bulk.empty())
    {
        return nullptr;
    }
    const Ptr<OperaFrame> frame = m_bulk.front();
    m_bulk.pop_front();
    return frame;
}

void
OperaNetDevice::StartNext()
{
    if (m_isBusy)
    {
        return;
    }
    const Ptr<OperaFrame> frame = TakeNext();
    if (frame)
    {
        m_isBusy = true;
        const Time time =
            TimeStep(static_cast<uint64_t>(OperaBulk::Serialize(frame->GetBytes(), m_rate.GetBitRate())));
        m_counters.sentBytes += frame->GetBytes();
        m_counters.dataFrames += frame->payload > 0 ? 1 : 0;
        Fire(m_dequeue, *this, *frame);
        Fire(m_phyTxBegin, *this, *frame);
        Fire(m_sniffer, *this, *frame);
        Fire(m_promiscSniffer, *this, *frame);
        Simulator::Schedule(time, &OperaNetDevice::EndTransmission, this, frame);
        m_channel->Transmit(frame, m_atChannel, time);
        return;
    }
    const int64_t slot = m_switch ? OperaFabric::NEVER : m_fabric->GetNextSlot(m_host);
    Simulator::Cancel(m_slot);
    if (slot != OperaFabric::NEVER)
    {
        m_slot = Simulator::Schedule(
            TimeStep(static_cast<uint64_t>(slot)) - Simulator::Now(), &OperaNetDevice::StartNext, this);
    }
}

void
OperaNetDevice::EndTransmission(Ptr<OperaFrame> frame)
{
    m_isBusy = false;
    Fire(m_phyTxEnd, *this, *frame);
    StartNext();
}

void
OperaNetDevice::NoteLost(Ptr<OperaFrame> frame)
{
    Fire(m_phyTxDrop, *this, *frame);
}

void
OperaNetDevice::Receive(Ptr<OperaFrame> frame)
{
    Fire(m_phyRxEnd, *this, *frame);
    Fire(m_promiscSniffer, *this, *frame);
    Fire(m_macPromiscRx, *this, *frame);
    const bool isForMe = m_switch || frame->destination == m_host;
    if (isForMe)
    {
        Fire(m_sniffer, *this, *frame);
        Fire(m_macRx, *this, *frame);
    }
    if (m_switch)
    {
        m_switch->Receive(frame, this);
    }
    else if (isForMe)
    {
        m_fabric->NoteDelivered(frame);
        DeliverUp(*frame);
    }
    else
    {
        m_fabric->Relay(frame);
    }
}

void
OperaNetDevice::DeliverUp(const OperaFrame& frame)
{
    const Address from = m_fabric->GetAddress(frame.source);
    if (!m_promiscReceive.IsNull())
    {
        m_promiscReceive(this, frame.packet->Copy(), frame.protocol, from, m_address, PACKET_HOST);
    }
    if (!m_receive.IsNull())
    {
        m_receive(this, frame.packet->Copy(), frame.protocol, from);
    }
}

void
OperaNetDevice::SetIfIndex(uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
OperaNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
OperaNetDevice::GetChannel() const
{
    return m_channel;
}

void
OperaNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
OperaNetDevice::GetAddress() const
{
    return m_address;
}

bool
OperaNetDevice::SetMtu(uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
OperaNetDevice::GetMtu() const
{
    return static_cast<uint16_t>(m_mtu);
}

bool
OperaNetDevice::IsLinkUp() const
{
    return m_channel != nullptr;
}

void
OperaNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool
OperaNetDevice::IsBroadcast() const
{
    return true;
}

Address
OperaNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
OperaNetDevice::IsMulticast() const
{
    return false;
}

Address
OperaNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
OperaNetDevice::GetMulticast(Ipv6Address address) const
{
    return Mac48Address::GetMulticast(address);
}

bool
OperaNetDevice::IsBridge() const
{
    return false;
}

bool
OperaNetDevice::IsPointToPoint() const
{
    return false;
}

bool
OperaNetDevice::SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t)
{
    return false;
}

Ptr<Node>
OperaNetDevice::GetNode() const
{
    return m_node;
}

void
OperaNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
OperaNetDevice::NeedsArp() const
{
    return false;
}

void
OperaNetDevice::SetReceiveCallback(ReceiveCallback callback)
{
    m_receive = callback;
}

void
OperaNetDevice::SetPromiscReceiveCallback(PromiscReceiveCallback callback)
{
    m_promiscReceive = callback;
}

bool
OperaNetDevice::SupportsSendFrom() const
{
    return false;
}

void
OperaNetDevice::DoDispose()
{
    Simulator::Cancel(m_slot);
    m_lowLatency.clear();
    m_bulk.clear();
    m_node = nullptr;
    m_fabric = nullptr;
    m_switch = nullptr;
    m_channel = nullptr;
    m_receive.Nullify();
    m_promiscReceive.Nullify();
    NetDevice::DoDispose();
}

} // namespace ns3
