// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_RTT_H
#define PACKET_RTT_H

#include <algorithm>
#include <cstdint>

namespace ns3
{

/**
 * The retransmission timeout from round-trip times (RFC 6298, section 2), ps. With the first sample R,
 * SRTT = R and RTTVAR = R/2; with each that follows RTTVAR <- 3/4·RTTVAR + 1/4·|SRTT - R| and
 * SRTT <- 7/8·SRTT + 1/8·R; the timeout is SRTT + 4·RTTVAR and never less than `smallest`. A clock of a
 * picosecond has a negligible granularity.
 *
 * Packets carry the time they left at, and acknowledgements that of the packet they answer (RFC 7323), so
 * retransmissions give samples too. Stamps are 32 bits in units of 2^14 ps, 16.4 ns: they distinguish times
 * up to 70 s.
 */
struct PacketRtt
{
    static uint32_t StampOf(int64_t when)
    {
        return static_cast<uint32_t>(when >> STAMP_BITS);
    }

    static int64_t Since(uint32_t stamp, int64_t now)
    {
        return static_cast<int64_t>(StampOf(now) - stamp) << STAMP_BITS;
    }

    void Add(int64_t sample)
    {
        if (smoothed == 0)
        {
            smoothed = std::max<int64_t>(1, sample);
            variation = sample / 2;
            return;
        }
        variation += (std::max(smoothed - sample, sample - smoothed) - variation) / 4;
        smoothed += (sample - smoothed) / 8;
    }

    int64_t GetTimeout(int64_t first, int64_t least) const
    {
        return smoothed == 0 ? first : std::max(least, smoothed + 4 * variation);
    }

    int64_t smoothed{0};  //!< SRTT; 0: no sample yet
    int64_t variation{0}; //!< RTTVAR

  private:
    static constexpr int STAMP_BITS = 14;
};

} // namespace ns3

#endif /* PACKET_RTT_H */
