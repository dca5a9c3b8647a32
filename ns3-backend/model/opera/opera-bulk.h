// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_BULK_H
#define OPERA_BULK_H

#include "ns3/packet-fabric.h"
#include "ns3/packet-queue-pair.h"
#include "ns3/packet-queue.h"
#include "ns3/packet-transport-core.h"
#include "opera-bulk-slots.h"

#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3
{

/**
 * The bulk service of an Opera network, packet by packet.
 *
 * A message is ⌈bytes / payload⌉ packets, one if it is empty, all of payload + header bytes on the wire. They
 * wait at their host. Whenever a circuit comes up, the policy grants some of them, which leave in the host's
 * transmission slots (OperaTransmissionSlots) while the circuit lasts; what was not sent by then waits again.
 * A packet granted to a host that is not its destination waits there, relayed, for a circuit that leads on.
 * What comes to a circuit that no longer leads where it is heading goes back to the front of its last
 * sender's queue, at once and at no cost.
 *
 * Where circuits fail (OperaSchedule::Fail), hosts are notified when the next superslice starts: what was
 * granted through them and has not left waits again then.
 *
 * Messages between two hosts are delivered in the order in which they were sent, each when all its packets
 * have arrived, which may be in any order.
 *
 * A packet exists from when it leaves its host. Memory: 64 B a message and 20 B a pair of hosts with
 * messages, 4 B for every possible destination of a host that sent one, 64 B for each packet in flight or
 * relayed, and 8 B for every destination of a host that relays. While nothing waits no event is pending; when
 * nothing could be granted in a whole cycle, nothing is in flight and nothing new came, nothing ever will be,
 * and the clock stops.
 */
class OperaBulk final : public OperaBulkSlots
{
  public:
    struct Parameters
    {
        uint64_t payload{1436}; //!< of a packet, bytes
        uint32_t header{64};    //!< of a packet, bytes
    };

    struct Counters
    {
        uint64_t packets{0};  //!< that hosts have sent, relayed ones each time
        uint64_t relayed{0};  //!< of those, the ones sent by relays
        uint64_t returned{0}; //!< to their senders, by circuits that did not lead where they were heading
        uint64_t messages{0}; //!< delivered
        uint64_t bytes{0};    //!< payload delivered
        uint64_t slots{0};    //!< starts of superslices with something to grant
    };

    struct Outstanding
    {
        PacketMessage message;
        uint64_t order;     //!< of sending
        uint64_t remaining; //!< bytes that have not arrived
    };

    struct Traces
    {
        TracedCallback<const PacketMessage&, Time> delivered; //!< and the time since it was sent
        TracedCallback<uint32_t, const OperaGrant&> granted;  //!< through a rotor
        TracedCallback<uint32_t, const PacketDescriptor&, int64_t> returned; //!< to a host, when in ps
        TracedCallback<uint32_t, uint32_t, int64_t> received; //!< by a host: bytes of a message, when in ps
    };

    /// Everything outlives the last packet; `schedule` and `fabric` are complete.
    OperaBulk(const OperaLayout& layout,
              const OperaSchedule& schedule,
              PacketFabric& fabric,
              OperaBulkPolicy& policy,
              const Parameters& parameters,
              PacketTransportClient* client);

    /// Time on a link, ps, rounded up.
    static int64_t Serialize(uint64_t bytes, uint64_t bitsPerSecond);
    /// Packets that a host can send while a circuit is up.
    static uint32_t GetSlotPackets(const OperaLayout& layout,
                                   const OperaSchedule& schedule,
                                   uint64_t bitsPerSecond,
                                   uint32_t packetBytes);

    void Send(const PacketMessage& message);

    /// Offers to the ports of hosts differ from others in their highest bit.
    static bool IsOffer(uint64_t offer)
    {
        return offer >> 63 != 0;
    }

    /// As PacketSource.
    int64_t TakePacket(uint64_t offer, int64_t when, uint32_t& packet);
    /// Bytes of its message in a packet that waits or is in flight.
    uint32_t GetPayload(const PacketDescriptor& packet) const;
    /// A packet is at its destination.
    void Take(uint32_t packet);
    /// A packet is where it is to be relayed.
    void Relay(uint32_t packet);
    /// A circuit does not lead where the packet is heading.
    void TakeBack(uint32_t packet);

    const Counters& GetCounters() const
    {
        return m_counters;
    }

    std::vector<Outstanding> GetOutstanding() const; //!< by order of sending

    Traces traces;

  private:
    struct alignas(64) Message
    {
        uint64_t bytes;
        void* owner;
        uint64_t token;
        uint64_t order;    //!< of sending
        int64_t sent;      //!< ps
        uint64_t toSend;   //!< packets
        uint64_t toArrive; //!< packets
        uint32_t pair;
        uint32_t next; //!< of the pair
    };

    struct Pair
    {
        uint32_t source;
        uint32_t destination;
        uint32_t oldest{PACKET_NONE}; //!< not delivered
        uint32_t newest{PACKET_NONE};
        uint32_t sending{PACKET_NONE}; //!< none before it has packets to send
    };

    struct Host
    {
        Host(uint32_t parts, int64_t packetTime, int64_t circuitTime)
            : slots(parts, packetTime, circuitTime)
        {
        }

        OperaTransmissionSlots slots;
        PacketPort* port{nullptr};
        int64_t offered{OperaTransmissionSlots::NEVER}; //!< to the port, from when on
        uint32_t generation{0};                         //!< of the offer; earlier ones count no more
        std::vector<uint32_t> pairs;     //!< by destination, from 1; 0: none. Empty until it sends
        std::vector<PacketList> relayed; //!< by destination. Empty until it relays
    };

    OperaBulkPolicy& GetBulkPolicy() const override;
    uint32_t GetSlotHosts() const override;
    OperaTransmissionSlots& GetSlots(uint32_t host) override;
    void PrepareSlots(uint32_t host) override;
    void UseSlots(uint32_t host) override;
    void NoteGrant(uint32_t rotor, const OperaGrant& grant) override;
    void NoteSlots() override;

    uint64_t PacketsOf(uint64_t bytes) const;
    uint64_t BytesOfLast(uint64_t bytes) const; //!< packet of a message of `bytes`
    uint32_t FindPair(uint32_t source, uint32_t destination);
    void Offer(uint32_t host);
    uint32_t Make(uint32_t host, const OperaTransmissionSlots::Departure& departure, int64_t when);
    uint32_t TakeOwn(uint32_t host, uint32_t destination);
    void Deliver(uint32_t pair);

    PacketContext& m_context;
    OperaBulkPolicy& m_policy;
    Parameters m_parameters;
    PacketTransportClient* m_client;
    std::deque<Host> m_hosts;
    std::vector<Pair> m_pairs;
    PacketPool<Message> m_messages;
    uint64_t m_order{0};
    Counters m_counters;
};

} // namespace ns3

#endif /* OPERA_BULK_H */
