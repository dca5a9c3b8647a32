// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_packet_backend.hpp"

#include <algorithm>

#include <ns3/simulator.h>
#include <ns3/uinteger.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/undeliverable.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::LinkId;
using network::Message;
using network::rotor::RotorNetwork;

namespace {

const RotorNetwork& checked(const network::Fabric& fabric, const PacketOptions& options) {
    ASTROLABE_ASSERT(network::rotor::rotors_of(fabric) != nullptr, "the fabric has rotors");
    const auto reason = opera_unsupported(fabric, options);
    ASTROLABE_ASSERT(!reason.has_value(), *reason);
    return *network::rotor::rotors_of(fabric);
}

sim::Ptr<sim::OperaNetwork> configure(const RotorNetwork& network, const PacketOptions& options) {
    auto opera = sim::CreateObject<sim::OperaNetwork>();
    const auto set = [&opera](const char* name, std::uint64_t value) {
        opera->SetAttribute(name, sim::UintegerValue(value));
    };
    const auto set_time = [&opera](const char* name, Time time) {
        opera->SetAttribute(name, sim::TimeValue(sim::TimeStep(static_cast<std::uint64_t>(time.count()))));
    };
    opera->SetAttribute("Rate",
                        sim::DataRateValue(sim::DataRate(static_cast<std::uint64_t>(network.rate.count()))));
    opera->SetAttribute(
        "HostRate",
        sim::DataRateValue(sim::DataRate(static_cast<std::uint64_t>(network.rate_of_host().count()))));
    set_time("HostLatency", network.host_latency);
    set_time("Propagation", network.propagation);
    set("Payload", count_of(network.bulk.payload));
    set("Header", count_of(network.bulk.header));
    set("Queue", static_cast<std::uint64_t>(network.low_latency.queue));
    set("Window", static_cast<std::uint64_t>(network.low_latency.window));
    set_time("Timeout", Time(options.transport.timeout));
    set("MaxBackoff", options.transport.maxBackoff);
    set("RetryLimit", options.transport.retryLimit);
    return opera;
}

std::unique_ptr<SlicePathSource> path_source(const RotorNetwork& network, std::uint64_t seed) {
    return network.paths == nullptr ? nullptr : std::make_unique<SlicePathSource>(network, seed);
}

}  // namespace

OperaPacketBackend::OperaPacketBackend(std::shared_ptr<const network::Fabric> fabric,
                                       const PacketOptions& options, std::uint64_t seed)
    : PacketEngineBackend(seed),
      fabric_(std::move(fabric)),
      network_(checked(*fabric_, options)),
      links_(*fabric_),
      retry_limit_(options.transport.retryLimit),
      schedule_(to_ns3(network_)),
      policy_(rotor_lb_policy(network_, schedule_, seed ^ network_.seed)),
      paths_(path_source(network_, seed ^ network_.seed)),
      opera_(configure(network_, options)) {
    opera_->Build(schedule_, network_.hosts_per_rack, &policy_, paths_.get(), client());
    opera_->GetFabric()->GetContext().random = sim::PacketRandom(seed + 1);
}

void OperaPacketBackend::send(const Message& message) {
    sent(message);
    opera_->Send(to_engine(message, 0), network_.is_low_latency(message.size, message.traffic_class));
}

std::vector<network::OutstandingMessage> OperaPacketBackend::describe_outstanding(std::size_t limit) const {
    std::vector<network::OutstandingMessage> described;
    describe(opera_->GetTransport()->GetOutstanding(), limit, described);
    describe(opera_->GetBulk().GetOutstanding(), limit, described);
    return described;
}

std::string OperaPacketBackend::explain_stall() const {
    std::string text;
    if (opera_->GetBulk().IsStuck()) {
        text =
            network::rotor::describe_undeliverable(network_, now(), policy_.GetOwn(), policy_.GetRelayed());
    }
    const auto given_up = opera_->GetTransport()->GetGivenUp();
    if (!given_up.empty()) {
        text += text.empty() ? "" : "\n";
        text += std::to_string(given_up.size()) + " pairs of hosts had more than " +
                std::to_string(retry_limit_) +
                " timeouts of low-latency packets in a row (retry_limit) and gave up:" +
                network::rotor::describe_given_up(network_, now(), given_up);
    }
    return text;
}

std::optional<Bytes> OperaPacketBackend::carried(LinkId link) const {
    const sim::OperaLayout& layout = opera_->GetLayout();
    const bool leaves_host = fabric_->node(fabric_->source(link)).kind == network::NodeKind::kHost;
    const network::NodeId end = leaves_host ? fabric_->source(link) : fabric_->target(link);
    const std::uint32_t first = 2 * end.index();
    if (first >= 2 * layout.GetHosts()) {
        return std::nullopt;
    }
    const std::uint32_t port = layout.IsHostPort(first) == leaves_host ? first : first + 1;
    return Bytes(static_cast<std::int64_t>(opera_->GetFabric()->GetPort(port).GetCounters().carriedBytes));
}

Bytes OperaPacketBackend::bytes_delivered() const {
    return Bytes(static_cast<std::int64_t>(opera_->GetTransport()->GetCounters().bytes +
                                           opera_->GetBulk().GetCounters().bytes));
}

network::PresentLimits OperaPacketBackend::present_limits(std::size_t most) const {
    std::vector<Bytes> waiting(fabric_->link_count());
    for (std::uint32_t port = 0; port < 2 * fabric_->host_count(); ++port) {
        waiting[link_of(port)->index()] =
            Bytes(static_cast<std::int64_t>(opera_->GetFabric()->GetPort(port).GetWaitingBytes()));
    }
    network::PresentLimits limits =
        deepest_queues(fabric_->link_count(), most, [&](LinkId link) { return waiting[link.index()]; });
    limits.circuit_waits = opera_->GetBulk().GetOutstanding().size();
    return limits;
}

network::NetworkStatistics OperaPacketBackend::statistics() const {
    const auto& bulk = opera_->GetBulk().GetCounters();
    network::NetworkStatistics statistics =
        start_statistics(*opera_->GetTransport(), opera_->GetFabric()->GetContext());
    statistics.messages += bulk.messages;
    statistics.bytes_delivered += Bytes(static_cast<std::int64_t>(bulk.bytes));
    statistics.packets += bulk.packets;
    statistics.links.resize(fabric_->link_count());
    add_ports(statistics);
    add_circuits(statistics);
    return statistics;
}

/// The link of the fabric behind a port of the model; none behind an uplink that idles.
std::optional<LinkId> OperaPacketBackend::link_of(std::uint32_t port, std::int64_t when) const {
    const sim::OperaLayout& layout = opera_->GetLayout();
    const std::uint32_t hosts = layout.GetHosts();
    if (port < 2 * hosts) {
        return link_of(port);
    }
    const std::uint32_t rack = layout.GetRackOfUpPort(port);
    const std::uint32_t rotor = (port - 2 * hosts) % layout.rotors;
    const sim::OperaSchedule& schedule = opera_->GetSchedule();
    const std::uint32_t matching = schedule.GetMatchingIndex(rotor, schedule.GetSuperslice(when));
    if (schedule.GetPeer(rotor, matching, rack, 0) == rack) {
        return std::nullopt;
    }
    return links_.circuit(rotor, matching, rack);
}

/// Of a host's cable.
std::optional<LinkId> OperaPacketBackend::link_of(std::uint32_t port) const {
    const sim::OperaLayout& layout = opera_->GetLayout();
    if (port >= 2 * layout.GetHosts()) {
        return std::nullopt;
    }
    return layout.IsHostPort(port) ? links_.up(port / 2) : links_.down(port / 2);
}

std::uint32_t OperaPacketBackend::payload_of(const sim::PacketDescriptor& packet) const {
    if (packet.Is(sim::PacketDescriptor::BULK)) {
        return opera_->GetBulk().GetPayload(packet);
    }
    return packet.IsData() ? packet.bytes - static_cast<std::uint32_t>(network_.bulk.header.count()) : 0;
}

void OperaPacketBackend::connect(PacketLinkTap& tap) {
    connect_received(*opera_->GetTransport(), tap);
    opera_->TraceConnectWithoutContext("BulkReceived", sim::MakeCallback(&PacketLinkTap::received, &tap));
    opera_->TraceConnectWithoutContext(
        "Crossed",
        sim::Callback<void, std::uint32_t, std::uint32_t, std::uint32_t, const sim::PacketDescriptor&>(
            [this, &tap](std::uint32_t rotor, std::uint32_t matching, std::uint32_t rack,
                         const sim::PacketDescriptor& packet) {
                tap.crossed(links_.circuit(rotor, matching, rack), packet);
            }));
}

/// What all ports counted; of hosts' links also which.
void OperaPacketBackend::add_ports(network::NetworkStatistics& statistics) const {
    const sim::PacketFabric& ports = *opera_->GetFabric();
    const std::int64_t now = sim::Simulator::Now().GetTimeStep();
    for (std::uint32_t number = 0; number < ports.GetPortCount(); ++number) {
        const sim::PacketPort& port = ports.GetPort(number);
        const sim::PacketPort::Counters& counters = port.GetCounters();
        statistics.packet_hops += counters.dataPackets;
        statistics.trims += counters.trims;
        const Bytes peak(static_cast<std::int64_t>(counters.peakBytes));
        statistics.queue_peak = std::max(statistics.queue_peak, peak);
        if (number >= 2 * fabric_->host_count()) {
            continue;
        }
        network::LinkStatistics& link = statistics.links[*link_of(number, now)];
        link.carried = Bytes(static_cast<std::int64_t>(counters.carriedBytes));
        link.queue_peak = peak;
        link.queue_mean = port.GetQueue().GetMeanWaitingBytes(now);
        link.drops = counters.drops;
        link.trims = counters.trims;
    }
}

void OperaPacketBackend::add_circuits(network::NetworkStatistics& statistics) const {
    const network::rotor::RotorSchedule& schedule = network_.schedule;
    for (network::rotor::Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        for (std::uint32_t matching = 0; matching < schedule.matchings_per_rotor(); ++matching) {
            for (network::rotor::Rack rack = 0; rack < schedule.racks(); ++rack) {
                if (schedule.matching(rotor, matching)[rack] != rack) {
                    statistics.links[links_.circuit(rotor, matching, rack)].carried =
                        Bytes(static_cast<std::int64_t>(
                            opera_->GetRouter().GetCarriedBytes(rotor, matching, rack)));
                }
            }
        }
    }
}

std::uint64_t OperaPacketBackend::returned_packets() const {
    return opera_->GetBulk().GetCounters().returned;
}

std::uint64_t OperaPacketBackend::returned_headers() const {
    return opera_->GetFabric()->GetContext().returns;
}

std::uint64_t OperaPacketBackend::packets_lost_in_the_dark() const {
    return opera_->GetRouter().GetLost();
}

}  // namespace astrolabe::ns3
