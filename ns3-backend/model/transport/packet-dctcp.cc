// SPDX-License-Identifier: GPL-2.0-only
#include "packet-dctcp.h"

#include <algorithm>

namespace ns3
{

void
PacketDctcp::Start(const PacketTransportParameters& parameters)
{
    *this = PacketDctcp();
    window = std::min(parameters.initialWindow, parameters.GetWindowPackets());
    threshold = parameters.slowStartThreshold;
}

void
PacketDctcp::Acknowledged(const PacketTransportParameters& parameters,
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
    window = std::min(window, static_cast<double>(parameters.GetWindowPackets()));
    roundAcknowledged += packets;
    roundMarked += marked;
    if (acknowledged < roundEnd)
    {
        return;
    }
    const double share = static_cast<double>(roundMarked) / static_cast<double>(roundAcknowledged);
    alpha += parameters.dctcpGain * (share - alpha);
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
PacketDctcp::Lost()
{
    window = std::max(1.0, window / 2);
    threshold = window;
}

void
PacketDctcp::TimedOut()
{
    threshold = std::max(2.0, window / 2);
    window = 1;
}

} // namespace ns3
