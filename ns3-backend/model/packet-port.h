// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_PORT_H
#define PACKET_PORT_H

#include "packet-pool.h"

#include "ns3/event-impl.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

class PacketNode;
class PacketPort;

constexpr uint8_t PRIORITIES = 8;

/// Trouble that a test, or a user, puts on links.
class PacketFaults
{
  public:
    virtual ~PacketFaults() = default;
    /// \returns how much later than it should the packet arrives that starts at `when`, or LOST.
    virtual int64_t Strike(const PacketPort& port, const PacketDescriptor& packet, int64_t when) = 0;
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

/// What every port of a fabric shares.
struct PacketContext
{
    PacketPool<PacketDescriptor> packets;
    PacketPool<PacketTelemetry> telemetry;
    PacketFaults* faults{nullptr}; //!< none: links do what they should
    uint64_t drops{0};

    /// A packet is gone, with what it carries.
    void
    Discard(uint32_t packet)
    {
        const uint32_t noted = packets[packet].telemetry;
        if (noted != PACKET_NONE)
        {
            telemetry.Free(noted);
        }
        packets.Free(packet);
    }
};

/// Where the host's own packets come from: made when the port is ready to send them, not before.
class PacketSource
{
  public:
    virtual ~PacketSource() = default;
    /// What was offered may send a packet at `when`. `packet` is none if it has nothing to send after all.
    /// \returns from when on it stays on offer, `when` or later, or NEVER, when it has to be offered anew.
    virtual int64_t TakePacket(uint64_t offer, int64_t when, uint32_t& packet) = 0;
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();
};

/**
 * Packet memory that several ports draw on, byte-exact. A packet takes its size on the wire while it waits;
 * the packet being serialised has left the memory.
 */
struct PacketMemory
{
    uint64_t capacity{0}; //!< 0: unlimited
    uint64_t used{0};     //!< by packets whose ports have not looked whether they left
    std::vector<PacketPort*> ports;
};

/**
 * An output port: a queue, and the link behind it.
 *
 * Two classes are served in strict order: acknowledgements, then data. Data that waits in the port (packets
 * that cross this node) and data that the host itself has to send alternate. Within a class packets leave in
 * the order in which they came; queue pairs of the host take turns.
 *
 * One event per packet and hop. A packet of n bytes that starts at s leaves the port at s + 8n/rate, rounded
 * up to a picosecond, and has arrived at the other end `latency` later; only that arrival is an event, and
 * only that of the first packet under way is ever pending. When the next transmission starts follows from
 * what was in the queue at that moment, so a port finds out late but exactly: `Advance(now)` makes up for all
 * starts until now, and everything that changes or reads the queue calls it first.
 *
 * Cut-through. Where the node at the other end cuts through, the arrival is that of the packet's header, and
 * a packet whose last bit has not come in yet keeps the next port busy until it has. Headers may arrive before
 * the link is free again; then the port wakes itself for the next start, a second event for that packet.
 */
class PacketPort final : public EventImpl
{
  public:
    struct Counters
    {
        uint64_t carriedBytes{0}; //!< on the wire
        uint64_t dataPackets{0};
        uint64_t drops{0};
        uint64_t marks{0};
        uint64_t peakBytes{0}; //!< waiting
    };

    PacketPort(PacketContext& context, PacketNode& to, uint64_t bitsPerSecond, int64_t latency);
    PacketPort(const PacketPort&) = delete;
    PacketPort& operator=(const PacketPort&) = delete;

    /// Tail drop beyond `limit` waiting bytes; 0: no limit of its own.
    void SetLimit(uint64_t limit);
    /// Draws on `memory` beside its own limit.
    void SetMemory(PacketMemory* memory);
    void SetSource(PacketSource* source);
    /// Marks data packets that leave more than `threshold` bytes waiting behind them.
    void SetMarkThreshold(uint64_t threshold);
    /// The node at the other end may send a packet on when its first `header` bytes have arrived; 0: all.
    void SetCutThrough(uint32_t header);

    /// The packet, whose `arrival` at this node is now, goes into the queue, or is dropped.
    void Enqueue(uint32_t packet);
    /// The source has data of `priority` to send from `from` on, now or later; it is asked with the same `offer`
    /// when its turn comes.
    void Offer(uint64_t offer, uint8_t priority, int64_t from);
    /// Starts the transmissions that begin until `now`.
    void Advance(int64_t now);

    const Counters& GetCounters() const;

  protected:
    /// The first packet under way arrives, or the link is free.
    void Notify() override;

  private:
    struct List
    {
        uint32_t head{PACKET_NONE};
        uint32_t tail{PACKET_NONE};
    };
    struct Offered
    {
        uint64_t offer;
        int64_t since;
    };

    void Append(List& list, uint32_t packet);
    uint32_t TakeFirst(List& list);
    uint32_t Leave(List& list);
    bool HasRoom(uint32_t bytes, int64_t now);
    uint32_t Next(int64_t& start);
    uint32_t NextOfSource(int64_t& start);
    void Transmit(uint32_t packet, int64_t start);
    int64_t Serialization(uint32_t bytes);
    int64_t ComputeSerialization(uint32_t bytes) const;
    bool HasWork() const;
    void ScheduleNext();

    PacketContext& m_context;
    PacketNode& m_to;
    PacketSource* m_source{nullptr};
    PacketMemory* m_memory{nullptr};
    uint64_t m_bitsPerSecond;
    int64_t m_latency;
    uint64_t m_limit{0};
    uint32_t m_header{0}; //!< of a packet that is cut through, 0: none is
    int64_t m_headerSerialization{0};
    uint64_t m_markThreshold{std::numeric_limits<uint64_t>::max()};
    int64_t m_freeAt{0}; //!< the end of the last transmission
    uint64_t m_waiting{0}; //!< bytes
    List m_acks;
    List m_data;
    List m_underWay; //!< on the link, by arrival
    std::vector<Offered> m_offered; //!< a ring
    std::size_t m_firstOffered{0};
    std::size_t m_offeredCount{0};
    bool m_ownTurn{false}; //!< the host's own data goes before data in the queue
    bool m_isPending{false};
    uint32_t m_lastBytes{0}; //!< serialisation is computed once for packets of one size
    int64_t m_lastSerialization{0};
    Counters m_counters;
};

} // namespace ns3

#endif /* PACKET_PORT_H */
