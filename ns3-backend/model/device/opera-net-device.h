// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_NET_DEVICE_H
#define OPERA_NET_DEVICE_H

#include "opera-frame.h"

#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/traced-callback.h"
#include "ns3/traced-value.h"

#include <cstdint>
#include <deque>

namespace ns3
{

class OperaChannel;
class OperaFabric;
class OperaSwitch;

/**
 * A device of an Opera network: the network card of a host, or a port of a top-of-rack switch.
 *
 * It sends low-latency frames first, in the order they came. A host's card then sends the bulk frames that
 * were granted a circuit, in their transmission slots (OperaTransmissionSlots); a port of a switch those that
 * wait, in order. `Queue` bytes of low-latency frames may wait; what finds no room is dropped, and what finds
 * more than `MarkThreshold` bytes is ECN-marked if its sender can be told so. Bulk frames wait without limit.
 *
 * To the Internet stack a host's card is a broadcast medium without address resolution: all hosts of a fabric
 * are neighbours, so that one subnet of any size is enough. A datagram goes to the host that has its
 * destination address (or, sent to a MAC address, to the host with that card). IPv4 alone; what is sent to
 * all hosts, or to none of the fabric, is dropped.
 */
class OperaNetDevice : public NetDevice
{
  public:
    static TypeId GetTypeId();

    OperaNetDevice();
    ~OperaNetDevice() override;

    /// Of a host, or, with a switch, one of its ports.
    void Configure(Ptr<OperaFabric> fabric, uint32_t host, Ptr<OperaSwitch> of);
    void Attach(Ptr<OperaChannel> channel);

    DataRate GetDataRate() const
    {
        return m_rate;
    }

    /// A frame is to leave by this port of a switch.
    void Forward(Ptr<OperaFrame> frame);
    /// The channel delivers.
    void Receive(Ptr<OperaFrame> frame);
    /// A frame that this device sent, or that came by it, is lost.
    void NoteLost(Ptr<OperaFrame> frame);
    /// What may be sent has changed.
    void Wake();

    /// The frame as it is on the link, with its header.
    Ptr<Packet> GetFramed(const OperaFrame& frame) const;

    struct Counters
    {
        uint64_t sentBytes{0};  //!< frames, from their first bit
        uint64_t dataFrames{0}; //!< of these, such with payload
        uint64_t drops{0};
        uint64_t marks{0};
        uint64_t peakBytes{0}; //!< of waiting low-latency frames
    };

    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /// Bytes of low-latency frames that wait.
    uint64_t GetWaitingBytes() const
    {
        return m_lowLatencyBytes.Get();
    }

    // NetDevice
    void SetIfIndex(uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address address) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& destination, uint16_t protocol) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& destination,
                  uint16_t protocol) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    bool EnqueueLowLatency(Ptr<OperaFrame> frame);
    static bool MarkIfCapable(OperaFrame& frame);
    Ptr<OperaFrame> TakeNext();
    void StartNext();
    void EndTransmission(Ptr<OperaFrame> frame);
    void DeliverUp(const OperaFrame& frame);

    Ptr<Node> m_node;
    uint32_t m_ifIndex{0};
    Mac48Address m_address;
    uint32_t m_mtu{1500 - OperaFrame::OVERHEAD};
    DataRate m_rate;
    uint64_t m_queueLimit;
    uint64_t m_markThreshold;
    Ptr<OperaFabric> m_fabric;
    uint32_t m_host{0};
    Ptr<OperaSwitch> m_switch; //!< null: of a host
    Ptr<OperaChannel> m_channel;
    std::size_t m_atChannel{0};
    std::deque<Ptr<OperaFrame>> m_lowLatency;
    TracedValue<uint64_t> m_lowLatencyBytes{0};
    std::deque<Ptr<OperaFrame>> m_bulk; //!< of a switch
    bool m_isBusy{false};
    EventId m_slot; //!< the start of the next transmission slot that is used
    Counters m_counters;
    ReceiveCallback m_receive;
    PromiscReceiveCallback m_promiscReceive;
    TracedCallback<> m_linkChange;

    TracedCallback<Ptr<const Packet>> m_macTx;
    TracedCallback<Ptr<const Packet>> m_macTxDrop;
    TracedCallback<Ptr<const Packet>> m_macRx;
    TracedCallback<Ptr<const Packet>> m_macPromiscRx;
    TracedCallback<Ptr<const Packet>> m_enqueue;
    TracedCallback<Ptr<const Packet>> m_dequeue;
    TracedCallback<Ptr<const Packet>> m_drop;
    TracedCallback<Ptr<const Packet>> m_mark;
    TracedCallback<Ptr<const Packet>> m_phyTxBegin;
    TracedCallback<Ptr<const Packet>> m_phyTxEnd;
    TracedCallback<Ptr<const Packet>> m_phyTxDrop;
    TracedCallback<Ptr<const Packet>> m_phyRxEnd;
    TracedCallback<Ptr<const Packet>> m_sniffer;
    TracedCallback<Ptr<const Packet>> m_promiscSniffer;
};

} // namespace ns3

#endif /* OPERA_NET_DEVICE_H */
