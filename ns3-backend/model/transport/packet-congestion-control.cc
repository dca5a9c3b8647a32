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

} // namespace ns3
