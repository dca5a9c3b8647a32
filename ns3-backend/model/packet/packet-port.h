// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_PORT_H
#define PACKET_PORT_H

#include "packet-context.h"
#include "packet-flow-control.h"
#include "packet-host-scheduler.h"
#include "packet-port-scheduler.h"
#include "packet-queue.h"
#include "packet-shared-buffer.h"
#include "packets-in-flight.h"

#include "ns3/event-impl.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace ns3
{

class PacketNode;

/**
 * An output port: a queue, and the link behind it.
 *
 * The lanes of PacketQueue are served in the order that PacketPortScheduler gives, control first. Data that
 * waits in the port (packets that cross this node) and data of the same priority that the host itself has to
 * send alternate; queue pairs of the host are served round-robin.
 *
 * One event per packet and hop. A packet of n bytes that starts at s leaves the port at s + 8n/rate, rounded
 * up to a picosecond, and has arrived at the other end `latency` later; only that arrival is an event, and
 * only that of the first packet in flight is ever pending. When the next transmission starts follows from
 * what was in the queue at that moment, so a port finds out late but exactly: `Advance(now)` makes up for all
 * starts until now, and everything that changes or reads the queue calls it first.
 *
 * Cut-through. Where the node at the other end cuts through, the arrival is that of the packet's header, and
 * a packet whose last bit has not come in yet keeps the next port busy until it has. Headers may arrive
 * before the link is free again; then the port wakes itself for the next start, a second event for that
 * packet. It does so too while its node holds others up (see PacketFlowControl), and for data offered for
 * later.
 *
 * Layout. With more ports than a cache holds, an event costs what it reads of memory. What every event of a
 * port touches is in the first lines of the object: one for the event itself, one for the packets on the
 * link, one for a packet that crosses the port and one more for a packet that waits in it. The rest comes
 * behind. PacketEventScheduler has what an event reads fetched before it comes.
 *
 * Control goes before all data; with trimming, while data waits, `HEADERS_PER_DATA` bytes of control are
 * followed by a packet of data.
 */
class alignas(64) PacketPort final : public EventImpl
{
  public:
    using Counters = PacketQueue::Counters;

    PacketPort(
        PacketContext& context, PacketNode& from, PacketNode& to, uint64_t bitsPerSecond, int64_t latency);
    ~PacketPort() override;
    PacketPort(const PacketPort&) = delete;
    PacketPort& operator=(const PacketPort&) = delete;

    /// Limits, marks and trimming are the queue's.
    PacketQueue& GetQueue()
    {
        return m_queue;
    }

    const PacketQueue& GetQueue() const
    {
        return m_queue;
    }

    /// Draws on `memory` beside its own limit.
    void SetSharedBuffer(PacketSharedBuffer* memory);
    void SetSource(PacketSource* source);
    /// The node at the other end may send a packet on when its first `header` bytes have arrived; 0: all.
    void SetCutThrough(uint32_t header);
    /// Serves priorities by weight instead of strictly; `largest` packet in bytes.
    void SetWeights(const std::array<uint32_t, PACKET_PRIORITIES>& weights, uint32_t largest);
    /// The node at the other end has so much room for what comes over this link; `reverse` is the way back.
    void SetFlowControl(const PacketFlowControl::Parameters& parameters, PacketPort& reverse);

    /// The packet, whose `arrival` at this node is now, goes into the queue, or is dropped.
    void Enqueue(uint32_t packet);
    /// The source has data of `priority` to send from `from` on, now or later; it is asked with the same
    /// `offer` when it is scheduled.
    void Offer(uint64_t offer, uint8_t priority, int64_t from);
    /// Starts the transmissions that are due until `now`.
    void Advance(int64_t now);
    /// Schedules its next event, after something that lets it act sooner.
    void Wake(int64_t now);
    /// The other end has paused a priority, or resumed it.
    void NotePause(uint8_t priority, bool pause, int64_t now);
    /// A frame of the link itself goes before everything that waits. \returns when it has arrived.
    int64_t SendControlFrame(uint32_t bytes, int64_t now);
    /// A link that goes down loses what is in flight and what waits in the port, and while it is down what
    /// comes; data that the host itself has to send waits. Pauses and credits are not lost: they are state of
    /// the cable, which its ends agree on again whenever it comes up, and here take effect without it.
    void SetUp(bool isUp);
    /// From the next packet on, and for what the port notes from now on.
    void SetBitsPerSecond(uint64_t bitsPerSecond);
    /// Takes back all that the source has offered and the port has not served, in the order in which it would
    /// have been: the source offers it anew.
    std::vector<uint64_t> WithdrawOffers();

    /// The fabric is no more; what refers to the port still may be.
    void Detach();

    // Where a fabric is simulated by several threads (PacketRegions).

    /// \param isCut what the link carries is handed over before it arrives
    void SetRegion(uint8_t region, bool isCut);

    /// Calls `visit` with each packet that started by `now` and arrives before `until`, in that order, and
    /// when it does. They are not looked at here again.
    ///
    /// \returns whether something is in flight
    template <class Visit>
    bool HandOver(int64_t now, int64_t until, Visit visit)
    {
        Advance(now);
        m_inFlight.ForEachBefore(until, visit);
        m_isListed = !m_inFlight.IsEmpty();
        return m_isListed;
    }

    /// The port's event.
    void Act(int64_t now);

    // The port's own event is among the next few. Each asks for what the one after it, and the event, read.

    /// The packet that arrives, and the first that waits.
    void FetchPackets() const;
    /// What the host has on offer.
    void FetchOffers() const;
    /// What the packet is handed to, and the first offer is of.
    void FetchUsers() const;
    /// And what these lead to.
    void FetchMore() const;

    /// A packet comes to this port soon: asks for what that touches, and then for the packets that it
    /// has to do with.
    void FetchLines() const
    {
        const char* line = reinterpret_cast<const char*>(this);
        for (uint32_t i = 0; i < HOT_LINES; ++i)
        {
            __builtin_prefetch(line + i * LINE, 1);
        }
    }

    void FetchWaiting(const PacketDescriptor& packet) const
    {
        m_queue.FetchFirst();
        m_queue.FetchLast(PacketQueue::LaneOf(packet));
    }

    /// Routes have changed: those noted on packets that have not arrived yet are not valid.
    void ForgetRoutes();

    uint32_t GetNumber() const
    {
        return m_queue.GetNumber();
    }

    PacketNode& GetFrom() const
    {
        return m_from;
    }

    PacketNode& GetTo() const
    {
        return m_to;
    }

    uint64_t GetBitsPerSecond() const
    {
        return m_bitsPerSecond;
    }

    int64_t GetLatency() const
    {
        return m_latency;
    }

    uint64_t GetWaitingBytes() const
    {
        return m_queue.GetWaitingBytes();
    }

    Counters GetCounters() const
    {
        return m_queue.GetCounters();
    }

    /// Null: none.
    PacketFlowControl* GetFlowControl() const
    {
        return m_flowControl.get();
    }

    /// The priorities in which something waits, as far as is known, bit by bit.
    uint32_t GetWaitingPriorities() const;

  protected:
    /// The first packet in flight arrives, or the port may act.
    void Notify() override;

  private:
    static constexpr uint8_t CONTROL = PacketQueue::CONTROL;
    static constexpr uint32_t HEADERS_PER_DATA = 640; //!< bytes
    static constexpr int64_t NEVER = PacketSource::NEVER;
    static constexpr uint64_t BIT_PICOSECONDS = 8'000'000'000'000; //!< in a byte, at 1 bit/s
    static constexpr uint32_t LINE = 64;                           //!< bytes of a cache line
    static constexpr uint32_t HOT_LINES = 4;

    PacketContext& GetContext() const
    {
        return m_queue.GetContext();
    }

    /// Null: none. Without reading more of the port where no link has any.
    PacketFlowControl* GetControl() const
    {
        return GetContext().hasFlowControl ? m_flowControl.get() : nullptr;
    }

    /// Whether it wakes for every start.
    bool IsWatched() const;
    void Refuse(uint32_t packet, int64_t now);
    void Lose(uint32_t packet, int64_t now);
    void Flush(int64_t now);
    void Return(uint32_t packet, int64_t now);
    uint32_t GetLanes() const;
    uint32_t GetCreditNeed(uint8_t lane) const;
    uint32_t GetOpenLanes(int64_t start) const;
    bool IsShortOfCredits(int64_t when) const; //!< of any priority, as far as is known
    void FindCredits(int64_t start, int64_t now);
    int64_t GetLaterStart(int64_t start) const;
    uint32_t Next(int64_t& start, int64_t now);
    uint32_t NextOfSource(uint8_t lane, int64_t& start);
    uint8_t PickLane(uint32_t lanes);
    void Transmit(uint32_t packet, int64_t start, int64_t now);
    void Note(PacketDescriptor& packet, int64_t start);
    void Delay(uint32_t packet, int64_t by, int64_t now);
    void FindPerByte();
    int64_t Serialization(uint32_t bytes);
    int64_t ComputeSerialization(uint32_t bytes) const;
    int64_t GetNextTime() const;

    // The event: a line, with EventImpl and the head of m_inFlight, whose own entries are the second.
    bool m_isUp : 1;
    bool m_isAdvancing : 1;
    bool m_ownIsNext : 1; //!< the host's own data goes before data in the queue
    bool m_isHosts : 1;   //!< there is a host scheduler
    bool m_isWeighted : 1;
    bool m_cutsThrough : 1;
    bool m_hasLater : 1;   //!< there is m_pendingLater
    bool m_isDetached : 1; //!< the context is no more
    bool m_isCut : 1;      //!< the link leads to another region, or to a host
    bool m_isListed : 1;   //!< by the regions, as it has something in flight there
    uint8_t m_region{0};
    int64_t m_pendingAt{NEVER};
    int64_t m_freeAt{0}; //!< the end of the last transmission
    PacketNode& m_to;
    PacketsInFlight m_inFlight;
    // The link and the queue: the third and the fourth.
    int64_t m_latency;
    int64_t m_perByte{0}; //!< what a byte takes, where that is a whole number of picoseconds, else 0
    PacketQueue m_queue;
    // The rest.
    PacketNode& m_from;
    int64_t m_pendingLater{NEVER}; //!< another event, that the first has overtaken
    int64_t m_lastSerialization{0};
    uint32_t m_lastBytes{0}; //!< serialisation is computed once for packets of one size
    uint32_t m_header{0};    //!< of a packet that is cut through, 0: none is
    int64_t m_headerSerialization{0};
    std::unique_ptr<PacketHostScheduler> m_hostScheduler; //!< of a host
    std::unique_ptr<PacketFlowControl> m_flowControl;     //!< of the link
    PacketPortScheduler m_scheduler;
    PacketSource* m_source{nullptr};
    uint64_t m_bitsPerSecond;
    uint32_t m_headerBytes{0}; //!< bytes of control since the last packet of data, with trimming
};

} // namespace ns3

#endif /* PACKET_PORT_H */
