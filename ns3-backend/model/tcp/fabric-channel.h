// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_CHANNEL_H
#define FABRIC_CHANNEL_H

#include "ns3/nstime.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"

#include <array>

namespace ns3
{

/**
 * A point-to-point channel whose two directions may have different delays.
 * The delay of a direction is counted from the last bit out of the sender to the last bit into the receiver.
 */
class FabricChannel : public PointToPointChannel
{
  public:
    static TypeId GetTypeId();

    /// `fromFirst` is the delay away from the device attached first, `fromSecond` towards it.
    void SetDelays(Time fromFirst, Time fromSecond);

    bool TransmitStart(Ptr<const Packet> p, Ptr<PointToPointNetDevice> src, Time txTime) override;

  private:
    std::array<Time, 2> m_delays;
};

} // namespace ns3

#endif /* FABRIC_CHANNEL_H */
