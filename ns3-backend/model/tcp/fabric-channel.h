// SPDX-License-Identifier: GPL-2.0-only
#ifndef FABRIC_CHANNEL_H
#define FABRIC_CHANNEL_H

#include "ns3/callback.h"
#include "ns3/nstime.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"

#include <array>
#include <cstdint>

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

    /// The direction away from `source` goes down: what is on it is lost, called back for frame by frame with
    /// `lost`, and so is what the device sends before it comes up again.
    void SetUp(Ptr<NetDevice> source, bool isUp);
    /// What is called for a frame that is lost on its way from `source`; null: nothing.
    void SetLossCallback(Ptr<NetDevice> source, Callback<void> lost);

    bool TransmitStart(Ptr<const Packet> p, Ptr<PointToPointNetDevice> src, Time txTime) override;

  private:
    struct Direction
    {
        Time delay;
        uint32_t outages{0}; //!< begun so far
        bool isUp{true};
        Callback<void> lost;
    };

    Direction& GetDirection(Ptr<NetDevice> source);
    void Arrive(uint32_t direction, uint32_t outages, Ptr<Packet> packet);

    std::array<Direction, 2> m_directions;
};

} // namespace ns3

#endif /* FABRIC_CHANNEL_H */
