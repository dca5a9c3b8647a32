// SPDX-License-Identifier: GPL-2.0-only
#include "packet-hpcc.h"

#include "packet-transport-core.h"

#include "ns3/packet-round-trip.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

void
PacketHpccState::Start(const Parameters& parameters, uint64_t bitsPerSecond)
{
    *this = PacketHpccState();
    const auto baseRtt = static_cast<double>(parameters.baseRtt);
    largest = static_cast<double>(bitsPerSecond) * baseRtt / PACKET_BIT_PICOSECONDS;
    window = largest;
    reference = largest;
}

void
PacketHpccState::Measure(const Parameters& parameters,
                         const PacketTelemetry& before,
                         const PacketTelemetry& now)
{
    const auto baseRtt = static_cast<double>(parameters.baseRtt);
    double busiest = 0;
    double span = 0;
    for (uint32_t i = 0; i < std::min(before.hops, now.hops); ++i)
    {
        const PacketTelemetry::Hop& old = before.hop[i];
        const PacketTelemetry::Hop& link = now.hop[i];
        const auto elapsed = static_cast<double>(link.when - old.when);
        if (elapsed <= 0)
        {
            continue; // overtaken: the older note has nothing new
        }
        const double bytesPerPicosecond = static_cast<double>(link.bitsPerSecond) / PACKET_BIT_PICOSECONDS;
        const auto waiting = static_cast<double>(std::min(link.waitingBytes, old.waitingBytes));
        const auto carried = static_cast<double>(link.carriedBytes - old.carriedBytes);
        const double share =
            waiting / (bytesPerPicosecond * baseRtt) + carried / (elapsed * bytesPerPicosecond);
        if (share > busiest)
        {
            busiest = share;
            span = std::min(elapsed, baseRtt);
        }
    }
    utilization += span / baseRtt * (busiest - utilization);
}

void
PacketHpccState::Acknowledged(const Parameters& parameters,
                              const PacketTelemetry& before,
                              const PacketTelemetry& now,
                              uint64_t acknowledged,
                              uint64_t sent)
{
    Measure(parameters, before, now);
    const bool updates = acknowledged > updateAfter;
    const auto step = static_cast<double>(parameters.additiveIncrease);
    const bool isFull = utilization >= parameters.utilization || stage >= parameters.maxStage;
    window = (isFull ? reference / (utilization / parameters.utilization) : reference) + step;
    window = std::min(std::max(window, 1.0), largest);
    if (updates)
    {
        stage = isFull ? 0 : stage + 1;
        reference = window;
        updateAfter = sent;
    }
}

int64_t
PacketHpccState::Sent(const Parameters& parameters, uint32_t bytes, int64_t when)
{
    const auto baseRtt = static_cast<double>(parameters.baseRtt);
    ready = window < largest ? when + static_cast<int64_t>(std::ceil(bytes * baseRtt / window)) : when;
    return ready;
}

namespace
{

/// A fabric on which no host reaches another has no use for T.
PacketHpccParameters
WithBaseRtt(const PacketTransportCore& core)
{
    const PacketTransportParameters& transport = core.parameters;
    auto own = transport.Get<PacketHpccParameters>();
    if (own.baseRtt == 0)
    {
        own.baseRtt = std::max<int64_t>(
            1,
            FindLongestRoundTrip(
                core.fabric, core.router, transport.mtu + transport.header, transport.ackSize));
    }
    return own;
}

} // namespace

PacketHpcc::PacketHpcc(PacketTransportCore& core)
    : PacketCongestionControl(core),
      m_own(WithBaseRtt(core))
{
}

void
PacketHpcc::Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates)
{
    m_states.Restart(index).Start(m_own, rates.out);
    Open(index, pair);
}

void
PacketHpcc::Open(uint32_t index, PacketQueuePair& pair)
{
    Allow(pair, m_states[index].window / (m_parameters.mtu + m_parameters.header));
}

void
PacketHpcc::End(uint32_t index)
{
    PacketHpccState& state = m_states[index];
    if (state.telemetry != PACKET_NONE)
    {
        m_core.context.telemetry.Free(state.telemetry);
        state.telemetry = PACKET_NONE;
    }
}

int64_t
PacketHpcc::Sent(uint32_t index, PacketQueuePair&, uint32_t bytes, int64_t when)
{
    return m_states[index].Sent(m_own, bytes, when);
}

int64_t
PacketHpcc::GetReadyTime(uint32_t index) const
{
    return m_states[index].ready;
}

bool
PacketHpcc::Acknowledged(uint32_t index, PacketQueuePair& pair, uint64_t, uint64_t, uint32_t telemetry)
{
    if (telemetry == PACKET_NONE)
    {
        return false;
    }
    PacketHpccState& state = m_states[index];
    if (state.telemetry != PACKET_NONE)
    {
        PacketPool<PacketTelemetry>& notes = m_core.context.telemetry;
        state.Acknowledged(
            m_own, notes[state.telemetry], notes[telemetry], pair.acknowledged, pair.nextPacket);
        Open(index, pair);
        notes.Free(state.telemetry);
    }
    state.telemetry = telemetry;
    return true;
}

} // namespace ns3
