// SPDX-License-Identifier: GPL-2.0-only
#include "topoopt-helper.h"

#include "ns3/abort.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4.h"
#include "ns3/string.h"

#include "network/src/topoopt/topology_finder.hpp"

#include <algorithm>
#include <fstream>
#include <queue>
#include <sstream>

namespace ns3
{

namespace topoopt = astrolabe::network::topoopt;

namespace
{

constexpr uint32_t FAR = 0xffffffff;

/// Neighbours of each server, with the number of the circuit.
using Graph = std::vector<std::vector<std::pair<uint32_t, uint32_t>>>;

Graph
MakeGraph(uint32_t servers, const std::vector<std::pair<uint32_t, uint32_t>>& circuits)
{
    Graph graph(servers);
    for (uint32_t i = 0; i < circuits.size(); ++i)
    {
        graph[circuits[i].first].emplace_back(circuits[i].second, i);
        graph[circuits[i].second].emplace_back(circuits[i].first, i);
    }
    return graph;
}

/// Links from every server to one.
std::vector<uint32_t>
FindDistances(const Graph& graph, uint32_t to)
{
    std::vector<uint32_t> hops(graph.size(), FAR);
    std::queue<uint32_t> next;
    hops[to] = 0;
    next.push(to);
    for (; !next.empty(); next.pop())
    {
        for (const auto& [other, circuit] : graph[next.front()])
        {
            if (hops[other] == FAR)
            {
                hops[other] = hops[next.front()] + 1;
                next.push(other);
            }
        }
    }
    return hops;
}

} // namespace

void
TopoOptHelper::SetDegree(uint32_t degree)
{
    NS_ABORT_MSG_IF(degree < 2 || degree > topoopt::kMaxDegree,
                    "a degree of " << degree << ", expected 2 to " << topoopt::kMaxDegree
                                   << ": a ring that connects all servers takes two circuits of each");
    m_degree = degree;
}

void
TopoOptHelper::SetLink(DataRate rate, Time delay)
{
    NS_ABORT_MSG_IF(rate.GetBitRate() == 0 || delay.IsStrictlyNegative(),
                    "a circuit of " << rate << " and " << delay.As(Time::NS)
                                    << ", expected more than 0 bit/s and 0 or more");
    m_rate = rate;
    m_delay = delay;
}

void
TopoOptHelper::AddAllReduce(uint64_t bytes)
{
    m_allReduce += bytes;
}

void
TopoOptHelper::AddDemand(uint32_t from, uint32_t to, uint64_t bytes)
{
    NS_ABORT_MSG_IF(from == to, "a demand from server " << from << " to itself");
    m_demand.push_back({from, to, bytes});
}

void
TopoOptHelper::ReadDemand(const std::string& file)
{
    std::ifstream in(file);
    NS_ABORT_MSG_IF(!in, "cannot read the demand '" << file << "'");
    std::vector<std::vector<uint64_t>> rows;
    uint32_t number = 0;
    for (std::string line; std::getline(in, line);)
    {
        ++number;
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream words(line);
        std::vector<uint64_t> row;
        for (std::string word; words >> word && (row.size() > 0 || word[0] != '#');)
        {
            NS_ABORT_MSG_IF(word.size() > 18 || word.find_first_not_of("0123456789") != std::string::npos,
                            file << ":" << number << ": '" << word << "' in column " << row.size() + 1
                                 << ", expected a whole number of bytes below 10^18");
            row.push_back(std::stoull(word));
        }
        if (!row.empty())
        {
            NS_ABORT_MSG_IF(!rows.empty() && row.size() != rows.front().size(),
                            file << ":" << number << ": " << row.size() << " numbers, expected "
                                 << rows.front().size() << " as in the first line");
            rows.push_back(row);
        }
    }
    NS_ABORT_MSG_IF(rows.empty() || rows.size() != rows.front().size(),
                    file << ": " << rows.size() << " lines of " << (rows.empty() ? 0 : rows.front().size())
                         << " numbers, expected as many lines as numbers in each, one for each server");
    for (uint32_t from = 0; from < rows.size(); ++from)
    {
        for (uint32_t to = 0; to < rows.size(); ++to)
        {
            NS_ABORT_MSG_IF(from == to && rows[from][to] != 0,
                            file << ": server " << from << " sends " << rows[from][to]
                                 << " bytes to itself, expected 0");
            if (rows[from][to] > 0)
            {
                AddDemand(from, to, rows[from][to]);
            }
        }
    }
}

std::vector<std::pair<uint32_t, uint32_t>>
TopoOptHelper::FindCircuits(uint32_t servers) const
{
    NS_ABORT_MSG_IF(servers < 2 || servers > topoopt::kMaxServers,
                    servers << " servers, expected 2 to " << topoopt::kMaxServers);
    astrolabe::network::Demand demand;
    demand.servers = servers;
    demand.point_to_point = astrolabe::network::PairDemand(servers);
    for (const Demand& pair : m_demand)
    {
        NS_ABORT_MSG_IF(pair.from >= servers || pair.to >= servers,
                        "a demand from server " << pair.from << " to " << pair.to
                                                << ", expected servers 0 to " << servers - 1);
        NS_ABORT_MSG_IF(pair.bytes >= astrolabe::network::kMaxTraffic - demand.point_to_point.total(),
                        "demands sum up to 2^57 bytes or more, expected less");
        demand.point_to_point.add(pair.from, pair.to, pair.bytes);
    }
    if (m_allReduce > 0)
    {
        astrolabe::network::AllReduceGroup all;
        for (uint32_t server = 0; server < servers; ++server)
        {
            all.members.push_back(server);
        }
        all.bytes = m_allReduce;
        demand.groups.push_back(all);
        NS_ABORT_MSG_IF(astrolabe::network::all_reduce_traffic(demand) >= astrolabe::network::kMaxTraffic,
                        "all-reduces send 2^57 bytes or more, expected less");
    }
    topoopt::FinderOptions options;
    options.degree = m_degree;
    options.mode = topoopt::Mode::kPaper;
    options.wiring = topoopt::Wiring::kPanel;
    const topoopt::Design design = topoopt::design_of_mode(demand, options);
    const topoopt::Topology found = topoopt::wire_design(
        demand,
        options,
        design,
        topoopt::match_demand(servers, demand.point_to_point, design.split.point_to_point));
    std::vector<std::pair<uint32_t, uint32_t>> circuits;
    for (std::size_t i = 0; i < found.links.size(); i += 2) // every other is the way back
    {
        circuits.push_back(std::minmax(found.links[i].from, found.links[i].to));
    }
    return circuits;
}

NetDeviceContainer
TopoOptHelper::Install(NodeContainer servers)
{
    m_servers = servers;
    m_circuits = FindCircuits(servers.GetN());
    m_devices = NetDeviceContainer();
    m_pointToPoint.SetDeviceAttribute("DataRate", DataRateValue(m_rate));
    m_pointToPoint.SetChannelAttribute("Delay", TimeValue(m_delay));
    for (const auto& [a, b] : m_circuits)
    {
        m_devices.Add(m_pointToPoint.Install(servers.Get(a), servers.Get(b)));
    }
    return m_devices;
}

std::vector<Ipv4Address>
TopoOptHelper::AssignAddresses(Ipv4Address first)
{
    const uint32_t servers = m_servers.GetN();
    NS_ABORT_MSG_IF(servers == 0, "no servers: call Install first");
    std::vector<Ipv4Address> addresses;
    std::vector<Ptr<CircuitRouting>> routings;
    for (uint32_t server = 0; server < servers; ++server)
    {
        addresses.emplace_back(first.Get() + server);
        const auto ip = m_servers.Get(server)->GetObject<Ipv4>();
        NS_ABORT_MSG_IF(!ip, "server " << server << " has no IPv4: install an InternetStackHelper first");
        routings.push_back(CreateObject<CircuitRouting>());
        ip->SetRoutingProtocol(routings.back());
    }
    const Graph graph = MakeGraph(servers, m_circuits);
    std::vector<uint32_t> interfaces; // by device
    for (uint32_t i = 0; i < m_devices.GetN(); ++i)
    {
        const auto [a, b] = m_circuits[i / 2];
        const uint32_t server = i % 2 == 0 ? a : b;
        const auto ip = m_servers.Get(server)->GetObject<Ipv4>();
        interfaces.push_back(ip->AddInterface(m_devices.Get(i)));
        ip->AddAddress(interfaces.back(), Ipv4InterfaceAddress(addresses[server], Ipv4Mask::GetOnes()));
        ip->SetUp(interfaces.back());
    }
    for (uint32_t to = 0; to < servers; ++to)
    {
        const std::vector<uint32_t> hops = FindDistances(graph, to);
        for (uint32_t from = 0; from < servers; ++from)
        {
            std::vector<uint32_t> first_links;
            for (const auto& [other, circuit] : graph[from])
            {
                if (from != to && hops[other] + 1 == hops[from])
                {
                    first_links.push_back(
                        interfaces[2 * circuit + (m_circuits[circuit].first == from ? 0 : 1)]);
                }
            }
            if (from != to)
            {
                routings[from]->SetRoute(addresses[to], first_links);
            }
        }
    }
    return addresses;
}

std::pair<uint32_t, double>
TopoOptHelper::GetHops() const
{
    const uint32_t servers = m_servers.GetN();
    const Graph graph = MakeGraph(servers, m_circuits);
    uint32_t most = 0;
    uint64_t sum = 0;
    for (uint32_t to = 0; to < servers; ++to)
    {
        for (const uint32_t hops : FindDistances(graph, to))
        {
            most = std::max(most, hops);
            sum += hops;
        }
    }
    return {most, static_cast<double>(sum) / (static_cast<double>(servers) * (servers - 1))};
}

} // namespace ns3
