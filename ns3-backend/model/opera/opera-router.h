// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_ROUTER_H
#define OPERA_ROUTER_H

#include "ns3/packet-fabric.h"
#include "ns3/packet-node.h"
#include "opera-bulk.h"
#include "opera-layout.h"
#include "opera-schedule.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/// Ways of low-latency packets.
class OperaPathSource
{
  public:
    virtual ~OperaPathSource() = default;
    /// Replaces `uplinks` by those to take, one after the other, in a superslice (of any cycle), between
    /// different racks. \returns false if no path connects them.
    virtual bool Find(uint64_t superslice, uint32_t from, uint32_t to, std::vector<uint16_t>& uplinks) = 0;
};

/**
 * Where packets of an Opera network go: hosts to their rack's switch, racks down to hosts or up to rotors,
 * and rotors, which hold nothing and take no time, to the rack they connect the sender with when the packet
 * comes out.
 *
 * A bulk packet takes the uplink it was granted. If the rotor is dark then or leads to another rack than the
 * packet is heading for, or nowhere because something failed, the packet goes back to its sender.
 *
 * Any other packet has its path fixed when its first bit leaves its host, or where it is returned to it;
 * uplinks lead where they lead when it gets there. On a dark circuit, or if the path ends at another rack
 * than its destination's, it is lost.
 */
class OperaRouter : public PacketRouter
{
  public:
    /// All outlive the last packet. \param paths null: only bulk packets leave a rack
    OperaRouter(const OperaLayout& layout,
                const OperaSchedule& schedule,
                PacketFabric& fabric,
                OperaBulk& bulk,
                OperaPathSource* paths);

    PacketPort* Route(uint32_t node, PacketDescriptor& packet) override;
    bool Keep(uint32_t node, uint32_t packet) override;

    /// Bytes that have crossed a rotor from a rack, under one of its matchings.
    uint64_t GetCarriedBytes(uint32_t rotor, uint32_t matching, uint32_t rack) const
    {
        return m_carriedBytes[GetCircuit(rotor, matching, rack)];
    }

    /// A packet has come through a rotor: rotor, matching, the rack it came from, packet.
    TracedCallback<uint32_t, uint32_t, uint32_t, const PacketDescriptor&> crossed;

    /// Packets other than bulk ones that came to a circuit that was dark or led nowhere.
    uint64_t GetLost() const
    {
        return m_lost;
    }

  private:
    PacketPort* RouteAtRack(uint32_t rack, PacketDescriptor& packet);
    PacketPort* RouteAtRotor(uint32_t rotor, PacketDescriptor& packet);
    PacketPort* RouteDown(uint32_t rack, uint32_t host);
    bool FixPath(uint32_t rack, PacketDescriptor& packet);
    int64_t GetDeparture(const PacketDescriptor& packet) const;
    std::size_t GetCircuit(uint32_t rotor, uint32_t matching, uint32_t rack) const;

    OperaLayout m_layout;
    const OperaSchedule& m_schedule;
    PacketContext& m_context;
    OperaBulk& m_bulk;
    OperaPathSource* m_paths;
    std::vector<uint64_t> m_carriedBytes; //!< by rotor, matching, rack
    uint64_t m_lost{0};
};

} // namespace ns3

#endif /* OPERA_ROUTER_H */
