// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_SWITCH_H
#define OPERA_SWITCH_H

#include "opera-frame.h"

#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class OperaFabric;
class OperaNetDevice;

/**
 * The top-of-rack switch of an Opera network, aggregated to its node: forwards in no time what has arrived
 * whole. Bulk frames take the uplink they were granted. Low-latency ones take the next uplink of their path;
 * where it ended in a rack that is not theirs, because circuits have moved in the meantime, they get a path
 * from here, eight times at most, unless the fabric's `Reroute` is false: then they are lost.
 */
class OperaSwitch : public Object
{
  public:
    static TypeId GetTypeId();

    OperaSwitch();
    ~OperaSwitch() override;

    void Configure(Ptr<OperaFabric> fabric, uint32_t rack);
    void AddDownPort(Ptr<OperaNetDevice> port); //!< by host of the rack
    void AddUpPort(Ptr<OperaNetDevice> port);   //!< by rotor

    void Receive(Ptr<OperaFrame> frame, Ptr<OperaNetDevice> port);

    Ptr<OperaNetDevice> GetUpPort(uint32_t rotor) const
    {
        return m_up[rotor];
    }

    Ptr<OperaNetDevice> GetDownPort(uint32_t port) const
    {
        return m_down[port];
    }

  protected:
    void DoDispose() override;

  private:
    Ptr<OperaNetDevice> Route(OperaFrame& frame);
    Ptr<OperaNetDevice> RouteBulk(const OperaFrame& frame) const;
    Ptr<OperaNetDevice> RouteDown(uint32_t host) const;

    static constexpr uint32_t MOST_DETOURS = 8;

    Ptr<OperaFabric> m_fabric;
    uint32_t m_rack{0};
    std::vector<Ptr<OperaNetDevice>> m_down;
    std::vector<Ptr<OperaNetDevice>> m_up;
};

} // namespace ns3

#endif /* OPERA_SWITCH_H */
