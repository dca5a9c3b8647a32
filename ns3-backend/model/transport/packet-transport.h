// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_TRANSPORT_H
#define PACKET_TRANSPORT_H

#include "ns3/packet-fabric.h"
#include "packet-queue-pair.h"
#include "packet-transport-core.h"
#include "packet-transport-parameters.h"

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ns3
{

class PacketReceiver;
class PacketSender;

/**
 * Messages on queue pairs, in the manner of RDMA over Converged Ethernet (InfiniBand Architecture
 * Specification, volume 1, section 9.7: reliable connection), for all hosts of a fabric.
 *
 * Between a source and a destination there is one queue pair for each priority while messages are
 * outstanding. Messages are cut in packets of `mtu` bytes of payload, numbered through; an empty message is
 * one packet without payload. At most `window` bytes, and always one packet, are unacknowledged. Messages of
 * a queue pair are delivered in order, each when its last byte has arrived, and exactly once whatever is
 * lost; packet-sender.h and packet-receiver.h say how.
 *
 * With `connections` per message every message has a queue pair of its own, so messages of one pair of hosts
 * may overtake one another. With `handshake` a queue pair starts with a packet of `header` bytes alone, as
 * TCP does with SYN, and data follow when it is acknowledged. With `hostQueue` FIFO packets are made as soon
 * as the window allows and wait in the host's port in one queue, where their timeouts run: what an operating
 * system does whose sockets do not see the link's queue. It goes with windows only, not with rates or pulls.
 *
 * State of a queue pair that has nothing outstanding is given up. Packets that are still on their way then
 * belong to an earlier incarnation and are ignored. Memory: 128 B a queue pair and 64 B a message while they
 * are outstanding, beside 16 to 32 B a pair in a hash table and what the congestion control keeps (48 to 100
 * B); sets of early and lost packets, an eighth of a byte for each packet of the window, exist only for pairs
 * that have such. Send and each packet are O(1) on average.
 *
 * Set the attributes, or the parameters, then Bind, which reads them once. The clock must count
 * picoseconds (Time::SetResolution(Time::PS)).
 */
class PacketTransport : public Object,
                        public PacketTaker,
                        public PacketSource,
                        public PacketTransportParameters,
                        public PacketTransportTraces
{
  public:
    using Counters = PacketTransportCounters;

    struct Outstanding
    {
        PacketMessage message;
        uint64_t order;     //!< of sending
        uint64_t remaining; //!< bytes that have not arrived
    };

    // The arguments of trace sources: hosts are source and destination of the messages concerned.
    typedef void (*MessageTracedCallback)(const PacketMessage& message);
    typedef void (*DeliveredTracedCallback)(const PacketMessage& message, Time completion);
    typedef void (*ReceivedTracedCallback)(uint32_t host, uint32_t payload, int64_t when);
    typedef void (*PairTracedCallback)(uint32_t source, uint32_t destination);
    typedef void (*PacketTracedCallback)(uint32_t source, uint32_t destination, uint64_t sequence);
    typedef void (*CountTracedCallback)(uint32_t source, uint32_t destination, uint32_t count);
    typedef void (*RateTracedCallback)(uint32_t source, uint32_t destination, DataRate rate);

    static TypeId GetTypeId();

    PacketTransport();
    ~PacketTransport() override;

    void SetParameters(const PacketTransportParameters& parameters);
    /// Starts on a fabric, once; the fabric and the router outlive the transport's last packet. The fabric is
    /// installed with the transport as its sink and source. `client`, if any, is notified of every message
    /// delivered.
    void Bind(PacketFabric& fabric, PacketRouter& router, PacketTransportClient* client = nullptr);

    /// From one host to another.
    void Send(const PacketMessage& message);
    /// The router names other ports from now on. What hosts with several ports have not sent yet leaves by
    /// those.
    void NoteRoutes();
    /// From now on packets may be lost (hasTimers), those in flight among them. Does nothing the second time.
    void ExpectLosses();

    void Take(uint32_t packet) override;
    void Fetch(const PacketDescriptor& packet) const override;
    void FetchMore(const PacketDescriptor& packet) const override;
    int64_t TakePacket(uint64_t offer, int64_t when, uint32_t& packet) override;
    void Fetch(uint64_t offer) const override;
    void FetchMore(uint64_t offer) const override;

    uint64_t GetOutstandingCount() const;
    std::vector<Outstanding> GetOutstanding() const; //!< by order of sending
    /// Source and destination of the queue pairs that have given up and received nothing since.
    std::vector<std::pair<uint32_t, uint32_t>> GetGivenUp() const;
    const Counters& GetCounters() const;
    uint64_t GetQueuePairCount() const; //!< that have something outstanding

  protected:
    void DoDispose() override;

  private:
    static void AddAttributes(TypeId& tid);
    static void AddTraceSources(TypeId& tid);

    std::unique_ptr<PacketTransportCore> m_core;
    std::unique_ptr<PacketSender> m_sender;
    std::unique_ptr<PacketReceiver> m_receiver;
};

} // namespace ns3

#endif /* PACKET_TRANSPORT_H */
