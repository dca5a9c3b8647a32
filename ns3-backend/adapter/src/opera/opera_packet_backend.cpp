// SPDX-License-Identifier: GPL-2.0-only
#include "opera/opera_packet_backend.hpp"

#include "event_loop.hpp"
#include "opera/opera_decisions.hpp"
#include "packet/packet_tap.hpp"

#include <algorithm>

#include <ns3/opera-network.h>
#include <ns3/simulator.h>
#include <ns3/uinteger.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::HostId;
using network::LinkId;
using network::Message;
using network::rotor::RotorNetwork;

namespace {

std::uint64_t count_of(Bytes bytes) {
    return static_cast<std::uint64_t>(bytes.count());
}

const RotorNetwork& checked(const network::Fabric& fabric, const PacketOptions& options) {
    ASTROLABE_ASSERT(fabric.rotors() != nullptr, "the fabric has rotors");
    const auto refused = opera_refusal(fabric, options);
    ASTROLABE_ASSERT(!refused.has_value(), *refused);
    return *fabric.rotors();
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

class OperaPacketBackend::Simulation final : public sim::PacketTransportClient {
public:
    Simulation(std::shared_ptr<const network::Fabric> fabric, const PacketOptions& options,
               std::uint64_t seed)
        : fabric_(std::move(fabric)),
          network_(checked(*fabric_, options)),
          links_(*fabric_),
          loop_(seed),
          retry_limit_(options.transport.retryLimit),
          policy_(network_, seed ^ network_.seed),
          paths_(path_source(network_, seed ^ network_.seed)),
          opera_(configure(network_, options)) {
        opera_->Build(to_ns3(network_), network_.hosts_per_rack, &policy_, paths_.get(), this);
        opera_->GetFabric()->GetContext().random = sim::PacketRandom(seed + 1);
    }

    void send(const Message& message) {
        loop_.sent(message);
        opera_->Send({static_cast<std::uint32_t>(message.source.index()),
                      static_cast<std::uint32_t>(message.destination.index()), count_of(message.size),
                      message.on_delivered, message.token, 0},
                     network_.is_low_latency(message.size, message.traffic_class));
    }

    [[nodiscard]] EventLoop& loop() { return loop_; }
    [[nodiscard]] const sim::OperaNetwork& opera() const { return *opera_; }

    void Delivered(const sim::PacketMessage& message) override {
        loop_.delivered(*static_cast<network::NotificationHandler*>(message.owner), message.token);
    }

    void observe(network::PacketObserver& observer) {
        tap_ = std::make_unique<PacketTap>(
            *opera_->GetFabric(), observer,
            [this](std::uint32_t port, std::int64_t when) { return link_of(port, when); });
    }

    [[nodiscard]] std::vector<network::OutstandingMessage> describe_outstanding(std::size_t limit) const {
        std::vector<network::OutstandingMessage> described;
        const auto describe = [&](const auto& all) {
            for (const auto& [message, order, remaining] : all) {
                if (described.size() < limit) {
                    described.push_back({HostId(message.source), HostId(message.destination),
                                         Bytes(static_cast<std::int64_t>(message.bytes)),
                                         Bytes(static_cast<std::int64_t>(remaining))});
                }
            }
        };
        describe(opera_->GetTransport()->GetOutstanding());
        describe(opera_->GetBulk().GetOutstanding());
        return described;
    }

    [[nodiscard]] std::string explain_stall() const {
        std::string text;
        if (opera_->GetBulk().IsStuck()) {
            text = policy_.describe_stranded(Time(sim::Simulator::Now().GetTimeStep()));
        }
        const auto given_up = opera_->GetTransport()->GetGivenUp();
        if (!given_up.empty()) {
            text += text.empty() ? "" : "\n";
            text += std::to_string(given_up.size()) + " pairs of hosts had more than " +
                    std::to_string(retry_limit_) +
                    " timeouts of low-latency packets in a row (retry_limit) and gave up:" +
                    network::rotor::describe_given_up(network_, Time(sim::Simulator::Now().GetTimeStep()),
                                                      given_up);
        }
        return text;
    }

    [[nodiscard]] network::NetworkStatistics statistics() const {
        network::NetworkStatistics statistics;
        const auto& transport = opera_->GetTransport()->GetCounters();
        const auto& bulk = opera_->GetBulk().GetCounters();
        statistics.messages = transport.messages + bulk.messages;
        statistics.bytes_delivered = Bytes(static_cast<std::int64_t>(transport.bytes + bulk.bytes));
        statistics.packets = transport.packets + bulk.packets;
        statistics.retransmissions = transport.retransmissions;
        statistics.timeouts = transport.timeouts;
        statistics.drops = opera_->GetFabric()->GetContext().drops;
        statistics.events = sim::Simulator::GetEventCount();
        statistics.links.resize(fabric_->link_count());
        add_ports(statistics);
        add_circuits(statistics);
        return statistics;
    }

private:
    /// The link of the fabric behind a port of the model; none behind an uplink that idles.
    [[nodiscard]] std::optional<LinkId> link_of(std::uint32_t port, std::int64_t when) const {
        const sim::OperaLayout& layout = opera_->GetLayout();
        const std::uint32_t hosts = layout.GetHosts();
        if (port < 2 * hosts) {
            return layout.IsHostPort(port) ? links_.up(port / 2) : links_.down(port / 2);
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

    /// What all ports saw; of hosts' links also which.
    void add_ports(network::NetworkStatistics& statistics) const {
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

    void add_circuits(network::NetworkStatistics& statistics) const {
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

    std::shared_ptr<const network::Fabric> fabric_;
    const RotorNetwork& network_;
    network::rotor::RotorLinks links_;
    EventLoop loop_;
    std::uint32_t retry_limit_;
    RotorLbPolicy policy_;
    std::unique_ptr<SlicePathSource> paths_;  // null: all messages are bulk
    sim::Ptr<sim::OperaNetwork> opera_;
    std::unique_ptr<PacketTap> tap_;  // null: nobody listens
};

OperaPacketBackend::OperaPacketBackend(std::shared_ptr<const network::Fabric> fabric,
                                       const PacketOptions& options, std::uint64_t seed)
    : simulation_(std::make_unique<Simulation>(std::move(fabric), options, seed)) {}

OperaPacketBackend::~OperaPacketBackend() = default;

bool OperaPacketBackend::observe(network::PacketObserver& observer) {
    simulation_->observe(observer);
    return true;
}

Time OperaPacketBackend::now() const {
    return Time(sim::Simulator::Now().GetTimeStep());
}

void OperaPacketBackend::send(const Message& message) {
    simulation_->send(message);
}

void OperaPacketBackend::schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) {
    simulation_->loop().schedule(delay, handler, token);
}

void OperaPacketBackend::run() {
    simulation_->loop().run();
}

void OperaPacketBackend::stop() {
    sim::Simulator::Stop();
}

std::uint64_t OperaPacketBackend::outstanding_messages() const {
    return simulation_->loop().outstanding();
}

std::vector<network::OutstandingMessage> OperaPacketBackend::describe_outstanding(std::size_t limit) const {
    return simulation_->describe_outstanding(limit);
}

std::string OperaPacketBackend::explain_stall() const {
    return simulation_->explain_stall();
}

std::uint64_t OperaPacketBackend::events_processed() const {
    return sim::Simulator::GetEventCount();
}

network::NetworkStatistics OperaPacketBackend::statistics() const {
    return simulation_->statistics();
}

std::uint64_t OperaPacketBackend::returned_packets() const {
    return simulation_->opera().GetBulk().GetCounters().returned;
}

std::uint64_t OperaPacketBackend::returned_headers() const {
    return simulation_->opera().GetFabric()->GetContext().returns;
}

std::uint64_t OperaPacketBackend::packets_lost_in_the_dark() const {
    return simulation_->opera().GetRouter().GetLost();
}

}  // namespace astrolabe::ns3
