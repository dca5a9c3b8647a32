// SPDX-License-Identifier: GPL-2.0-only
/**
 * The communication of a recommendation model's training step on circuits that TopologyFinder chose for it,
 * over ns-3's own sockets. First all servers exchange embeddings, by a direct all-to-all; then they add up
 * gradients on rings of the network, half of them each way round. Servers forward for each other. Prints both
 * times beside what the busiest circuit takes for its bytes, and writes what a plot needs.
 *
 *     ./ns3 run "topoopt-dlrm --servers=16 --degree=4 --exchange=100000 --gradients=4000000
 *         --monitor=dlrm.xml --plot=dlrm.dat"
 *     gnuplot -p -e "plot 'dlrm.dat' index 0 using 1:2 with lines title 'exchange', '' index 1 using 1:2
 *         with lines title 'all-reduce, % of the circuits'"
 */
#include "ns3/collective-helper.h"
#include "ns3/collective-plan.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/topoopt-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Scenario
{
    uint32_t servers{16};
    uint32_t degree{4};
    uint64_t exchange{20'000};
    uint64_t gradients{500'000};
    DataRate rate{10'000'000'000};
    Time delay{MicroSeconds(1)};
    std::string monitor;
    std::string plot;
};

/// A collective of the step on a network of its own.
class Phase
{
  public:
    Phase(const Scenario& scenario, const std::string& name, const CollectivePlan& plan)
        : m_scenario(scenario),
          m_name(name),
          m_helper(plan)
    {
        m_topo.SetDegree(scenario.degree);
        m_topo.SetLink(scenario.rate, scenario.delay);
        m_topo.GetPointToPoint().SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("4000p"));
        m_topo.AddAllReduce(scenario.gradients);
        for (uint32_t from = 0; from < scenario.servers; ++from)
        {
            for (uint32_t to = 0; to < scenario.servers; ++to)
            {
                if (from != to)
                {
                    m_topo.AddDemand(from, to, scenario.exchange);
                }
            }
        }
        m_servers.Create(scenario.servers);
        const NetDeviceContainer devices = m_topo.Install(m_servers);
        m_bytes.resize(devices.GetN());
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            devices.Get(i)->TraceConnectWithoutContext(
                "PhyTxBegin", Callback<void, Ptr<const Packet>>([this, i](Ptr<const Packet> frame) {
                    CountFrame(i, frame->GetSize());
                }));
        }
        InternetStackHelper internet;
        internet.Install(m_servers);
        m_helper.Install(m_servers, m_topo.AssignAddresses("10.0.0.1")).Start(Time(0));
    }

    /// \returns whether all ranks are done
    bool Run(std::ostream& plot)
    {
        FlowMonitorHelper monitors;
        const Ptr<FlowMonitor> monitor = monitors.Install(m_servers);
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        const double finish = m_helper.GetGroup()->GetFinish().ToDouble(Time::US);
        const uint64_t busiest = *std::max_element(m_bytes.begin(), m_bytes.end());
        const double bound =
            8e6 * static_cast<double>(busiest) / static_cast<double>(m_scenario.rate.GetBitRate());
        const auto [most, mean] = m_topo.GetHops();
        std::cout << m_name << ": " << finish << " us; the busiest circuit needs " << bound << " us for its "
                  << busiest << " bytes (" << 100 * bound / finish << " % reached); " << mean
                  << " circuits between servers, " << most << " at most\n";
        if (!m_scenario.monitor.empty())
        {
            monitor->SerializeToXmlFile(m_name + "-" + m_scenario.monitor, true, true);
        }
        const double capacity = static_cast<double>(m_scenario.rate.GetBitRate()) / 8e6 *
                                BIN.ToDouble(Time::US) * static_cast<double>(m_bytes.size());
        plot << "# " << m_name << ": us, % of what all circuits carry\n";
        for (std::size_t bin = 0; bin < m_bins.size(); ++bin)
        {
            plot << static_cast<double>(bin) * BIN.ToDouble(Time::US) << " "
                 << 100 * static_cast<double>(m_bins[bin]) / capacity << "\n";
        }
        plot << "\n\n";
        Simulator::Destroy();
        return m_helper.GetGroup()->IsFinished();
    }

  private:
    /// What follows the last rank's end, acknowledgements and retransmissions, does not count.
    void CountFrame(uint32_t device, uint32_t bytes)
    {
        if (m_helper.GetGroup()->IsFinished())
        {
            return;
        }
        m_bytes[device] += bytes;
        const auto bin = static_cast<std::size_t>(Simulator::Now().GetPicoSeconds() / BIN.GetPicoSeconds());
        m_bins.resize(std::max(m_bins.size(), bin + 1));
        m_bins[bin] += bytes;
    }

    const Time BIN{MicroSeconds(5)};

    Scenario m_scenario;
    std::string m_name;
    TopoOptHelper m_topo;
    CollectiveHelper m_helper;
    NodeContainer m_servers;
    std::vector<uint64_t> m_bytes; //!< sent, by device
    std::vector<uint64_t> m_bins;  //!< sent by all, over time
};

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Scenario scenario;
    CommandLine command(__FILE__);
    command.AddValue("servers", "2 to 128", scenario.servers);
    command.AddValue("degree", "circuits of a server, 2 to 16", scenario.degree);
    command.AddValue(
        "exchange", "bytes of embeddings from each server to each other, 1 to 10^8", scenario.exchange);
    command.AddValue("bytes", "the same as exchange", scenario.exchange);
    command.AddValue("gradients", "bytes of the vector that is added up, 1 to 10^9", scenario.gradients);
    command.AddValue("rate", "of a circuit, at least 1 Gb/s", scenario.rate);
    command.AddValue("delay", "of a circuit", scenario.delay);
    command.AddValue("monitor", "ends of the names of files for FlowMonitor's XML", scenario.monitor);
    command.AddValue("plot", "file for gnuplot: load of the circuits over time", scenario.plot);
    command.Parse(argc, argv);
    if (scenario.servers < 2 || scenario.servers > 128 || scenario.degree < 2 || scenario.degree > 16 ||
        scenario.exchange < 1 || scenario.exchange > 100'000'000 || scenario.gradients < 1 ||
        scenario.gradients > 1'000'000'000 || scenario.rate.GetBitRate() < 1'000'000'000 ||
        scenario.delay.IsStrictlyNegative())
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1'000'000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(5)));
    std::cout << std::fixed << std::setprecision(2);
    // Written where a plot is asked for, and nowhere else.
    std::ofstream plot(scenario.plot);
    const uint32_t n = scenario.servers;
    // What a server sends to another is an n-th of what the all-to-all counts, its own part included.
    Phase exchange(scenario, "exchange", CollectivePlan("all_to_all", "direct", {n}, n * scenario.exchange));
    bool isComplete = exchange.Run(plot);
    Phase sum(scenario,
              "all-reduce",
              CollectivePlan("all_reduce", "bidirectional_ring", {n}, scenario.gradients, 2));
    isComplete = sum.Run(plot) && isComplete;
    if (!isComplete)
    {
        std::cerr << "Not everything had arrived after 5 s.\n";
        return 1;
    }
    return 0;
}
