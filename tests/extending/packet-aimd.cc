// SPDX-License-Identifier: GPL-2.0-only
#include "packet-aimd.h"

#include "ns3/packet-transport-core.h"

#include <algorithm>

namespace ns3
{

PacketAimd::PacketAimd(PacketTransportCore& core)
    : PacketCongestionControl(core),
      m_own(m_parameters.Get<Parameters>())
{
}

void
PacketAimd::Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates&)
{
    m_windows.Restart(index) = m_own.initialWindow;
    Open(index, pair);
}

void
PacketAimd::Open(uint32_t index, PacketQueuePair& pair)
{
    Set(index, pair, m_windows[index]);
}

bool
PacketAimd::Acknowledged(uint32_t index, PacketQueuePair& pair, uint64_t packets, uint64_t, uint32_t)
{
    const double window = m_windows[index];
    Set(index, pair, window + m_own.increase * static_cast<double>(packets) / window);
    return false;
}

void
PacketAimd::Lost(uint32_t index, PacketQueuePair& pair)
{
    Set(index, pair, m_windows[index] / 2);
}

void
PacketAimd::TimedOut(uint32_t index, PacketQueuePair& pair, uint64_t)
{
    Set(index, pair, 1);
}

void
PacketAimd::Set(uint32_t index, PacketQueuePair& pair, double window)
{
    m_windows[index] = std::clamp<double>(window, 1, GetWindowPackets());
    Allow(pair, m_windows[index]);
}

} // namespace ns3
