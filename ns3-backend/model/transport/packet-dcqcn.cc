// SPDX-License-Identifier: GPL-2.0-only
#include "packet-dcqcn.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

constexpr double BIT_PICOSECONDS = 8e12; // in a byte, at 1 bit/s

} // namespace

void
PacketDcqcn::Start(uint64_t bitsPerSecond)
{
    *this = PacketDcqcn();
    line = static_cast<double>(bitsPerSecond);
    current = line;
    target = line;
}

void
PacketDcqcn::Increase(const PacketTransportParameters& parameters)
{
    const uint32_t least = std::min(timeSteps, byteSteps);
    const uint32_t fast = parameters.dcqcnFastRecovery;
    if (least > fast)
    {
        target += (least - fast) * static_cast<double>(parameters.dcqcnHyperIncrease.GetBitRate());
    }
    else if (std::max(timeSteps, byteSteps) >= fast)
    {
        target += static_cast<double>(parameters.dcqcnAdditiveIncrease.GetBitRate());
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
PacketDcqcn::AdvanceTo(const PacketTransportParameters& parameters, int64_t now)
{
    if (!isTimed)
    {
        return;
    }
    const int64_t updates = (now - alphaSince) / parameters.dcqcnAlphaInterval.GetTimeStep();
    if (updates > 0)
    {
        alpha *= std::pow(1 - parameters.dcqcnGain, static_cast<double>(updates));
        alphaSince += updates * parameters.dcqcnAlphaInterval.GetTimeStep();
    }
    const int64_t interval = parameters.dcqcnIncreaseInterval.GetTimeStep();
    while (current < line && now - stepSince >= interval)
    {
        stepSince += interval;
        ++timeSteps;
        Increase(parameters);
    }
}

void
PacketDcqcn::Notify(const PacketTransportParameters& parameters, int64_t now)
{
    AdvanceTo(parameters, now);
    if (parameters.dcqcnClampTarget || timeSteps + byteSteps > 0 || !isTimed)
    {
        target = current;
    }
    const auto least = static_cast<double>(parameters.dcqcnMinRate.GetBitRate());
    current = std::min(line, std::max(least, current * (1 - alpha / 2)));
    alpha += parameters.dcqcnGain * (1 - alpha);
    alphaSince = now;
    stepSince = now;
    timeSteps = 0;
    byteSteps = 0;
    bytes = 0;
    isTimed = true;
}

int64_t
PacketDcqcn::Sent(const PacketTransportParameters& parameters, uint32_t size, int64_t when)
{
    AdvanceTo(parameters, when);
    if (current >= line)
    {
        ready = when;
        return ready;
    }
    bytes += size;
    if (bytes >= parameters.dcqcnIncreaseBytes)
    {
        bytes -= parameters.dcqcnIncreaseBytes;
        ++byteSteps;
        Increase(parameters);
    }
    ready = when + static_cast<int64_t>(std::ceil(size * BIT_PICOSECONDS / current));
    return ready;
}

bool
PacketDcqcn::Marked(const PacketTransportParameters& parameters, int64_t now)
{
    if (notified >= 0 && now - notified < parameters.dcqcnNotifyInterval.GetTimeStep())
    {
        return false;
    }
    notified = now;
    return true;
}

} // namespace ns3
