// SPDX-License-Identifier: GPL-2.0-only
#include "packet-ndp.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

constexpr double BIT_PICOSECONDS = 8e12; // in a byte, at 1 bit/s

} // namespace

void
PacketNdp::Start(const PacketTransportParameters& parameters, uint64_t receiverBitsPerSecond)
{
    *this = PacketNdp();
    credit = parameters.ndpInitialWindow;
    gap = static_cast<int64_t>(
        std::ceil((parameters.mtu + parameters.header) * BIT_PICOSECONDS /
                  (static_cast<double>(receiverBitsPerSecond) * parameters.ndpPullRate)));
}

void
PacketNdp::Pulled(const PacketTransportParameters& parameters, uint64_t count, bool hasData)
{
    if (count <= heard)
    {
        return;
    }
    credit += count - heard;
    heard = count;
    if (!hasData)
    {
        credit = std::min<uint64_t>(credit, parameters.ndpInitialWindow);
    }
}

void
PacketNdp::Grant(const PacketTransportParameters& parameters, uint64_t packets)
{
    credit =
        std::max(credit, std::max<uint64_t>(1, std::min<uint64_t>(packets, parameters.ndpInitialWindow)));
}

uint64_t
PacketNdp::GetCountNear(uint16_t low) const
{
    const auto ahead = static_cast<int16_t>(static_cast<uint16_t>(low - static_cast<uint16_t>(heard)));
    return ahead > 0 ? heard + static_cast<uint64_t>(ahead) : heard;
}

bool
PacketNdp::IsWorthAPull(const PacketTransportParameters& parameters, uint64_t packets) const
{
    return parameters.ndpInitialWindow + pulls + owed < packets + headers;
}

bool
PacketPullLine::LeavesNow(int64_t now, int64_t gap)
{
    if (m_freeAt > now || !IsEmpty())
    {
        return false;
    }
    Leave(now, gap);
    return true;
}

void
PacketPullLine::Wait(uint64_t pair)
{
    m_pairs.push_back(pair);
}

bool
PacketPullLine::IsEmpty() const
{
    return m_first == m_pairs.size();
}

uint64_t
PacketPullLine::TakeFirst()
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
PacketPullLine::Leave(int64_t now, int64_t gap)
{
    m_freeAt = now + gap;
}

int64_t
PacketPullLine::GetFreeTime() const
{
    return m_freeAt;
}

} // namespace ns3
