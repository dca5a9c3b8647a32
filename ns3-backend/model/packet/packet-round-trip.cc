// SPDX-License-Identifier: GPL-2.0-only
#include "packet-round-trip.h"

#include "ns3/abort.h"

#include <algorithm>
#include <vector>

namespace ns3
{

namespace
{

int64_t
GetSerialization(const PacketPort& port, uint32_t bytes)
{
    constexpr uint64_t BIT_PICOSECONDS = 8'000'000'000'000; // in a byte, at 1 bit/s
    const auto product = static_cast<unsigned __int128>(bytes) * BIT_PICOSECONDS;
    return static_cast<int64_t>((product + port.GetBitsPerSecond() - 1) / port.GetBitsPerSecond());
}

/// A packet that meets no other on its way.
struct LonePacket
{
    uint32_t bytes;
    int64_t start{0}; //!< may leave the node that it is at, ps
    int64_t tail{0};  //!< its last bit is there

    void Cross(const PacketFabric& fabric, const PacketPort& port)
    {
        const uint32_t next = port.GetTo().GetNumber();
        const bool cutsThrough = fabric.switching == PacketSwitching::CUT_THROUGH && fabric.IsSwitch(next) &&
                                 fabric.cutThroughHeader < bytes;
        tail = std::max(start + GetSerialization(port, bytes), tail) + port.GetLatency();
        start = cutsThrough ? start + GetSerialization(port, fabric.cutThroughHeader) + port.GetLatency()
                            : tail + port.GetTo().GetForwarding();
    }
};

/// What a way takes.
struct Crossing
{
    bool isReachable{false};
    int64_t data{0};   //!< ps
    int64_t answer{0}; //!< the same for the size of an answer
};

Crossing
Cross(PacketFabric& fabric, PacketRouter& router, uint32_t from, uint32_t to, uint32_t data, uint32_t answer)
{
    PacketDescriptor packet{};
    packet.source = from;
    packet.destination = to;
    packet.bytes = data;
    LonePacket first{data};
    LonePacket second{answer};
    uint32_t hops = 0;
    for (uint32_t node = from; node != to;)
    {
        NS_ABORT_MSG_IF(hops++ == fabric.GetNodeCount(),
                        "the way from node " << from << " to node " << to << " never gets there");
        const PacketPort* port = router.Route(node, packet);
        if (port == nullptr)
        {
            return {};
        }
        first.Cross(fabric, *port);
        second.Cross(fabric, *port);
        node = port->GetTo().GetNumber();
    }
    return {true, first.tail, second.tail};
}

} // namespace

int64_t
FindLongestRoundTrip(PacketFabric& fabric, PacketRouter& router, uint32_t data, uint32_t answer)
{
    std::vector<uint32_t> hosts;
    for (uint32_t node = 0; node < fabric.GetNodeCount(); ++node)
    {
        if (!fabric.IsSwitch(node))
        {
            hosts.push_back(node);
        }
    }
    int64_t longest = 0;
    for (const uint32_t a : hosts)
    {
        for (const uint32_t b : hosts)
        {
            if (b <= a)
            {
                continue;
            }
            const Crossing there = Cross(fabric, router, a, b, data, answer);
            const Crossing back = Cross(fabric, router, b, a, data, answer);
            if (there.isReachable && back.isReachable)
            {
                longest = std::max({longest, there.data + back.answer, back.data + there.answer});
            }
        }
    }
    return longest;
}

} // namespace ns3
