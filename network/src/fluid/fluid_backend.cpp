#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/fluid/fluid_backend.hpp>

namespace astrolabe::network {

using FlowId = MaxMinSolver::FlowId;

namespace {

/// Picoseconds that a byte takes at 1 bit/s.
constexpr double kPacePerBit = 8.0 * static_cast<double>(kPicosecondsPerSecond);

/// Integers up to here are exact as doubles.
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

constexpr double kRoundingShare = 0x1p-36;
constexpr double kRoundingLimit = 0.25;

/// Room is made for so many connections at first, lest a million be moved again and again while they are met.
constexpr std::size_t kPairsAtOnce = std::size_t{1} << 20;
constexpr std::size_t kLegsOfMost = 6;

bool is_whole(double value) {
    return value < kExactIntegers && value == std::floor(value);
}

/// None where links come and go: circuit_rates.hpp has those.
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
      transport_(options.transport),
      solver_(capacities(*classes_), options.strategy),
      pairs_(fabric().host_count()) {
    const std::size_t pairs = std::min(fabric().host_count() * (fabric().host_count() - 1), kPairsAtOnce);
    connections_.reserve(pairs);
    if (fabric().is_static()) {
        solver_.reserve(pairs, pairs * kLegsOfMost);
    } else {
        ASTROLABE_ASSERT(classes_->multiplicity() == 1, "images would have to meet their circuits together");
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
    classes_->find_route(source, destination, route_);
    Connection& connection = connections_.emplace_back();
    connection.source = source;
    connection.destination = destination;
    const MaxMinSolver::Terms terms = apply_transport(connection);
    connection.state = route_.legs.empty() ? State::kNowhere : State::kIdle;
    if (circuits_ != nullptr) {
        circuits_->add_flow(route_.legs);
    } else {
        solver_.add_flow(route_.legs, terms);
    }
    completions_.add_connection();
    pairs_.insert(source, destination, index);
    return index;
}

MaxMinSolver::Terms FluidBackend::apply_transport(Connection& connection) {
    MaxMinSolver::Terms terms;
    connection.latency = transport_.has_latency() ? route_.latency : Time(0);
    if (!transport_.needs_round_trip() || route_.legs.empty()) {
        paths_.resize(transport_.has_slow_start() ? connections_.size() : 0);
        return terms;
    }
    Bandwidth slowest = Bandwidth::max();
    Path path{.rate = std::numeric_limits<double>::infinity()};
    for (const ClassLeg& leg : route_.legs) {
        const Bandwidth rate = fabric().link(classes_->example(leg.link_class)).rate;
        slowest = std::min(slowest, rate);
        path.rate = std::min(path.rate, static_cast<double>(rate.count()) / leg.load);
    }
    ClassRoute back;
    classes_->find_route(connection.destination, connection.source, back);
    path.round_trip = transport_.round_trip(route_.latency + back.latency, slowest);
    terms.cap = transport_.cap(path.round_trip);
    path.rate = std::min(path.rate, terms.cap);
    if (transport_.has_slow_start()) {
        paths_.push_back(path);
    }
    return terms;
}

void FluidBackend::send(const Message& message) {
    ASTROLABE_ASSERT(message.size >= Bytes(0), "a message has a size");
    ASTROLABE_ASSERT(message.on_delivered != nullptr, "someone is told of the delivery");
    const std::uint32_t index = connection_between(message.source, message.destination);
    Connection& connection = connections_[index];
    const std::uint32_t queued = messages_.add(
        {message.size, message.on_delivered, message.token, sent_++, index, MessagePool::kNone});
    if (message.size == Bytes(0) && connection.queue.empty() && connection.state != State::kNowhere) {
        launch(queued);
        return;
    }
    messages_.append(connection.queue, queued);
    if (connection.state == State::kIdle) {
        start(index);
    } else if (connection.state == State::kDrained) {
        restarted_.push_back(index);
        begin_service(connection);
    }
}

void FluidBackend::start(std::uint32_t index) {
    Connection& connection = connections_[index];
    if (transport_.has_slow_start()) {
        const Path& path = paths_[index];
        const Bytes size = messages_.front(connection.queue).size;
        const Time delay = transport_.slow_start_delay(size, path.rate, path.round_trip);
        if (delay > Time(0)) {
            connection.state = State::kStarting;
            delayed_.push(now_, delay, {{}, nullptr, index});
            return;
        }
    }
    start_service(index);
}

void FluidBackend::start_service(std::uint32_t index) {
    start_flow(index);
    begin_service(connections_[index]);
}

double FluidBackend::work_at_head(const Connection& connection) const {
    return static_cast<double>(transport_.on_wire(messages_.front(connection.queue).size).count());
}

void FluidBackend::begin_service(Connection& connection) {
    connection.state = State::kServing;
    connection.since = now_;
    connection.work = work_at_head(connection);
    connection.whole = is_whole(connection.rate) && is_whole(connection.work);
}

void FluidBackend::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    ASTROLABE_ASSERT(delay >= Time(0) && delay <= Time::max() - now_, "a timer is in the future");
    delayed_.push(now_, delay, {{}, &handler, token});
}

void FluidBackend::start_flow(std::uint32_t index) {
    if (circuits_ != nullptr) {
        circuits_->start(CircuitRates::FlowId(index));
    } else {
        solver_.start(FlowId(index));
    }
}

void FluidBackend::stop_flow(std::uint32_t index) {
    if (circuits_ != nullptr) {
        circuits_->stop(CircuitRates::FlowId(index));
    } else {
        solver_.stop(FlowId(index));
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
    const double tolerance = std::min(duration * kRoundingShare, kRoundingLimit);
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

void FluidBackend::launch(std::uint32_t message) {
    const Time latency = connections_[messages_[message].connection].latency;
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
    connection.work += work_at_head(connection);
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
        if (!event.deliveries.empty()) {
            delivering_ = event.deliveries;
            deliver();
            continue;
        }
        ++events_;
        if (event.handler != nullptr) {
            event.handler->notify(event.token);
        } else {
            start_service(static_cast<std::uint32_t>(event.token));
        }
    }
}

void FluidBackend::change_rate(std::uint32_t index) {
    Connection& connection = connections_[index];
    if (connection.since < now_) {
        connection.work = work_left(connection);
        connection.since = now_;
    }
    connection.rate = solver_.rate(FlowId(index));
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
        }
    }
    drained_.clear();
    if (circuits_ != nullptr) {
        for (const CircuitRates::Change& change : circuits_->update()) {
            change_rate(change.flow.index(), change.before);
        }
    } else {
        for (const FlowId flow : solver_.update()) {
            change_rate(flow.index());
        }
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
        const Time next_event = std::min(completions_.next_time(), delayed_.next_time());
        if (next_event == now_) {
            continue;
        }
        if (stop_requested_) {
            return;
        }
        if (next_event == Time::max()) {
            return;
        }
        now_ = next_event;
    }
}

}  // namespace astrolabe::network
