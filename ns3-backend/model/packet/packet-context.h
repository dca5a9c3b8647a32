// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_CONTEXT_H
#define PACKET_CONTEXT_H

#include "packet-pool.h"

#include "ns3/traced-callback.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

class PacketPort;
class PacketRegions;

/// Trouble that a test, or a user, puts on links.
class PacketFaults
{
  public:
    virtual ~PacketFaults() = default;
    /// \returns how much later than it should the packet arrives that starts at `when`, or LOST.
    virtual int64_t InjectFault(const PacketPort& port, const PacketDescriptor& packet, int64_t when) = 0;
    static constexpr int64_t LOST = -1;
};

/// What ports note on packets that carry telemetry (Li et al., "HPCC: high precision congestion control",
/// SIGCOMM 2019, section 3.1), one entry a link, in the order in which they were crossed.
struct PacketTelemetry
{
    struct Hop
    {
        int64_t when;           //!< the packet left the port, ps
        uint64_t waitingBytes;  //!< then, in the port
        uint64_t carriedBytes;  //!< until then, by the link
        uint64_t bitsPerSecond; //!< of the link
    };

    static constexpr std::size_t MOST_HOPS = 16; //!< what comes later is not noted
    uint32_t next;
    uint32_t hops;
    std::array<Hop, MOST_HOPS> hop;
};

/// A way that is fixed where a packet comes into the network: the uplinks to take, whatever they lead to by
/// then.
struct PacketPath
{
    uint32_t next;
    uint32_t taken; //!< of the uplinks
    std::vector<uint16_t> uplinks;
};

/// What can be listened to: the port by number, the packet as it is then, and when, in ps. A port finds out
/// late what it does (see PacketPort), so these come late and not in the order of `when`, but `when` is
/// exact.
struct PacketTraces
{
    using PacketCallback = TracedCallback<uint32_t, const PacketDescriptor&, int64_t>;

    PacketCallback enqueued; //!< waits in the port; one that need not only starts
    PacketCallback started;  //!< starts to leave the port
    PacketCallback arrived;  //!< is at the other end, or its header is where that cuts through
    PacketCallback dropped;  //!< no room, no way, or lost on the link
    PacketCallback marked;
    PacketCallback trimmed;
    TracedCallback<uint32_t, uint8_t, bool, int64_t> paused; //!< a priority of the port, or no longer
    TracedCallback<uint32_t, uint32_t, int64_t, int64_t>
        frame; //!< of the link itself leaves: bytes, when its first bit does and when its last
};

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): the
/// same sequence on every machine.
class PacketRandom
{
  public:
    explicit PacketRandom(uint64_t seed)
        : m_state(seed)
    {
    }

    uint64_t Next()
    {
        uint64_t z = (m_state += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// Even over [0, 1).
    double NextFraction()
    {
        return static_cast<double>(Next() >> 11) * 0x1p-53;
    }

  private:
    uint64_t m_state;
};

/// What everything of a fabric shares.
struct PacketContext
{
    PacketPool<PacketDescriptor> packets;
    PacketPool<PacketTelemetry> telemetry;
    PacketPool<PacketPath> paths;
    std::vector<PacketPort*> ports;  //!< by number
    PacketRegions* regions{nullptr}; //!< none: one thread simulates all
    PacketFaults* faults{nullptr};   //!< none: links do what they should
    bool hasFlowControl{false};      //!< some link does
    bool returnsHeaders{false};      //!< of trimmed packets that find no room, to their sender
    bool isSettling{false};          //!< a port finds out what has left the node it waits for
    PacketTraces traces;
    // What only the simulator's thread changes and reads.
    alignas(64) PacketRandom random{1};
    uint64_t drops{0};
    uint64_t returns{0}; //!< of headers

    /// A packet is gone, with what it carries.
    void Discard(uint32_t packet)
    {
        PacketDescriptor& descriptor = packets[packet];
        if (descriptor.Is(PacketDescriptor::ROUTED))
        {
            EndPath(descriptor);
        }
        else if (descriptor.HasTelemetry())
        {
            telemetry.Free(descriptor.telemetry);
        }
        packets.Free(packet);
    }

    /// A routed packet needs its path no longer.
    void EndPath(PacketDescriptor& packet)
    {
        paths.Free(packet.path);
        packet.path = PACKET_NONE;
        packet.flags = static_cast<uint8_t>(packet.flags & ~PacketDescriptor::ROUTED);
    }

    void Drop(uint32_t port, uint32_t packet, int64_t when)
    {
        ++drops;
        traces.dropped(port, packets[packet], when);
        Discard(packet);
    }
};

} // namespace ns3

#endif /* PACKET_CONTEXT_H */
