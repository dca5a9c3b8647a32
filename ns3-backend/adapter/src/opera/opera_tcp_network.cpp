// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_tcp_network.hpp"

#include "tcp/attributes.hpp"

#include <algorithm>
#include <utility>

#include <ns3/ethernet-header.h>
#include <ns3/fabric-helper.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/node-container.h>
#include <ns3/opera-helper.h>
#include <ns3/opera-switch.h>
#include <ns3/simulator.h>
#include <ns3/uinteger.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>
#include <astrolabe/network/rotor/undeliverable.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::HostId;
using network::LinkId;
using network::Message;
using network::NodeId;
using network::rotor::RotorNetwork;

namespace {

constexpr auto kBulkDscp = sim::Ipv4Header::DSCP_CS1;

Bytes frame_size(std::uint32_t datagram) {
    return Bytes(std::max<std::int64_t>(datagram + sim::OperaFrame::OVERHEAD, sim::OperaFrame::SMALLEST));
}

sim::DataRate rate_of(Bandwidth rate) {
    return sim::DataRate(static_cast<std::uint64_t>(rate.count()));
}

sim::Time time_of(Time time) {
    return sim::TimeStep(static_cast<std::uint64_t>(time.count()));
}

/// Whether all racks that have any circuit have a path to one another in every superslice.
bool has_paths_throughout(const network::rotor::RotorSchedule& schedule) {
    using network::rotor::RackGraph;
    const std::vector<std::uint8_t> connected = network::rotor::connected_racks(schedule);
    const std::size_t racks = schedule.racks();
    std::vector<std::uint8_t> is_live(racks, connected.empty() ? 1 : 0);
    for (std::size_t pair = 0; pair < connected.size(); ++pair) {
        if (connected[pair] != 0 && pair / racks != pair % racks) {
            is_live[pair / racks] = 1;
        }
    }
    for (std::uint64_t superslice = 0; superslice < schedule.superslices(); ++superslice) {
        const std::vector<std::uint16_t> hops = network::rotor::SliceGraph(schedule, superslice).distances();
        for (std::size_t pair = 0; pair < hops.size(); ++pair) {
            if (hops[pair] == RackGraph::kUnreachable && is_live[pair / racks] != 0 &&
                is_live[pair % racks] != 0) {
                return false;
            }
        }
    }
    return true;
}

/// Whether anything is low-latency: messages, or else what carries no payload, as long as it has a path at
/// all times.
bool uses_paths(const RotorNetwork& network) {
    if (network.has_low_latency()) {
        return true;
    }
    for (std::size_t state = 0; state <= network.failing.size(); ++state) {
        if (!has_paths_throughout(network.schedule_of(state))) {
            return false;
        }
    }
    return true;
}

/// As the network asks for it, and all else that the helper would draw.
void configure(sim::OperaHelper& helper, const RotorNetwork& network, const TcpOptions& options) {
    const sim::OperaSchedule schedule = to_ns3(network);
    helper.SetSize(schedule.GetRacks(), schedule.GetRotors());
    helper.SetSchedule(schedule);
    helper.SetRates(rate_of(network.rate), rate_of(network.rate_of_host()));
    helper.SetDelays(time_of(network.propagation), time_of(network.host_latency));
    helper.SetQueue(static_cast<std::uint32_t>(network.low_latency.queue));
    const network::rotor::RotorLbOptions bulk = network::rotor::rotor_lb_options(network);
    helper.SetBulkOptions(
        {bulk.two_hops, bulk.intra_rack_direct, bulk.remainders == network::rotor::Remainders::kRoundRobin});
    helper.SetSeed(options.seed ^ network.seed);
    helper.SetLowLatencyPaths(uses_paths(network) ? 1 : 0);
    helper.SetDeviceAttribute("Mtu", sim::UintegerValue(static_cast<std::uint64_t>(options.mtu.count())));
    helper.SetDscpService(kBulkDscp, sim::OperaService::BULK);
    helper.SetDscpService(sim::Ipv4Header::DscpDefault, sim::OperaService::LOW_LATENCY);
}

void add_interface(sim::Ptr<sim::Node> node, sim::Ptr<sim::NetDevice> device, sim::Ipv4Address address) {
    const auto ip = node->GetObject<sim::Ipv4L3Protocol>();
    const std::uint32_t interface = ip->AddInterface(device);
    ip->AddAddress(interface, sim::Ipv4InterfaceAddress(address, sim::Ipv4Mask::GetOnes()));
    ip->SetUp(interface);
    // A connection may be opened before the simulator runs its first event, which is when ns-3 would do this.
    node->Initialize();
}

}  // namespace

std::unique_ptr<TcpBackend> make_opera_tcp(std::shared_ptr<const network::Fabric> fabric,
                                           const TcpOptions& options) {
    const auto reason = opera_tcp_unsupported(*fabric, options);
    ASTROLABE_ASSERT(!reason.has_value(), *reason);
    const TcpOptions own = on_rotors(options, *fabric);
    return std::make_unique<TcpBackend>(
        [&] { return std::make_unique<OperaTcpNetwork>(std::move(fabric), own); }, own);
}

OperaTcpNetwork::OperaTcpNetwork(std::shared_ptr<const network::Fabric> fabric, const TcpOptions& options)
    : TcpNetwork(std::move(fabric)),
      network_(*network::rotor::rotors_of(this->fabric())),
      links_(this->fabric()) {
    build(options);
    index_circuits();
}

void OperaTcpNetwork::build(const TcpOptions& options) {
    const sim::FabricHelper hosts(static_cast<std::uint16_t>(options.mtu.count()));
    // Filled below, and used when packets leave; it lives as long as the nodes.
    const auto cards = std::make_shared<std::vector<sim::Ptr<sim::NetDevice>>>();
    sim::NodeContainer nodes;
    for (std::uint32_t host = 0; host < fabric().host_count(); ++host) {
        hosts_.push_back(hosts.CreateHost(
            address(HostId(host)),
            sim::FabricRouting::RouteCallback([cards, host](sim::Ipv4Address, sim::Ipv4Address to) {
                const bool is_host = host_of(to).index() < cards->size();
                return is_host ? (*cards)[host] : sim::Ptr<sim::NetDevice>();
            })));
        nodes.Add(hosts_.back());
    }
    sim::OperaHelper helper;
    configure(helper, network_, options);
    const sim::NetDeviceContainer installed = helper.Install(nodes);
    opera_ = helper.GetFabric();
    ASTROLABE_ASSERT(opera_->GetSlotPackets() == network::rotor::rotor_lb_options(network_).slot,
                     "devices and the network agree on what a circuit takes");
    if (network_.paths != nullptr && uses_paths(network_)) {
        opera_->SetPaths(std::make_unique<SlicePathSource>(network_, options.seed ^ network_.seed));
    }
    devices_.resize(fabric().link_count());
    const std::uint64_t marked =
        uses_ecn(options) ? static_cast<std::uint64_t>(options.ecn_threshold.count()) : 0;
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
        cards->push_back(installed.Get(host));
        add_interface(hosts_[host], installed.Get(host), address(HostId(host)));
        const auto top =
            helper.GetSwitches().Get(host / network_.hosts_per_rack)->GetObject<sim::OperaSwitch>();
        const sim::Ptr<sim::OperaNetDevice> down = top->GetDownPort(host % network_.hosts_per_rack);
        down->SetAttribute("MarkThreshold", sim::UintegerValue(marked));
        devices_[links_.up(host)] = sim::DynamicCast<sim::OperaNetDevice>(installed.Get(host));
        devices_[links_.down(host)] = down;
    }
    for (std::uint32_t rack = 0; rack < network_.schedule.racks(); ++rack) {
        const auto top = helper.GetSwitches().Get(rack)->GetObject<sim::OperaSwitch>();
        for (std::uint32_t rotor = 0; rotor < network_.schedule.uplinks(); ++rotor) {
            up_ports_.push_back(top->GetUpPort(rotor));
            up_ports_.back()->SetAttribute("MarkThreshold", sim::UintegerValue(marked));
        }
    }
}

void OperaTcpNetwork::index_circuits() {
    circuits_.resize(fabric().link_count());
    const network::rotor::RotorSchedule& schedule = network_.schedule;
    for (std::uint32_t rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        for (std::uint32_t matching = 0; matching < schedule.matchings_per_rotor(); ++matching) {
            for (std::uint32_t rack = 0; rack < schedule.racks(); ++rack) {
                if (schedule.matching(rotor, matching)[rack] != rack) {
                    circuits_[links_.circuit(rotor, matching, rack)] = {rotor, matching, rack};
                }
            }
        }
    }
}

Lanes OperaTcpNetwork::lanes_of(const Message& message) const {
    return {network_.is_low_latency(message.size, message.traffic_class) ? kLowLatency : kBulk, 1};
}

std::uint16_t OperaTcpNetwork::port(HostId source, std::uint32_t lane) const {
    constexpr std::uint32_t kOfLane = kPorts / 2;
    return static_cast<std::uint16_t>(kFirstPort + lane * kOfLane + source.index() % kOfLane);
}

void OperaTcpNetwork::prepare(sim::Socket& sender, std::uint32_t lane) const {
    if (lane == kBulk) {
        constexpr unsigned kEcnBits = 2;
        sender.SetIpTos(static_cast<std::uint8_t>(kBulkDscp << kEcnBits));
    }
}

void OperaTcpNetwork::observe(network::LinkObserver& observer) {
    for (LinkId id; id.index() < devices_.size(); ++id) {
        if (devices_[id] != nullptr) {
            Transmitter& transmitter =
                transmitters_.emplace_back(Transmitter{observer, id, fabric().link(id).rate});
            devices_[id]->TraceConnectWithoutContext(
                "PhyTxBegin", sim::MakeBoundCallback(&OperaTcpNetwork::transmitted, &transmitter));
        }
    }
    report_crossings(observer);
}

void OperaTcpNetwork::transmitted(Transmitter* transmitter, sim::Ptr<const sim::Packet> frame) {
    const sim::Ptr<sim::Packet> datagram = frame->Copy();
    sim::EthernetHeader header(false);
    datagram->RemoveHeader(header);
    const Bytes bytes = frame_size(datagram->GetSize());
    const Time now(sim::Simulator::Now().GetTimeStep());
    transmitter->observer.carried(transmitter->link, now, now + bytes / transmitter->rate,
                                  {static_cast<double>(bytes.count()),
                                   static_cast<double>(sim::OperaClassifier::GetPayload(datagram))});
}

void OperaTcpNetwork::report_crossings(network::LinkObserver& observer) {
    using Crossed = sim::Callback<void, std::uint32_t, std::uint32_t, std::uint32_t, const sim::OperaFrame&>;
    opera_->TraceConnectWithoutContext(
        "Crossed", Crossed([this, &observer](std::uint32_t rotor, std::uint32_t matching, std::uint32_t rack,
                                             const sim::OperaFrame& frame) {
            const Bytes bytes(frame.GetBytes());
            const Time end = Time(sim::Simulator::Now().GetTimeStep()) - network_.propagation;
            observer.carried(links_.circuit(rotor, matching, rack), end - bytes / network_.rate, end,
                             {static_cast<double>(bytes.count()), static_cast<double>(frame.payload)});
        }));
}

Bytes OperaTcpNetwork::carried(LinkId link) const {
    if (devices_[link] != nullptr) {
        return Bytes(static_cast<std::int64_t>(devices_[link]->GetCounters().sentBytes));
    }
    const auto [rotor, matching, rack] = circuits_[link];
    return Bytes(static_cast<std::int64_t>(opera_->GetCarriedBytes(rotor, matching, rack)));
}

Bytes OperaTcpNetwork::waiting(LinkId link) const {
    return Bytes(devices_[link] != nullptr ? devices_[link]->GetWaitingBytes() : 0);
}

void OperaTcpNetwork::add_counters(network::NetworkStatistics& statistics) const {
    const auto add = [&statistics](const sim::OperaNetDevice::Counters& counters, bool is_switch) {
        statistics.packet_hops += counters.dataFrames;
        statistics.ecn_marks += counters.marks;
        // The queue of a host is host memory; the network's queues are those of the switches.
        const Bytes peak(is_switch ? static_cast<std::int64_t>(counters.peakBytes) : 0);
        statistics.queue_peak = std::max(statistics.queue_peak, peak);
    };
    statistics.links.resize(fabric().link_count());
    for (LinkId id; id.index() < fabric().link_count(); ++id) {
        network::LinkStatistics& link = statistics.links[id];
        link.carried = carried(id);
        if (devices_[id] != nullptr) {
            const sim::OperaNetDevice::Counters& counters = devices_[id]->GetCounters();
            link.queue_peak = Bytes(static_cast<std::int64_t>(counters.peakBytes));
            link.drops = counters.drops;
            link.marks = counters.marks;
            add(counters, fabric().node(fabric().source(id)).kind == network::NodeKind::kSwitch);
        }
    }
    for (const auto& port : up_ports_) {
        add(port->GetCounters(), true);
    }
    statistics.drops += opera_->GetCounters().drops + opera_->GetCounters().lost;
}

std::string OperaTcpNetwork::explain_stall(const std::vector<network::OutstandingMessage>&) const {
    if (!opera_->IsStuck()) {
        return {};
    }
    const auto& policy = static_cast<const sim::OperaRotorLbPolicy&>(opera_->GetPolicy());
    return network::rotor::describe_undeliverable(network_, Time(sim::Simulator::Now().GetTimeStep()),
                                                  policy.GetOwn(), policy.GetRelayed());
}

std::string OperaTcpNetwork::describe_given_up(const std::vector<HostPair>& pairs) const {
    std::vector<network::rotor::PairOfHosts> by_number;
    for (const auto& [source, destination] : pairs) {
        by_number.emplace_back(source.index(), destination.index());
    }
    return network::rotor::describe_given_up(network_, Time(sim::Simulator::Now().GetTimeStep()), by_number);
}

}  // namespace astrolabe::ns3
