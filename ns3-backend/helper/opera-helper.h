// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_HELPER_H
#define OPERA_HELPER_H

#include "ns3/data-rate.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/opera-fabric.h"
#include "ns3/opera-network.h"
#include "ns3/opera-rotor-lb-policy.h"
#include "ns3/trace-helper.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/// A network of the packet engine, ready for OperaNetwork::Send, and what decides on its packets, which has
/// to outlive it.
struct OperaInstallation
{
    std::shared_ptr<OperaSchedule> schedule;
    std::shared_ptr<OperaBulkPolicy> policy;
    std::shared_ptr<OperaPathSource> paths; //!< null: all is bulk
    Ptr<OperaNetwork> network;
};

/**
 * Builds Opera networks, and RotorNet's, whose rotors all switch together: of ordinary nodes (Install), or of
 * the packet engine (Create).
 *
 *     Time::SetResolution(Time::PS);
 *     NodeContainer hosts(32);
 *     OperaHelper opera;
 *     opera.SetSize(8, 4); // racks, rotors
 *     NetDeviceContainer devices = opera.Install(hosts);
 *     InternetStackHelper().Install(hosts);
 *     Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
 *
 * Hosts are numbered by rack. Install makes a switch node for each rack, cables, and rotors; it draws random
 * matchings, and derives the timing (below) from links, queues and the longest path, unless these are set.
 * Bulk frames use circuits by RotorLB. Create takes cyclic matchings and OperaEvenPolicy, all bulk, unless
 * UseRotorLb is called.
 *
 * Timing, as the paper's authors derive it: with p the propagation between racks, q the frames that a queue
 * holds, σ the time of one and H the links between racks on the longest path,
 *
 *     eps = (H - 1)(p + qσ) + (q - 1)σ        del = p + σ        r = 10 us, that of the hardware
 *
 * and where all rotors switch together eps takes up what makes a superslice as long as one of each rotor.
 */
class OperaHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  public:
    // Both

    /// Of a superslice: while all circuits carry, while those about to go drain, while they are dark. Unless
    /// set, derived by Install; for Create 48.8 us, 1.7 us and 10 us: 10 Gb/s, 500 ns between racks, queues
    /// of 8 packets of 1500 bytes, 5 links at most (section 3.1 of the paper).
    void SetTiming(Time eps, Time del, Time r);
    /// Of rotors, each of which reconfigures one at a time; 1 unless set. As many as rotors: RotorNet.
    void SetGroups(uint32_t groups);
    /// Of each rotor, by order of installation.
    void SetMatchings(std::vector<std::vector<OperaSchedule::Matching>> matchings);
    /// Of Install: matchings, groups and timing at once, with failures to come, in place of these.
    void SetSchedule(const OperaSchedule& schedule);
    /// How RotorLB shares out circuits.
    void SetBulkOptions(const OperaRotorLbPolicy::Options& options);
    /// Shortest paths of a pair of racks that low-latency packets choose among; 1 unless set. 0: all is bulk.
    void SetLowLatencyPaths(std::size_t most);
    /// Of all that is drawn: matchings, remainders of fair shares, paths; 1 unless set.
    void SetSeed(uint64_t seed);

    // Nodes with devices

    /// `racks` is a multiple of `rotors`, the hosts one of `racks`.
    void SetSize(uint32_t racks, uint32_t rotors);
    /// Of links between racks, and of hosts; 10 Gb/s both unless set.
    void SetRates(DataRate rate, DataRate hostRate);
    /// One way; 500 ns between racks and nothing between a host and its switch unless set.
    void SetDelays(Time betweenRacks, Time ofHosts);
    /// Full low-latency frames that may wait in a port of a switch; 8 unless set.
    void SetQueue(uint32_t frames);
    /// Orders of the matchings to try, of which the one with the shortest longest path is taken; 10 unless
    /// set.
    void SetDraws(uint32_t draws);
    /// Of ports of switches and of hosts' devices.
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value);
    void SetFabricAttribute(const std::string& name, const AttributeValue& value);
    void SetClassifierAttribute(const std::string& name, const AttributeValue& value);
    void SetPortService(uint16_t port, OperaService service);
    void SetDscpService(Ipv4Header::DscpType dscp, OperaService service);

    /// A device on each of the nodes, which are the hosts, by rack.
    NetDeviceContainer Install(NodeContainer hosts);

    /// Of the last Install.
    Ptr<OperaFabric> GetFabric() const
    {
        return m_fabric;
    }

    /// Of the last Install, by rack; each has an OperaSwitch.
    NodeContainer GetSwitches() const
    {
        return m_switches;
    }

    // Packet engine

    void SetNetworkAttribute(const std::string& name, const AttributeValue& value);
    /// Create takes RotorLB, random matchings and low-latency paths too.
    void UseRotorLb();
    /// `racks` is a multiple of `rotors`.
    OperaInstallation Create(uint32_t racks, uint32_t hostsPerRack, uint32_t rotors) const;

  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;
    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> device,
                             bool explicitFilename) override;
    std::vector<std::vector<OperaSchedule::Matching>> DrawMatchings(uint32_t racks, uint32_t rotors) const;
    OperaSchedule::Timing DeriveTiming(const std::vector<std::vector<OperaSchedule::Matching>>& matchings,
                                       uint32_t frameBytes) const;
    uint32_t GetFrameBytes() const;
    OperaSchedule MakeSchedule(uint32_t frameBytes) const;
    void BuildFabric(uint32_t hostsPerRack);
    Ptr<OperaNetDevice> AddDevice(Ptr<Node> node, DataRate rate) const;

    ObjectFactory m_network{"ns3::OperaNetwork"};
    ObjectFactory m_fabricFactory{"ns3::OperaFabric"};
    ObjectFactory m_classifier{"ns3::OperaClassifier"};
    ObjectFactory m_device{"ns3::OperaNetDevice"};
    std::vector<std::pair<uint16_t, OperaService>> m_ports;
    std::vector<std::pair<Ipv4Header::DscpType, OperaService>> m_dscps;
    std::optional<OperaSchedule::Timing> m_timing;
    uint32_t m_groups{1};
    std::vector<std::vector<OperaSchedule::Matching>> m_matchings; //!< none: drawn, or cyclic
    std::optional<OperaSchedule> m_schedule;                       //!< none: of matchings, groups and timing
    OperaRotorLbPolicy::Options m_bulk;
    std::size_t m_paths{1};
    uint64_t m_seed{1};
    bool m_isRotorLb{false}; //!< of Create
    uint32_t m_racks{0};
    uint32_t m_rotors{0};
    DataRate m_rate{10'000'000'000};
    DataRate m_hostRate{10'000'000'000};
    Time m_propagation{NanoSeconds(500)};
    Time m_hostDelay{0};
    uint32_t m_queue{8};
    uint32_t m_draws{10};
    Ptr<OperaFabric> m_fabric;
    NodeContainer m_switches;
};

} // namespace ns3

#endif /* OPERA_HELPER_H */
