// SPDX-License-Identifier: GPL-2.0-only
#include "packet-dcqcn.h"

#include "packet-transport-core.h"

#include "ns3/assert.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

void
PacketDcqcnState::Start(uint64_t bitsPerSecond)
{
    *this = PacketDcqcnState();
    line = static_cast<double>(bitsPerSecond);
    current = line;
    target = line;
}

void
PacketDcqcnState::Increase(const Parameters& parameters)
{
    const uint32_t least = std::min(timeSteps, byteSteps);
    const uint32_t fast = parameters.fastRecovery;
    if (least > fast)
    {
        target += (least - fast) * static_cast<double>(parameters.hyperIncrease.GetBitRate());
    }
    else if (std::max(timeSteps, byteSteps) >= fast)
    {
        target += static_cast<double>(parameters.additiveIncrease.GetBitRate());
    }
    target = std::min(target, line);
    current = (target + current) / 2;
    // Halving the distance would never end.
    if (line - current < 1)
    {
        current = line;
    }
}

void
PacketDcqcnState::AdvanceTo(const Parameters& parameters, int64_t now)
{
    if (!isTimed)
    {
        return;
    }
    const int64_t updates = (now - alphaSince) / parameters.alphaInterval;
    if (updates > 0)
    {
        alpha *= std::pow(1 - parameters.gain, static_cast<double>(updates));
        alphaSince += updates * parameters.alphaInterval;
    }
    const int64_t interval = parameters.increaseInterval;
    while (current < line && now - stepSince >= interval)
    {
        stepSince += interval;
        ++timeSteps;
        Increase(parameters);
    }
}

void
PacketDcqcnState::Notify(const Parameters& parameters, int64_t now)
{
    AdvanceTo(parameters, now);
    if (parameters.clampTarget || timeSteps + byteSteps > 0 || !isTimed)
    {
        target = current;
    }
    const auto least = static_cast<double>(parameters.minRate.GetBitRate());
    current = std::min(line, std::max(least, current * (1 - alpha / 2)));
    alpha += parameters.gain * (1 - alpha);
    alphaSince = now;
    stepSince = now;
    timeSteps = 0;
    byteSteps = 0;
    bytes = 0;
    isTimed = true;
}

int64_t
PacketDcqcnState::Sent(const Parameters& parameters, uint32_t size, int64_t when)
{
    AdvanceTo(parameters, when);
    if (current >= line)
    {
        ready = when;
        return ready;
    }
    bytes += size;
    if (bytes >= parameters.increaseBytes)
    {
        bytes -= parameters.increaseBytes;
        ++byteSteps;
        Increase(parameters);
    }
    ready = when + static_cast<int64_t>(std::ceil(size * PACKET_BIT_PICOSECONDS / current));
    return ready;
}

bool
PacketDcqcnState::Marked(const Parameters& parameters, int64_t now)
{
    if (notified >= 0 && now - notified < parameters.notifyInterval)
    {
        return false;
    }
    notified = now;
    return true;
}

PacketDcqcn::PacketDcqcn(PacketTransportCore& core)
    : PacketCongestionControl(core),
      m_own(m_parameters.Get<Parameters>())
{
    NS_ASSERT_MSG(m_own.minRate.GetBitRate() > 0 && m_own.additiveIncrease.GetBitRate() > 0,
                  "a pair that sends nothing would never learn that it may");
}

void
PacketDcqcn::Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates)
{
    m_states.Restart(index).Start(rates.out);
    Open(index, pair);
}

int64_t
PacketDcqcn::Sent(uint32_t index, PacketQueuePair&, uint32_t bytes, int64_t when)
{
    return m_states[index].Sent(m_own, bytes, when);
}

int64_t
PacketDcqcn::GetReadyTime(uint32_t index) const
{
    return m_states[index].ready;
}

void
PacketDcqcn::Notified(uint32_t index, int64_t now)
{
    m_states[index].Notify(m_own, now);
}

uint64_t
PacketDcqcn::GetRate(uint32_t index) const
{
    return static_cast<uint64_t>(m_states[index].current);
}

bool
PacketDcqcn::Marked(uint32_t index, int64_t now)
{
    return m_states[index].Marked(m_own, now);
}

} // namespace ns3
