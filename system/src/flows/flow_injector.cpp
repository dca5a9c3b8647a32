#include <algorithm>
#include <limits>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/flows/flow_injector.hpp>

namespace astrolabe::system {
namespace {

// Tokens of timers; those of messages are places in the list of flows in flight.
constexpr std::uint64_t kNextStart = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kTimeLimit = kNextStart - 1;

}  // namespace

FlowInjector::FlowInjector(const FlowTraffic& traffic, const std::vector<network::HostId>& hosts,
                           network::NetworkBackend& backend, FlowObserver& observer, std::uint32_t label)
    : traffic_(traffic),
      hosts_(hosts),
      backend_(backend),
      observer_(observer),
      label_(label),
      stream_(traffic.stream()),
      waiting_(traffic.waiting.size()) {
    for (const FlowTrigger& trigger : traffic.triggers) {
        signals_left_.push_back(trigger.signals);
    }
}

void FlowInjector::begin() {
    next_ = stream_->next();
    if (traffic_.time_limit < Time::max()) {
        backend_.schedule(traffic_.time_limit, *this, kTimeLimit);
    }
    start_due();
    flush();
}

void FlowInjector::notify(std::uint64_t token) {
    if (token == kTimeLimit) {
        is_at_limit_ = true;
        has_ended_ = true;
        backend_.stop();
    } else if (token == kNextStart) {
        start_due();
        flush();
    } else {
        deliver(static_cast<std::size_t>(token));
        flush();
    }
}

void FlowInjector::start_due() {
    if (has_ended_) {
        return;
    }
    while (next_ && next_->start <= backend_.now()) {
        ASTROLABE_ASSERT(next_->start == backend_.now(), "a stream's flows are in order of their starts");
        const Flow flow = *next_;
        next_ = stream_->next();
        start(flow);
    }
    if (next_) {
        backend_.schedule(next_->start - backend_.now(), *this, kNextStart);
    }
}

void FlowInjector::start(Flow flow) {
    ASTROLABE_ASSERT(flow.source != flow.destination && flow.source < hosts_.size() &&
                         flow.destination < hosts_.size() && flow.size > Bytes(0),
                     "a flow goes from one host to another");
    flow.start = backend_.now();
    if (free_.empty()) {
        free_.push_back(in_flight_.size());
        in_flight_.emplace_back();
    }
    const std::size_t place = free_.back();
    free_.pop_back();
    in_flight_[place] = {flow, ++started_};
    started_bytes_ += flow.size;
    batch_.push_back({.source = hosts_[flow.source],
                      .destination = hosts_[flow.destination],
                      .size = flow.size,
                      .on_delivered = this,
                      .token = place,
                      .traffic_class = traffic_.traffic_class,
                      .label = label_});
}

void FlowInjector::deliver(std::size_t place) {
    const Flow flow = std::exchange(in_flight_[place], {}).flow;
    free_.push_back(place);
    ++delivered_;
    delivered_bytes_ += flow.size;
    last_delivery_ = backend_.now();
    observer_.flow_delivered(
        {hosts_[flow.source], hosts_[flow.destination], flow.size, flow.start, backend_.now()});
    for (const TriggerIndex trigger : flow.signals) {
        if (trigger != kNoTrigger) {
            signal(trigger);
        }
    }
}

void FlowInjector::signal(TriggerIndex trigger) {
    if (has_ended_ || signals_left_[trigger] == 0 || --signals_left_[trigger] > 0) {
        return;
    }
    for (const std::uint32_t flow : traffic_.triggers[trigger].flows) {
        --waiting_;
        start(traffic_.waiting[flow]);
    }
}

void FlowInjector::flush() {
    if (batch_.empty()) {
        return;
    }
    const std::vector<network::Message> batch = std::exchange(batch_, {});
    backend_.send_batch(batch);
}

std::vector<UnfinishedFlow> FlowInjector::unfinished(std::size_t most) const {
    std::vector<const InFlight*> all;
    for (const InFlight& one : in_flight_) {
        if (one.number != 0) {
            all.push_back(&one);
        }
    }
    std::ranges::sort(all, {}, [](const InFlight* one) { return one->number; });
    std::vector<UnfinishedFlow> list;
    for (const InFlight* one : all) {
        if (list.size() == most) {
            break;
        }
        list.push_back(
            {hosts_[one->flow.source], hosts_[one->flow.destination], one->flow.size, one->flow.start});
    }
    return list;
}

}  // namespace astrolabe::system
