// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_ROTOR_LB_POLICY_H
#define OPERA_ROTOR_LB_POLICY_H

#include "opera-policy.h"
#include "opera-schedule.h"

#include <astrolabe/network/rotor/rotor_lb.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * RotorLB (Mellette et al., "RotorNet", SIGCOMM 2017, section 4.2): relayed packets first, then direct ones,
 * a fair share each, then first hops of two in what is left. The model is that of
 * astrolabe/network/rotor/rotor_lb.hpp, which the project's other engines use as well.
 */
class OperaRotorLbPolicy : public OperaBulkPolicy
{
  public:
    struct Options
    {
        bool twoHops{true};         //!< else only over direct circuits
        bool intraRackDirect{true}; //!< hosts of a rack send through its switch; else by two hops
        bool roundRobin{false};     //!< remainders of fair shares; else drawn at random
    };

    /// \param schedule outlives it \param packets that a host may send, and receive, through a circuit
    OperaRotorLbPolicy(const OperaSchedule& schedule,
                       uint32_t hostsPerRack,
                       uint32_t packets,
                       const Options& options,
                       uint64_t seed);

    void Add(uint32_t host, uint32_t destination, uint64_t packets, bool isRelayed) override;
    void Share(uint32_t x, uint32_t y, std::vector<OperaGrant>& grants) override;
    void SetState(std::size_t state) override;
    uint64_t GetWaiting() const override;

    /// Packets of their own that wait at hosts.
    const astrolabe::network::rotor::PacketCounts& GetOwn() const
    {
        return m_own;
    }

    /// Packets of others that wait at hosts.
    const astrolabe::network::rotor::PacketCounts& GetRelayed() const
    {
        return m_relayed;
    }

  private:
    std::vector<uint8_t> GetConnected(std::size_t state) const;

    const OperaSchedule& m_schedule;
    astrolabe::network::rotor::PacketCounts m_own;
    astrolabe::network::rotor::PacketCounts m_relayed;
    astrolabe::network::rotor::RotorLb m_rotorLb;
    std::vector<astrolabe::network::rotor::Grant> m_shared; //!< scratch
};

} // namespace ns3

#endif /* OPERA_ROTOR_LB_POLICY_H */
