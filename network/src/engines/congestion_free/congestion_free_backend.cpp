#include "congestion_free_backend.hpp"

#include "../../link_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

namespace {

constexpr std::int64_t kPicosecondsPerNanosecond = 1'000;

/// Time of `size` over one hop, in picoseconds; may exceed Time::max().
detail::Int128 hop_time(Time latency, Bandwidth rate, Bytes size, TransferTiming timing) {
    const detail::Int128 work = static_cast<detail::Int128>(size.count()) * (8 * kPicosecondsPerSecond);
    if (timing == TransferTiming::kExact) {
        return latency.count() + (work + (rate.count() - 1)) / rate.count();
    }
    return (latency.count() + work / rate.count()) / kPicosecondsPerNanosecond * kPicosecondsPerNanosecond;
}

Time saturating_time(detail::Int128 picoseconds) {
    return picoseconds < Time::max().count() ? Time(static_cast<std::int64_t>(picoseconds)) : Time::max();
}

/// Rate at which a message passes a link that carries the leg's share of it.
Bandwidth rate_of(const Fabric& fabric, const RouteLeg& leg) {
    const Bandwidth rate = fabric.link(leg.link).rate;
    return leg.share == 1.0 ? rate : Bandwidth(std::llround(static_cast<double>(rate.count()) / leg.share));
}

}  // namespace

std::optional<std::string> congestion_free_unsupported(const Fabric& fabric,
                                                       const CongestionFreeOptions& options) {
    if (fabric.demand_aware_circuits() != nullptr) {
        return "its circuits move with the demand, and a formula of latency and rate knows none: use the "
               "fluid "
               "engine";
    }
    if (!fabric.is_static()) {
        return "its circuits come and go, and a formula of latency and rate knows no time at which they do";
    }
    if (fabric.failures() != nullptr) {
        return "its links fail, and a formula of latency and rate knows no time at which they do: use the "
               "fluid "
               "engine, which gives a message that is alone the time of this one";
    }
    if (options.switching == Switching::kStoreAndForward &&
        fabric.routing().load_balancing() != LoadBalancing::kFlowHash) {
        return "store_and_forward follows one path, and this network spreads messages over several";
    }
    return std::nullopt;
}

CongestionFreeBackend::CongestionFreeBackend(std::shared_ptr<const Fabric> fabric,
                                             CongestionFreeOptions options)
    : fabric_(std::move(fabric)),
      options_(options) {
    const std::optional<std::string> refusal = congestion_free_unsupported(*fabric_, options_);
    ASTROLABE_ASSERT(!refusal, refusal.value_or(""));
    if (options_.sharing == PortSharing::kPorts) {
        out_free_.resize(fabric_->link_count());
        in_free_.resize(fabric_->link_count());
    }
}

std::uint32_t CongestionFreeBackend::pair_between(HostId source, HostId destination) {
    const std::uint32_t known = pair_index_.find(source, destination);
    if (known != PairIndex::kNone) {
        return known;
    }
    ASTROLABE_ASSERT(source.index() < fabric_->host_count() && destination.index() < fabric_->host_count(),
                     "a message is between hosts of the fabric");
    ASTROLABE_ASSERT(source != destination, "source and destination of a message differ");
    const auto index = static_cast<std::uint32_t>(pairs_.size());
    Pair& pair = pairs_.emplace_back();
    pair.source = source;
    pair.destination = destination;
    add_hops(pair);
    if (options_.sharing == PortSharing::kPorts) {
        add_ports(pair);
    }
    pair_index_.insert(source, destination, index);
    return index;
}

void CongestionFreeBackend::add_hops(Pair& pair) {
    const Route route = fabric_->routing().route(pair.source, pair.destination);
    pair.first_hops = static_cast<std::uint32_t>(hops_.size());
    if (route.legs.empty()) {
        return;
    }
    if (options_.switching == Switching::kCutThrough) {
        Bandwidth slowest = Bandwidth::max();
        for (const RouteLeg& leg : route.legs) {
            slowest = std::min(slowest, rate_of(*fabric_, leg));
        }
        hops_.push_back({route.latency, slowest, 1});
    } else {
        for (std::size_t i = 0; i < route.legs.size(); ++i) {
            const Bandwidth rate = fabric_->link(route.legs[i].link).rate;
            const Time latency = hop_latency(*fabric_, route.legs[i].link, i == 0);
            const auto alike =
                std::find_if(hops_.begin() + pair.first_hops, hops_.end(),
                             [&](const Hops& hops) { return hops.latency == latency && hops.rate == rate; });
            if (alike == hops_.end()) {
                hops_.push_back({latency, rate, 1});
            } else {
                ++alike->count;
            }
        }
    }
    pair.hops_count = static_cast<std::uint32_t>(hops_.size()) - pair.first_hops;
}

void CongestionFreeBackend::add_ports(Pair& pair) {
    const Route route = fabric_->routing().route(pair.source, pair.destination);
    pair.first_port = static_cast<std::uint32_t>(port_uses_.size());
    for (const RouteLeg& leg : route.legs) {
        if (fabric_->source(leg.link) == fabric_->node_of(pair.source)) {
            port_uses_.push_back({leg.link, rate_of(*fabric_, leg)});
            ++pair.ports_out;
        }
    }
    for (const RouteLeg& leg : route.legs) {
        if (fabric_->target(leg.link) == fabric_->node_of(pair.destination)) {
            port_uses_.push_back({leg.link, rate_of(*fabric_, leg)});
            ++pair.ports_in;
        }
    }
}

Time CongestionFreeBackend::compute_transfer_time(const Pair& pair, Bytes size) const {
    if (pair.hops_count == 0) {
        return Time::max();
    }
    detail::Int128 sum = 0;
    for (std::uint32_t i = 0; i < pair.hops_count; ++i) {
        const Hops& hops = hops_[pair.first_hops + i];
        sum += hops.count * hop_time(hops.latency, hops.rate, size, options_.timing);
    }
    return saturating_time(sum);
}

Time CongestionFreeBackend::transfer_time(Pair& pair, Bytes size) const {
    if (size != pair.last_size) {
        pair.last_size = size;
        pair.last_transfer = compute_transfer_time(pair, size);
    }
    return pair.last_transfer;
}

Time CongestionFreeBackend::transfer_time(HostId source, HostId destination, Bytes size) {
    return transfer_time(pairs_[pair_between(source, destination)], size);
}

void CongestionFreeBackend::send(const Message& message) {
    ASTROLABE_ASSERT(message.size >= Bytes(0), "a message has a size");
    ASTROLABE_ASSERT(message.on_delivered != nullptr, "someone is notified of the delivery");
    const std::uint32_t index = pair_between(message.source, message.destination);
    Pair& pair = pairs_[index];
    const std::uint64_t number = sent_++;
    const Time transfer = transfer_time(pair, message.size);
    const bool has_ports = options_.sharing == PortSharing::kPorts;
    Time reached = saturating_sum(now_, transfer);
    if (has_ports && transfer < Time::max()) {
        reached =
            saturating_sum(take_ports_out(pair, message.size), transfer - service_time(pair, message.size));
    }
    pair.last_delivery = std::max(pair.last_delivery, reached);
    if (pair.last_delivery == Time::max()) {
        stuck_.push_back({number, message.size, index});
        return;
    }
    events_pending_.push(now_, pair.last_delivery - now_,
                         {message.on_delivered, message.token, number, message.size, index,
                          has_ports ? EventKind::kArrival : EventKind::kDelivery});
}

Time CongestionFreeBackend::service_time(const Pair& pair, Bytes size) const {
    Time slowest;
    for (std::uint32_t i = 0; i < pair.ports_in; ++i) {
        const Bandwidth rate = port_uses_[pair.first_port + pair.ports_out + i].rate;
        slowest = std::max(slowest, saturating_time(hop_time(Time(0), rate, size, options_.timing)));
    }
    return slowest;
}

Time CongestionFreeBackend::take_ports_out(const Pair& pair, Bytes size) {
    const auto first = port_uses_.begin() + pair.first_port;
    Time leaves = now_;
    for (auto use = first; use != first + pair.ports_out; ++use) {
        leaves = std::max(leaves, out_free_[use->link]);
    }
    for (auto use = first; use != first + pair.ports_out; ++use) {
        out_free_[use->link] =
            saturating_sum(leaves, saturating_time(hop_time(Time(0), use->rate, size, options_.timing)));
    }
    return leaves;
}

void CongestionFreeBackend::arrive(const Event& event) {
    const Pair& pair = pairs_[event.pair];
    const auto first = port_uses_.begin() + pair.first_port + pair.ports_out;
    Time begins = now_;
    for (auto use = first; use != first + pair.ports_in; ++use) {
        begins = std::max(begins, in_free_[use->link]);
    }
    const Time delivered = saturating_sum(begins, service_time(pair, event.size));
    if (delivered == Time::max()) {
        stuck_.push_back({event.sent_as, event.size, event.pair});
        return;
    }
    for (auto use = first; use != first + pair.ports_in; ++use) {
        in_free_[use->link] =
            begins + saturating_time(hop_time(Time(0), use->rate, event.size, options_.timing));
    }
    Event delivery = event;
    delivery.kind = EventKind::kDelivery;
    events_pending_.push(now_, delivered - now_, delivery);
}

void CongestionFreeBackend::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    ASTROLABE_ASSERT(delay >= Time(0) && delay <= Time::max() - now_, "a timer is in the future");
    events_pending_.push(now_, delay, {&handler, token, 0, Bytes(0), 0, EventKind::kTimer});
}

void CongestionFreeBackend::process_instant() {
    while (!events_pending_.empty() && events_pending_.next_time() == now_) {
        ++events_;
        const Event event = events_pending_.pop();
        if (event.kind == EventKind::kArrival) {
            arrive(event);
            continue;
        }
        if (event.kind == EventKind::kDelivery) {
            ++delivered_;
            bytes_delivered_ += event.size;
            pairs_[event.pair].delivered += event.size;
            if (observer_ != nullptr) {
                observer_->delivered(pairs_[event.pair].destination, now_, now_,
                                     static_cast<double>(event.size.count()));
            }
        }
        event.handler->notify(event.token);
    }
}

void CongestionFreeBackend::run() {
    stop_requested_ = false;
    for (;;) {
        process_instant();
        if (stop_requested_ || events_pending_.empty()) {
            return;
        }
        pulses_.events(events_);
        now_ = events_pending_.next_time();
    }
}

std::vector<OutstandingMessage> CongestionFreeBackend::describe_outstanding(std::size_t limit) const {
    std::vector<StuckMessage> outstanding = stuck_;
    events_pending_.for_each([&outstanding](Time, const Event& event) {
        if (event.kind != EventKind::kTimer) {
            outstanding.push_back({event.sent_as, event.size, event.pair});
        }
    });
    std::sort(outstanding.begin(), outstanding.end(),
              [](const auto& a, const auto& b) { return a.sent_as < b.sent_as; });
    std::vector<OutstandingMessage> first;
    for (std::size_t i = 0; i < std::min(limit, outstanding.size()); ++i) {
        const StuckMessage& message = outstanding[i];
        const Pair& pair = pairs_[message.pair];
        first.push_back({pair.source, pair.destination, message.size, message.size});
    }
    return first;
}

std::string CongestionFreeBackend::explain_stall() const {
    const bool any_moves = std::any_of(stuck_.begin(), stuck_.end(), [this](const auto& message) {
        return pairs_[message.pair].hops_count > 0;
    });
    return any_moves ? std::string(kBeyondTime) : std::string();
}

NetworkStatistics CongestionFreeBackend::statistics() const {
    NetworkStatistics statistics;
    statistics.messages = delivered_;
    statistics.bytes_delivered = bytes_delivered_;
    statistics.events = events_;
    LinkTraffic traffic(*fabric_);
    for (const Pair& pair : pairs_) {
        traffic.add(pair.source, pair.destination, pair.delivered);
    }
    statistics.links = traffic.links();
    return statistics;
}

}  // namespace astrolabe::network
