// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_TEST_CASE_H
#define PACKET_TEST_CASE_H

#include "picosecond-test-case.h"

#include "ns3/packet-fabric-helper.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace ns3
{

// The defaults: 4096 bytes of payload and 82 of headers, 100 Gb/s or 80 ps a byte, 500 ns a link.
constexpr uint64_t PAYLOAD = 4096;
constexpr int64_t PACKET_TIME = (4096 + 82) * 80;
constexpr int64_t LATENCY = 500'000;

/// What arrived, and when the last of it did.
class Arrivals
{
  public:
    explicit Arrivals(const PacketNetwork& network)
    {
        network.transport->TraceConnectWithoutContext("Delivered", MakeCallback(&Arrivals::Note, this));
    }

    void Note(const PacketMessage&, Time completion)
    {
        m_last = std::max(m_last, completion.GetPicoSeconds());
        ++m_count;
    }

    int64_t m_last{0};
    uint32_t m_count{0};
};

/// How often a trace source of the fabric fired.
class Firings
{
  public:
    Firings(const PacketNetwork& network, const std::string& source)
    {
        network.fabric->TraceConnectWithoutContext(source, MakeCallback(&Firings::Note, this));
    }

    void Note(uint32_t, const PacketDescriptor&, int64_t)
    {
        ++m_count;
    }

    uint64_t m_count{0};
};

inline void
SendToFirst(const PacketNetwork& network, uint32_t senders, uint64_t bytes)
{
    for (uint32_t sender = 1; sender <= senders; ++sender)
    {
        network.transport->Send({sender, 0, bytes, nullptr, 0, 0});
    }
}

} // namespace ns3

#endif /* PACKET_TEST_CASE_H */
