// SPDX-License-Identifier: GPL-2.0-only
#include "packet-ndp.h"

#include "packet-transport-core.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

void
PacketNdpState::Start(const Parameters& parameters, uint32_t packetBytes, uint64_t receiverBitsPerSecond)
{
    *this = PacketNdpState();
    credit = parameters.initialWindow;
    gap = static_cast<int64_t>(std::ceil(packetBytes * PACKET_BIT_PICOSECONDS /
                                         (static_cast<double>(receiverBitsPerSecond) * parameters.pullRate)));
}

void
PacketNdpState::Pulled(const Parameters& parameters, uint64_t count, bool hasData)
{
    if (count <= pullsReceived)
    {
        return;
    }
    credit += count - pullsReceived;
    pullsReceived = count;
    if (!hasData)
    {
        credit = std::min<uint64_t>(credit, parameters.initialWindow);
    }
}

void
PacketNdpState::Grant(const Parameters& parameters, uint64_t packets)
{
    credit = std::max(credit, std::max<uint64_t>(1, std::min<uint64_t>(packets, parameters.initialWindow)));
}

uint64_t
PacketNdpState::GetCountNear(uint16_t low) const
{
    const auto ahead =
        static_cast<int16_t>(static_cast<uint16_t>(low - static_cast<uint16_t>(pullsReceived)));
    return ahead > 0 ? pullsReceived + static_cast<uint64_t>(ahead) : pullsReceived;
}

bool
PacketNdpState::IsWorthAPull(const Parameters& parameters, uint64_t packets) const
{
    return parameters.initialWindow + pulls + owed < packets + headers;
}

bool
PacketPullQueue::LeavesNow(int64_t now, int64_t gap)
{
    if (m_freeAt > now || !IsEmpty())
    {
        return false;
    }
    Leave(now, gap);
    return true;
}

void
PacketPullQueue::Wait(uint64_t pair)
{
    m_pairs.push_back(pair);
}

uint64_t
PacketPullQueue::TakeFirst()
{
    const uint64_t pair = m_pairs[m_first++];
    // What has gone from the front is forgotten when it is half of all: O(1) amortised.
    if (2 * m_first >= m_pairs.size())
    {
        m_pairs.erase(m_pairs.begin(), m_pairs.begin() + static_cast<std::ptrdiff_t>(m_first));
        m_first = 0;
    }
    return pair;
}

void
PacketPullQueue::Leave(int64_t now, int64_t gap)
{
    m_freeAt = now + gap;
}

PacketNdp::PacketNdp(PacketTransportCore& core)
    : PacketCongestionControl(core),
      m_own(m_parameters.Get<Parameters>())
{
}

void
PacketNdp::Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates)
{
    m_states.Restart(index).Start(m_own, m_parameters.mtu + m_parameters.header, rates.in);
    Open(index, pair);
}

void
PacketNdp::Grant(uint32_t index, PacketQueuePair& pair, uint64_t packets)
{
    m_states[index].Grant(m_own, packets);
    pair.holds &= static_cast<uint8_t>(~PacketQueuePair::NOT_PULLED);
}

void
PacketNdp::Resume(uint32_t index, PacketQueuePair& pair)
{
    Grant(index, pair, m_own.initialWindow);
}

int64_t
PacketNdp::Sent(uint32_t index, PacketQueuePair& pair, uint32_t, int64_t when)
{
    if (--m_states[index].credit == 0)
    {
        pair.holds |= PacketQueuePair::NOT_PULLED;
    }
    return when;
}

void
PacketNdp::TimedOut(uint32_t index, PacketQueuePair& pair, uint64_t lost)
{
    Grant(index, pair, lost);
}

void
PacketNdp::Answered(uint32_t index, PacketQueuePair& pair, uint16_t note)
{
    Pulled(index, pair, m_states[index].GetCountNear(note));
}

void
PacketNdp::Pulled(uint32_t index, PacketQueuePair& pair, uint64_t count)
{
    PacketNdpState& state = m_states[index];
    state.Pulled(m_own, count, pair.hasLost || pair.nextPacket < pair.end);
    if (state.credit > 0)
    {
        pair.holds &= static_cast<uint8_t>(~PacketQueuePair::NOT_PULLED);
    }
}

void
PacketNdp::Returned(uint32_t index, PacketQueuePair& pair)
{
    // Its receiver has not seen it, and will not pull for it.
    ++m_states[index].credit;
    pair.holds &= static_cast<uint8_t>(~PacketQueuePair::NOT_PULLED);
}

uint16_t
PacketNdp::GetNote(uint32_t index) const
{
    return static_cast<uint16_t>(m_states[index].pulls);
}

void
PacketNdp::Arrived(uint32_t index, const PacketQueuePair& pair, bool isTrimmed)
{
    PacketNdpState& state = m_states[index];
    state.headers += isTrimmed ? 1 : 0;
    if (!state.IsWorthAPull(m_own, pair.end))
    {
        return;
    }
    const uint32_t number = m_own.pullPacing == PacketPullPacing::PER_HOST ? pair.destination : index;
    PacketPullQueue& queue = m_queues[number];
    const int64_t now = PacketTransportCore::Now();
    if (queue.LeavesNow(now, state.gap))
    {
        ++state.pulls; // goes with the answer
    }
    else if (state.owed++ == 0)
    {
        queue.Wait(uint64_t{pair.incarnation} << 32 | index);
        if (!queue.isScheduled)
        {
            queue.isScheduled = true;
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(queue.GetFreeTime() - now)),
                                &PacketNdp::PullNext,
                                this,
                                number);
        }
    }
}

void
PacketNdp::SendPull(uint32_t index)
{
    const uint32_t packet = m_core.MakePacket(
        index, false, PacketDescriptor::Kind::PULL, m_parameters.ackSize, PacketTransportCore::Now());
    m_core.context.packets[packet].sequence = m_states[index].pulls;
    m_core.fabric.GetNode(m_core.pairs[index].destination).Forward(packet);
}

void
PacketNdp::PullNext(uint32_t number)
{
    PacketPullQueue& queue = m_queues[number];
    queue.isScheduled = false;
    while (!queue.IsEmpty())
    {
        const uint64_t waiting = queue.TakeFirst();
        const auto index = static_cast<uint32_t>(waiting);
        if (m_core.pairs[index].incarnation != waiting >> 32)
        {
            continue; // all of it has arrived meanwhile
        }
        PacketNdpState& state = m_states[index];
        const int64_t gap = state.gap;
        ++state.pulls;
        --state.owed;
        queue.Leave(PacketTransportCore::Now(), gap);
        const bool owesMore = state.owed > 0;
        SendPull(index);
        if (owesMore)
        {
            queue.Wait(waiting);
        }
        if (!queue.IsEmpty())
        {
            queue.isScheduled = true;
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(gap)), &PacketNdp::PullNext, this, number);
        }
        return;
    }
}

} // namespace ns3
