#include "fluid_backend.hpp"

#include "rounding.hpp"

#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// Room is made for so many connections at first, lest a million be moved again and again while they are met.
constexpr std::size_t kPairsAtOnce = std::size_t{1} << 20;

/// Hosts from which on rates are kept by link: thousands of connections can share their links then.
constexpr std::size_t kHostsByLink = 64;

}  // namespace

FluidBackend::FluidBackend(std::shared_ptr<const LinkClasses> classes, FluidOptions options)
    : classes_(std::move(classes)),
      pairs_(fabric().host_count()),
      strategy_(options.strategy),
      rate_slack_(options.rate_slack),
      applies_slack_(options.rate_slack > 0.0),
      rate_interval_(options.rate_interval) {
    ASTROLABE_ASSERT(rate_interval_ >= Time(0), "time between updates of rates does not run backwards");
    ASTROLABE_ASSERT(
        rate_interval_ == Time(0) || (fabric().is_static() && fabric().demand_aware_circuits() == nullptr &&
                                      fabric().failures() == nullptr),
        "rates of links that come and go are updated when these do");
    ASTROLABE_ASSERT(
        rate_slack_ == 0.0 || (can_keep_rates_by_link(fabric(), options.terms) && rate_interval_ == Time(0) &&
                               classes_->flows_per_representative() == 1),
        "links leave slack where they are always there, and to every connection by itself");
    if (rate_interval_ > Time(0)) {
        withheld_bytes_.resize(fabric().link_count());
    }
    connections_.reserve(std::min(fabric().host_count() * (fabric().host_count() - 1), kPairsAtOnce));
    if (options.terms != TransportTerms()) {
        terms_ = std::make_unique<ConnectionTerms>(options.terms, *classes_);
    }
    rates_ = make_flow_rates(classes_, terms_.get(), strategy_,
                             keeps_rates_by_link(options) ? std::optional(rate_slack_) : std::nullopt,
                             connections_, *this);
    find_rates_by_link();
    is_plain_ = terms_ == nullptr && rates_->keeps_latency();
}

FluidBackend::FluidBackend(std::shared_ptr<const Fabric> fabric, FluidOptions options)
    : FluidBackend(std::make_shared<const LinkClasses>(std::move(fabric)), options) {}

bool FluidBackend::keeps_rates_by_link(const FluidOptions& options) const {
    if (options.rate_slack > 0.0) {
        return true;
    }
    const bool is_cheaper = fabric().host_count() >= kHostsByLink;
    return (options.rates_kept == RatesKept::kByLink ||
            (options.rates_kept == RatesKept::kWhereCheaper && is_cheaper)) &&
           can_keep_rates_by_link(fabric(), options.terms) && rate_interval_ == Time(0) &&
           strategy_ == MaxMinSolver::Strategy::kLocal && classes_->flows_per_representative() == 1;
}

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
    rates_->add_connection();
    return index;
}

void FluidBackend::send(const Message& message) {
    ASTROLABE_ASSERT(message.size >= Bytes(0), "a message has a size");
    ASTROLABE_ASSERT(message.on_delivered != nullptr, "someone is notified of the delivery");
    if (is_ahead_ && send_ahead(message)) {
        return;
    }
    const std::uint32_t index = connection_between(message.source, message.destination);
    rates_->before_send(index, now_);
    Connection& connection = connections_[index];
    const MessageQueues::Waiting waiting{message.on_delivered, message.token, message.size,
                                         static_cast<std::uint32_t>(sent_++)};
    if (message.size == Bytes(0) && !connection.has_messages() && connection.state != State::kNowhere) {
        pass(index, waiting);
        return;
    }
    append(connection, waiting);
    if (connection.state == State::kIdle) {
        const Time delay = terms_ != nullptr ? terms_->start(index, message.size, now_) : Time(0);
        if (delay > Time(0)) {
            connection.state = State::kWaiting;
            if (delay < Time::max() - now_) {  // else it never begins
                schedule(delay, starter_, index);
            }
            return;
        }
        start_waiting(index);
    } else if (connection.state == State::kDrained) {
        withhold(index);
        begin_service(index);
        if (rates_keep_ends_) {
            rates_->resume(index, now_);
        } else {
            restarted_.push_back(index);
        }
    } else if (connection.state == State::kNowhere && !rates_->keeps_latency()) {
        start_waiting(index);
    }
}

void FluidBackend::start_waiting(std::uint32_t index) {
    rates_->start(index);
    begin_service(index);
    has_rates_to_update_ = true;
    if (rate_interval_ > Time(0)) {
        starting_.push_back(index);
    }
}

double FluidBackend::work_of_first(std::uint32_t index) const {
    const Bytes size = connections_[index].first.size;
    return static_cast<double>((terms_ != nullptr ? terms_->wire(index, size) : size).count());
}

void FluidBackend::begin_service(std::uint32_t index) {
    if (record_ != nullptr) {
        record_->settle(index, now_);
    }
    Connection& connection = connections_[index];
    connection.state = State::kServing;
    connection.since = now_;
    connection.work = work_of_first(index);
    connection.whole = is_whole(connection.rate) && is_whole(connection.work);
    if (ledger_ != nullptr) {
        ledger_->begin(index, now_);
    }
}

void FluidBackend::schedule(Time delay, NotificationHandler& handler, std::uint64_t token) {
    ASTROLABE_ASSERT(delay >= Time(0) && delay <= Time::max() - now_, "a timer is in the future");
    delayed_.push(now_, delay, {{}, &handler, token});
}

Time FluidBackend::completion(std::uint32_t index) const {
    return std::max(rates_->completion(index), now_);
}

void FluidBackend::plan_completion(std::uint32_t index) {
    const Time time = completion(index);
    if (time == Time::max()) {
        completions_.remove(index);
    } else {
        completions_.set(index, time);
    }
}

void FluidBackend::replan_completion(std::uint32_t index) {
    if (completions_.contains(index)) {
        if (const auto bound = rates_->completion_bound(index, completions_.planned(index))) {
            completions_.set(index, *bound);
            completions_.loosen(index);
            return;
        }
    }
    plan_completion(index);
}

Time FluidBackend::delivery_delay(std::uint32_t index, Bytes size) {
    return terms_ != nullptr ? terms_->deliver(index, size, now_) : rates_->delivery_delay(index, now_);
}

void FluidBackend::append(Connection& connection, const MessageQueues::Waiting& message) {
    if (connection.has_messages()) {
        queues_.append(connection.behind, message);
    } else {
        connection.first = message;
    }
}

MessageQueues::Waiting FluidBackend::take_first(Connection& connection) {
    const MessageQueues::Waiting first = connection.first;
    if (connection.behind.empty()) {
        connection.first.handler = nullptr;
    } else {
        connection.first = queues_.first(connection.behind);
        queues_.remove_first(connection.behind);
    }
    return first;
}

std::uint32_t FluidBackend::board(std::uint32_t index, const MessageQueues::Waiting& message) {
    return in_flight_.add(
        {message.size, message.handler, message.token, message.sent_as, index, MessagePool::kNone});
}

void FluidBackend::pass(std::uint32_t index, const MessageQueues::Waiting& message) {
    const std::uint32_t number = board(index, message);
    if (ledger_ != nullptr) {
        ledger_->pass(number);
    }
    launch(number);
}

void FluidBackend::launch(std::uint32_t message) {
    const std::uint32_t index = in_flight_[message].connection;
    const Time latency =
        is_plain_ ? connections_[index].latency : delivery_delay(index, in_flight_[message].size);
    if (ledger_ != nullptr) {
        const Time of_path = terms_ != nullptr ? std::min(terms_->latency(index), latency) : latency;
        ledger_->launch(message, of_path, latency - of_path);
    }
    put_on_wire(message, now_, latency);
}

void FluidBackend::put_on_wire(std::uint32_t message, Time served, Time latency) {
    DelayedEvent* const newest = delayed_.newest(served, latency);
    if (newest != nullptr && !newest->deliveries.empty()) {
        in_flight_.append(newest->deliveries, message);
        return;
    }
    DelayedEvent event;
    in_flight_.append(event.deliveries, message);
    delayed_.push(served, latency, event);
}

void FluidBackend::complete(std::uint32_t index) {
    Connection& connection = connections_[index];
    if (record_ != nullptr) {
        record_->complete(index, work_of_first(index));
    }
    const MessageQueues::Waiting served = take_first(connection);
    connection.served = sum_of(connection.served, served.size);
    const std::uint32_t number = board(index, served);
    if (ledger_ != nullptr) {
        ledger_->complete(index, number, now_);
    }
    launch(number);
    while (connection.has_messages() && connection.first.size == Bytes(0)) {
        pass(index, take_first(connection));
    }
    if (!connection.has_messages()) {
        connection.state = State::kDrained;
        drained_.push_back(index);
        has_rates_to_update_ = true;
        if (rate_interval_ > Time(0)) {
            if (record_ != nullptr) {
                record_->settle(index, now_);
            }
            connection.since = now_;
            connection.work = 0.0;
        }
        return;
    }
    if (ledger_ != nullptr) {
        ledger_->begin(index, now_);
    }
    const double work = work_of_first(index);
    connection.work += work;
    connection.whole = connection.whole && connection.work < kExactIntegers;
    if (rates_keep_ends_) {
        rates_->extend(index, work);
    } else {
        plan_completion(index);
    }
}

void FluidBackend::deliver() {
    while (!delivering_.empty()) {
        const std::uint32_t number = in_flight_.pop(delivering_);
        const MessagePool::Item message = in_flight_[number];
        in_flight_.remove(number);
        ++events_;
        ++delivered_;
        bytes_delivered_ = sum_of(bytes_delivered_, message.size);
        notified_ = number;
        message.handler->notify(message.token);
    }
}

void FluidBackend::process_instant() {
    for (;;) {
        while (next_planned() == now_) {
            for (const std::uint32_t connection :
                 rates_keep_ends_ ? rates_->take_ends(now_) : completions_.take()) {
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

void FluidBackend::withhold(std::uint32_t index) {
    const Connection& connection = connections_[index];
    // Rates that nobody has a use for are not updated, and withhold nothing.
    const Time until = std::min(now_, std::max(no_update_before_, connection.since));
    if (rate_interval_ == Time(0) || connection.since == until) {
        return;
    }
    const double bytes = rates_->rate_of(index) / 8.0 * to_seconds(until - connection.since);
    rates_->for_each_link(index, [&](LinkId link, double load) { withheld_bytes_[link] += load * bytes; });
}

void FluidBackend::count_waits() {
    ++interval_report_.updates;
    for (const std::uint32_t index : starting_) {
        const Time wait = now_ - connections_[index].since;
        ++interval_report_.starts;
        interval_report_.waits += wait;
        interval_report_.longest_wait = std::max(interval_report_.longest_wait, wait);
    }
    starting_.clear();
}

void FluidBackend::settle_rates() {
    if (rates_keep_ends_ && !has_rates_to_update_) {
        return;
    }
    if (now_ >= no_update_before_) {
        const bool has_interval = rate_interval_ > Time(0) && has_rates_to_update_;
        if (has_interval) {
            count_waits();
        }
        has_rates_to_update_ = false;
        update_rates();
        if (has_interval) {
            no_update_before_ = now_ + std::min(rate_interval_, Time::max() - now_);
        }
    }
    for (const std::uint32_t index : restarted_) {
        if (connections_[index].state == State::kServing && !completions_.contains(index)) {
            plan_completion(index);
        }
    }
    restarted_.clear();
}

Time FluidBackend::next_update() {
    // Where nothing is in service or to start, rates have no effect.
    return has_rates_to_update_ && (!starting_.empty() || next_planned() < Time::max()) ? no_update_before_
                                                                                        : Time::max();
}

Time FluidBackend::next_planned() {
    return rates_keep_ends_ ? rates_->next_end(now_) : completions_.next_time();
}

void FluidBackend::update_rates() {
    for (const std::uint32_t index : drained_) {
        Connection& connection = connections_[index];
        if (connection.state == State::kDrained) {
            if (record_ != nullptr) {
                record_->settle(index, now_);
            }
            withhold(index);
            connection.state = State::kIdle;
            connection.rate = 0.0;
            rates_->stop(index);
            if (terms_ != nullptr) {
                terms_->end(index, now_);
            }
        }
    }
    drained_.clear();
    for (const std::uint32_t index : rates_->update(now_)) {
        if (ledger_ != nullptr) {
            ledger_->change(index, now_);
        }
        replan_completion(index);
    }
}

Time FluidBackend::next_event() {
    process_instant();
    settle_rates();
    const Time others = std::min(delayed_.next_time(), next_update());
    if (rates_keep_ends_) {
        return std::min(rates_->next_end(now_), others);
    }
    return std::min(completions_.next_end(others, [this](std::uint32_t i) { return completion(i); }), others);
}

void FluidBackend::run() {
    stop_requested_ = false;
    for (;;) {
        Time next = next_event();
        if (next == now_) {
            continue;
        }
        if (stop_requested_) {
            settle_service();
            return;
        }
        pulses_.events(events_);
        if (goes_ahead()) {
            run_ahead();
            continue;
        }
        next = rates_->act(now_, next);
        events_ += next == now_ ? 1 : 0;
        if (next == Time::max()) {
            settle_service();
            return;
        }
        now_ = next;
    }
}

Time FluidBackend::advance(Time until) {
    for (;;) {
        Time next = next_event();
        if (next == now_) {
            continue;
        }
        next = rates_->act(now_, next);
        events_ += next == now_ ? 1 : 0;
        if (next > until) {
            now_ = until;
            return next;
        }
        now_ = next;
    }
}

void FluidBackend::wait(Time time) {
    ASTROLABE_ASSERT(time >= now_ && std::min(next_planned(), delayed_.next_time()) >= time,
                     "nothing is due while the clock is moved");
    now_ = time;
}

}  // namespace astrolabe::network
