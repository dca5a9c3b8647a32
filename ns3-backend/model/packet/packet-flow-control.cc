// SPDX-License-Identifier: GPL-2.0-only
#include "packet-flow-control.h"

#include "packet-node.h"
#include "packet-port.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

uint64_t
PacketFlowControl::GetHeadroom(
    uint64_t bitsPerSecond, uint64_t bitsPerSecondBack, int64_t latency, uint32_t largest, uint64_t frames)
{
    using Wide = unsigned __int128;
    constexpr Wide BIT_PICOSECONDS = 8'000'000'000'000; // in a byte, at 1 bit/s
    const Wide underWay = Wide{bitsPerSecond} * static_cast<uint64_t>(latency);
    const Wide before = (Wide{largest} + frames) * bitsPerSecond;
    return static_cast<uint64_t>((underWay + BIT_PICOSECONDS - 1) / BIT_PICOSECONDS +
                                 (before + bitsPerSecondBack - 1) / bitsPerSecondBack) +
           2 * uint64_t{largest};
}

PacketFlowControl*
PacketFlowControl::Before(const PacketContext& context, const PacketDescriptor& packet)
{
    return context.hasFlowControl && packet.ingress != PACKET_NONE && packet.IsData()
               ? context.ports[packet.ingress]->GetFlowControl()
               : nullptr;
}

PacketFlowControl::PacketFlowControl(const Parameters& parameters, PacketPort& port, PacketPort& reverse)
    : m_parameters(parameters),
      m_port(port),
      m_reverse(reverse)
{
    m_credits.fill(parameters.room);
}

bool
PacketFlowControl::Hold(uint8_t priority, uint32_t bytes, int64_t now)
{
    if (UsesCredits())
    {
        return true; // the near end knew
    }
    if (m_held[priority] + bytes > m_parameters.pauseAbove)
    {
        m_port.GetTo().Settle(now); // packets may have left
    }
    if (m_held[priority] + bytes > m_parameters.room)
    {
        return false;
    }
    m_held[priority] += bytes;
    if (m_held[priority] > m_parameters.pauseAbove && (m_asked & 1U << priority) == 0)
    {
        m_asked |= 1U << priority;
        m_port.GetTo().Watch(true);
        Ask(priority, true);
    }
    return true;
}

void
PacketFlowControl::Release(uint8_t priority, uint32_t bytes, int64_t when, bool waited)
{
    if (UsesCredits())
    {
        const int64_t back = when + m_reverse.GetLatency();
        const auto later = std::upper_bound(
            m_returned.begin(), m_returned.end(), back, [](int64_t time, const Returned& other) {
                return time < other.when;
            });
        m_returned.insert(later, {back, bytes, priority});
        if (m_isStarved)
        {
            m_port.Wake(Simulator::Now().GetTimeStep()); // it may be enough
        }
        return;
    }
    if (!waited)
    {
        return;
    }
    m_held[priority] -= bytes;
    if (m_held[priority] <= m_parameters.resumeBelow && (m_asked & 1U << priority) != 0)
    {
        m_asked &= ~(1U << priority);
        m_port.GetTo().Watch(false);
        Ask(priority, false);
    }
}

int64_t
PacketFlowControl::GetCreditTime(uint8_t priority, uint32_t bytes, int64_t start) const
{
    uint64_t credits = m_credits[priority];
    int64_t when = start;
    for (auto returned = m_returned.begin(); credits < bytes && returned != m_returned.end(); ++returned)
    {
        if (returned->priority == priority)
        {
            credits += returned->bytes;
            when = std::max(when, returned->when);
        }
    }
    return credits < bytes ? PacketSource::NEVER : when;
}

void
PacketFlowControl::TakeCredits(uint8_t priority, uint32_t bytes, int64_t start)
{
    while (!m_returned.empty() && m_returned.front().when <= start)
    {
        m_credits[m_returned.front().priority] += m_returned.front().bytes;
        m_returned.pop_front();
    }
    m_credits[priority] -= bytes;
    if (m_isStarved)
    {
        m_isStarved = false;
        GoOn(start);
        m_port.GetTo().Watch(false);
    }
}

void
PacketFlowControl::Starve(int64_t start)
{
    if (!m_isStarved)
    {
        m_isStarved = true;
        Stop(start);
        m_port.GetTo().Watch(true);
    }
}

void
PacketFlowControl::Ask(uint8_t priority, bool pause)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    const int64_t arrival = m_reverse.SendControlFrame(m_parameters.frame, now);
    Simulator::Schedule(
        TimeStep(static_cast<uint64_t>(arrival - now)), &PacketFlowControl::Pause, this, priority, pause);
}

void
PacketFlowControl::Pause(uint8_t priority, bool pause)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    m_port.Advance(now);
    if (pause)
    {
        Stop(now);
        m_paused |= 1U << priority;
    }
    else
    {
        m_paused &= ~(1U << priority);
        GoOn(now);
    }
    m_port.NotePause(priority, pause, now);
}

void
PacketFlowControl::Stop(int64_t when)
{
    ++m_stops;
    m_stoppedSince = m_paused == 0 ? when : m_stoppedSince;
}

void
PacketFlowControl::GoOn(int64_t when)
{
    m_stoppedTime += m_paused == 0 ? when - m_stoppedSince : 0;
}

int64_t
PacketFlowControl::GetStoppedTime(int64_t now) const
{
    return m_stoppedTime + (m_paused != 0 || m_isStarved ? std::max<int64_t>(0, now - m_stoppedSince) : 0);
}

} // namespace ns3
