// SPDX-License-Identifier: GPL-2.0-only
/// Sender feedback: what a sender does about answers, and about their absence.
#include "packet-sender.h"

#include <algorithm>

namespace ns3
{

namespace
{

using Kind = PacketDescriptor::Kind;

constexpr int64_t MOST_TIMEOUT = int64_t{1} << 60; // ps, 13 days: the clock ends after 106

/// What an answer is about; answers carry its distance from what is acknowledged, which may be negative.
uint64_t
SubjectOf(const PacketDescriptor& packet)
{
    return packet.sequence + static_cast<uint64_t>(int64_t{static_cast<int32_t>(packet.subject)});
}

} // namespace

void
PacketSender::Take(PacketDescriptor& packet)
{
    const uint32_t index = packet.queuePair;
    Settle(m_core.pairs[index]);
    switch (packet.kind)
    {
    case Kind::CNP: {
        const PacketQueuePair& pair = m_core.pairs[index];
        m_core.congestion->Notified(index, PacketTransportCore::Now());
        m_core.traces.m_notification(pair.source, pair.destination);
        m_core.traces.m_rate(pair.source, pair.destination, DataRate(m_core.congestion->GetRate(index)));
        return;
    }
    case Kind::PULL:
        m_core.congestion->Pulled(index, m_core.pairs[index], packet.sequence);
        NotePull(index);
        GoOn(index);
        return;
    default:
        TakeAcknowledgement(index, packet);
        return;
    }
}

void
PacketSender::TakeAcknowledgement(uint32_t index, PacketDescriptor& packet)
{
    PacketQueuePair& pair = m_core.pairs[index];
    if (m_parameters.rttEstimation)
    {
        m_rtt[index].Add(PacketRtt::Since(packet.subject, PacketTransportCore::Now()));
    }
    if (packet.sequence > pair.acknowledged && Acknowledge(index, packet))
    {
        return;
    }
    if (m_parameters.IsPulled())
    {
        TakeAnswer(index, packet);
    }
    else if (packet.kind == Kind::NACK)
    {
        TakeMissing(index, packet);
    }
    GoOn(index);
}

bool
PacketSender::Acknowledge(uint32_t index, PacketDescriptor& packet)
{
    PacketQueuePair& pair = m_core.pairs[index];
    const uint64_t before = pair.acknowledged;
    pair.acknowledged = packet.sequence;
    if (pair.nextPacket < pair.acknowledged)
    {
        pair.again -= static_cast<uint32_t>(pair.acknowledged - pair.nextPacket);
        pair.nextPacket = pair.acknowledged;
    }
    m_scoreboards.Acknowledge(pair, before);
    const uint32_t allowed = pair.allowed;
    if (m_parameters.handshake && before == 0)
    {
        m_core.congestion->Open(index, pair);
    }
    else if (m_core.congestion->Acknowledged(
                 index, pair, pair.acknowledged - before, packet.marks, packet.telemetry))
    {
        packet.telemetry = PACKET_NONE;
    }
    TraceWindow(pair, allowed);
    pair.retries = 0;
    pair.holds &= static_cast<uint8_t>(~PacketQueuePair::GIVEN_UP);
    if (m_core.hasTimers)
    {
        pair.deadline = PacketTransportCore::Now() + GetTimeout(index);
        StartTimer(index); // one that had given up has none
    }
    while (pair.oldest != PACKET_NONE && pair.acknowledged >= m_core.messages[pair.oldest].end)
    {
        const uint32_t done = pair.oldest;
        pair.oldest = m_core.messages[done].next;
        if (pair.sending == done && pair.oldest != PACKET_NONE)
        {
            pair.sending = pair.oldest;
            pair.messageEnd = m_core.messages[pair.oldest].end;
        }
        const PacketMessageRecord& record = m_core.messages[done];
        m_core.traces.m_acknowledged(
            {pair.source, pair.destination, record.bytes, record.owner, record.token, pair.priority},
            TimeStep(static_cast<uint64_t>(PacketTransportCore::Now() - record.sent)));
        m_core.messages.Free(done);
    }
    if (pair.oldest == PACKET_NONE)
    {
        Release(index);
        return true;
    }
    return false;
}

void
PacketSender::TakeMissing(uint32_t index, const PacketDescriptor& packet)
{
    PacketQueuePair& pair = m_core.pairs[index];
    const uint32_t allowed = pair.allowed;
    if (m_parameters.recovery == PacketRecovery::GO_BACK_N)
    {
        if (packet.sequence == pair.acknowledged)
        {
            m_core.congestion->Lost(index, pair);
            GoBack(pair);
        }
    }
    else if (const uint64_t subject = SubjectOf(packet); subject >= pair.acknowledged)
    {
        const uint64_t tolerance = m_parameters.isReordered ? m_parameters.reorderTolerance : 1;
        const bool isAnyLost = packet.Is(PacketDescriptor::TRIMMED)
                                   ? m_scoreboards.SetLost(pair, subject, tolerance)
                                   : m_scoreboards.SetArrived(pair, subject, tolerance);
        if (isAnyLost && m_scoreboards.StartsEpisode(pair))
        {
            m_core.congestion->Lost(index, pair);
        }
    }
    TraceWindow(pair, allowed);
}

void
PacketSender::TakeReturned(const PacketDescriptor& packet)
{
    const uint32_t index = packet.queuePair;
    PacketQueuePair& pair = m_core.pairs[index];
    Settle(pair);
    if (packet.sequence < pair.acknowledged || pair.oldest == PACKET_NONE)
    {
        return;
    }
    m_scoreboards.SetLost(pair, packet.sequence);
    m_core.congestion->Returned(index, pair);
    NotePull(index);
    GoOn(index);
}

void
PacketSender::TakeAnswer(uint32_t index, const PacketDescriptor& packet)
{
    PacketQueuePair& pair = m_core.pairs[index];
    const uint64_t subject = SubjectOf(packet);
    if (subject >= pair.acknowledged)
    {
        if (packet.kind == Kind::NACK)
        {
            m_scoreboards.SetLost(pair, subject);
        }
        else
        {
            m_scoreboards.SetArrived(pair, subject);
        }
    }
    m_core.congestion->Answered(index, pair, packet.marks);
    NotePull(index);
}

void
PacketSender::NotePull(uint32_t index)
{
    PacketQueuePair& pair = m_core.pairs[index];
    pair.retries = 0;
    pair.holds &= static_cast<uint8_t>(~PacketQueuePair::GIVEN_UP);
    pair.deadline = PacketTransportCore::Now() + GetTimeout(index);
    if (m_core.hasTimers)
    {
        StartTimer(index);
    }
}

void
PacketSender::GoBack(PacketQueuePair& pair) const
{
    pair.again += static_cast<uint32_t>(pair.nextPacket - pair.acknowledged);
    pair.nextPacket = pair.acknowledged;
    pair.unasked = 0;
    pair.sending = pair.oldest;
    pair.messageEnd = m_core.messages[pair.oldest].end;
}

int64_t
PacketSender::GetTimeout(uint32_t index) const
{
    const int64_t given = m_parameters.timeout;
    const int64_t first =
        m_parameters.rttEstimation ? m_rtt[index].GetTimeout(given, m_parameters.minTimeout) : given;
    const unsigned doublings = std::min<unsigned>(m_core.pairs[index].retries, 31);
    const int64_t factor = std::min<int64_t>(int64_t{1} << doublings, m_parameters.maxBackoff);
    return first > MOST_TIMEOUT / factor ? MOST_TIMEOUT : first * factor;
}

void
PacketSender::StartTimer(uint32_t index)
{
    PacketQueuePair& pair = m_core.pairs[index];
    if (!pair.hasTimer)
    {
        pair.hasTimer = true;
        m_timers.Set(std::max(pair.deadline, PacketTransportCore::Now()),
                     uint64_t{pair.incarnation} << 32 | index);
        WakeForTimers();
    }
}

void
PacketSender::StartTimers()
{
    for (uint32_t index = 0; index < m_pairEnd; ++index)
    {
        PacketQueuePair& pair = m_core.pairs[index];
        // One that has been given back has nothing behind it.
        if (pair.oldest != PACKET_NONE && (pair.nextPacket != pair.acknowledged || m_parameters.IsPulled()))
        {
            pair.deadline = PacketTransportCore::Now() + GetTimeout(index);
            StartTimer(index);
        }
    }
}

void
PacketSender::WakeForTimers()
{
    if (!m_timers.IsEmpty() && m_timers.GetFirst().when < m_wakesAt)
    {
        m_wakesAt = m_timers.GetFirst().when;
        const int64_t delay = m_wakesAt - PacketTransportCore::Now();
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay)), &PacketSender::CheckTimers, this);
    }
}

void
PacketSender::CheckTimers()
{
    const int64_t now = PacketTransportCore::Now();
    while (!m_timers.IsEmpty() && m_timers.GetFirst().when <= now)
    {
        const uint64_t token = m_timers.TakeFirst().token;
        const auto index = static_cast<uint32_t>(token);
        if (m_core.pairs[index].incarnation == token >> 32)
        {
            CheckTimer(index);
        }
    }
    // An event that an earlier one has overtaken comes here too, and finds nothing or little to do.
    m_wakesAt = m_wakesAt <= now ? NEVER : m_wakesAt;
    WakeForTimers();
}

void
PacketSender::CheckTimer(uint32_t index)
{
    PacketQueuePair& pair = m_core.pairs[index];
    pair.hasTimer = false;
    if (pair.nextPacket == pair.acknowledged && !m_parameters.IsPulled())
    {
        return; // nothing in flight: the next packet starts the timer
    }
    if (pair.deadline <= PacketTransportCore::Now())
    {
        TimeOut(index);
        return;
    }
    StartTimer(index);
}

void
PacketSender::TimeOut(uint32_t index)
{
    PacketQueuePair& pair = m_core.pairs[index];
    Settle(pair);
    ++pair.retries;
    if (pair.retries > m_parameters.retryLimit || GetTimeout(index) == MOST_TIMEOUT)
    {
        pair.holds |= PacketQueuePair::GIVEN_UP;
        ++m_core.counters.givenUp;
        m_core.traces.m_givenUp(pair.source, pair.destination);
        return;
    }
    ++m_core.counters.timeouts;
    m_core.traces.m_timeout(pair.source, pair.destination, pair.retries);
    const uint32_t allowed = pair.allowed;
    uint64_t lost = pair.nextPacket - pair.acknowledged;
    if (m_parameters.IsSelective())
    {
        lost = m_scoreboards.SetAllLost(pair);
    }
    else
    {
        GoBack(pair);
    }
    m_core.congestion->TimedOut(index, pair, lost);
    TraceWindow(pair, allowed);
    GoOn(index);
}

void
PacketSender::TraceWindow(const PacketQueuePair& pair, uint32_t before) const
{
    if (pair.allowed != before)
    {
        m_core.traces.m_window(pair.source, pair.destination, pair.allowed);
    }
}

} // namespace ns3
