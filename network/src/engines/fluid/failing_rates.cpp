#include "failing_rates.hpp"

#include "leg_bytes.hpp"
#include "rounding.hpp"
#include "service_record.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

FailingRates::FailingRates(const Fabric& fabric, std::vector<Connection>& connections,
                           const ConnectionBytes& bytes)
    : FlowRates(connections, bytes),
      fabric_(fabric),
      links_(fabric),
      carried_{std::vector<Bytes>(fabric.link_count()), std::vector<double>(fabric.link_count(), 0.0)} {
    links_.advance(Time(0), [](LinkId, double) {});
    solver_ = make_solver();
}

std::unique_ptr<MaxMinSolver> FailingRates::make_solver() const {
    std::vector<double> capacities;
    for (LinkId link; link.index() < fabric_.link_count(); ++link) {
        capacities.push_back(static_cast<double>(fabric_.link(link).rate.count()) * links_.factor(link));
    }
    return std::make_unique<MaxMinSolver>(std::move(capacities));
}

void FailingRates::before_send(std::uint32_t index, Time now) {
    if (active_.empty() && links_.next_change() <= now) {
        change(now);
    }
    enter(index);
    Connection& connection = connections_[index];
    const bool is_resting =
        connection.state == Connection::State::kIdle || connection.state == Connection::State::kNowhere;
    if (is_resting) {
        connection.state = flows_[index].is_open ? Connection::State::kIdle : Connection::State::kNowhere;
    }
}

void FailingRates::enter(std::uint32_t number) {
    Flow& flow = flows_[number];
    if (flow.local != kNone) {
        return;
    }
    Connection& connection = connections_[number];
    const Route route = links_.routing().route(connection.source, connection.destination);
    flow.has_route = !route.legs.empty();
    flow.is_open = flow.has_route;
    std::vector<ClassLeg> legs;
    for (const RouteLeg& leg : route.legs) {
        flow.is_open = flow.is_open && links_.is_up(leg.link);
        legs.push_back({static_cast<std::uint32_t>(leg.link.index()), leg.share});
    }
    if (flow.has_route) {
        connection.latency = route.latency;
    }
    flow.local = static_cast<std::uint32_t>(flow_of_.size());
    flow_of_.push_back(number);
    solver_->add_flow(legs);
}

Time FailingRates::delivery_delay(std::uint32_t number, Time now) {
    Flow& flow = flows_[number];
    flow.last_delivery = std::max(flow.last_delivery, now + connections_[number].latency);
    return flow.last_delivery - now;
}

void FailingRates::start(std::uint32_t number) {
    Flow& flow = flows_[number];
    ASTROLABE_ASSERT(flow.local != kNone && flow.active_slot == kNone, "an idle flow starts on a route");
    flow.active_slot = static_cast<std::uint32_t>(active_.size());
    active_.push_back(number);
    if (flow.has_route) {
        solver_->start(MaxMinSolver::FlowId(flow.local));
    }
}

void FailingRates::stop(std::uint32_t number) {
    Flow& flow = flows_[number];
    ASTROLABE_ASSERT(flow.active_slot != kNone, "only an active flow stops");
    active_[flow.active_slot] = active_.back();
    flows_[active_.back()].active_slot = flow.active_slot;
    active_.pop_back();
    flow.active_slot = kNone;
    if (flow.has_route) {
        solver_->stop(MaxMinSolver::FlowId(flow.local));
    }
}

std::span<const std::uint32_t> FailingRates::update(Time now) {
    const std::span<const MaxMinSolver::FlowId> changed = solver_->update();
    changed_.clear();
    const auto set_rate = [&](std::uint32_t number) {
        const Flow& flow = flows_[number];
        const double rate = flow.has_route ? snapped(solver_->rate(MaxMinSolver::FlowId(flow.local))) : 0.0;
        if (rate != connections_[number].rate) {
            change_rate(connections_[number], rate, now);
            changed_.push_back(number);
        }
    };
    if (std::exchange(has_changed_, false)) {
        std::ranges::for_each(active_, set_rate);
    } else {
        for (const MaxMinSolver::FlowId flow : changed) {
            set_rate(flow_of_[flow.index()]);
        }
    }
    return changed_;
}

Time FailingRates::act(Time now, Time next_event) {
    const Time next = links_.next_change();
    if (active_.empty()) {
        return next_event;  // made up for when something is sent
    }
    if (next <= now) {
        change(now);
        return now;
    }
    return std::min(next_event, next);
}

void FailingRates::change(Time now) {
    if (record_ != nullptr) {
        for (const std::uint32_t number : active_) {
            record_->settle_whole_bytes(number, now);
        }
    }
    count(carried_);
    for (const std::uint32_t number : flow_of_) {
        flows_[number].local = kNone;
        flows_[number].counted = bytes_.sent(number);
    }
    flow_of_.clear();
    links_.advance(now, [](LinkId, double) {});
    solver_ = make_solver();
    for (const std::uint32_t number : active_) {
        enter(number);
        if (flows_[number].has_route) {
            solver_->start(MaxMinSolver::FlowId(flows_[number].local));
        }
    }
    has_changed_ = true;
}

std::optional<LinkId> FailingRates::bottleneck(std::uint32_t number) const {
    if (!flows_[number].has_route || flows_[number].local == kNone) {
        return std::nullopt;
    }
    const auto link = solver_->bottleneck(MaxMinSolver::FlowId(flows_[number].local));
    return link ? std::optional(LinkId(*link)) : std::nullopt;
}

void FailingRates::for_each_link(std::uint32_t number, const LinkVisitor& visit) const {
    if (flows_[number].local != kNone) {
        solver_->for_each_leg(MaxMinSolver::FlowId(flows_[number].local),
                              [&](std::uint32_t link, double load) { visit(LinkId(link), load); });
    }
}

void FailingRates::count(Carried& carried) const {
    LegBytes of_link(fabric_.link_count());
    for (std::size_t local = 0; local < flow_of_.size(); ++local) {
        of_link.start(bytes_.sent(flow_of_[local]) - flows_[flow_of_[local]].counted);
        solver_->for_each_leg(MaxMinSolver::FlowId(local), of_link);
    }
    for (std::size_t i = 0; i < fabric_.link_count(); ++i) {
        carried.whole[i] += of_link.whole()[i];
        carried.shares[i] += of_link.shares()[i];
    }
}

void FailingRates::report(NetworkStatistics& statistics, Time /*now*/) const {
    Carried carried = carried_;
    count(carried);
    statistics.links.resize(carried.whole.size());
    for (std::size_t i = 0; i < carried.whole.size(); ++i) {
        statistics.links[LinkId(i)].carried = carried.whole[i] + round_sprayed(carried.shares[i]);
    }
}

}  // namespace astrolabe::network
