// SPDX-License-Identifier: GPL-2.0-only
#include "opera-helper.h"

#include "ns3/abort.h"
#include "ns3/opera-bulk.h"
#include "ns3/opera-channel.h"
#include "ns3/opera-net-device.h"
#include "ns3/opera-slice-paths.h"
#include "ns3/opera-switch.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/factorisation.hpp>

#include <algorithm>
#include <utility>

namespace ns3
{

namespace rotor = astrolabe::network::rotor;

void
OperaHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    m_network.Set(name, value);
}

void
OperaHelper::SetTiming(Time eps, Time del, Time r)
{
    m_timing = OperaSchedule::Timing{eps.GetPicoSeconds(), del.GetPicoSeconds(), r.GetPicoSeconds()};
}

void
OperaHelper::SetGroups(uint32_t groups)
{
    m_groups = groups;
}

void
OperaHelper::SetMatchings(std::vector<std::vector<OperaSchedule::Matching>> matchings)
{
    m_matchings = std::move(matchings);
}

void
OperaHelper::SetSchedule(const OperaSchedule& schedule)
{
    m_schedule = schedule;
}

void
OperaHelper::SetBulkOptions(const OperaRotorLbPolicy::Options& options)
{
    m_bulk = options;
}

void
OperaHelper::SetLowLatencyPaths(std::size_t most)
{
    m_paths = most;
}

void
OperaHelper::SetSeed(uint64_t seed)
{
    m_seed = seed;
}

void
OperaHelper::SetSize(uint32_t racks, uint32_t rotors)
{
    NS_ABORT_MSG_IF(racks == 0 || rotors == 0 || racks % rotors != 0,
                    racks << " racks on " << rotors
                          << " rotors, expected a multiple of the rotors: they have as many matchings each");
    m_racks = racks;
    m_rotors = rotors;
}

void
OperaHelper::SetRates(DataRate rate, DataRate hostRate)
{
    NS_ABORT_MSG_IF(rate.GetBitRate() == 0 || hostRate.GetBitRate() == 0,
                    "a rate of " << rate << " between racks and " << hostRate
                                 << " of hosts, expected more than 0 bit/s of both");
    m_rate = rate;
    m_hostRate = hostRate;
}

void
OperaHelper::SetDelays(Time betweenRacks, Time ofHosts)
{
    NS_ABORT_MSG_IF(betweenRacks.IsStrictlyNegative() || ofHosts.IsStrictlyNegative(),
                    "delays of " << betweenRacks.As(Time::NS) << " and " << ofHosts.As(Time::NS)
                                 << ", expected 0 or more");
    m_propagation = betweenRacks;
    m_hostDelay = ofHosts;
}

void
OperaHelper::SetQueue(uint32_t frames)
{
    NS_ABORT_MSG_IF(frames == 0, "a queue of 0 frames, expected 1 or more");
    m_queue = frames;
}

void
OperaHelper::SetDraws(uint32_t draws)
{
    NS_ABORT_MSG_IF(draws == 0, "0 draws of matchings, expected 1 or more");
    m_draws = draws;
}

void
OperaHelper::SetDeviceAttribute(const std::string& name, const AttributeValue& value)
{
    m_device.Set(name, value);
}

void
OperaHelper::SetFabricAttribute(const std::string& name, const AttributeValue& value)
{
    m_fabricFactory.Set(name, value);
}

void
OperaHelper::SetClassifierAttribute(const std::string& name, const AttributeValue& value)
{
    m_classifier.Set(name, value);
}

void
OperaHelper::SetPortService(uint16_t port, OperaService service)
{
    m_ports.emplace_back(port, service);
}

void
OperaHelper::SetDscpService(Ipv4Header::DscpType dscp, OperaService service)
{
    m_dscps.emplace_back(dscp, service);
}

void
OperaHelper::UseRotorLb()
{
    m_isRotorLb = true;
}

namespace
{

/// Groups of rotors when paths are measured. Where all rotors switch together no path lasts, and the authors
/// take those of one group.
uint32_t
GetGroupsOfPaths(uint32_t groups, uint32_t rotors)
{
    return groups < rotors ? groups : 1;
}

} // namespace

std::vector<std::vector<OperaSchedule::Matching>>
OperaHelper::DrawMatchings(uint32_t racks, uint32_t rotors) const
{
    NS_ABORT_MSG_IF(racks > rotor::kMaxRacks,
                    racks << " racks, expected at most " << rotor::kMaxRacks
                          << " where matchings are drawn: give some (SetMatchings)");
    astrolabe::RandomStream random(m_seed, "opera matchings");
    std::vector<rotor::Matching> drawn = rotor::draw_factorisation(racks, random);
    std::vector<std::vector<OperaSchedule::Matching>> best;
    uint32_t fewest = 0;
    for (uint32_t i = 0; i < m_draws; ++i)
    {
        random.shuffle(drawn);
        const auto dealt = rotor::deal(drawn, rotors);
        const uint32_t hops =
            OperaSlicePaths::GetMostHops(OperaSchedule(dealt, GetGroupsOfPaths(m_groups, rotors), {1, 0, 0}));
        if (best.empty() || (hops > 0 && (fewest == 0 || hops < fewest)))
        {
            best = dealt;
            fewest = hops;
        }
    }
    return best;
}

OperaSchedule::Timing
OperaHelper::DeriveTiming(const std::vector<std::vector<OperaSchedule::Matching>>& matchings,
                          uint32_t frameBytes) const
{
    const uint32_t hops = OperaSlicePaths::GetMostHops(
        OperaSchedule(matchings, GetGroupsOfPaths(m_groups, m_rotors), {1, 0, 0}));
    NS_ABORT_MSG_IF(hops == 0 && m_rotors > 1,
                    "these matchings leave racks without a path in some superslice, so no guard time follows "
                    "from them: take another seed (SetSeed), more draws (SetDraws) or set the times "
                    "(SetTiming)");
    const int64_t most = std::max<uint32_t>(hops, 1);
    const int64_t queue = m_queue;
    const int64_t p = m_propagation.GetPicoSeconds();
    const int64_t frames = OperaBulk::Serialize(static_cast<uint64_t>(frameBytes) *
                                                    static_cast<uint64_t>((most - 1) * queue + queue - 1),
                                                m_rate.GetBitRate());
    constexpr int64_t DARK = 10'000'000;
    OperaSchedule::Timing timing{
        p * (most - 1) + frames, p + OperaBulk::Serialize(frameBytes, m_rate.GetBitRate()), DARK};
    if (m_groups == m_rotors)
    {
        timing.eps = (timing.eps + timing.del + timing.r) * m_rotors - timing.del - timing.r;
    }
    return timing;
}

uint32_t
OperaHelper::GetFrameBytes() const
{
    return m_device.Create<OperaNetDevice>()->GetMtu() + OperaFrame::OVERHEAD;
}

OperaSchedule
OperaHelper::MakeSchedule(uint32_t frameBytes) const
{
    if (m_schedule)
    {
        return *m_schedule;
    }
    const auto matchings = m_matchings.empty() ? DrawMatchings(m_racks, m_rotors) : m_matchings;
    return {matchings, m_groups, m_timing ? *m_timing : DeriveTiming(matchings, frameBytes)};
}

void
OperaHelper::BuildFabric(uint32_t hostsPerRack)
{
    const uint32_t frameBytes = GetFrameBytes();
    const OperaSchedule schedule = MakeSchedule(frameBytes);
    NS_ABORT_MSG_IF(schedule.GetRacks() != m_racks || schedule.GetRotors() != m_rotors,
                    "matchings of " << schedule.GetRacks() << " racks on " << schedule.GetRotors()
                                    << " rotors, expected " << m_racks << " on " << m_rotors);
    m_fabric = m_fabricFactory.Create<OperaFabric>();
    const auto classifier = m_classifier.Create<OperaClassifier>();
    for (const auto& [port, service] : m_ports)
    {
        classifier->SetPort(port, service);
    }
    for (const auto& [dscp, service] : m_dscps)
    {
        classifier->SetDscp(dscp, service);
    }
    m_fabric->SetAttribute("Classifier", PointerValue(classifier));
    m_fabric->Build(schedule, hostsPerRack, m_hostRate.GetBitRate(), m_rate.GetBitRate(), frameBytes);
    m_fabric->SetPolicy(std::make_unique<OperaRotorLbPolicy>(
        m_fabric->GetSchedule(), hostsPerRack, m_fabric->GetSlotPackets(), m_bulk, m_seed));
    if (m_paths > 0 && schedule.GetResidence() > 1)
    {
        m_fabric->SetPaths(std::make_unique<OperaSlicePaths>(m_fabric->GetSchedule(), m_paths, m_seed));
    }
}

Ptr<OperaNetDevice>
OperaHelper::AddDevice(Ptr<Node> node, DataRate rate) const
{
    const auto device = m_device.Create<OperaNetDevice>();
    device->SetAttribute("DataRate", DataRateValue(rate));
    device->SetAddress(Mac48Address::Allocate());
    node->AddDevice(device);
    return device;
}

NetDeviceContainer
OperaHelper::Install(NodeContainer hosts)
{
    NS_ABORT_MSG_IF(m_racks == 0, "no racks: call SetSize first");
    NS_ABORT_MSG_IF(hosts.GetN() == 0 || hosts.GetN() % m_racks != 0,
                    hosts.GetN() << " hosts in " << m_racks
                                 << " racks, expected a multiple of the racks, at least one host in each");
    const uint32_t hostsPerRack = hosts.GetN() / m_racks;
    BuildFabric(hostsPerRack);
    const uint64_t room = uint64_t{m_queue} * GetFrameBytes();
    m_switches = NodeContainer();
    m_switches.Create(m_racks);
    std::vector<Ptr<OperaChannel>> rotors;
    for (uint32_t number = 0; number < m_rotors; ++number)
    {
        rotors.push_back(CreateObject<OperaChannel>());
        rotors.back()->SetAttribute("Delay", TimeValue(m_propagation));
        rotors.back()->SetRotor(m_fabric, number);
    }
    NetDeviceContainer devices;
    for (uint32_t rack = 0; rack < m_racks; ++rack)
    {
        const Ptr<Node> node = m_switches.Get(rack);
        const auto top = CreateObject<OperaSwitch>();
        top->Configure(m_fabric, rack);
        node->AggregateObject(top);
        const auto addPort = [&](DataRate rate) {
            const Ptr<OperaNetDevice> port = AddDevice(node, rate);
            port->SetAttribute("Queue", UintegerValue(room));
            port->Configure(m_fabric, 0, top);
            return port;
        };
        for (uint32_t i = 0; i < hostsPerRack; ++i)
        {
            const uint32_t host = rack * hostsPerRack + i;
            const Ptr<OperaNetDevice> card = AddDevice(hosts.Get(host), m_hostRate);
            const Ptr<OperaNetDevice> port = addPort(m_hostRate);
            card->Configure(m_fabric, host, nullptr);
            const auto cable = CreateObject<OperaChannel>();
            cable->SetAttribute("Delay", TimeValue(m_hostDelay));
            card->Attach(cable);
            port->Attach(cable);
            top->AddDownPort(port);
            m_fabric->AddHost(card);
            devices.Add(card);
        }
        for (const Ptr<OperaChannel>& channel : rotors)
        {
            const Ptr<OperaNetDevice> port = addPort(m_rate);
            port->Attach(channel);
            top->AddUpPort(port);
        }
    }
    return devices;
}

OperaInstallation
OperaHelper::Create(uint32_t racks, uint32_t hostsPerRack, uint32_t rotors) const
{
    NS_ABORT_MSG_IF(racks == 0 || rotors == 0 || racks % rotors != 0,
                    racks << " racks on " << rotors
                          << " rotors, expected a multiple of the rotors: they have as many matchings each");
    const OperaSchedule::Timing published{48'800'000, 1'700'000, 10'000'000};
    const auto unset = [&] {
        return m_isRotorLb ? DrawMatchings(racks, rotors) : OperaSchedule::MakeCyclicMatchings(racks, rotors);
    };
    OperaInstallation made;
    made.schedule = std::make_shared<OperaSchedule>(
        m_matchings.empty() ? unset() : m_matchings, m_groups, m_timing.value_or(published));
    const OperaSchedule& schedule = *made.schedule;
    NS_ABORT_MSG_IF(schedule.GetRacks() != racks || schedule.GetRotors() != rotors,
                    "matchings of " << schedule.GetRacks() << " racks on " << schedule.GetRotors()
                                    << " rotors, expected " << racks << " on " << rotors);
    made.network = m_network.Create<OperaNetwork>();
    const uint32_t packets = made.network->GetSlotPackets(schedule, hostsPerRack);
    if (m_isRotorLb)
    {
        made.policy = std::make_shared<OperaRotorLbPolicy>(schedule, hostsPerRack, packets, m_bulk, m_seed);
        if (m_paths > 0 && schedule.GetResidence() > 1)
        {
            made.paths = std::make_shared<OperaSlicePaths>(schedule, m_paths, m_seed);
        }
    }
    else
    {
        made.policy = std::make_shared<OperaEvenPolicy>(racks, hostsPerRack, packets);
    }
    made.network->Build(schedule, hostsPerRack, made.policy.get(), made.paths.get());
    return made;
}

void
OperaHelper::EnablePcapInternal(std::string prefix,
                                Ptr<NetDevice> device,
                                bool promiscuous,
                                bool explicitFilename)
{
    const auto opera = DynamicCast<OperaNetDevice>(device);
    if (!opera)
    {
        return; // of another helper, as for all devices of a node
    }
    PcapHelper pcap;
    const std::string name = explicitFilename ? prefix : pcap.GetFilenameFromDevice(prefix, device);
    const Ptr<PcapFileWrapper> file = pcap.CreateFile(name, std::ios::out, PcapHelper::DLT_EN10MB);
    pcap.HookDefaultSink<OperaNetDevice>(opera, promiscuous ? "PromiscSniffer" : "Sniffer", file);
}

void
OperaHelper::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                                 std::string prefix,
                                 Ptr<NetDevice> device,
                                 bool explicitFilename)
{
    const auto opera = DynamicCast<OperaNetDevice>(device);
    if (!opera)
    {
        return;
    }
    Packet::EnablePrinting();
    AsciiTraceHelper ascii;
    if (!stream)
    {
        const std::string name = explicitFilename ? prefix : ascii.GetFilenameFromDevice(prefix, device);
        const Ptr<OutputStreamWrapper> file = ascii.CreateFileStream(name);
        ascii.HookDefaultEnqueueSinkWithoutContext<OperaNetDevice>(opera, "Enqueue", file);
        ascii.HookDefaultDequeueSinkWithoutContext<OperaNetDevice>(opera, "Dequeue", file);
        ascii.HookDefaultDropSinkWithoutContext<OperaNetDevice>(opera, "Drop", file);
        ascii.HookDefaultDropSinkWithoutContext<OperaNetDevice>(opera, "PhyTxDrop", file);
        ascii.HookDefaultReceiveSinkWithoutContext<OperaNetDevice>(opera, "MacRx", file);
        return;
    }
    const std::string path = "/NodeList/" + std::to_string(device->GetNode()->GetId()) + "/DeviceList/" +
                             std::to_string(device->GetIfIndex()) + "/$ns3::OperaNetDevice/";
    ascii.HookDefaultEnqueueSinkWithContext<OperaNetDevice>(opera, path + "Enqueue", "Enqueue", stream);
    ascii.HookDefaultDequeueSinkWithContext<OperaNetDevice>(opera, path + "Dequeue", "Dequeue", stream);
    ascii.HookDefaultDropSinkWithContext<OperaNetDevice>(opera, path + "Drop", "Drop", stream);
    ascii.HookDefaultDropSinkWithContext<OperaNetDevice>(opera, path + "PhyTxDrop", "PhyTxDrop", stream);
    ascii.HookDefaultReceiveSinkWithContext<OperaNetDevice>(opera, path + "MacRx", "MacRx", stream);
}

} // namespace ns3
