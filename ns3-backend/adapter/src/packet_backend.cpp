// SPDX-License-Identifier: GPL-2.0-only
#include "event_loop.hpp"
#include "packet-node.h"
#include "packet-port.h"
#include "packet-transport.h"

#include <algorithm>
#include <deque>

#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/routing.hpp>
#include <astrolabe/ns3/packet_backend.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::HostId;
using network::LinkId;
using network::Message;
using network::NodeId;

namespace {

/// splitmix64: the same sequence on every machine.
std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

PacketOptions checked(const PacketOptions& options, const network::Fabric& fabric) {
    const auto found = problems(options);
    ASTROLABE_ASSERT(found.empty(), found.front().key + ": " + found.front().message);
    const auto refused = refusal(fabric, options);
    ASTROLABE_ASSERT(!refused.has_value(), *refused);
    return options;
}

}  // namespace

class PacketBackend::Simulation final : public sim::PacketRouter, public sim::PacketTransportClient {
public:
    Simulation(std::shared_ptr<const network::Fabric> fabric, const PacketOptions& options,
               std::uint64_t seed)
        : fabric_(std::move(fabric)),
          options_(checked(options, *fabric_)),
          loop_(seed),
          sprays_(fabric_->routing().load_balancing() == network::LoadBalancing::kSpray),
          random_(seed),
          transport_(transport_parameters(), context_, *this, nodes_, *this) {
        for (std::uint32_t node = 0; node < fabric_->node_count(); ++node) {
            nodes_.emplace_back(node, context_, *this, transport_);
        }
        memories_.resize(fabric_->node_count());
        for (LinkId id; id.index() < fabric_->link_count(); ++id) {
            add_port(id);
        }
    }

    void send(const Message& message) {
        loop_.sent(message);
        transport_.Send({static_cast<std::uint32_t>(message.source.index()),
                         static_cast<std::uint32_t>(message.destination.index()),
                         static_cast<std::uint64_t>(message.size.count()), message.on_delivered,
                         message.token, message.traffic_class});
    }

    [[nodiscard]] EventLoop& loop() { return loop_; }

    sim::PacketPort* Route(std::uint32_t node, const sim::PacketDescriptor& packet) override {
        const NodeId at(node);
        const HostId to(packet.destination);
        const network::RoutingPolicy& routing = fabric_->routing();
        const auto links = routing.next_links(at, to);
        if (links.empty()) {
            return nullptr;
        }
        if (links.size() == 1) {
            return &ports_[links.front().index()];
        }
        return &ports_[(sprays_ ? links[next_random(random_) % links.size()]
                                : routing.select(at, HostId(packet.source), to))
                           .index()];
    }

    void Delivered(const sim::PacketMessage& message) override {
        loop_.delivered(*static_cast<network::NotificationHandler*>(message.owner), message.token);
    }

    [[nodiscard]] const sim::PacketTransport& transport() const { return transport_; }

    [[nodiscard]] network::NetworkStatistics statistics() const {
        network::NetworkStatistics statistics;
        const auto& counters = transport_.GetCounters();
        statistics.messages = counters.messages;
        statistics.bytes_delivered = Bytes(static_cast<std::int64_t>(counters.bytes));
        statistics.packets = counters.packets;
        statistics.retransmissions = counters.retransmissions;
        statistics.timeouts = counters.timeouts;
        statistics.drops = context_.drops;
        statistics.events = sim::Simulator::GetEventCount();
        statistics.links.resize(fabric_->link_count());
        for (LinkId id; id.index() < fabric_->link_count(); ++id) {
            const sim::PacketPort::Counters& port = ports_[id.index()].GetCounters();
            network::LinkStatistics& link = statistics.links[id];
            link.carried = Bytes(static_cast<std::int64_t>(port.carriedBytes));
            link.queue_peak = Bytes(static_cast<std::int64_t>(port.peakBytes));
            link.drops = port.drops;
            statistics.packet_hops += port.dataPackets;
            statistics.ecn_marks += port.marks;
            statistics.queue_peak = std::max(statistics.queue_peak, link.queue_peak);
        }
        return statistics;
    }

private:
    [[nodiscard]] bool is_switch(NodeId node) const {
        return fabric_->node(node).kind == network::NodeKind::kSwitch;
    }

    [[nodiscard]] sim::PacketTransportParameters transport_parameters() const {
        bool is_lossy = false;
        for (LinkId id; id.index() < fabric_->link_count(); ++id) {
            const NodeId source = fabric_->source(id);
            is_lossy = is_lossy || (is_switch(source) && (fabric_->link(id).buffer > Bytes(0) ||
                                                          fabric_->node(source).buffer > Bytes(0)));
        }
        return {.mtu = static_cast<std::uint32_t>(options_.mtu.count()),
                .header = static_cast<std::uint32_t>(options_.header.count()),
                .ackSize = static_cast<std::uint32_t>(options_.ack_size.count()),
                .window = static_cast<std::uint64_t>(options_.window.count()),
                .ackEvery = options_.ack_every,
                .timeout = options_.timeout.count(),
                .congestionControl = uses_ecn() ? sim::PacketCongestionControl::DCTCP
                                                : sim::PacketCongestionControl::NONE,
                .initialWindow = options_.initial_window,
                .isLossy = is_lossy,
                .isReordered = sprays_};
    }

    [[nodiscard]] bool uses_ecn() const {
        return options_.congestion_control == PacketCongestion::kDctcp;
    }

    void add_port(LinkId id) {
        const network::Link& link = fabric_->link(id);
        const NodeId source = fabric_->source(id);
        sim::PacketPort& port =
            ports_.emplace_back(context_, nodes_[fabric_->target(id).index()],
                                static_cast<std::uint64_t>(link.rate.count()), link.latency.count());
        port.SetSource(&transport_);
        if (options_.switching == PacketSwitching::kCutThrough && is_switch(fabric_->target(id))) {
            port.SetCutThrough(static_cast<std::uint32_t>(options_.header.count()));
        }
        if (!is_switch(source)) {
            return;  // waits in the memory of the host
        }
        if (uses_ecn()) {
            port.SetMarkThreshold(static_cast<std::uint64_t>(options_.ecn_threshold.count()));
        }
        const Bytes memory = fabric_->node(source).buffer;
        if (link.buffer > Bytes(0)) {
            port.SetLimit(static_cast<std::uint64_t>(link.buffer.count()));
        } else if (memory > Bytes(0) && options_.buffer_sharing == BufferSharing::kShared) {
            sim::PacketMemory& shared = memories_[source.index()];
            shared.capacity = static_cast<std::uint64_t>(memory.count());
            port.SetMemory(&shared);
        } else if (memory > Bytes(0)) {
            port.SetLimit(static_cast<std::uint64_t>(memory.count()) / fabric_->out_degree(source));
        }
    }

    std::shared_ptr<const network::Fabric> fabric_;
    PacketOptions options_;
    // Events refer to ports, so these outlive the simulator's.
    sim::PacketContext context_;
    std::deque<sim::PacketMemory> memories_;
    std::deque<sim::PacketNode> nodes_;  // by node
    std::deque<sim::PacketPort> ports_;  // by link
    EventLoop loop_;
    bool sprays_;
    std::uint64_t random_;
    sim::PacketTransport transport_;
};

PacketBackend::PacketBackend(std::shared_ptr<const network::Fabric> fabric, const PacketOptions& options,
                             std::uint64_t seed)
    : simulation_(std::make_unique<Simulation>(std::move(fabric), options, seed)) {}

PacketBackend::~PacketBackend() = default;

Time PacketBackend::now() const {
    return Time(sim::Simulator::Now().GetTimeStep());
}

void PacketBackend::send(const Message& message) {
    simulation_->send(message);
}

void PacketBackend::schedule(Time delay, network::NotificationHandler& handler, std::uint64_t token) {
    simulation_->loop().schedule(delay, handler, token);
}

void PacketBackend::run() {
    simulation_->loop().run();
}

void PacketBackend::stop() {
    sim::Simulator::Stop();
}

std::uint64_t PacketBackend::outstanding_messages() const {
    return simulation_->loop().outstanding();
}

std::vector<network::OutstandingMessage> PacketBackend::describe_outstanding(std::size_t limit) const {
    std::vector<network::OutstandingMessage> described;
    for (const auto& outstanding : simulation_->transport().GetOutstanding()) {
        if (described.size() == limit) {
            break;
        }
        const sim::PacketMessage& message = outstanding.message;
        described.push_back({HostId(message.source), HostId(message.destination),
                             Bytes(static_cast<std::int64_t>(message.bytes)),
                             Bytes(static_cast<std::int64_t>(outstanding.remaining))});
    }
    return described;
}

std::uint64_t PacketBackend::events_processed() const {
    return sim::Simulator::GetEventCount();
}

network::NetworkStatistics PacketBackend::statistics() const {
    return simulation_->statistics();
}

}  // namespace astrolabe::ns3
