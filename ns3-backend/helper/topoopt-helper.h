// SPDX-License-Identifier: GPL-2.0-only
#ifndef TOPOOPT_HELPER_H
#define TOPOOPT_HELPER_H

#include "ns3/circuit-routing.h"
#include "ns3/data-rate.h"
#include "ns3/ipv4-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/point-to-point-helper.h"

#include <astrolabe/network/demand.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * Servers joined by circuits of their own, which stay for the whole run, chosen for a demand (Wang et al.,
 * "TopoOpt", NSDI 2023, section 4): rings for all-reduces, matchings of greatest demand for traffic between
 * pairs, by TopologyFinder's rule of the paper. Servers forward for each other.
 *
 *     TopoOptHelper topo;
 *     topo.SetDegree(4);
 *     topo.AddAllReduce(100'000'000);   // of all servers, bytes
 *     topo.AddDemand(0, 7, 4'000'000);  // or ReadDemand("matrix.txt")
 *     NodeContainer servers(16);
 *     topo.Install(servers);
 *     InternetStackHelper().Install(servers);
 *     topo.AssignAddresses("10.0.0.1");
 *
 * Circuits are point-to-point devices and channels of ns-3, and GetPointToPoint() enables their traces. A
 * server has one address, on all its devices, and a CircuitRouting that takes shortest paths.
 */
class TopoOptHelper
{
  public:
    /// Circuits of a server, 2 to 64; 4 unless set. A ring takes two.
    void SetDegree(uint32_t degree);
    /// Of every circuit; 100 Gb/s and 1 us unless set.
    void SetLink(DataRate rate, Time delay);
    /// An all-reduce of all servers.
    void AddAllReduce(uint64_t bytes);
    /// From one server to another, on top of what was added before.
    void AddDemand(uint32_t from, uint32_t to, uint64_t bytes);
    /// A matrix of as many lines as servers, with as many numbers of bytes, between spaces or commas; the
    /// diagonal is 0. Lines that are empty or begin with # count for nothing.
    void ReadDemand(const std::string& file);

    /// The circuits for so many servers, each once, the smaller server first.
    std::vector<std::pair<uint32_t, uint32_t>> FindCircuits(uint32_t servers) const;

    /// Two devices for each circuit, on nodes in the order of FindCircuits.
    NetDeviceContainer Install(NodeContainer servers);
    /// Addresses one after the other from `first`, and routes. \returns that of each server
    std::vector<Ipv4Address> AssignAddresses(Ipv4Address first);

    /// For traces, and attributes that are set before Install.
    PointToPointHelper& GetPointToPoint()
    {
        return m_pointToPoint;
    }

    /// Links on the longest and on the mean shortest path, of the last Install.
    std::pair<uint32_t, double> GetHops() const;

  private:
    struct Demand
    {
        uint32_t from;
        uint32_t to;
        uint64_t bytes;
    };

    PointToPointHelper m_pointToPoint;
    uint32_t m_degree{4};
    DataRate m_rate{100'000'000'000};
    Time m_delay{MicroSeconds(1)};
    uint64_t m_allReduce{0};
    std::vector<Demand> m_demand;
    NodeContainer m_servers;
    std::vector<std::pair<uint32_t, uint32_t>> m_circuits;
    NetDeviceContainer m_devices;
};

} // namespace ns3

#endif /* TOPOOPT_HELPER_H */
