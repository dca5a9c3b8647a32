// SPDX-License-Identifier: GPL-2.0-only
#include "packet/packet_backend.hpp"

#include "packet/packet_ports.hpp"
#include "packet/packet_router.hpp"
#include "packet/packet_tap.hpp"

#include <algorithm>

#include <ns3/packet-event-scheduler.h>
#include <ns3/packet-fabric.h>
#include <ns3/packet-transport.h>
#include <ns3/simulator.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/state_hash.hpp>

namespace astrolabe::ns3 {

namespace sim = ::ns3;
using network::LinkId;
using network::Message;
using network::NodeId;

namespace {

/// Loses packets at random.
class RandomLoss final : public sim::PacketFaults {
public:
    RandomLoss(double rate, std::uint64_t seed)
        : rate_(rate),
          random_(seed) {}

    std::int64_t InjectFault(const sim::PacketPort&, const sim::PacketDescriptor&, std::int64_t) override {
        return random_.NextFraction() < rate_ ? LOST : 0;
    }

private:
    double rate_;
    sim::PacketRandom random_;
};

PacketOptions checked(const PacketOptions& options, const network::Fabric& fabric) {
    const auto found = validation_errors(options);
    ASTROLABE_ASSERT(found.empty(), found.front().key + ": " + found.front().message);
    const auto reason = unsupported(fabric, options);
    ASTROLABE_ASSERT(!reason.has_value(), *reason);
    return options;
}

}  // namespace

PacketBackend::PacketBackend(std::shared_ptr<const network::Fabric> fabric, const PacketOptions& options,
                             std::uint64_t seed)
    : PacketEngineBackend(seed),
      fabric_(std::move(fabric)),
      options_(checked(options, *fabric_)),
      ports_(make_ports(*fabric_, options_)),
      router_(*fabric_, *ports_, options_.transport.connections == sim::PacketConnections::PER_MESSAGE,
              options_.flowlet_gap, seed),
      loss_(options_.loss_rate > 0 ? std::make_unique<RandomLoss>(options_.loss_rate, ~seed) : nullptr),
      transport_(sim::CreateObject<sim::PacketTransport>()) {
    options_.transport.isReordered = router_.reorders();
    // A timeout that follows round trips goes off too early at times, which is part of what it models.
    options_.transport.hasTimers = is_lossy() || options_.transport.rttEstimation;
    transport_->SetParameters(options_.transport);
    transport_->Bind(*ports_, router_, client());
    ports_->GetContext().random = sim::PacketRandom(seed + 1);
    ports_->GetContext().faults = loss_.get();
    ports_->Install(router_, *transport_, *transport_);
    // Whatever number of threads there will be.
    is_divisible_ = !options_.transport.hasTimers && !options_.transport.IsPulled() &&
                    fabric_->failures() == nullptr && ports_->IsDivisible(router_);
    sim::PacketEventScheduler::SetPortsFirst(is_divisible_);
    if (fabric_->failures() != nullptr) {
        start_failures();
    }
    remembers_little_ = remembers_little();
}

PacketBackend::~PacketBackend() {
    ports_->Detach();
}

void PacketBackend::start_failures() {
    const auto change_rate = [this](LinkId link, double factor) {
        sim::PacketPort& port = ports_->GetPort(static_cast<std::uint32_t>(link.index()));
        if (factor == 0) {
            transport_->ExpectLosses();
        } else {
            port.SetBitsPerSecond(degraded_rate(fabric_->link(link).rate, factor));
        }
        port.SetUp(factor > 0);
    };
    const auto change_routes = [this](const network::RoutingPolicy& routing) {
        router_.set_routing(routing);
        transport_->NoteRoutes();
    };
    failures_ = std::make_unique<FailingLinks>(*fabric_, change_rate, change_routes);
}

std::size_t PacketBackend::use_threads(std::size_t most) {
    ASTROLABE_ASSERT(packets_sent_ == 0, "threads are there before anything is sent");
    if (!is_divisible_) {
        return 1;
    }
    // All packets that have not been made are to come, and one at least of every message; where they overtake
    // one another, one may be the last of many.
    const auto due = [this] {
        const std::uint64_t made = transport_->GetCounters().packets;
        const std::uint64_t messages = outstanding_messages();
        return std::max(router_.reorders() ? std::min<std::uint64_t>(messages, 1) : messages,
                        packets_sent_ - std::min(made, packets_sent_));
    };
    constexpr std::size_t kMost = 64;
    return ports_->Divide(static_cast<std::uint32_t>(std::min(most, kMost)), router_, due);
}

std::uint64_t PacketBackend::events_processed() const {
    return Ns3Backend::events_processed() + static_cast<std::uint64_t>(ports_->GetEventsElsewhere());
}

void PacketBackend::send(const Message& message) {
    sent(message);
    packets_sent_ += std::max<std::uint64_t>(
        1, (count_of(message.size) + options_.transport.mtu - 1) / options_.transport.mtu);
    const auto last = static_cast<std::uint8_t>(options_.ports.trafficClasses - 1);
    transport_->Send(to_engine(message, std::min(message.traffic_class, last)));
}

std::vector<network::OutstandingMessage> PacketBackend::describe_outstanding(std::size_t limit) const {
    std::vector<network::OutstandingMessage> described;
    describe(transport_->GetOutstanding(), limit, described);
    return described;
}

/// Ports are numbered as the links.
std::optional<LinkId> PacketBackend::link_of(std::uint32_t port, std::int64_t) const {
    return LinkId(port);
}

std::optional<LinkId> PacketBackend::link_of(std::uint32_t port) const {
    return LinkId(port);
}

std::uint32_t PacketBackend::payload_of(const sim::PacketDescriptor& packet) const {
    return packet.IsData() ? packet.bytes - options_.transport.header : 0;
}

std::string PacketBackend::link_name(NodeId source, NodeId target) const {
    return "\n  " + fabric_->node(source).name + " -> " + fabric_->node(target).name;
}

std::string PacketBackend::explain_stall() const {
    std::string text;
    if (failures_ != nullptr) {
        text = failures_->name_cut_pairs(describe_outstanding(outstanding_messages()));
    }
    for (const std::string& more : {explain_circle(), explain_given_up()}) {
        text += (text.empty() || more.empty() ? "" : "\n") + more;
    }
    return text;
}

std::string PacketBackend::explain_circle() const {
    const std::vector<std::uint32_t> circle = ports_->FindDeadlock();
    if (circle.empty()) {
        return {};
    }
    std::string text =
        "the flow control of these links is locked in a circle, each full until the next moves:";
    for (const std::uint32_t port : circle) {
        text += link_name(fabric_->source(LinkId(port)), fabric_->target(LinkId(port)));
    }
    return text;
}

std::string PacketBackend::explain_given_up() const {
    constexpr std::size_t kLargestListed = 10;
    const auto given_up = transport_->GetGivenUp();
    if (given_up.empty()) {
        return {};
    }
    std::string text = "these connections had more than " + std::to_string(options_.transport.retryLimit) +
                       " timeouts in a row (retry_limit) and gave up, " + std::to_string(given_up.size()) +
                       " in all:";
    for (std::size_t i = 0; i < std::min(kLargestListed, given_up.size()); ++i) {
        text += link_name(NodeId(given_up[i].first), NodeId(given_up[i].second));
    }
    return text;
}

std::optional<Bytes> PacketBackend::carried(LinkId link) const {
    ports_->Pause();
    const auto number = static_cast<std::uint32_t>(link.index());
    return Bytes(static_cast<std::int64_t>(ports_->GetPort(number).GetCounters().carriedBytes));
}

Bytes PacketBackend::bytes_delivered() const {
    return Bytes(static_cast<std::int64_t>(transport_->GetCounters().bytes));
}

network::PresentLimits PacketBackend::present_limits(std::size_t most) const {
    ports_->Pause();
    return deepest_queues(fabric_->link_count(), most, [this](LinkId link) {
        const auto number = static_cast<std::uint32_t>(link.index());
        return Bytes(static_cast<std::int64_t>(ports_->GetPort(number).GetWaitingBytes()));
    });
}

network::NetworkStatistics PacketBackend::statistics() const {
    // Only in the end may what has left the ports be found out without changing what comes: on the way a
    // failure would find packets in flight that have no timers yet.
    if (is_running()) {
        ports_->Pause();
    } else if (is_divisible_) {
        ports_->Settle();
    }
    network::NetworkStatistics statistics = start_statistics(*transport_, ports_->GetContext());
    statistics.links.resize(fabric_->link_count());
    const std::int64_t now = sim::Simulator::Now().GetTimeStep();
    for (LinkId id; id.index() < fabric_->link_count(); ++id) {
        const auto number = static_cast<std::uint32_t>(id.index());
        const sim::PacketPort::Counters& port = ports_->GetPort(number).GetCounters();
        network::LinkStatistics& link = statistics.links[id];
        link.carried = Bytes(static_cast<std::int64_t>(port.carriedBytes));
        link.queue_peak = Bytes(static_cast<std::int64_t>(port.peakBytes));
        link.queue_mean = ports_->GetPort(number).GetQueue().GetMeanWaitingBytes(now);
        link.drops = port.drops;
        link.marks = port.marks;
        link.trims = port.trims;
        if (const auto* flow_control = ports_->GetPort(number).GetFlowControl()) {
            link.pauses = flow_control->GetStops();
            link.paused = Time(flow_control->GetStoppedTime(now));
        }
        statistics.trims += link.trims;
        statistics.pauses += link.pauses;
        statistics.paused += link.paused;
        statistics.packet_hops += port.dataPackets;
        statistics.ecn_marks += port.marks;
        statistics.queue_peak = std::max(statistics.queue_peak, link.queue_peak);
    }
    return statistics;
}

std::optional<std::uint64_t> PacketBackend::state_at_rest() const {
    const sim::PacketContext& context = ports_->GetContext();
    if (transport_->GetQueuePairCount() > 0 || context.packets.GetUsed() > 0 || !remembers_little_) {
        return std::nullopt;
    }
    // What comes next says where the sequence is.
    sim::PacketRandom random = context.random;
    StateHash hash;
    hash.add(random.Next());
    return hash.value();
}

/// Whether nothing but its random numbers outlives what is in flight.
bool PacketBackend::remembers_little() const {
    if (!router_.is_fixed() || loss_ != nullptr || failures_ != nullptr ||
        options_.ports.flowControl != sim::PacketFlowControlKind::NONE ||
        options_.ports.service != sim::PacketService::STRICT || options_.ports.trimThreshold > 0 ||
        options_.transport.IsPulled() || options_.transport.rttEstimation) {
        return false;
    }
    // A host of one cable passes nothing on, so its own data never takes turns with others'.
    for (network::HostId host; host.index() < fabric_->host_count(); ++host) {
        const NodeId node = fabric_->node_of(host);
        const std::span<const LinkId> into = fabric_->links_into(node);
        if (fabric_->out_degree(node) != 1 || into.size() != 1 ||
            fabric_->source(into.front()) != fabric_->target(fabric_->first_link(node))) {
            return false;
        }
    }
    return true;
}

/// Whether packets may get lost.
bool PacketBackend::is_lossy() const {
    if (options_.loss_rate > 0 || options_.ports.trimThreshold > 0) {
        return true;
    }
    if (options_.ports.flowControl != sim::PacketFlowControlKind::NONE) {
        return false;
    }
    for (LinkId id; id.index() < fabric_->link_count(); ++id) {
        const NodeId source = fabric_->source(id);
        if (fabric_->node(source).kind == network::NodeKind::kSwitch &&
            (fabric_->link(id).buffer > Bytes(0) || fabric_->node(source).buffer > Bytes(0))) {
            return true;
        }
    }
    return false;
}

}  // namespace astrolabe::ns3
