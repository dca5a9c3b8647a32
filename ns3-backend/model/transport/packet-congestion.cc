// SPDX-License-Identifier: GPL-2.0-only
#include "packet-congestion.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

using Control = PacketCongestionControl;

template <class State>
State&
At(std::vector<State>& states, uint32_t index)
{
    if (index >= states.size())
    {
        states.resize(std::size_t{index} + 1);
    }
    return states[index];
}

} // namespace

PacketCongestion::PacketCongestion(const PacketTransportParameters& parameters, PacketContext& context)
    : m_parameters(parameters),
      m_context(context),
      m_windowPackets(parameters.GetWindowPackets())
{
}

void
PacketCongestion::Allow(PacketQueuePair& pair, double packets) const
{
    // n packets are below a window of w exactly if n < ⌈w⌉.
    const double most = std::max(1.0, std::ceil(packets));
    pair.allowed = static_cast<uint32_t>(std::min<double>(most, m_windowPackets));
    // Half a window at most goes unasked: a window that is halved still lets the sender go on.
    pair.askAfter =
        static_cast<uint32_t>(std::ceil(std::min<double>(m_parameters.ackEvery, std::max(1.0, packets / 2))));
}

void
PacketCongestion::Start(uint32_t index,
                        PacketQueuePair& pair,
                        uint64_t bitsPerSecond,
                        uint64_t receiverBitsPerSecond)
{
    switch (m_parameters.congestionControl)
    {
    case Control::NONE:
        break;
    case Control::DCTCP:
        At(m_dctcp, index).Start(m_parameters);
        break;
    case Control::DCQCN:
        At(m_dcqcn, index).Start(bitsPerSecond);
        break;
    case Control::HPCC:
        At(m_hpcc, index).Start(m_parameters, bitsPerSecond);
        break;
    case Control::NDP:
        At(m_ndp, index).Start(m_parameters, receiverBitsPerSecond);
        break;
    }
    Open(index, pair);
}

void
PacketCongestion::Open(uint32_t index, PacketQueuePair& pair) const
{
    switch (m_parameters.congestionControl)
    {
    case Control::DCTCP:
        Allow(pair, m_dctcp[index].window);
        return;
    case Control::HPCC:
        Allow(pair, m_hpcc[index].window / (m_parameters.mtu + m_parameters.header));
        return;
    default:
        Allow(pair, m_windowPackets);
        return;
    }
}

void
PacketCongestion::End(uint32_t index)
{
    if (m_parameters.congestionControl == Control::HPCC && m_hpcc[index].telemetry != PACKET_NONE)
    {
        m_context.telemetry.Free(m_hpcc[index].telemetry);
        m_hpcc[index].telemetry = PACKET_NONE;
    }
}

bool
PacketCongestion::Acknowledged(uint32_t index,
                               PacketQueuePair& pair,
                               uint64_t packets,
                               uint64_t marked,
                               uint32_t telemetry)
{
    if (m_parameters.congestionControl == Control::DCTCP)
    {
        PacketDctcp& state = m_dctcp[index];
        state.Acknowledged(m_parameters, packets, marked, pair.acknowledged, pair.nextPacket);
        Allow(pair, state.window);
        return false;
    }
    if (m_parameters.congestionControl != Control::HPCC || telemetry == PACKET_NONE)
    {
        return false;
    }
    PacketHpcc& state = m_hpcc[index];
    if (state.telemetry != PACKET_NONE)
    {
        state.Acknowledged(m_parameters,
                           m_context.telemetry[state.telemetry],
                           m_context.telemetry[telemetry],
                           pair.acknowledged,
                           pair.nextPacket);
        Allow(pair, state.window / (m_parameters.mtu + m_parameters.header));
        m_context.telemetry.Free(state.telemetry);
    }
    state.telemetry = telemetry;
    return true;
}

void
PacketCongestion::Lost(uint32_t index, PacketQueuePair& pair)
{
    if (m_parameters.congestionControl == Control::DCTCP)
    {
        m_dctcp[index].Lost();
        Allow(pair, m_dctcp[index].window);
    }
}

void
PacketCongestion::TimedOut(uint32_t index, PacketQueuePair& pair)
{
    if (m_parameters.congestionControl == Control::DCTCP)
    {
        m_dctcp[index].TimedOut();
        Allow(pair, m_dctcp[index].window);
    }
}

void
PacketCongestion::Notified(uint32_t index, int64_t now)
{
    m_dcqcn[index].Notify(m_parameters, now);
}

bool
PacketCongestion::Notifies(uint32_t index, int64_t now)
{
    return m_parameters.congestionControl == Control::DCQCN && m_dcqcn[index].Marked(m_parameters, now);
}

int64_t
PacketCongestion::Sent(uint32_t index, PacketQueuePair& pair, uint32_t bytes, int64_t when)
{
    switch (m_parameters.congestionControl)
    {
    case Control::DCQCN:
        return m_dcqcn[index].Sent(m_parameters, bytes, when);
    case Control::HPCC:
        return m_hpcc[index].Sent(m_parameters, bytes, when);
    case Control::NDP:
        if (--m_ndp[index].credit == 0)
        {
            pair.holds |= PacketQueuePair::NOT_PULLED;
        }
        return when;
    default:
        return when;
    }
}

int64_t
PacketCongestion::GetReadyTime(uint32_t index) const
{
    switch (m_parameters.congestionControl)
    {
    case Control::DCQCN:
        return m_dcqcn[index].ready;
    case Control::HPCC:
        return m_hpcc[index].ready;
    default:
        return 0;
    }
}

bool
PacketCongestion::UsesTelemetry() const
{
    return m_parameters.congestionControl == Control::HPCC;
}

bool
PacketCongestion::IsPulled() const
{
    return m_parameters.congestionControl == Control::NDP;
}

bool
PacketCongestion::UsesRates() const
{
    return m_parameters.congestionControl != Control::NONE &&
           m_parameters.congestionControl != Control::DCTCP;
}

uint64_t
PacketCongestion::GetRate(uint32_t index) const
{
    return m_parameters.congestionControl == Control::DCQCN ? static_cast<uint64_t>(m_dcqcn[index].current)
                                                            : 0;
}

PacketNdp&
PacketCongestion::GetNdp(uint32_t index)
{
    return m_ndp[index];
}

} // namespace ns3
