#include "circuit_rates.hpp"

#include "rounding.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

namespace {

double capacity(const Fabric& fabric, LinkId link) {
    return static_cast<double>(fabric.link(link).rate.count());
}

}  // namespace

CircuitRates::CircuitRates(const LinkClasses& classes)
    : classes_(classes),
      circuits_(classes.fabric().circuits()),
      static_number_(classes.size(), kCircuit),
      intervals_(circuits_.intervals().size()) {
    ASTROLABE_ASSERT(!circuits_.is_static(), "some links come and go");
    for (std::uint32_t link_class = 0; link_class < classes.size(); ++link_class) {
        const LinkId link = classes.example(link_class);
        if (!circuits_.is_circuit(link)) {
            static_number_[link_class] = static_cast<std::uint32_t>(static_capacities_.size());
            static_capacities_.push_back(capacity(classes.fabric(), link));
        }
    }
    shared_ = make_interval({});
}

std::unique_ptr<CircuitRates::Interval> CircuitRates::make_interval(std::span<const LinkId> circuits) const {
    std::vector<double> capacities = static_capacities_;
    for (const LinkId link : circuits) {
        capacities.push_back(capacity(classes_.fabric(), link));
    }
    return std::make_unique<Interval>(std::move(capacities));
}

CircuitRates::FlowId CircuitRates::add_flow(std::span<const ClassLeg> route,
                                            const MaxMinSolver::Terms& terms) {
    Flow flow;
    flow.route.assign(route.begin(), route.end());
    flow.terms = terms;
    for (const ClassLeg& leg : route) {
        if (static_number_[leg.link_class] != kCircuit) {
            continue;
        }
        const auto present = circuits_.intervals_of(classes_.example(leg.link_class));
        if (!flow.uses_circuits) {
            flow.intervals.assign(present.begin(), present.end());
        } else {
            std::vector<std::uint32_t> common;
            std::set_intersection(flow.intervals.begin(), flow.intervals.end(), present.begin(),
                                  present.end(), std::back_inserter(common));
            flow.intervals = std::move(common);
        }
        flow.uses_circuits = true;
    }
    return flows_.push_back(std::move(flow));
}

CircuitRates::Interval& CircuitRates::open(std::uint32_t index) {
    std::unique_ptr<Interval>& interval = intervals_[index];
    if (interval == nullptr) {
        interval = make_interval(circuits_.intervals()[index].links);
        for (const FlowId flow : static_active_) {
            start_in(*interval, flow, index);
            touch(flow);
        }
    }
    return *interval;
}

std::uint32_t CircuitRates::number_in(std::uint32_t link_class, std::uint32_t index) const {
    if (static_number_[link_class] != kCircuit) {
        return static_number_[link_class];
    }
    const std::vector<LinkId>& links = circuits_.intervals()[index].links;
    const auto place = std::lower_bound(links.begin(), links.end(), classes_.example(link_class));
    return static_cast<std::uint32_t>(static_capacities_.size() +
                                      static_cast<std::size_t>(place - links.begin()));
}

std::optional<LinkId> CircuitRates::bottleneck(FlowId id) const {
    const Flow& flow = flows_[id];
    std::uint32_t index = kShared;
    if (flow.uses_circuits) {
        if (flow.intervals.empty()) {
            return std::nullopt;
        }
        index = flow.intervals.front();
    }
    const Interval& interval = index != kShared ? *intervals_[index] : *shared_;
    const auto number = interval.solver.bottleneck(interval.local.at(static_cast<std::uint32_t>(id.index())));
    for (const ClassLeg& leg : flow.route) {
        if (number && number_in(leg.link_class, index) == *number) {
            return classes_.example(leg.link_class);
        }
    }
    return std::nullopt;
}

void CircuitRates::start_in(Interval& interval, FlowId id, std::uint32_t index) {
    const auto [entry, is_new] = interval.local.try_emplace(static_cast<std::uint32_t>(id.index()));
    if (is_new) {
        std::vector<ClassLeg> route = flows_[id].route;
        for (ClassLeg& leg : route) {
            leg.link_class = number_in(leg.link_class, index);
        }
        entry->second = interval.solver.add_flow(route, flows_[id].terms);
        interval.flows.push_back(id);
    }
    interval.solver.start(entry->second);
    if (!interval.is_dirty && index != kShared) {
        dirty_.push_back(index);
    }
    interval.is_dirty = true;
}

void CircuitRates::stop_in(Interval& interval, FlowId id) {
    interval.solver.stop(interval.local.at(static_cast<std::uint32_t>(id.index())));
}

void CircuitRates::touch(FlowId id) {
    if (!std::exchange(flows_[id].is_touched, true)) {
        touched_.push_back(id);
    }
}

void CircuitRates::start(FlowId id) {
    Flow& flow = flows_[id];
    ASTROLABE_ASSERT(!flow.is_active, "only an idle flow starts");
    ASTROLABE_ASSERT(!flow.route.empty(), "a flow that uses no link has no rate");
    flow.is_active = true;
    ++active_;
    touch(id);
    if (flow.uses_circuits) {
        for (const std::uint32_t index : flow.intervals) {
            Interval& interval = open(index);
            ++interval.circuit_flows;
            start_in(interval, id, index);
        }
        return;
    }
    flow.static_slot = static_cast<std::uint32_t>(static_active_.size());
    static_active_.push_back(id);
    start_in(*shared_, id, kShared);
    for (std::uint32_t index = 0; index < intervals_.size(); ++index) {
        if (intervals_[index] != nullptr) {
            start_in(*intervals_[index], id, index);
        }
    }
}

void CircuitRates::stop(FlowId id) {
    Flow& flow = flows_[id];
    ASTROLABE_ASSERT(flow.is_active, "only an active flow stops");
    flow.is_active = false;
    flow.rate = PeriodicRate();
    --active_;
    const auto leave = [&](Interval& interval, std::uint32_t index) {
        stop_in(interval, id);
        if (!std::exchange(interval.is_dirty, true)) {
            dirty_.push_back(index);
        }
    };
    if (flow.uses_circuits) {
        for (const std::uint32_t index : flow.intervals) {
            leave(*intervals_[index], index);
            --intervals_[index]->circuit_flows;
        }
        return;
    }
    static_active_[flow.static_slot] = static_active_.back();
    flows_[static_active_.back()].static_slot = flow.static_slot;
    static_active_.pop_back();
    stop_in(*shared_, id);
    for (std::uint32_t index = 0; index < intervals_.size(); ++index) {
        if (intervals_[index] != nullptr) {
            leave(*intervals_[index], index);
        }
    }
}

void CircuitRates::collect(Interval& interval) {
    interval.is_dirty = false;
    for (const MaxMinSolver::FlowId local : interval.solver.update()) {
        touch(interval.flows[local.index()]);
    }
}

std::span<const CircuitRates::Change> CircuitRates::update() {
    collect(*shared_);
    for (const std::uint32_t index : dirty_) {
        Interval& interval = *intervals_[index];
        collect(interval);
        if (interval.circuit_flows == 0) {
            // As any interval without circuit flows from here on.
            intervals_[index] = nullptr;
            for (const FlowId flow : static_active_) {
                touch(flow);
            }
        }
    }
    dirty_.clear();
    changed_.clear();
    for (const FlowId id : touched_) {
        Flow& flow = flows_[id];
        flow.is_touched = false;
        if (!flow.is_active) {
            continue;
        }
        PeriodicRate rate = rate_over_all_intervals(id);
        if (rate != flow.rate) {
            changed_.push_back({id, std::exchange(flow.rate, std::move(rate))});
        }
    }
    touched_.clear();
    return changed_;
}

PeriodicRate CircuitRates::rate_over_all_intervals(FlowId id) const {
    PeriodicRate rate(circuits_.period());
    const auto append = [&](std::uint32_t index) {
        const Interval& interval = intervals_[index] != nullptr ? *intervals_[index] : *shared_;
        rate.append(circuits_.begin(index), circuits_.end(index),
                    snapped(interval.solver.rate(interval.local.at(static_cast<std::uint32_t>(id.index())))));
    };
    const Flow& flow = flows_[id];
    if (flow.uses_circuits) {
        std::for_each(flow.intervals.begin(), flow.intervals.end(), append);
    } else {
        for (std::uint32_t index = 0; index < intervals_.size(); ++index) {
            append(index);
        }
    }
    return rate;
}

}  // namespace astrolabe::network
