#include "rewired_rates.hpp"

#include "../../link_traffic.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

using FlowId = MaxMinSolver::FlowId;

namespace {

std::unique_ptr<MaxMinSolver> solver_of(const LinkClasses& classes) {
    std::vector<double> capacities;
    for (std::uint32_t i = 0; i < classes.size(); ++i) {
        capacities.push_back(static_cast<double>(classes.fabric().link(classes.example(i)).rate.count()));
    }
    return std::make_unique<MaxMinSolver>(std::move(capacities));
}

}  // namespace

RewiredRates::RewiredRates(std::shared_ptr<const LinkClasses> first)
    : controller_(first->fabric().reconfiguration()),
      classes_(std::move(first)),
      solver_(solver_of(*classes_)) {
    ASTROLABE_ASSERT(controller_ != nullptr, "someone moves the circuits");
    const std::size_t ports = classes_->fabric().link_count();
    for (LinkId port; port.index() < ports; ++port) {
        ports_.push_back(port);
    }
    carried_ = {std::vector<Bytes>(ports), std::vector<double>(ports, 0.0)};
}

void RewiredRates::add_flow(HostId source, HostId destination) {
    Flow& flow = flows_.emplace_back();
    flow.source = source;
    flow.destination = destination;
}

void RewiredRates::find_route(std::uint32_t flow, Time now, const Sent& sent) {
    if (active_.empty() && next_ && next_at_ <= now) {
        switch_to(*std::exchange(next_, std::nullopt), sent);
    }
    enter(flow);
}

void RewiredRates::enter(std::uint32_t number) {
    Flow& flow = flows_[number];
    if (flow.local != kNone) {
        return;
    }
    classes_->find_route(flow.source, flow.destination, route_);
    flow.has_route = !route_.legs.empty();
    if (flow.has_route) {
        flow.latency = route_.latency;
    }
    flow.local = static_cast<std::uint32_t>(flow_of_.size());
    flow_of_.push_back(number);
    solver_->add_flow(route_.legs);
}

Time RewiredRates::deliver(std::uint32_t number, Time now) {
    Flow& flow = flows_[number];
    flow.last_delivery = std::max(flow.last_delivery, now + flow.latency);
    return flow.last_delivery - now;
}

void RewiredRates::start(std::uint32_t number) {
    Flow& flow = flows_[number];
    ASTROLABE_ASSERT(flow.local != kNone && flow.active_slot == kNone, "an idle flow starts on a route");
    flow.active_slot = static_cast<std::uint32_t>(active_.size());
    active_.push_back(number);
    is_settled_ = false;
    if (flow.has_route) {
        solver_->start(FlowId(flow.local));
    }
}

void RewiredRates::stop(std::uint32_t number) {
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

std::span<const std::uint32_t> RewiredRates::update() {
    const std::span<const FlowId> changed = solver_->update();
    changed_.clear();
    if (std::exchange(is_rewired_, false)) {
        changed_ = active_;
        return changed_;
    }
    for (const FlowId flow : changed) {
        changed_.push_back(flow_of_[flow.index()]);
    }
    return changed_;
}

double RewiredRates::rate(std::uint32_t number) const {
    const Flow& flow = flows_[number];
    return flow.has_route ? solver_->rate(FlowId(flow.local)) : 0.0;
}

Time RewiredRates::next_instant(Time now) const {
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

void RewiredRates::act(Time now, const std::function<std::vector<WaitingPair>()>& waiting, const Sent& sent) {
    if (next_) {
        switch_to(*std::exchange(next_, std::nullopt), sent);
        return;
    }
    last_look_ = now;
    ++statistics_.looks;
    std::optional<Rewiring> rewiring =
        controller_->rewire(whole_ != nullptr ? *whole_ : classes_->fabric(), waiting());
    is_settled_ = !rewiring;
    if (!rewiring) {
        return;
    }
    ++statistics_.changes;
    whole_ = rewiring->next.fabric;
    const Time delay = controller_->delay();
    if (delay == Time(0)) {
        switch_to(rewiring->next, sent);
        return;
    }
    dark_links_ = rewiring->dark;
    dark_ += detail::Int128{delay.count()} * dark_links_;
    next_at_ = delay < Time::max() - now ? now + delay : Time::max();
    next_ = std::move(rewiring->next);
    switch_to(rewiring->meanwhile, sent);
}

void RewiredRates::switch_to(const WiredFabric& wiring, const Sent& sent) {
    count(carried_, sent);
    for (const std::uint32_t number : flow_of_) {
        flows_[number].local = kNone;
        flows_[number].counted = sent(number);
    }
    flow_of_.clear();
    classes_ = std::make_shared<const LinkClasses>(wiring.fabric);
    ports_ = wiring.ports;
    solver_ = solver_of(*classes_);
    for (const std::uint32_t number : active_) {
        enter(number);
        if (flows_[number].has_route) {
            solver_->start(FlowId(flows_[number].local));
        }
    }
    is_rewired_ = true;
}

void RewiredRates::count(Carried& carried, const Sent& sent) const {
    std::vector<Bytes> whole(classes_->size());
    std::vector<double> shares(classes_->size(), 0.0);
    for (std::size_t local = 0; local < flow_of_.size(); ++local) {
        const Bytes bytes = sent(flow_of_[local]) - flows_[flow_of_[local]].counted;
        solver_->for_each_leg(FlowId(local), [&](std::uint32_t link_class, double load) {
            if (load == 1.0) {
                whole[link_class] += bytes;
            } else {
                shares[link_class] += load * static_cast<double>(bytes.count());
            }
        });
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const std::uint32_t link_class = classes_->class_of(LinkId(i));
        carried.whole[ports_[i].index()] += whole[link_class];
        carried.shares[ports_[i].index()] += shares[link_class];
    }
}

void RewiredRates::report(NetworkStatistics& statistics, Time now, const Sent& sent) const {
    Carried carried = carried_;
    count(carried, sent);
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
