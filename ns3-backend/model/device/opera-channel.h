// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_CHANNEL_H
#define OPERA_CHANNEL_H

#include "opera-frame.h"

#include "ns3/channel.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class OperaFabric;
class OperaNetDevice;

/**
 * What joins devices of an Opera network: a cable of two, whose circuit is always there, or a rotor switch
 * with a device of every rack, whose circuits come and go by the schedule of the fabric. What a rotor carries
 * comes out at the rack that it connects the sender with when the last bit does. On a dark circuit, or one
 * that leads nowhere, low-latency frames are lost; bulk frames that come to the wrong rack, or none, go back
 * to the host that sent them.
 */
class OperaChannel : public Channel
{
  public:
    static TypeId GetTypeId();

    OperaChannel();
    ~OperaChannel() override;

    /// It becomes a rotor of the fabric; devices are attached by rack then.
    void SetRotor(Ptr<OperaFabric> fabric, uint32_t rotor);

    /// \returns the number of the device here
    std::size_t Attach(Ptr<OperaNetDevice> device);
    /// A device begins to send; the last bit leaves after `txTime`.
    void Transmit(Ptr<OperaFrame> frame, std::size_t from, Time txTime);

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    Time GetDelay() const
    {
        return m_delay;
    }

  protected:
    void DoDispose() override;

  private:
    static constexpr uint32_t CABLE = 0xffffffff;

    void Arrive(Ptr<OperaFrame> frame, std::size_t from);

    Time m_delay;
    Ptr<OperaFabric> m_fabric;
    uint32_t m_rotor{CABLE};
    std::vector<Ptr<OperaNetDevice>> m_devices;
};

} // namespace ns3

#endif /* OPERA_CHANNEL_H */
