// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_NETWORK_H
#define OPERA_NETWORK_H

#include "ns3/packet-fabric.h"
#include "ns3/packet-transport.h"
#include "opera-bulk.h"
#include "opera-layout.h"
#include "opera-policy.h"
#include "opera-router.h"
#include "opera-schedule.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * Hosts, top-of-rack switches and rotor switches, with the two services of Opera (Mellette et al., "Expanding
 * across time to deliver bandwidth efficiency and low latency", NSDI 2020, section 4).
 *
 * Messages below `Cutoff`, or those sent as such, are low-latency: NDP (PacketTransport with its
 * receivers' pulls paced for each pair of hosts) over the shortest paths of the expander of the moment
 * (OperaRouter). A header that finds no room goes back to its sender, which sends the packet again. What
 * finds none twice, or is lost on a dark circuit, is sent again after `Timeout`. All others are bulk
 * (OperaBulk).
 *
 * Switches store and forward, with a queue before each link. It holds `Queue` full packets of low-latency
 * data, beyond which payload is cut off, and as many bytes of headers; after 640 bytes of headers a packet of
 * data follows. Bulk packets wait without limit, while nothing else does. Hosts send headers first, then
 * low-latency data, then bulk.
 *
 * Set attributes, Build, connect to trace sources, Send. The clock must count picoseconds
 * (Time::SetResolution(Time::PS)).
 */
class OperaNetwork : public Object, private PacketTaker, private PacketSource
{
  public:
    typedef void (*DeliveredTracedCallback)(const PacketMessage& message, Time completion);
    typedef void (*GrantTracedCallback)(uint32_t rotor, const OperaGrant& grant);

    static TypeId GetTypeId();

    OperaNetwork();
    ~OperaNetwork() override;

    /// Once. \param policy which bulk packets use a circuit; not null
    /// \param paths null: all messages are bulk, whatever `Cutoff` \param client if any, is notified of every
    /// message delivered; all outlive the network's last packet
    void Build(const OperaSchedule& schedule,
               uint32_t hostsPerRack,
               OperaBulkPolicy* policy,
               OperaPathSource* paths = nullptr,
               PacketTransportClient* client = nullptr);

    /// From one host to another, by the service that its size asks for. Priorities mean nothing.
    void Send(const PacketMessage& message);
    /// By the given service; low latency needs paths.
    void Send(const PacketMessage& message, bool isLowLatency);
    /// Whether a message of so many bytes would be, by its size.
    bool IsLowLatency(uint64_t bytes) const
    {
        return m_hasPaths && bytes < m_cutoff;
    }

    /// Packets that a host may send through one circuit while it is there.
    uint32_t GetSlotPackets(const OperaSchedule& schedule, uint32_t hostsPerRack) const;

    const OperaLayout& GetLayout() const
    {
        return m_layout;
    }

    const OperaSchedule& GetSchedule() const
    {
        return m_schedule;
    }

    const OperaRouter& GetRouter() const
    {
        return *m_router;
    }

    const OperaBulk& GetBulk() const
    {
        return *m_bulk;
    }

    Ptr<PacketFabric> GetFabric() const
    {
        return m_fabric;
    }

    /// Of low-latency messages.
    Ptr<PacketTransport> GetTransport() const
    {
        return m_transport;
    }

  protected:
    void DoDispose() override;

  private:
    uint64_t GetHostRate() const;
    OperaLayout LayOut(const OperaSchedule& schedule, uint32_t hostsPerRack) const;
    void BuildPorts();
    void BuildTransport(PacketTransportClient* client);

    void Take(uint32_t packet) override;
    int64_t TakePacket(uint64_t offer, int64_t when, uint32_t& packet) override;

    static constexpr uint8_t BULK_PRIORITY = 0;
    static constexpr uint8_t LOW_LATENCY_PRIORITY = 1;

    DataRate m_rate;
    DataRate m_hostRate;
    Time m_hostLatency;
    Time m_propagation;
    uint32_t m_payload;
    uint32_t m_header;
    uint32_t m_queue;
    uint64_t m_cutoff;
    uint32_t m_window;
    Time m_timeout;
    uint32_t m_maxBackoff;
    uint32_t m_retryLimit;

    OperaLayout m_layout;
    OperaSchedule m_schedule;
    bool m_hasPaths{false};
    Ptr<PacketFabric> m_fabric;
    Ptr<PacketTransport> m_transport;
    std::unique_ptr<OperaBulk> m_bulk;
    std::unique_ptr<OperaRouter> m_router;
    TracedCallback<const PacketMessage&, Time> m_delivered;
    TracedCallback<uint32_t, const OperaGrant&> m_granted;
    TracedCallback<uint32_t, const PacketDescriptor&, int64_t> m_returned;
    TracedCallback<uint32_t, uint32_t, int64_t> m_received;
    TracedCallback<uint32_t, uint32_t, uint32_t, const PacketDescriptor&> m_crossed;
};

} // namespace ns3

#endif /* OPERA_NETWORK_H */
