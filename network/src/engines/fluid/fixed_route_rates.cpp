#include "fixed_route_rates.hpp"

#include "service_record.hpp"

#include <algorithm>
#include <utility>

namespace astrolabe::network {

void FixedRouteRates::add_connection() {
    Connection& connection = connections_.back();
    const auto index = static_cast<std::uint32_t>(connections_.size() - 1);
    classes_.find_route(connection.source, connection.destination, route_);
    connection.latency = route_.latency;
    connection.state = route_.legs.empty() ? Connection::State::kNowhere : Connection::State::kIdle;
    MaxMinSolver::Terms flow_terms;
    if (terms_ != nullptr) {
        terms_->add(connection.source, connection.destination, route_);
        flow_terms.cap = terms_->cap(index);
        connection.latency = terms_->longest_delay(index);
    }
    add_flow(route_.legs, flow_terms);
}

StaticRates::StaticRates(const LinkClasses& classes, ConnectionTerms* terms, MaxMinSolver::Strategy strategy,
                         std::vector<Connection>& connections, const ConnectionBytes& bytes)
    : FixedRouteRates(classes, terms, connections, bytes),
      solver_(capacities(classes), strategy) {
    solver_.reserve(connections.capacity(), connections.capacity() * kLegsExpected);
}

std::span<const std::uint32_t> StaticRates::update(Time now) {
    changed_.clear();
    for (const MaxMinSolver::FlowId flow : solver_.update()) {
        change_rate(connections_[flow.index()], solver_.rate(flow), now);
        changed_.push_back(flow.index());
    }
    return changed_;
}

std::optional<LinkId> StaticRates::bottleneck(std::uint32_t connection) const {
    const auto link_class = solver_.bottleneck(MaxMinSolver::FlowId(connection));
    return link_class ? std::optional(classes_.example(*link_class)) : std::nullopt;
}

void StaticRates::for_each_link(std::uint32_t connection, const LinkVisitor& visit) const {
    solver_.for_each_leg(MaxMinSolver::FlowId(connection), [&](std::uint32_t link_class, double load) {
        visit(classes_.example(link_class), load);
    });
}

void StaticRates::report(NetworkStatistics& statistics, Time /*now*/) const {
    report_legs(statistics, [this](std::uint32_t connection, LegBytes& carried) {
        solver_.for_each_leg(MaxMinSolver::FlowId(connection), carried);
    });
}

std::span<const std::uint32_t> PeriodicRates::update(Time now) {
    changed_.clear();
    for (const CircuitRates::Change& change : rates_.update()) {
        Connection& connection = connections_[change.flow.index()];
        connection.work = std::max(0.0, connection.work - change.before.served(connection.since, now));
        connection.since = now;
        if (record_ != nullptr) {
            record_->settle(change.flow.index(), now, &change.before);
        }
        changed_.push_back(change.flow.index());
    }
    return changed_;
}

Time PeriodicRates::completion(std::uint32_t index) const {
    const Connection& connection = connections_[index];
    if (!moves(index)) {
        return Time::max();
    }
    const Time time = rate(index).completion(connection.since, connection.work);
    return time < Time::max() - connection.latency ? time : Time::max();
}

double PeriodicRates::work_left(std::uint32_t index, Time now) const {
    const Connection& connection = connections_[index];
    return std::max(0.0, connection.work - rate(index).served(connection.since, now));
}

Time PeriodicRates::circuit_wait(std::uint32_t index, Time from, bool has_begun) const {
    // Between the slices of one message it is the rate of the circuit that makes it need more than one.
    return has_begun && moves(index) ? from : rate(index).next_service(from);
}

std::optional<LinkId> PeriodicRates::bottleneck(std::uint32_t connection) const {
    return rates_.bottleneck(CircuitRates::FlowId(connection));
}

void PeriodicRates::for_each_link(std::uint32_t connection, const LinkVisitor& visit) const {
    rates_.for_each_leg(CircuitRates::FlowId(connection), [&](std::uint32_t link_class, double load) {
        visit(classes_.example(link_class), load);
    });
}

void PeriodicRates::report(NetworkStatistics& statistics, Time /*now*/) const {
    report_legs(statistics, [this](std::uint32_t connection, LegBytes& carried) {
        rates_.for_each_leg(CircuitRates::FlowId(connection), carried);
    });
}

}  // namespace astrolabe::network
