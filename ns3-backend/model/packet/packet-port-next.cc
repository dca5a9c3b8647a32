// SPDX-License-Identifier: GPL-2.0-only
/// Which packet a port sends next: priorities, weights, pauses and credits.
#include "packet-port.h"

#include "packet-node.h"

#include <algorithm>

namespace ns3
{

uint32_t
PacketPort::GetLanes() const
{
    return !m_isHosts ? m_queue.GetLanes() : m_queue.GetLanes() | m_hostScheduler->GetMask();
}

uint32_t
PacketPort::GetCreditNeed(uint8_t lane) const
{
    // How large a packet the source will make is not known before.
    return m_isHosts && (m_hostScheduler->GetMask() & PacketQueue::BitOf(lane)) != 0
               ? m_flowControl->GetLargestPacket()
               : m_queue.GetFirstBytes(lane);
}

uint32_t
PacketPort::GetOpenLanes(int64_t start) const
{
    uint32_t lanes = GetLanes();
    if (GetControl() == nullptr)
    {
        return lanes;
    }
    if (!m_flowControl->UsesCredits())
    {
        return lanes & m_flowControl->GetOpenPriorities();
    }
    for (uint8_t lane = 0; lane < CONTROL; ++lane)
    {
        if ((lanes & PacketQueue::BitOf(lane)) != 0 &&
            m_flowControl->GetCreditTime(lane, GetCreditNeed(lane), start) > start)
        {
            lanes &= ~PacketQueue::BitOf(lane);
        }
    }
    return lanes;
}

bool
PacketPort::IsShortOfCredits(int64_t when) const
{
    if (GetControl() == nullptr || !m_flowControl->UsesCredits())
    {
        return false;
    }
    const uint32_t lanes = GetLanes();
    for (uint8_t lane = 0; lane < CONTROL; ++lane)
    {
        if ((lanes & PacketQueue::BitOf(lane)) != 0 &&
            m_flowControl->GetCreditTime(lane, GetCreditNeed(lane), when) > when)
        {
            return true;
        }
    }
    return false;
}

void
PacketPort::FindCredits(int64_t start, int64_t now)
{
    // One port advances the next node, and no further: that node's own ports are woken when there is
    // something for them. All would ask one another along every path.
    if (IsShortOfCredits(now) && !GetContext().isSettling)
    {
        GetContext().isSettling = true;
        m_to.Settle(now);
        GetContext().isSettling = false;
    }
    if (IsShortOfCredits(now))
    {
        m_flowControl->Starve(start);
    }
}

int64_t
PacketPort::GetLaterStart(int64_t start) const
{
    int64_t later = NEVER;
    if (m_isHosts && m_hostScheduler->GetNextTime() != NEVER)
    {
        later = std::max(start, m_hostScheduler->GetNextTime());
    }
    if (GetControl() != nullptr && m_flowControl->UsesCredits())
    {
        const uint32_t lanes = GetLanes();
        for (uint8_t lane = 0; lane < CONTROL; ++lane)
        {
            if ((lanes & PacketQueue::BitOf(lane)) != 0)
            {
                later = std::min(later, m_flowControl->GetCreditTime(lane, GetCreditNeed(lane), start));
            }
        }
    }
    return later;
}

uint8_t
PacketPort::PickLane(uint32_t lanes)
{
    if ((lanes & PacketQueue::BitOf(CONTROL)) != 0)
    {
        if (!m_queue.Trims())
        {
            return CONTROL;
        }
        const uint32_t data = m_queue.GetAlternatingLanes(lanes);
        if (data == 0 || m_headerBytes < HEADERS_PER_DATA)
        {
            m_headerBytes += data != 0 ? m_queue.GetFirstBytes(CONTROL) : 0;
            return CONTROL;
        }
        lanes = data;
    }
    if (m_queue.Trims())
    {
        m_headerBytes = 0;
    }
    return m_isWeighted ? m_scheduler.Pick(lanes) : PacketPortScheduler::PickHighest(lanes);
}

uint32_t
PacketPort::Next(int64_t& start, int64_t now)
{
    for (;;)
    {
        if (m_isHosts)
        {
            m_hostScheduler->ReleaseDue(start);
        }
        uint32_t lanes = GetOpenLanes(start);
        if (lanes == 0)
        {
            FindCredits(start, now);
            const int64_t later = GetLaterStart(start);
            if (later > now)
            {
                return PACKET_NONE;
            }
            start = later;
            continue;
        }
        const uint8_t lane = PickLane(lanes);
        const bool hasOwn =
            m_isHosts && lane != CONTROL && (m_hostScheduler->GetMask() & PacketQueue::BitOf(lane)) != 0;
        const bool hasQueued = (m_queue.GetLanes() & PacketQueue::BitOf(lane)) != 0;
        if (hasOwn && (m_ownIsNext || !hasQueued))
        {
            m_ownIsNext = false;
            const uint32_t packet = NextOfSource(lane, start);
            if (packet != PACKET_NONE)
            {
                return packet;
            }
            continue;
        }
        m_ownIsNext = m_ownIsNext || lane != CONTROL;
        return m_queue.Leave(lane, start);
    }
}

uint32_t
PacketPort::NextOfSource(uint8_t lane, int64_t& start)
{
    const PacketHostScheduler::Offer first = m_hostScheduler->Take(lane);
    const int64_t from = std::max(start, first.from);
    uint32_t packet = PACKET_NONE;
    const int64_t next = m_source->TakePacket(first.offer, from, packet);
    if (next != NEVER)
    {
        m_hostScheduler->Add(first.offer, lane, next, from);
    }
    start = packet != PACKET_NONE ? from : start;
    return packet;
}

} // namespace ns3
