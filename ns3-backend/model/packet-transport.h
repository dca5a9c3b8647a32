// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_TRANSPORT_H
#define PACKET_TRANSPORT_H

#include "packet-fabric.h"

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace ns3
{

enum class PacketCongestionControl : uint8_t
{
    NONE, //!< the window never changes
    DCTCP //!< Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3; RFC 8257
};

/// What the transport is set to.
struct PacketTransportParameters
{
    uint32_t mtu{4096};          //!< payload of a full packet, bytes
    uint32_t header{82};         //!< of a data packet on the wire, bytes
    uint32_t ackSize{84};        //!< of an acknowledgement on the wire, bytes
    uint64_t window{500'000};    //!< most payload of a queue pair that is not acknowledged, at least a packet
    uint32_t ackEvery{16};       //!< packets per acknowledgement; fewer where the window is full before
    int64_t timeout{1'000'000'000}; //!< without an acknowledgement before everything is sent again, ps
    PacketCongestionControl congestionControl{PacketCongestionControl::NONE};
    uint32_t initialWindow{16};  //!< of DCTCP, packets
    double gain{1.0 / 16};       //!< of DCTCP's estimate of marks
    bool isLossy{false};         //!< packets may be dropped
    bool isReordered{false};     //!< packets of a queue pair may overtake one another
};

/// A message that has arrived, or is on its way.
struct PacketMessage
{
    uint32_t source;
    uint32_t destination;
    uint64_t bytes;
    void* owner; //!< whatever the sender attached
    uint64_t token;
    uint8_t priority; //!< 0 to 7, the greater the more urgent
};

/// Who sends messages.
class PacketTransportClient
{
  public:
    virtual ~PacketTransportClient() = default;
    /// The last byte has arrived. Sending from inside is allowed.
    virtual void Delivered(const PacketMessage& message) = 0;
};

/**
 * Messages on queue pairs, in the manner of RDMA over Converged Ethernet (InfiniBand Architecture
 * Specification, volume 1, section 9.7: reliable connection).
 *
 * Between a source and a destination there is one queue pair for each priority while messages are outstanding. Messages are cut
 * in packets of `mtu` bytes of payload, numbered through; an empty message is one packet without payload. At
 * most `window` bytes, and always one packet, are unacknowledged. A sender asks for an acknowledgement with
 * every `ackEvery`-th packet (in a small window twice a window), the last of a message, and one that fills the
 * window; messages of a queue
 * pair are delivered in order, each when its last byte has arrived.
 *
 * Congestion. With DCTCP the window is w <= `window`: it grows by a packet for each that is acknowledged until
 * the first mark or loss (slow start), then by one for each w. Once for each window of data, with F the share
 * of marked packets in it, α <- (1 - gain)·α + gain·F, and w <- w·(1 - α/2) if there was a mark. A missing
 * packet halves w, a timeout makes it 1. α starts at 1. A queue pair that was idle starts anew.
 *
 * Loss. Go-back-N: a receiver that misses a packet asks for it once and discards what follows; a sender
 * starts again from there, or from the first unacknowledged packet when nothing is acknowledged for `timeout`
 * (doubled each time, to 64 times). Where packets may overtake one another, the receiver keeps what comes
 * early, and only the timeout makes a sender start again.
 *
 * State of a queue pair that has nothing outstanding is given up. Packets that are still on their way then
 * belong to an earlier incarnation and are ignored.
 */
class PacketTransport final : public PacketSink, public PacketSource
{
  public:
    struct Counters
    {
        uint64_t packets{0}; //!< data packets sent, retransmissions included
        uint64_t retransmissions{0};
        uint64_t timeouts{0};
        uint64_t messages{0}; //!< delivered
        uint64_t bytes{0};    //!< payload delivered
    };

    struct Outstanding
    {
        PacketMessage message;
        uint64_t order; //!< of sending
        uint64_t remaining; //!< bytes that have not arrived
    };

    /// All of them outlive the transport; the fabric is installed with it.
    PacketTransport(const PacketTransportParameters& parameters,
                    PacketFabric& fabric,
                    PacketRouter& router,
                    PacketTransportClient& client);

    void Send(const PacketMessage& message);

    void Take(uint32_t packet) override;
    int64_t TakePacket(uint64_t offer, int64_t when, uint32_t& packet) override;

    uint64_t GetOutstandingCount() const;
    std::vector<Outstanding> GetOutstanding() const; //!< by order of sending
    const Counters& GetCounters() const;
    uint64_t GetQueuePairCount() const; //!< that have something outstanding

  private:
    struct Message
    {
        PacketMessage message;
        uint64_t order;
        uint64_t first; //!< its first packet
        uint64_t packets;
        uint32_t next; //!< of the queue pair
    };

    struct QueuePair
    {
        uint32_t source{0};
        uint32_t destination{0};
        uint32_t incarnation{0};
        uint8_t priority{0};
        uint32_t oldest{PACKET_NONE};    //!< message not wholly acknowledged
        uint32_t newest{PACKET_NONE};
        uint32_t sending{PACKET_NONE};   //!< message that holds packet `next`, or an earlier one
        uint32_t receiving{PACKET_NONE}; //!< first message not delivered
        uint64_t end{0};                 //!< packets that messages have been cut in
        uint64_t next{0};                //!< packet to send
        uint64_t sent{0};                //!< packets sent at least once
        uint64_t acknowledged{0};        //!< packets
        uint64_t expected{0};            //!< packets arrived in order
        uint64_t asked{0};               //!< packets sent when an acknowledgement was last asked for
        uint32_t echo{0};                //!< marked arrivals since the last acknowledgement
        double window{0};                //!< w of DCTCP, packets
        double threshold{0};             //!< of its slow start
        double alpha{1};
        uint64_t roundEnd{0};            //!< the packet that ends the window of data being observed
        uint64_t roundAcknowledged{0};
        uint64_t roundMarked{0};
        bool isOffered{false};           //!< to a port
        bool hasAsked{false};            //!< for the missing packet
        bool hasTimer{false};
        int64_t deadline{0};
        int64_t timeout{0};
        std::vector<bool> early;         //!< packets that overtook `expected`, by number modulo its size
    };

    uint32_t Find(uint32_t source, uint32_t destination, uint8_t priority);
    void Release(uint32_t index);
    Message& AddMessage(uint32_t& number);
    void RemoveMessage(uint32_t number);

    bool CanSend(const QueuePair& pair) const;
    void Open(QueuePair& pair, uint64_t acknowledged, uint64_t marked) const;
    void Close(QueuePair& pair, double window) const;
    void Offer(uint32_t index);
    uint32_t PayloadOf(const Message& message, uint64_t packet) const;

    void TakeData(uint32_t packet);
    bool Accept(QueuePair& pair, const PacketDescriptor& packet);
    void Deliver(uint32_t index);
    void Reply(QueuePair& pair, uint32_t index, PacketDescriptor::Kind kind);
    void TakeAcknowledgement(uint32_t packet);

    void GoBack(QueuePair& pair);
    void StartTimer(uint32_t index, int64_t now);
    void CheckTimer(uint32_t index, uint32_t incarnation);

    PacketTransportParameters m_parameters;
    PacketFabric& m_fabric;
    PacketContext& m_context;
    PacketRouter& m_router;
    PacketTransportClient& m_client;
    uint64_t m_windowPackets;
    std::vector<QueuePair> m_pairs;
    std::vector<uint32_t> m_freePairs;
    std::unordered_map<uint64_t, uint32_t> m_pairOf; //!< (source and priority, destination) with something outstanding
    std::vector<Message> m_messages;
    uint32_t m_freeMessage{PACKET_NONE};
    uint64_t m_outstanding{0};
    uint64_t m_nextOrder{0};
    Counters m_counters;
};

} // namespace ns3

#endif /* PACKET_TRANSPORT_H */
