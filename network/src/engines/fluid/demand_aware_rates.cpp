#include "demand_aware_rates.hpp"

#include "leg_bytes.hpp"
#include "rounding.hpp"
#include "service_record.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

using FlowId = MaxMinSolver::FlowId;

DemandAwareRates::DemandAwareRates(std::shared_ptr<const LinkClasses> first,
                                   std::vector<Connection>& connections, const ConnectionBytes& bytes)
    : FlowRates(connections, bytes),
      controller_(first->fabric().demand_aware_circuits()),
      classes_(std::move(first)),
      solver_(std::make_unique<MaxMinSolver>(capacities(*classes_))) {
    ASTROLABE_ASSERT(controller_ != nullptr, "someone moves the circuits");
    const std::size_t ports = classes_->fabric().link_count();
    for (LinkId port; port.index() < ports; ++port) {
        ports_.push_back(port);
    }
    carried_ = {std::vector<Bytes>(ports), std::vector<double>(ports, 0.0)};
}

void DemandAwareRates::before_send(std::uint32_t index, Time now) {
    if (active_.empty() && next_ && next_at_ <= now) {
        switch_to(*std::exchange(next_, std::nullopt));
    }
    enter(index);
    Connection& connection = connections_[index];
    if (connection.state == Connection::State::kIdle && !flows_[index].has_route) {
        connection.state = Connection::State::kNowhere;
    }
}

void DemandAwareRates::enter(std::uint32_t number) {
    Flow& flow = flows_[number];
    if (flow.local != kNone) {
        return;
    }
    Connection& connection = connections_[number];
    classes_->find_route(connection.source, connection.destination, route_);
    flow.has_route = !route_.legs.empty();
    if (flow.has_route) {
        connection.latency = route_.latency;
    }
    flow.local = static_cast<std::uint32_t>(flow_of_.size());
    flow_of_.push_back(number);
    solver_->add_flow(route_.legs);
}

Time DemandAwareRates::delivery_delay(std::uint32_t number, Time now) {
    Flow& flow = flows_[number];
    flow.last_delivery = std::max(flow.last_delivery, now + connections_[number].latency);
    return flow.last_delivery - now;
}

void DemandAwareRates::start(std::uint32_t number) {
    Flow& flow = flows_[number];
    ASTROLABE_ASSERT(flow.local != kNone && flow.active_slot == kNone, "an idle flow starts on a route");
    flow.active_slot = static_cast<std::uint32_t>(active_.size());
    active_.push_back(number);
    is_settled_ = false;
    if (flow.has_route) {
        solver_->start(FlowId(flow.local));
    }
}

void DemandAwareRates::stop(std::uint32_t number) {
    Flow& flow = flows_[number];
    ASTROLABE_ASSERT(flow.active_slot != kNone, "only an active flow stops");
    active_[flow.active_slot] = active_.back();
    flows_[active_.back()].active_slot = flow.active_slot;
    active_.pop_back();
    flow.active_slot = kNone;
    is_settled_ = false;
    if (flow.has_route) {
        solver_->stop(FlowId(flow.local));
    }
}

std::span<const std::uint32_t> DemandAwareRates::update(Time now) {
    const std::span<const FlowId> changed = solver_->update();
    changed_.clear();
    const auto change = [&](std::uint32_t number) {
        const Flow& flow = flows_[number];
        const double rate = flow.has_route ? snapped(solver_->rate(FlowId(flow.local))) : 0.0;
        if (rate != connections_[number].rate) {
            change_rate(connections_[number], rate, now);
            changed_.push_back(number);
        }
    };
    if (std::exchange(is_rewired_, false)) {
        std::for_each(active_.begin(), active_.end(), change);
    } else {
        for (const FlowId flow : changed) {
            change(flow_of_[flow.index()]);
        }
    }
    return changed_;
}

Time DemandAwareRates::next_instant(Time now) const {
    if (active_.empty()) {
        return Time::max();
    }
    if (next_) {
        return next_at_;
    }
    const Time every = controller_->every();
    const Time since = now % every;
    if (since == Time(0) && now > last_look_) {
        return now;
    }
    return every - since < Time::max() - now ? now + (every - since) : Time::max();
}

std::vector<WaitingPair> DemandAwareRates::waiting_pairs() const {
    std::vector<WaitingPair> waiting;
    for (const std::uint32_t number : active_) {
        waiting.push_back(
            {connections_[number].source, connections_[number].destination, bytes_.waiting(number)});
    }
    return waiting;
}

Time DemandAwareRates::act(Time now, Time next_event) {
    const Time instant = next_instant(now);
    if (instant == now) {
        change_wiring(now);
        return now;
    }
    // Where nothing else is ahead, another poll would find what the last one found.
    const bool is_settled = is_settled_ && !next_;
    return next_event == Time::max() && is_settled ? next_event : std::min(next_event, instant);
}

void DemandAwareRates::change_wiring(Time now) {
    if (record_ != nullptr) {
        for (const std::uint32_t number : active_) {
            record_->settle_whole_bytes(number, now);
        }
    }
    if (next_) {
        switch_to(*std::exchange(next_, std::nullopt));
        return;
    }
    last_look_ = now;
    ++statistics_.control_epochs;
    std::optional<Rewiring> rewiring =
        controller_->rewire(whole_ != nullptr ? *whole_ : classes_->fabric(), waiting_pairs());
    is_settled_ = !rewiring;
    if (!rewiring) {
        return;
    }
    ++statistics_.changes;
    whole_ = rewiring->next.fabric;
    const Time delay = controller_->delay();
    if (delay == Time(0)) {
        switch_to(rewiring->next);
        return;
    }
    dark_links_ = rewiring->dark;
    dark_ += detail::Int128{delay.count()} * dark_links_;
    next_at_ = delay < Time::max() - now ? now + delay : Time::max();
    next_ = std::move(rewiring->next);
    switch_to(rewiring->meanwhile);
}

void DemandAwareRates::switch_to(const WiredFabric& wiring) {
    count(carried_);
    for (const std::uint32_t number : flow_of_) {
        flows_[number].local = kNone;
        flows_[number].counted = bytes_.sent(number);
    }
    flow_of_.clear();
    classes_ = std::make_shared<const LinkClasses>(wiring.fabric);
    ports_ = wiring.ports;
    solver_ = std::make_unique<MaxMinSolver>(capacities(*classes_));
    for (const std::uint32_t number : active_) {
        enter(number);
        if (flows_[number].has_route) {
            solver_->start(FlowId(flows_[number].local));
        }
    }
    is_rewired_ = true;
}

Time DemandAwareRates::circuit_wait(std::uint32_t number, Time from, bool /*has_begun*/) const {
    return flows_[number].has_route ? from : Time::max();
}

std::optional<LinkId> DemandAwareRates::bottleneck(std::uint32_t number) const {
    if (!flows_[number].has_route || flows_[number].local == kNone) {
        return std::nullopt;
    }
    const auto link_class = solver_->bottleneck(FlowId(flows_[number].local));
    return link_class ? std::optional(ports_[classes_->example(*link_class).index()]) : std::nullopt;
}

void DemandAwareRates::for_each_link(std::uint32_t number, const LinkVisitor& visit) const {
    const std::uint32_t local = flows_[number].local;
    if (local == kNone) {
        return;
    }
    solver_->for_each_leg(FlowId(local), [&](std::uint32_t link_class, double load) {
        if (classes_->size() == ports_.size()) {
            visit(ports_[classes_->example(link_class).index()], load);
            return;
        }
        for (std::size_t i = 0; i < ports_.size(); ++i) {
            if (classes_->class_of(LinkId(i)) == link_class) {
                visit(ports_[i], load);
            }
        }
    });
}

void DemandAwareRates::count(Carried& carried) const {
    LegBytes of_class(classes_->size());
    for (std::size_t local = 0; local < flow_of_.size(); ++local) {
        of_class.start(bytes_.sent(flow_of_[local]) - flows_[flow_of_[local]].counted);
        solver_->for_each_leg(FlowId(local), of_class);
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const std::uint32_t link_class = classes_->class_of(LinkId(i));
        carried.whole[ports_[i].index()] += of_class.whole()[link_class];
        carried.shares[ports_[i].index()] += of_class.shares()[link_class];
    }
}

void DemandAwareRates::report(NetworkStatistics& statistics, Time now) const {
    Carried carried = carried_;
    count(carried);
    statistics.links.resize(carried.whole.size());
    for (std::size_t i = 0; i < carried.whole.size(); ++i) {
        statistics.links[LinkId(i)].carried = carried.whole[i] + round_sprayed(carried.shares[i]);
    }
    statistics.reconfiguration = statistics_;
    const Time ahead = next_ && next_at_ > now ? next_at_ - now : Time(0);
    const detail::Int128 dark = dark_ - detail::Int128{ahead.count()} * dark_links_;
    const auto links = static_cast<detail::Int128>(carried.whole.size());
    statistics.reconfiguration->dark = Time(static_cast<std::int64_t>(dark / links));
}

}  // namespace astrolabe::network
