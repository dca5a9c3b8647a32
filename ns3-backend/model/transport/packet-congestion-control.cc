// SPDX-License-Identifier: GPL-2.0-only
#include "packet-congestion-control.h"

#include "packet-transport-core.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

PacketCongestionControl::PacketCongestionControl(PacketTransportCore& core)
    : m_core(core),
      m_parameters(core.parameters),
      m_windowPackets(core.parameters.GetWindowPackets())
{
}

void
PacketCongestionControl::Allow(PacketQueuePair& pair, double packets) const
{
    // n packets are below a window of w exactly if n < ⌈w⌉.
    const double allowed = std::max(1.0, std::ceil(packets));
    pair.allowed = static_cast<uint32_t>(std::min<double>(allowed, m_windowPackets));
    // At most half a window is sent without asking: a window that is halved still lets the sender continue.
    pair.askAfter =
        static_cast<uint32_t>(std::ceil(std::min<double>(m_parameters.ackEvery, std::max(1.0, packets / 2))));
}

void
PacketCongestionControl::Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates&)
{
    Open(index, pair);
}

void
PacketCongestionControl::Open(uint32_t, PacketQueuePair& pair)
{
    Allow(pair, m_windowPackets);
}

void
PacketCongestionControl::End(uint32_t)
{
}

void
PacketCongestionControl::Resume(uint32_t, PacketQueuePair&)
{
}

int64_t
PacketCongestionControl::Sent(uint32_t, PacketQueuePair&, uint32_t, int64_t when)
{
    return when;
}

int64_t
PacketCongestionControl::GetReadyTime(uint32_t) const
{
    return 0;
}

bool
PacketCongestionControl::Acknowledged(uint32_t, PacketQueuePair&, uint64_t, uint64_t, uint32_t)
{
    return false;
}

void
PacketCongestionControl::Lost(uint32_t, PacketQueuePair&)
{
}

void
PacketCongestionControl::TimedOut(uint32_t, PacketQueuePair&, uint64_t)
{
}

void
PacketCongestionControl::Notified(uint32_t, int64_t)
{
}

uint64_t
PacketCongestionControl::GetRate(uint32_t) const
{
    return 0;
}

bool
PacketCongestionControl::Marked(uint32_t, int64_t)
{
    return false;
}

void
PacketCongestionControl::Arrived(uint32_t, const PacketQueuePair&, bool)
{
}

uint16_t
PacketCongestionControl::GetNote(uint32_t) const
{
    return 0;
}

void
PacketCongestionControl::Answered(uint32_t, PacketQueuePair&, uint16_t)
{
}

void
PacketCongestionControl::Pulled(uint32_t, PacketQueuePair&, uint64_t)
{
}

void
PacketCongestionControl::Returned(uint32_t, PacketQueuePair&)
{
}

} // namespace ns3
