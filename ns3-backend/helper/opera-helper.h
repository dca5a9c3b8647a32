// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_HELPER_H
#define OPERA_HELPER_H

#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/opera-network.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/// A network, ready for OperaNetwork::Send, and what decides on its bulk packets, which has to outlive it.
struct OperaInstallation
{
    std::shared_ptr<OperaBulkPolicy> policy;
    Ptr<OperaNetwork> network;
};

/**
 * Builds Opera networks, and RotorNet's, whose rotors all switch together.
 *
 *     OperaHelper helper;
 *     helper.SetNetworkAttribute("Rate", StringValue("10Gbps"));
 *     OperaInstallation opera = helper.Create(12, 3, 3); // racks, hosts a rack, rotors
 *     opera.network->Send({0, 9, 1000000, nullptr, 0, 0}); // from host 0 to host 9
 *
 * The matchings are cyclic unless given (OperaSchedule::MakeCyclicMatchings), and bulk packets use circuits
 * by OperaEvenPolicy. All messages are bulk: low latency takes paths (OperaPathSource), and
 * OperaNetwork::Build. Time::SetResolution (Time::PS) comes first in a program. Hosts are numbered by rack.
 */
class OperaHelper
{
  public:
    void SetNetworkAttribute(const std::string& name, const AttributeValue& value);
    /// Of a superslice: while all circuits carry, while those about to go drain, while they are dark. 48.8
    /// us, 1.7 us and 10 us unless set: 10 Gb/s, 500 ns between racks, queues of 8 packets of 1500 bytes, 5
    /// hops at most (section 3.1 of the paper).
    void SetTiming(Time eps, Time del, Time r);
    /// Of rotors, each of which reconfigures one at a time; 1 unless set. As many as rotors: RotorNet.
    void SetGroups(uint32_t groups);
    /// Of each rotor, by order of installation.
    void SetMatchings(std::vector<std::vector<OperaSchedule::Matching>> matchings);

    /// `racks` is a multiple of `rotors`.
    OperaInstallation Create(uint32_t racks, uint32_t hostsPerRack, uint32_t rotors) const;

  private:
    ObjectFactory m_network{"ns3::OperaNetwork"};
    OperaSchedule::Timing m_timing{48'800'000, 1'700'000, 10'000'000};
    uint32_t m_groups{1};
    std::vector<std::vector<OperaSchedule::Matching>> m_matchings; //!< none: cyclic
};

} // namespace ns3

#endif /* OPERA_HELPER_H */
