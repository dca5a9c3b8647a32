// SPDX-License-Identifier: GPL-2.0-only
#include "packet-dctcp.h"

#include "packet-transport-core.h"

#include <algorithm>

namespace ns3
{

void
PacketDctcpState::Start(const Parameters& parameters, uint32_t windowPackets)
{
    *this = PacketDctcpState();
    window = std::min(parameters.initialWindow, windowPackets);
    threshold = parameters.slowStartThreshold;
}

void
PacketDctcpState::Acknowledged(const Parameters& parameters,
                               uint32_t windowPackets,
                               uint64_t packets,
                               uint64_t marked,
                               uint64_t acknowledged,
                               uint64_t sent)
{
    if (marked > 0)
    {
        threshold = std::min(threshold, window);
    }
    const auto arrived = static_cast<double>(packets);
    window += window < threshold ? arrived : arrived / window;
    window = std::min(window, static_cast<double>(windowPackets));
    roundAcknowledged += packets;
    roundMarked += marked;
    if (acknowledged < roundEnd)
    {
        return;
    }
    const double share = static_cast<double>(roundMarked) / static_cast<double>(roundAcknowledged);
    alpha += parameters.gain * (share - alpha);
    if (roundMarked > 0)
    {
        window = std::max(1.0, window * (1 - alpha / 2));
        threshold = window;
    }
    roundEnd = sent;
    roundAcknowledged = 0;
    roundMarked = 0;
}

void
PacketDctcpState::Lost()
{
    window = std::max(1.0, window / 2);
    threshold = window;
}

void
PacketDctcpState::TimedOut()
{
    threshold = std::max(2.0, window / 2);
    window = 1;
}

PacketDctcp::PacketDctcp(PacketTransportCore& core)
    : PacketCongestionControl(core),
      m_own(m_parameters.Get<Parameters>())
{
}

void
PacketDctcp::Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates&)
{
    m_states.Restart(index).Start(m_own, GetWindowPackets());
    Open(index, pair);
}

void
PacketDctcp::Open(uint32_t index, PacketQueuePair& pair)
{
    Allow(pair, m_states[index].window);
}

bool
PacketDctcp::Acknowledged(uint32_t index, PacketQueuePair& pair, uint64_t packets, uint64_t marked, uint32_t)
{
    PacketDctcpState& state = m_states[index];
    state.Acknowledged(m_own, GetWindowPackets(), packets, marked, pair.acknowledged, pair.nextPacket);
    Allow(pair, state.window);
    return false;
}

void
PacketDctcp::Lost(uint32_t index, PacketQueuePair& pair)
{
    m_states[index].Lost();
    Allow(pair, m_states[index].window);
}

void
PacketDctcp::TimedOut(uint32_t index, PacketQueuePair& pair, uint64_t)
{
    m_states[index].TimedOut();
    Allow(pair, m_states[index].window);
}

} // namespace ns3
