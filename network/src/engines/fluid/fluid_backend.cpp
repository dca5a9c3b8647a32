#include "fluid_backend.hpp"

#include "rounding.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

using FlowId = MaxMinSolver::FlowId;

namespace {

/// Picoseconds that a byte takes at 1 bit/s.
constexpr double kPacePerBit = 8.0 * static_cast<double>(kPicosecondsPerSecond);

/// Room is made for so many connections at first, lest a million be moved again and again while they are met.
constexpr std::size_t kPairsAtOnce = std::size_t{1} << 20;
constexpr std::size_t kLegsOfMost = 6;

/// None where links come and go: circuit_rates.hpp and rewired_rates.hpp have those.
std::vector<double> capacities(const LinkClasses& classes) {
    std::vector<double> capacities;
    for (std::uint32_t i = 0; classes.fabric().is_static() && i < classes.size(); ++i) {
        capacities.push_back(static_cast<double>(classes.fabric().link(classes.example(i)).rate.count()));
    }
    return capacities;
}

}  // namespace

FluidBackend::FluidBackend(std::shared_ptr<const LinkClasses> classes, FluidOptions options)
    : classes_(std::move(classes)),
      solver_(capacities(*classes_), options.strategy),
      is_static_(fabric().is_static()),
      is_plain_(options.terms == TransportTerms() && fabric().reconfiguration() == nullptr),
      pairs_(fabric().host_count()) {
    const std::size_t pairs = std::min(fabric().host_count() * (fabric().host_count() - 1), kPairsAtOnce);
    connections_.reserve(pairs);
    if (options.terms != TransportTerms()) {
        terms_ = std::make_unique<ConnectionTerms>(options.terms, *classes_);
    }
    if (is_static_) {
        solver_.reserve(pairs, pairs * kLegsOfMost);
        return;
    }
    ASTROLABE_ASSERT(classes_->flows_per_representative() == 1,
                     "images would have to meet their circuits together");
    if (fabric().reconfiguration() != nullptr) {
        ASTROLABE_ASSERT(terms_ == nullptr, "terms are of one path");
        rewired_ = std::make_unique<RewiredRates>(classes_);
    } else {
        circuits_ = std::make_unique<CircuitRates>(*classes_);
    }
}

FluidBackend::FluidBackend(std::shared_ptr<const Fabric> fabric, FluidOptions options)
    : FluidBackend(std::make_shared<const LinkClasses>(std::move(fabric)), options) {}

std::uint32_t FluidBackend::connection_between(HostId source, HostId destination) {
    ASTROLABE_ASSERT(source.index() < fabric().host_count() && destination.index() < fabric().host_count(),
                     "a message is between hosts of the fabric");
    ASTROLABE_ASSERT(source != destination, "source and destination of a message differ");
    const std::uint32_t known = pairs_.find(source, destination);
    if (known != HostPairIndex::kNone) {
        return known;
    }
    const auto index = static_cast<std::uint32_t>(connections_.size());
    Connection& connection = connections_.emplace_back();
    connection.source = source;
    connection.destination = destination;
    completions_.add_connection();
    pairs_.insert(source, destination, index);
    if (rewired_ != nullptr) {
        rewired_->add_flow(source, destination);
        return index;
    }
    classes_->find_route(source, destination, route_);
    connection.latency = route_.latency;
    connection.state = route_.legs.empty() ? State::kNowhere : State::kIdle;
    MaxMinSolver::Terms flow_terms;
    if (terms_ != nullptr) {
        terms_->add(source, destination, route_);
        flow_terms.cap = terms_->cap(index);
        connection.latency = terms_->longest_delay(index);
    }
    if (circuits_ != nullptr) {
        circuits_->add_flow(route_.legs, flow_terms);
    } else {
        solver_.add_flow(route_.legs, flow_terms);
    }
    return index;
}

void FluidBackend::send(const Message& message) {
    ASTROLABE_ASSERT(message.size >= Bytes(0), "a message has a size");
    ASTROLABE_ASSERT(message.on_delivered != nullptr, "someone is told of the delivery");
    const std::uint32_t index = connection_between(message.source, message.destination);
    if (rewired_ != nullptr) {
        find_route(index);
    }
    Connection& connection = connections_[index];
    const std::uint32_t queued = messages_.add(
        {message.size, message.on_delivered, message.token, sent_++, index, MessagePool::kNone});
    if (message.size == Bytes(0) && connection.queue.empty() && connection.state != State::kNowhere) {
        launch(queued);
        return;
    }
    messages_.append(connection.queue, queued);
    if (connection.state == State::kIdle) {
        const Time delay = terms_ != nullptr ? terms_->start(index, message.size, now_) : Time(0);
        if (delay > Time(0)) {
            connection.state = State::kWaiting;
            if (delay < Time::max() - now_) {  // else it never begins
                schedule(delay, starter_, index);
            }
            return;
        }
        start_flow(index);
        begin_service(index);
    } else if (connection.state == State::kDrained) {
        restarted_.push_back(index);
        begin_service(index);
    } else if (connection.state == State::kNowhere && rewired_ != nullptr) {
        start_waiting(index);
    }
}

void FluidBackend::start_waiting(std::uint32_t index) {
    start_flow(index);
    begin_service(index);
}

double FluidBackend::work_of_first(std::uint32_t index) const {
    const Bytes size = messages_.front(connections_[index].queue).size;
    return static_cast<double>((terms_ != nullptr ? terms_->wire(index, size) : size).count());
}

void FluidBackend::begin_service(std::uint32_t index) {
    Connection& connection = connections_[index];
    connection.state = State::kServing;
    connection.since = now_;
    connection.work = work_of_first(index);
    connection.whole = is_whole(connection.rate) && is_whole(connection.work);
}

void FluidBackend::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    ASTROLABE_ASSERT(delay >= Time(0) && delay <= Time::max() - now_, "a timer is in the future");
    delayed_.push(now_, delay, {{}, &handler, token});
}

void FluidBackend::start_flow(std::uint32_t index) {
    if (is_static_) {
        solver_.start(FlowId(index));
    } else if (circuits_ != nullptr) {
        circuits_->start(CircuitRates::FlowId(index));
    } else {
        rewired_->start(index);
    }
}

void FluidBackend::stop_flow(std::uint32_t index) {
    if (is_static_) {
        solver_.stop(FlowId(index));
    } else if (circuits_ != nullptr) {
        circuits_->stop(CircuitRates::FlowId(index));
    } else {
        rewired_->stop(index);
    }
}

bool FluidBackend::moves(const Connection& connection) const {
    return circuits_ != nullptr ? !periodic_rate(connection).is_zero() : connection.rate > 0.0;
}

double FluidBackend::work_left(const Connection& connection) const {
    const double served = circuits_ != nullptr ? periodic_rate(connection).served(connection.since, now_)
                                               : static_cast<double>((now_ - connection.since).count()) *
                                                     connection.rate / kPacePerBit;
    return std::max(0.0, connection.work - served);
}

Time FluidBackend::completion_time(const Connection& connection) const {
    if (circuits_ != nullptr) {
        const Time time = periodic_rate(connection).completion(connection.since, connection.work);
        return time < Time::max() - connection.latency ? time : Time::max();
    }
    const double pace = kPacePerBit / connection.rate;
    const double duration = connection.work * pace;
    const double limit = static_cast<double>((Time::max() - connection.since - connection.latency).count());
    if (duration >= limit * (1.0 - 0x1p-50)) {
        return Time::max();
    }
    const double floor = std::floor(duration);
    const double excess = duration - floor;
    const double tolerance = rounding_tolerance(duration);
    auto picoseconds = static_cast<std::int64_t>(floor);
    if (excess > tolerance && excess < 1.0 - tolerance) {
        ++picoseconds;
    } else if (connection.whole) {
        // So near a whole picosecond that the rounding of `duration` may have crossed it, unless it is a
        // product of integers: a pace that is whole as a double is whole, being no nearer to an integer than
        // 1 / rate.
        if (!is_whole(pace) || duration >= kExactIntegers) {
            picoseconds = detail::multiply_divide_up(static_cast<std::int64_t>(connection.work),
                                                     8 * kPicosecondsPerSecond,
                                                     static_cast<std::int64_t>(connection.rate));
        }
    } else if (excess > tolerance) {
        ++picoseconds;
    }
    return connection.since + Time(picoseconds);
}

void FluidBackend::plan_completion(std::uint32_t index) {
    const Connection& connection = connections_[index];
    const Time time = moves(connection) ? completion_time(connection) : Time::max();
    if (time == Time::max()) {
        completions_.remove(index);
    } else {
        completions_.set(index, std::max(time, now_));
    }
}

Time FluidBackend::delivery_delay(std::uint32_t index, Bytes size) {
    return terms_ != nullptr ? terms_->deliver(index, size, now_) : rewired_->deliver(index, now_);
}

void FluidBackend::launch(std::uint32_t message) {
    const std::uint32_t index = messages_[message].connection;
    const Time latency =
        is_plain_ ? connections_[index].latency : delivery_delay(index, messages_[message].size);
    DelayedEvent* const newest = delayed_.newest(now_, latency);
    if (newest != nullptr && !newest->deliveries.empty()) {
        messages_.append(newest->deliveries, message);
        return;
    }
    DelayedEvent event;
    messages_.append(event.deliveries, message);
    delayed_.push(now_, latency, event);
}

void FluidBackend::complete(std::uint32_t index) {
    Connection& connection = connections_[index];
    connection.served += messages_.front(connection.queue).size;
    do {
        launch(messages_.pop(connection.queue));
    } while (!connection.queue.empty() && messages_.front(connection.queue).size == Bytes(0));
    if (connection.queue.empty()) {
        connection.state = State::kDrained;
        drained_.push_back(index);
        return;
    }
    connection.work += work_of_first(index);
    connection.whole = connection.whole && connection.work < kExactIntegers;
    plan_completion(index);
}

void FluidBackend::deliver() {
    while (!delivering_.empty()) {
        const std::uint32_t number = messages_.pop(delivering_);
        const MessagePool::Item message = messages_[number];
        messages_.remove(number);
        ++events_;
        ++delivered_;
        bytes_delivered_ += message.size;
        message.handler->notify(message.token);
    }
}

void FluidBackend::process_instant() {
    for (;;) {
        while (completions_.next_time() == now_) {
            for (const std::uint32_t connection : completions_.take()) {
                ++events_;
                complete(connection);
            }
        }
        if (delayed_.empty() || delayed_.next_time() != now_) {
            return;
        }
        const DelayedEvent event = delayed_.pop();
        if (event.deliveries.empty()) {
            ++events_;
            event.handler->notify(event.token);
        } else {
            delivering_ = event.deliveries;
            deliver();
        }
    }
}

void FluidBackend::change_rate(std::uint32_t index, double rate) {
    Connection& connection = connections_[index];
    if (connection.since < now_) {
        connection.work = work_left(connection);
        connection.since = now_;
    }
    connection.rate = snapped(rate);
    connection.whole = is_whole(connection.rate) && is_whole(connection.work);
    plan_completion(index);
}

void FluidBackend::change_rate(std::uint32_t index, const PeriodicRate& before) {
    Connection& connection = connections_[index];
    connection.work = std::max(0.0, connection.work - before.served(connection.since, now_));
    connection.since = now_;
    plan_completion(index);
}

void FluidBackend::settle_rates() {
    for (const std::uint32_t index : drained_) {
        Connection& connection = connections_[index];
        if (connection.state == State::kDrained) {
            connection.state = State::kIdle;
            connection.rate = 0.0;
            stop_flow(index);
            if (terms_ != nullptr) {
                terms_->end(index, now_);
            }
        }
    }
    drained_.clear();
    if (is_static_) {
        for (const FlowId flow : solver_.update()) {
            change_rate(flow.index(), solver_.rate(flow));
        }
    } else if (circuits_ != nullptr) {
        for (const CircuitRates::Change& change : circuits_->update()) {
            change_rate(change.flow.index(), change.before);
        }
    } else {
        settle_rewired();
    }
    for (const std::uint32_t index : restarted_) {
        if (connections_[index].state == State::kServing && !completions_.contains(index)) {
            plan_completion(index);
        }
    }
    restarted_.clear();
}

void FluidBackend::run() {
    stop_requested_ = false;
    for (;;) {
        process_instant();
        settle_rates();
        Time next_event = std::min(completions_.next_time(), delayed_.next_time());
        if (next_event == now_) {
            continue;
        }
        if (stop_requested_) {
            return;
        }
        if (rewired_ != nullptr) {
            next_event = act_on_circuits(next_event);
        }
        if (next_event == Time::max()) {
            return;
        }
        now_ = next_event;
    }
}

}  // namespace astrolabe::network
