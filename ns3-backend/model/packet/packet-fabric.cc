// SPDX-License-Identifier: GPL-2.0-only
#include "packet-fabric.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(PacketFabric);

namespace
{

using Accessor = Ptr<const TraceSourceAccessor>;

/// Makes a trace source of the context's reachable as one of the fabric's.
template <class Source>
class ContextTraceAccessor : public TraceSourceAccessor
{
  public:
    explicit ContextTraceAccessor(Source PacketTraces::*source)
        : m_source(source)
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& callback) const override
    {
        return Apply(object, [&](Source& source) { source.ConnectWithoutContext(callback); });
    }

    bool Connect(ObjectBase* object, std::string context, const CallbackBase& callback) const override
    {
        return Apply(object, [&](Source& source) { source.Connect(callback, context); });
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& callback) const override
    {
        return Apply(object, [&](Source& source) { source.DisconnectWithoutContext(callback); });
    }

    bool Disconnect(ObjectBase* object, std::string context, const CallbackBase& callback) const override
    {
        return Apply(object, [&](Source& source) { source.Disconnect(callback, context); });
    }

  private:
    template <class Action>
    bool Apply(ObjectBase* object, Action action) const
    {
        auto* fabric = dynamic_cast<PacketFabric*>(object);
        if (fabric == nullptr)
        {
            return false;
        }
        action(fabric->GetContext().traces.*m_source);
        return true;
    }

    Source PacketTraces::*m_source;
};

template <class Source>
Accessor
Trace(Source PacketTraces::*source)
{
    return Ptr<const TraceSourceAccessor>(new ContextTraceAccessor<Source>(source), false);
}

constexpr const char* PACKET_CALLBACK = "ns3::PacketTraces::PacketCallback";

} // namespace

TypeId
PacketFabric::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::PacketFabric")
            .SetParent<Object>()
            .SetGroupName("Astrolabe")
            .AddConstructor<PacketFabric>()
            .AddAttribute("CutThrough",
                          "Switches send a packet on when its header has arrived.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&PacketFabric::m_cutsThrough),
                          MakeBooleanChecker())
            .AddAttribute("CutThroughHeader",
                          "Bytes of a packet that must have arrived then.",
                          UintegerValue(82),
                          MakeUintegerAccessor(&PacketFabric::m_cutThroughHeader),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("LargestPacket",
                          "Bytes on the wire of the largest packet there will be.",
                          UintegerValue(4178),
                          MakeUintegerAccessor(&PacketFabric::m_largestPacket),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BufferSharing",
                          "How the ports of a switch share its memory.",
                          EnumValue(PER_PORT),
                          MakeEnumAccessor(&PacketFabric::m_sharing),
                          MakeEnumChecker(PER_PORT, "PerPort", SHARED, "Shared", DYNAMIC, "Dynamic"))
            .AddAttribute("DynamicShare",
                          "Of the free memory that one queue may hold, with dynamic sharing.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&PacketFabric::m_dynamicShare),
                          MakeDoubleChecker<double>(1.0 / 1024, 1024))
            .AddAttribute(
                "MarkFrom",
                "Bytes waiting behind a packet from which on it may be marked; the largest value: never.",
                UintegerValue(std::numeric_limits<uint64_t>::max()),
                MakeUintegerAccessor(&PacketFabric::m_markFrom),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute(
                "MarkTo",
                "Bytes waiting behind a packet beyond which it is marked; less than MarkFrom: as that.",
                UintegerValue(0),
                MakeUintegerAccessor(&PacketFabric::m_markTo),
                MakeUintegerChecker<uint64_t>())
            .AddAttribute("MarkProbability",
                          "With which a packet is marked that leaves MarkTo bytes behind.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&PacketFabric::m_markProbability),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("TrimmedSize",
                          "Bytes left of a packet that is trimmed; 0: none is.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketFabric::m_trimmedSize),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("TrimAbove",
                          "Bytes of data waiting in a port beyond which packets are trimmed.",
                          UintegerValue(33424),
                          MakeUintegerAccessor(&PacketFabric::m_trimAbove),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("FlowControl",
                          "What keeps nodes from sending what the next has no room for.",
                          EnumValue(NO_FLOW_CONTROL),
                          MakeEnumAccessor(&PacketFabric::m_flowControl),
                          MakeEnumChecker(NO_FLOW_CONTROL, "None", PAUSE, "Pause", CREDIT, "Credit"))
            .AddAttribute("PauseAbove",
                          "Bytes held of a link's priority beyond which it is paused; 0: from the memory.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketFabric::m_pauseAbove),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("PauseFrame",
                          "Bytes of a pause on the wire.",
                          UintegerValue(84),
                          MakeUintegerAccessor(&PacketFabric::m_pauseFrame),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("CreditRoom",
                          "Bytes of each priority that a node takes in over a link before any has left.",
                          UintegerValue(65536),
                          MakeUintegerAccessor(&PacketFabric::m_creditRoom),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("Priorities",
                          "That are in use, and share the memory where they are paused.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&PacketFabric::m_priorities),
                          MakeUintegerChecker<uint32_t>(1, PACKET_PRIORITIES))
            .AddTraceSource("Enqueue",
                            "A packet waits in a port: port, packet, when (ps).",
                            Trace(&PacketTraces::enqueued),
                            PACKET_CALLBACK)
            .AddTraceSource("Start",
                            "A packet starts to leave a port: port, packet, when (ps).",
                            Trace(&PacketTraces::started),
                            PACKET_CALLBACK)
            .AddTraceSource("Arrive",
                            "A packet is at the other end of a port's link: port, packet, when (ps).",
                            Trace(&PacketTraces::arrived),
                            PACKET_CALLBACK)
            .AddTraceSource("Drop",
                            "A packet is dropped by a port, or behind it: port, packet, when (ps).",
                            Trace(&PacketTraces::dropped),
                            PACKET_CALLBACK)
            .AddTraceSource("Mark",
                            "A packet is marked: port, packet, when (ps).",
                            Trace(&PacketTraces::marked),
                            PACKET_CALLBACK)
            .AddTraceSource("Trim",
                            "A packet has lost its payload: port, packet, when (ps).",
                            Trace(&PacketTraces::trimmed),
                            PACKET_CALLBACK)
            .AddTraceSource("Pause",
                            "A port is paused, or resumes: port, priority, paused, when (ps).",
                            Trace(&PacketTraces::paused),
                            "ns3::PacketTraces::PauseCallback");
    return tid;
}

uint32_t
PacketFabric::AddHost(int64_t forwarding)
{
    const uint32_t number = GetNodeCount();
    m_nodes.emplace_back(number, m_context, forwarding);
    m_nodeFacts.push_back({0, false});
    return number;
}

uint32_t
PacketFabric::AddSwitch(uint64_t memory)
{
    const uint32_t number = AddHost();
    m_nodeFacts[number] = {memory, true};
    return number;
}

uint32_t
PacketFabric::AddPort(uint32_t from, uint32_t to, uint64_t bitsPerSecond, int64_t latency, uint64_t limit)
{
    m_ports.push_back(Ptr<PacketPort>(
        new PacketPort(m_context, m_nodes[from], m_nodes[to], bitsPerSecond, latency), false));
    m_portFacts.push_back({limit, PACKET_NONE});
    return GetPortCount() - 1;
}

void
PacketFabric::Pair(uint32_t port, uint32_t reverse)
{
    m_portFacts[port].reverse = reverse;
    m_portFacts[reverse].reverse = port;
}

void
PacketFabric::SetWeights(const std::array<uint32_t, PACKET_PRIORITIES>& weights)
{
    m_weights = weights;
    m_isWeighted = true;
}

void
PacketFabric::Install(PacketRouter& router, PacketSink& sink, PacketSource& source)
{
    NS_ABORT_MSG_IF(
        m_trimmedSize > 0 && m_flowControl != NO_FLOW_CONTROL,
        "packets that flow control keeps from queueing are not trimmed: set TrimmedSize or FlowControl");
    std::vector<PacketSharedBuffer*> memories(m_nodes.size(), nullptr);
    for (PacketNode& node : m_nodes)
    {
        node.SetUse(&router, &sink);
    }
    for (const Ptr<PacketPort>& port : m_ports)
    {
        if (m_isWeighted)
        {
            port->SetWeights(m_weights, m_largestPacket);
        }
        if (m_cutsThrough && m_nodeFacts[port->GetTo().GetNumber()].isSwitch)
        {
            port->SetCutThrough(m_cutThroughHeader);
        }
        if (m_nodeFacts[port->GetFrom().GetNumber()].isSwitch)
        {
            InstallQueue(*port, memories);
        }
        else
        {
            port->SetSource(&source);
        }
        InstallFlowControl(*port);
    }
}

void
PacketFabric::InstallQueue(PacketPort& port, std::vector<PacketSharedBuffer*>& memories)
{
    if (m_markFrom != std::numeric_limits<uint64_t>::max())
    {
        port.GetQueue().SetMarking({m_markFrom, std::max(m_markFrom, m_markTo), m_markProbability});
    }
    if (m_trimmedSize > 0)
    {
        port.GetQueue().SetTrimming(m_trimmedSize);
        port.GetQueue().SetLimit(m_trimAbove);
        return;
    }
    if (m_flowControl != NO_FLOW_CONTROL)
    {
        return; // what comes in is bounded
    }
    const uint32_t number = port.GetFrom().GetNumber();
    const uint64_t limit = m_portFacts[port.GetNumber()].limit;
    const uint64_t memory = m_nodeFacts[number].memory;
    if (limit > 0)
    {
        port.GetQueue().SetLimit(limit);
    }
    else if (memory > 0 && m_sharing == PER_PORT)
    {
        port.GetQueue().SetLimit(memory / port.GetFrom().GetPorts().size());
    }
    else if (memory > 0)
    {
        if (memories[number] == nullptr)
        {
            const double share = m_sharing == DYNAMIC ? m_dynamicShare : 0;
            memories[number] = &m_memories.emplace_back(memory, share);
        }
        port.SetSharedBuffer(memories[number]);
    }
}

uint64_t
PacketFabric::GetHeadroom(uint32_t port) const
{
    const PacketPort& there = *m_ports[port];
    const PacketPort& back = *m_ports[m_portFacts[port].reverse];
    // The frame may wait for a packet that is still coming in over the slowest link.
    uint64_t slowest = back.GetBitsPerSecond();
    for (const PacketPort* out : there.GetTo().GetPorts())
    {
        const uint32_t in = m_portFacts[out->GetNumber()].reverse;
        if (m_cutsThrough && in != PACKET_NONE)
        {
            slowest = std::min(slowest, m_ports[in]->GetBitsPerSecond());
        }
    }
    return PacketFlowControl::GetHeadroom(there.GetBitsPerSecond(),
                                          slowest,
                                          there.GetLatency() + back.GetLatency(),
                                          m_largestPacket,
                                          uint64_t{m_priorities} * m_pauseFrame);
}

uint64_t
PacketFabric::GetIngressRoom(uint32_t port) const
{
    const PacketNode& to = m_ports[port]->GetTo();
    uint64_t memory = m_nodeFacts[to.GetNumber()].memory;
    for (const PacketPort* out : to.GetPorts())
    {
        memory += m_portFacts[out->GetNumber()].limit;
    }
    return memory / to.GetPorts().size() / m_priorities;
}

void
PacketFabric::InstallFlowControl(PacketPort& port)
{
    const uint32_t number = port.GetNumber();
    const bool isSwitch = m_nodeFacts[port.GetTo().GetNumber()].isSwitch;
    if (m_flowControl == NO_FLOW_CONTROL || (m_flowControl == PAUSE && !isSwitch))
    {
        return;
    }
    NS_ABORT_MSG_IF(m_portFacts[number].reverse == PACKET_NONE,
                    "pauses and credits go back over the other port of a cable: Pair the ports");
    PacketFlowControl::Parameters parameters;
    parameters.largest = m_largestPacket;
    if (m_flowControl == CREDIT)
    {
        NS_ASSERT_MSG(m_creditRoom >= m_largestPacket, "a credit is worth a packet");
        parameters.kind = PacketFlowControl::Kind::CREDIT;
        parameters.room = m_creditRoom;
    }
    else
    {
        const uint64_t headroom = GetHeadroom(number);
        const uint64_t room = GetIngressRoom(number);
        NS_ASSERT_MSG(m_pauseAbove > 0 || room > headroom, "a switch that pauses has room until it works");
        parameters.pauseAbove = m_pauseAbove > 0 ? m_pauseAbove : room - headroom;
        parameters.resumeBelow =
            parameters.pauseAbove - std::min<uint64_t>(parameters.pauseAbove, 2 * m_largestPacket);
        parameters.room = parameters.pauseAbove + headroom;
        parameters.frame = m_pauseFrame;
    }
    port.SetFlowControl(parameters, *m_ports[m_portFacts[number].reverse]);
}

std::vector<uint32_t>
PacketFabric::GetWaitedFor(const PacketPort& port) const
{
    std::vector<uint32_t> waitedFor;
    const PacketFlowControl* control = port.GetFlowControl();
    if (control == nullptr)
    {
        return waitedFor;
    }
    const uint32_t blocked =
        control->UsesCredits() ? (control->IsStarved() ? ~0U : 0U) : control->GetPaused();
    for (uint8_t priority = 0; priority < PACKET_PRIORITIES; ++priority)
    {
        if ((port.GetWaitingPriorities() & blocked & 1U << priority) == 0)
        {
            continue;
        }
        for (const PacketPort* next : port.GetTo().GetPorts())
        {
            const std::vector<uint32_t> ingress = next->GetQueue().GetIngressOf(priority);
            if (std::find(ingress.begin(), ingress.end(), port.GetNumber()) != ingress.end())
            {
                waitedFor.push_back(next->GetNumber());
            }
        }
    }
    return waitedFor;
}

std::vector<uint32_t>
PacketFabric::FindDeadlock() const
{
    // A walk from every port along those it waits for; one that comes back to itself is a circle.
    enum class State : uint8_t
    {
        NEW,
        ON_PATH,
        DONE
    };
    std::vector<State> states(m_ports.size(), State::NEW);
    struct Step
    {
        uint32_t port;
        std::vector<uint32_t> next;
    };
    for (uint32_t first = 0; first < GetPortCount(); ++first)
    {
        std::vector<Step> path;
        const auto enter = [&](uint32_t port) {
            states[port] = State::ON_PATH;
            path.push_back({port, GetWaitedFor(*m_ports[port])});
        };
        if (states[first] == State::NEW)
        {
            enter(first);
        }
        while (!path.empty())
        {
            if (path.back().next.empty())
            {
                states[path.back().port] = State::DONE;
                path.pop_back();
                continue;
            }
            const uint32_t next = path.back().next.back();
            path.back().next.pop_back();
            if (states[next] == State::ON_PATH)
            {
                std::vector<uint32_t> circle;
                bool isOn = false;
                for (const Step& step : path)
                {
                    isOn = isOn || step.port == next;
                    if (isOn)
                    {
                        circle.push_back(step.port);
                    }
                }
                return circle;
            }
            if (states[next] == State::NEW)
            {
                enter(next);
            }
        }
    }
    return {};
}

uint32_t
PacketFabric::GetNodeCount() const
{
    return static_cast<uint32_t>(m_nodes.size());
}

uint32_t
PacketFabric::GetPortCount() const
{
    return static_cast<uint32_t>(m_ports.size());
}

void
PacketFabric::DoDispose()
{
    m_ports.clear();
    Object::DoDispose();
}

} // namespace ns3
