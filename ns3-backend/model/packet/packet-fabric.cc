// SPDX-License-Identifier: GPL-2.0-only
#include "packet-fabric.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/nstime.h"
#include "ns3/packet-parameter-attributes.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

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
    static TypeId tid = [] {
        TypeId made =
            TypeId("ns3::PacketFabric")
                .SetParent<Object>()
                .SetGroupName("Astrolabe")
                .AddConstructor<PacketFabric>()
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
                                "ns3::PacketTraces::PauseCallback")
                .AddTraceSource(
                    "Frame",
                    "A port sends a frame of the link itself, such as a pause: port, bytes, when its "
                    "first bit leaves and when its last (ps).",
                    Trace(&PacketTraces::frame),
                    "ns3::PacketTraces::FrameCallback");
        using P = PacketFabricParameters;
        PacketAttributeMaker<PacketFabric, P> own(
            made, "", [](PacketFabric& fabric) -> P& { return fabric; });
        P::VisitParameters(own);
        constexpr PacketCount BYTES{1, PACKET_UNBOUNDED};
        own("cut_through_header",
            &P::cutThroughHeader,
            "bytes of a packet that must have arrived then",
            BYTES);
        own("largest_packet",
            &P::largestPacket,
            "bytes on the wire of the largest packet there will be",
            BYTES);
        own("trimmed_size", &P::trimmedSize, "bytes left of a packet that is trimmed", BYTES);
        own("pause_frame", &P::pauseFrame, "bytes of a pause on the wire", BYTES);
        return made;
    }();
    return tid;
}

PacketFabric::PacketFabric()
{
    m_weights.fill(1);
}

PacketFabric::~PacketFabric()
{
    Detach();
}

void
PacketFabric::Detach()
{
    m_regions.reset();
    for (const Ptr<PacketPort>& port : m_ports)
    {
        port->Detach();
    }
}

void
PacketFabric::SetParameters(const PacketFabricParameters& parameters)
{
    static_cast<PacketFabricParameters&>(*this) = parameters;
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
}

void
PacketFabric::Install(PacketRouter& router, PacketTaker& sink, PacketSource& source)
{
    NS_ABORT_MSG_IF(
        trimThreshold > 0 && flowControl != PacketFlowControlKind::NONE,
        "packets that flow control keeps from queueing are not trimmed: set TrimThreshold or FlowControl");
    std::vector<PacketSharedBuffer*> memories(m_nodes.size(), nullptr);
    for (PacketNode& node : m_nodes)
    {
        node.SetUse(&router, &sink);
    }
    for (const Ptr<PacketPort>& port : m_ports)
    {
        if (service == PacketService::WEIGHTED)
        {
            port->SetWeights(m_weights, largestPacket);
        }
        if (switching == PacketSwitching::CUT_THROUGH && m_nodeFacts[port->GetTo().GetNumber()].isSwitch)
        {
            port->SetCutThrough(cutThroughHeader);
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
    if (ecnThreshold != PACKET_UNBOUNDED)
    {
        port.GetQueue().SetMarking({ecnThreshold, std::max(ecnThreshold, ecnMaxThreshold), ecnProbability});
    }
    if (trimThreshold > 0)
    {
        port.GetQueue().SetTrimming(trimmedSize);
        port.GetQueue().SetLimit(trimThreshold);
        return;
    }
    if (flowControl != PacketFlowControlKind::NONE)
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
    else if (memory > 0 && bufferSharing == PacketBuffers::PER_PORT)
    {
        port.GetQueue().SetLimit(memory / port.GetFrom().GetPorts().size());
    }
    else if (memory > 0)
    {
        if (memories[number] == nullptr)
        {
            const double share = bufferSharing == PacketBuffers::DYNAMIC ? dynamicShare : 0;
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
        if (switching == PacketSwitching::CUT_THROUGH && in != PACKET_NONE)
        {
            slowest = std::min(slowest, m_ports[in]->GetBitsPerSecond());
        }
    }
    return PacketFlowControl::GetHeadroom(there.GetBitsPerSecond(),
                                          slowest,
                                          there.GetLatency() + back.GetLatency(),
                                          largestPacket,
                                          uint64_t{trafficClasses} * pauseFrame);
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
    return memory / to.GetPorts().size() / trafficClasses;
}

void
PacketFabric::InstallFlowControl(PacketPort& port)
{
    const uint32_t number = port.GetNumber();
    const bool isSwitch = m_nodeFacts[port.GetTo().GetNumber()].isSwitch;
    if (flowControl == PacketFlowControlKind::NONE ||
        (flowControl == PacketFlowControlKind::PFC && !isSwitch))
    {
        return;
    }
    NS_ABORT_MSG_IF(m_portFacts[number].reverse == PACKET_NONE,
                    "pauses and credits go back over the other port of a cable: Pair the ports");
    PacketFlowControl::Parameters parameters;
    parameters.largest = largestPacket;
    if (flowControl == PacketFlowControlKind::CREDIT)
    {
        NS_ASSERT_MSG(creditRoom >= largestPacket, "a credit is worth a packet");
        parameters.kind = PacketFlowControl::Kind::CREDIT;
        parameters.room = creditRoom;
    }
    else
    {
        const uint64_t headroom = GetHeadroom(number);
        const uint64_t room = GetIngressRoom(number);
        NS_ASSERT_MSG(pauseThreshold > 0 || room > headroom, "a switch that pauses has room until it works");
        parameters.pauseAbove = pauseThreshold > 0 ? pauseThreshold : room - headroom;
        parameters.resumeBelow =
            parameters.pauseAbove - std::min<uint64_t>(parameters.pauseAbove, 2 * largestPacket);
        parameters.room = parameters.pauseAbove + headroom;
        parameters.frame = pauseFrame;
    }
    port.SetFlowControl(parameters, *m_ports[m_portFacts[number].reverse]);
}

bool
PacketFabric::IsDivisible(const PacketRouter& router) const
{
    const PacketTraces& traces = m_context.traces;
    if (!router.RoutesInParallel() || m_context.hasFlowControl || m_context.faults != nullptr ||
        !traces.enqueued.IsEmpty() || !traces.started.IsEmpty() || !traces.arrived.IsEmpty() ||
        !traces.marked.IsEmpty())
    {
        return false;
    }
    return std::all_of(m_ports.begin(), m_ports.end(), [](const Ptr<PacketPort>& port) {
        const PacketQueue& queue = port->GetQueue();
        return !queue.IsLimited() && !queue.MarksAtRandom() && port->GetLatency() > 0;
    });
}

std::vector<uint8_t>
PacketFabric::FindRegions(uint32_t threads) const
{
    // What a packet costs where it is made and taken, in what it costs to cross a port: an estimate, by which
    // work is shared out; no result depends on it.
    constexpr uint64_t HOST = 2;
    std::vector<uint64_t> work(m_nodes.size());
    std::vector<uint32_t> switches;
    uint64_t all = 0;
    uint64_t region0 = 0;
    for (const PacketNode& node : m_nodes)
    {
        const uint32_t number = node.GetNumber();
        work[number] = node.GetPorts().size() * (IsSwitch(number) ? 1 : 1 + HOST);
        all += work[number];
        if (IsSwitch(number))
        {
            switches.push_back(number);
        }
        else
        {
            region0 += work[number];
        }
    }
    // Switches of hosts go first, to where the hosts are.
    const auto hasHosts = [&](uint32_t number) {
        const std::vector<PacketPort*>& ports = m_nodes[number].GetPorts();
        return std::any_of(ports.begin(), ports.end(), [&](const PacketPort* port) {
            return !IsSwitch(port->GetTo().GetNumber());
        });
    };
    std::stable_partition(switches.begin(), switches.end(), hasHosts);
    std::vector<uint8_t> regionOf(m_nodes.size(), 0);
    uint64_t before = region0;
    for (const uint32_t number : switches)
    {
        // Where its middle falls.
        const uint64_t region = (2 * before + work[number]) * threads / (2 * all);
        regionOf[number] = static_cast<uint8_t>(std::min<uint64_t>(region, threads - 1));
        before += work[number];
    }
    return regionOf;
}

uint32_t
PacketFabric::Divide(uint32_t threads, const PacketRouter& router, PacketRegions::Due due)
{
    NS_ASSERT_MSG(m_regions == nullptr, "a fabric is divided once");
    const std::vector<bool> isHost = [&] {
        std::vector<bool> is;
        for (const NodeFacts& facts : m_nodeFacts)
        {
            is.push_back(!facts.isSwitch);
        }
        return is;
    }();
    constexpr uint32_t MOST = 64;
    const auto switches = static_cast<uint32_t>(std::count(isHost.begin(), isHost.end(), false));
    const uint32_t regions = std::min({threads, MOST, switches + 1});
    if (regions < 2 || !PacketEventScheduler::HasPortsFirst() || !IsDivisible(router))
    {
        return 1;
    }
    try
    {
        m_regions =
            std::make_unique<PacketRegions>(m_context, FindRegions(regions), isHost, regions, std::move(due));
    }
    catch (const std::system_error&)
    {
        return 1; // no threads are to be had
    }
    return regions;
}

void
PacketFabric::Settle()
{
    if (m_regions != nullptr)
    {
        m_regions->Settle();
    }
    const int64_t now = Simulator::Now().GetTimeStep();
    for (PacketNode& node : m_nodes)
    {
        node.Settle(now);
    }
}

void
PacketFabric::Pause()
{
    if (m_regions != nullptr)
    {
        m_regions->Pause();
    }
}

void
PacketFabric::ForgetRoutes()
{
    for (const Ptr<PacketPort>& port : m_ports)
    {
        port->ForgetRoutes();
    }
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
    Detach();
    m_ports.clear();
    Object::DoDispose();
}

} // namespace ns3
