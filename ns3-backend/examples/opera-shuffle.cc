// SPDX-License-Identifier: GPL-2.0-only
/**
 * A shuffle on Opera: every host sends as much to each host of every other rack, all at once, and packets
 * wait for the circuit between their racks. Prints when messages were complete, the load on the links of
 * hosts over time, and the bound that the circuits set.
 *
 *     ./ns3 run "opera-shuffle --racks=24 --rotors=6 --hostsPerRack=6 --bytes=100000 --plot=shuffle.dat"
 *     gnuplot -p -e "plot 'shuffle.dat' using 1:2 with steps title '% of messages complete, by ms'"
 */
#include "ns3/command-line.h"
#include "ns3/data-rate.h"
#include "ns3/opera-helper.h"
#include "ns3/simulator.h"
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

constexpr uint64_t PAYLOAD = 1436;
constexpr uint64_t HEADER = 64;

struct Scenario
{
    uint32_t racks{12};
    uint32_t hostsPerRack{3};
    uint32_t rotors{3};
    uint32_t groups{1};
    uint64_t bytes{20'000};
    DataRate rate{10'000'000'000};
    std::string plot;
};

/// Messages as they arrive.
class Arrivals
{
  public:
    void Note(const PacketMessage& message, Time completion)
    {
        m_completions.push_back(completion);
        m_bytes.push_back(message.bytes);
    }

    /// The shortest time within which a share of the messages was complete.
    Time GetPercentile(double share) const
    {
        const auto last = static_cast<double>(m_completions.size() - 1);
        return m_completions[static_cast<std::size_t>(share * last)];
    }

    std::vector<Time> m_completions; //!< rising: all are sent at 0
    std::vector<uint64_t> m_bytes;
};

void
PrintLoad(const Arrivals& arrivals, double hostBits)
{
    constexpr int STEPS = 10;
    const double step = arrivals.m_completions.back().GetSeconds() / STEPS;
    std::cout << "load of complete messages, by tenths of the time:";
    std::size_t next = 0;
    for (int i = 1; i <= STEPS; ++i)
    {
        double bits = 0;
        for (; next < arrivals.m_completions.size() &&
               (i == STEPS || arrivals.m_completions[next].GetSeconds() <= i * step);
             ++next)
        {
            bits += 8.0 * static_cast<double>(arrivals.m_bytes[next]);
        }
        std::cout << " " << bits / step / hostBits;
    }
    std::cout << "\n";
}

void
WritePlot(const Arrivals& arrivals, const std::string& file)
{
    std::ofstream out(file);
    out << "# ms, % of messages complete\n";
    for (std::size_t i = 0; i < arrivals.m_completions.size(); ++i)
    {
        out << arrivals.m_completions[i].ToDouble(Time::MS) << " "
            << 100.0 * static_cast<double>(i + 1) / static_cast<double>(arrivals.m_completions.size())
            << "\n";
    }
}

/// \returns false if something had not arrived when nothing was left to do.
bool
Run(const Scenario& scenario)
{
    OperaHelper helper;
    helper.SetNetworkAttribute("Rate", DataRateValue(scenario.rate));
    helper.SetGroups(scenario.groups);
    const OperaInstallation opera = helper.Create(scenario.racks, scenario.hostsPerRack, scenario.rotors);
    Arrivals arrivals;
    opera.network->TraceConnectWithoutContext("BulkDelivered", MakeCallback(&Arrivals::Note, &arrivals));
    const uint32_t hosts = opera.network->GetLayout().GetHosts();
    uint64_t messages = 0;
    for (uint32_t from = 0; from < hosts; ++from)
    {
        for (uint32_t to = 0; to < hosts; ++to)
        {
            if (from / scenario.hostsPerRack != to / scenario.hostsPerRack)
            {
                opera.network->Send({from, to, scenario.bytes, nullptr, messages++, 0});
            }
        }
    }
    // A pair of hosts sends its even part of a slot once in a cycle.
    const OperaSchedule& schedule = opera.network->GetSchedule();
    const uint64_t part =
        opera.network->GetSlotPackets(schedule, scenario.hostsPerRack) / scenario.hostsPerRack;
    const uint64_t packets = (scenario.bytes + PAYLOAD - 1) / PAYLOAD;
    const Time cycle = PicoSeconds(schedule.GetLength() * schedule.GetSuperslices());
    std::cout << messages << " messages of " << packets << " packets; a pair of hosts sends " << part
              << " in a cycle of " << cycle.ToDouble(Time::MS) << " ms, so they take "
              << (packets + part - 1) / part << " cycles and a slot at most\n";
    Simulator::Run();
    if (arrivals.m_completions.size() == messages)
    {
        std::cout << "complete after (ms): p1 " << arrivals.GetPercentile(0.01).ToDouble(Time::MS) << ", p50 "
                  << arrivals.GetPercentile(0.5).ToDouble(Time::MS) << ", p99 "
                  << arrivals.GetPercentile(0.99).ToDouble(Time::MS) << ", last "
                  << arrivals.m_completions.back().ToDouble(Time::MS) << "\n";
        PrintLoad(arrivals, static_cast<double>(hosts) * static_cast<double>(scenario.rate.GetBitRate()));
        if (!scenario.plot.empty())
        {
            WritePlot(arrivals, scenario.plot);
        }
        const OperaBulk::Counters& counters = opera.network->GetBulk().GetCounters();
        std::cout << counters.packets << " packets left hosts, " << counters.returned
                  << " of them came to a circuit that was gone\n";
    }
    Simulator::Destroy();
    return arrivals.m_completions.size() == messages;
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Scenario scenario;
    CommandLine command(__FILE__);
    command.AddValue("racks", "2 to 512, a multiple of the rotors", scenario.racks);
    command.AddValue("hostsPerRack", "1 to 64", scenario.hostsPerRack);
    command.AddValue("rotors", "rotor switches, 1 to 64", scenario.rotors);
    command.AddValue(
        "groups", "of rotors; 1: Opera, one reconfigures at a time; all of them: RotorNet", scenario.groups);
    command.AddValue("bytes", "from each host to each of another rack, 1 to 10^9", scenario.bytes);
    command.AddValue("rate", "of every link, at least 1 Gb/s", scenario.rate);
    command.AddValue("plot", "file for gnuplot: messages complete over time", scenario.plot);
    command.Parse(argc, argv);
    const auto isBetween = [](uint64_t value, uint64_t least, uint64_t most) {
        return least <= value && value <= most;
    };
    if (!isBetween(scenario.racks, 2, 512) || !isBetween(scenario.hostsPerRack, 1, 64) ||
        !isBetween(scenario.rotors, 1, 64) || scenario.racks % scenario.rotors != 0 || scenario.groups == 0 ||
        scenario.rotors % scenario.groups != 0 || !isBetween(scenario.bytes, 1, 1'000'000'000) ||
        !isBetween(scenario.rate.GetBitRate(), 1'000'000'000, 1'000'000'000'000))
    {
        std::cerr << "A value is out of range; see --PrintHelp.\n";
        return 2;
    }
    const OperaSchedule::Timing timing{48'800'000, 1'700'000, 10'000'000};
    const OperaSchedule schedule(
        OperaSchedule::MakeCyclicMatchings(scenario.racks, scenario.rotors), scenario.groups, timing);
    const OperaLayout layout{scenario.racks, scenario.hostsPerRack, scenario.rotors};
    if (OperaBulk::GetSlotPackets(layout, schedule, scenario.rate.GetBitRate(), PAYLOAD + HEADER) <
        scenario.hostsPerRack)
    {
        std::cerr << "A value is out of range: a slot has no room for a packet of each host.\n";
        return 2;
    }
    if (!Run(scenario))
    {
        std::cerr << "Some messages never arrived.\n";
        return 1;
    }
    return 0;
}
