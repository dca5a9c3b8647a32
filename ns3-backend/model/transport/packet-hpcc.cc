// SPDX-License-Identifier: GPL-2.0-only
#include "packet-hpcc.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

constexpr double BIT_PICOSECONDS = 8e12; // in a byte, at 1 bit/s

} // namespace

void
PacketHpcc::Start(const PacketTransportParameters& parameters, uint64_t bitsPerSecond)
{
    *this = PacketHpcc();
    const auto baseRtt = static_cast<double>(parameters.hpccBaseRtt.GetTimeStep());
    most = static_cast<double>(bitsPerSecond) * baseRtt / BIT_PICOSECONDS;
    window = most;
    reference = most;
}

void
PacketHpcc::Measure(const PacketTransportParameters& parameters,
                    const PacketTelemetry& before,
                    const PacketTelemetry& now)
{
    const auto baseRtt = static_cast<double>(parameters.hpccBaseRtt.GetTimeStep());
    double largest = 0;
    double span = 0;
    for (uint32_t i = 0; i < std::min(before.hops, now.hops); ++i)
    {
        const PacketTelemetry::Hop& old = before.hop[i];
        const PacketTelemetry::Hop& link = now.hop[i];
        const auto elapsed = static_cast<double>(link.when - old.when);
        if (elapsed <= 0)
        {
            continue; // overtaken: the older note says nothing new
        }
        const double bytesPerPicosecond = static_cast<double>(link.bitsPerSecond) / BIT_PICOSECONDS;
        const auto waiting = static_cast<double>(std::min(link.waitingBytes, old.waitingBytes));
        const auto carried = static_cast<double>(link.carriedBytes - old.carriedBytes);
        const double share =
            waiting / (bytesPerPicosecond * baseRtt) + carried / (elapsed * bytesPerPicosecond);
        if (share > largest)
        {
            largest = share;
            span = std::min(elapsed, baseRtt);
        }
    }
    utilization += span / baseRtt * (largest - utilization);
}

void
PacketHpcc::Acknowledged(const PacketTransportParameters& parameters,
                         const PacketTelemetry& before,
                         const PacketTelemetry& now,
                         uint64_t acknowledged,
                         uint64_t sent)
{
    Measure(parameters, before, now);
    const bool updates = acknowledged > updateAfter;
    const auto step = static_cast<double>(parameters.hpccAdditiveIncrease);
    const bool isFull = utilization >= parameters.hpccUtilization || stage >= parameters.hpccMaxStage;
    window = (isFull ? reference / (utilization / parameters.hpccUtilization) : reference) + step;
    window = std::min(std::max(window, 1.0), most);
    if (updates)
    {
        stage = isFull ? 0 : stage + 1;
        reference = window;
        updateAfter = sent;
    }
}

int64_t
PacketHpcc::Sent(const PacketTransportParameters& parameters, uint32_t bytes, int64_t when)
{
    const auto baseRtt = static_cast<double>(parameters.hpccBaseRtt.GetTimeStep());
    ready = window < most ? when + static_cast<int64_t>(std::ceil(bytes * baseRtt / window)) : when;
    return ready;
}

} // namespace ns3
