// SPDX-License-Identifier: GPL-2.0-only
#include "packet-regions.h"

#include "packet-node.h"
#include "packet-port.h"

#include "ns3/assert.h"
#include "ns3/nstime.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <future>
#include <typeinfo>
#include <utility>

namespace ns3
{

PacketRegions::PacketRegions(PacketContext& context,
                             const std::vector<uint8_t>& regionOf,
                             const std::vector<bool>& isHost,
                             uint32_t regions,
                             Due due)
    : m_context(context),
      m_due(std::move(due)),
      m_regions(regions),
      m_inlets(context.ports.size()),
      m_barrier(regions)
{
    for (Region& region : m_regions)
    {
        region.outboxes.resize(regions);
    }
    StartThreads();
    Divide(regionOf, isHost);
}

void
PacketRegions::StartThreads()
{
    // None works before all are there.
    std::promise<bool> begin;
    const std::shared_future<bool> mayBegin = begin.get_future().share();
    try
    {
        for (uint32_t region = 1; region < m_regions.size(); ++region)
        {
            m_threads.emplace_back([this, region, mayBegin] {
                if (mayBegin.get())
                {
                    Work(region);
                }
            });
        }
        begin.set_value(true);
    }
    catch (...)
    {
        begin.set_value(false);
        for (std::thread& thread : m_threads)
        {
            thread.join();
        }
        throw;
    }
}

void
PacketRegions::Divide(const std::vector<uint8_t>& regionOf, const std::vector<bool>& isHost)
{
    for (PacketPort* port : m_context.ports)
    {
        PacketNode& to = port->GetTo();
        const uint8_t near = regionOf[port->GetFrom().GetNumber()];
        const uint8_t far = regionOf[to.GetNumber()];
        // Hosts are told what comes to them, by links of their own region too (MayBeLast).
        const bool isCut = near != far || isHost[to.GetNumber()];
        port->SetRegion(near, isCut);
        if (isCut)
        {
            NS_ASSERT_MSG(port->GetLatency() > 0, "a link between regions takes time");
            m_lookahead = std::min(m_lookahead, static_cast<uint64_t>(port->GetLatency()));
            m_inlets[port->GetNumber()] = Ptr<PacketInlet>(
                new PacketInlet(m_context, to, port->GetNumber(), far, isHost[to.GetNumber()]), false);
        }
    }
    m_context.packets.Reserve();
    m_context.telemetry.Reserve();
    m_context.regions = this;
    PacketEventScheduler::SetGate(this);
}

PacketRegions::~PacketRegions()
{
    m_isOver = true;
    m_barrier.Arrive();
    for (std::thread& thread : m_threads)
    {
        thread.join();
    }
    PacketEventScheduler::SetGate(nullptr);
    m_context.regions = nullptr;
    for (const Ptr<PacketInlet>& inlet : m_inlets)
    {
        if (inlet)
        {
            inlet->Detach();
        }
    }
}

void
PacketRegions::Schedule(uint32_t region, int64_t when, uint32_t number, EventImpl& event)
{
    if (region != 0)
    {
        m_regions[region].calendar.Insert(
            {&event, PacketEventScheduler::KeyOf(static_cast<uint64_t>(when), number)});
        return;
    }
    event.Ref();
    Simulator::GetImplementation()->ScheduleWithContext(
        Simulator::NO_CONTEXT, TimeStep(static_cast<uint64_t>(when)) - Simulator::Now(), &event);
}

void
PacketRegions::List(uint32_t region, PacketPort& port)
{
    m_regions[region].listed.push_back(&port);
}

template <class Action>
void
PacketRegions::Guarded(uint32_t region, Action action)
{
    // Thrown again by the simulator's thread, when all others wait.
    try
    {
        action();
    }
    catch (...)
    {
        m_regions[region].failure = std::current_exception();
    }
}

Scheduler::EventKey
PacketRegions::GetEnd() const
{
    return PacketEventScheduler::KeyOf(m_until, 0);
}

void
PacketRegions::Work(uint32_t region)
{
    for (;;)
    {
        m_barrier.Arrive();
        if (m_isOver)
        {
            return;
        }
        Guarded(region, [&] { HandOver(region); });
        m_barrier.Arrive();
        Guarded(region, [&] {
            Take(region);
            if (!MayBeLast())
            {
                Run(region, GetEnd());
            }
        });
    }
}

bool
PacketRegions::Pass(uint64_t next)
{
    EndWindow();
    m_from = next;
    for (const Region& region : m_regions)
    {
        if (!region.calendar.IsEmpty())
        {
            m_from = std::min(m_from, PacketEventScheduler::TimeOf(region.calendar.PeekNext().key));
        }
    }
    m_horizon = 0;
    if (m_from == NEVER)
    {
        return false;
    }
    m_until = m_from > LAST - m_lookahead ? LAST : m_from + m_lookahead;
    if (m_inWindow >= THREADED)
    {
        m_dueInWindow = m_due();
        m_barrier.Arrive();
        Guarded(0, [&] { HandOver(0); });
        m_barrier.Arrive();
        m_window = MayBeLast() ? Window::HELD : Window::RUNNING;
        Guarded(0, [&] { Take(0); });
    }
    else
    {
        m_window = Window::HELD;
        for (uint32_t region = 0; region < m_regions.size(); ++region)
        {
            HandOver(region);
        }
        for (uint32_t region = 0; region < m_regions.size(); ++region)
        {
            Take(region);
        }
    }
    m_horizon = m_until;
    return true;
}

void
PacketRegions::EndWindow()
{
    if (m_window == Window::DONE)
    {
        return;
    }
    m_barrier.AwaitOthers();
    if (m_window == Window::HELD)
    {
        for (uint32_t region = 1; region < m_regions.size(); ++region)
        {
            Run(region, GetEnd());
        }
    }
    m_window = Window::DONE;
    uint64_t handled = 0;
    for (Region& region : m_regions)
    {
        if (region.failure != nullptr)
        {
            std::rethrow_exception(std::exchange(region.failure, nullptr));
        }
        handled += region.handled;
    }
    m_inWindow = handled - std::exchange(m_handledBefore, handled);
    CountEvents();
}

void
PacketRegions::CountEvents()
{
    m_eventsElsewhere = 0;
    for (const Region& region : m_regions)
    {
        m_eventsElsewhere += static_cast<int64_t>(region.handled) - static_cast<int64_t>(region.cut);
    }
}

void
PacketRegions::Settle()
{
    Pause();
    if (m_window == Window::HELD)
    {
        for (uint32_t region = 1; region < m_regions.size(); ++region)
        {
            Run(region, PacketEventScheduler::GetLastKey());
        }
    }
    CountEvents();
}

void
PacketRegions::Pause()
{
    m_barrier.AwaitOthers();
}

void
PacketRegions::HandOver(uint32_t number)
{
    Region& region = m_regions[number];
    std::size_t kept = 0;
    region.toHosts = 0;
    for (PacketPort* port : region.listed)
    {
        PacketInlet& inlet = *m_inlets[port->GetNumber()];
        std::vector<HandedOver>& outbox = region.outboxes[inlet.GetRegion()];
        const bool hasMore = port->HandOver(static_cast<int64_t>(m_from) - 1,
                                            static_cast<int64_t>(m_until),
                                            [&](uint32_t packet, int64_t arrival) {
                                                outbox.push_back({&inlet, packet, arrival});
                                                region.toHosts += inlet.IsHosts() ? 1 : 0;
                                            });
        if (hasMore)
        {
            region.listed[kept++] = port;
        }
    }
    region.listed.resize(kept);
}

void
PacketRegions::Take(uint32_t number)
{
    for (Region& region : m_regions)
    {
        std::vector<HandedOver>& inbox = region.outboxes[number];
        for (const HandedOver& handed : inbox)
        {
            handed.inlet->Add(handed.packet, handed.arrival);
        }
        inbox.clear();
    }
}

void
PacketRegions::Run(uint32_t number, const Scheduler::EventKey& bound)
{
    Region& region = m_regions[number];
    while (!region.calendar.IsEmpty() && region.calendar.PeekNext().key < bound)
    {
        const PacketCalendar::Event next = region.calendar.RemoveNext();
        ++region.handled;
        const EventImpl& event = *next.impl;
        if (&typeid(event) == &typeid(PacketPort))
        {
            static_cast<PacketPort*>(next.impl)->Act(
                static_cast<int64_t>(PacketEventScheduler::TimeOf(next.key)));
        }
        else
        {
            static_cast<PacketInlet*>(next.impl)->Act();
        }
    }
}

bool
PacketRegions::MayBeLast() const
{
    uint64_t toHosts = 0;
    for (const Region& region : m_regions)
    {
        toHosts += region.toHosts;
    }
    return m_dueInWindow <= toHosts;
}

} // namespace ns3
