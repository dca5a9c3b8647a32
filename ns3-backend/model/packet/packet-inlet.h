// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_INLET_H
#define PACKET_INLET_H

#include "packets-in-flight.h"

#include "ns3/event-impl.h"

#include <cstdint>

namespace ns3
{

class PacketNode;
struct PacketContext;

/**
 * The far end of a link that another region sends over (PacketRegions): the packets that were handed over,
 * until they arrive. It is the event of the next one, as a port is for a link within a region.
 */
class alignas(64) PacketInlet final : public EventImpl
{
  public:
    /// \param number of the port at the near end
    /// \param region of `to`
    PacketInlet(PacketContext& context, PacketNode& to, uint32_t number, uint32_t region, bool isHosts)
        : m_region(region),
          m_number(number),
          m_isHosts(isHosts),
          m_context(context),
          m_to(to)
    {
    }

    PacketInlet(const PacketInlet&) = delete;
    PacketInlet& operator=(const PacketInlet&) = delete;

    uint32_t GetNumber() const
    {
        return m_number;
    }

    /// That of the node.
    uint32_t GetRegion() const
    {
        return m_region;
    }

    /// The node is a host.
    bool IsHosts() const
    {
        return m_isHosts;
    }

    /// \param arrival no sooner than those before
    void Add(uint32_t packet, int64_t arrival);
    /// The first packet arrives.
    void Act();
    /// The regions are no more; the event may still be pending.
    void Detach();

    // As of PacketPort.
    void FetchPackets() const;

    void FetchOffers() const
    {
    }

    void FetchUsers() const;
    void FetchMore() const;

  protected:
    void Notify() override;

  private:
    bool HasPackets() const
    {
        return !m_isDetached && !m_arriving.IsEmpty();
    }

    void Schedule();

    uint32_t m_region;
    uint32_t m_number;
    bool m_isHosts;
    bool m_isDetached{false};
    PacketContext& m_context;
    PacketNode& m_to;
    PacketsInFlight m_arriving;
};

} // namespace ns3

#endif /* PACKET_INLET_H */
