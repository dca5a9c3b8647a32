// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_SWITCH_H
#define FABRIC_SWITCH_H

#include "ns3/callback.h"
#include "ns3/ipv4-address.h"
#include "ns3/net-device.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

namespace ns3
{

/**
 * An output-queued switch: a frame that has arrived whole is at once in the queue of the port it leaves by.
 *
 * Frames come straight from the devices, so a hop costs neither the search through a node's protocol handlers
 * (two per port) nor a pass through the IP stack, and the datagram is forwarded unchanged: no time to live is
 * taken off, which shortest-path routes do not need. Forwarding takes no time; give the link the delay.
 */
class FabricSwitch : public Object
{
  public:
    /// (source, destination) -> output device, null when the destination cannot be reached.
    using RouteCallback = Callback<Ptr<NetDevice>, Ipv4Address, Ipv4Address>;
    /// (source, destination, ports) -> output device; ports as FabricRouting has them.
    using FlowRouteCallback = Callback<Ptr<NetDevice>, Ipv4Address, Ipv4Address, uint32_t>;

    static TypeId GetTypeId();

    /// Takes over the frames that `port`, a device of the switch's node, receives.
    void AddPort(Ptr<NetDevice> port);
    void SetRouteCallback(RouteCallback callback);
    /// In place of a RouteCallback.
    void SetFlowRouteCallback(FlowRouteCallback callback);

  protected:
    void DoDispose() override;

  private:
    bool Receive(Ptr<NetDevice> port, Ptr<const Packet> packet, uint16_t protocol, const Address& from);
    Ptr<NetDevice> Find(Ptr<const Packet> datagram) const;

    RouteCallback m_route;
    FlowRouteCallback m_flowRoute; //!< null: the other counts
    TracedCallback<Ptr<const Packet>> m_noRouteTrace;
};

} // namespace ns3

#endif /* FABRIC_SWITCH_H */
