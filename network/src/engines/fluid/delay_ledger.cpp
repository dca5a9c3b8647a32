#include "delay_ledger.hpp"

#include <algorithm>

namespace astrolabe::network {

std::span<Time> DelayLedger::times_of(std::vector<Time>& times, std::uint32_t number) {
    const std::size_t first = number * resources_.size();
    if (times.size() < first + resources_.size()) {
        times.resize(first + resources_.size());
    }
    return std::span(times).subspan(first, resources_.size());
}

void DelayLedger::open(std::uint32_t connection, Time now) {
    Account& account = accounts_[connection];
    account.since = now;
    account.circuit_up = rates_.circuit_wait(connection, now, account.has_begun);
    const auto link = rates_.bottleneck(connection);
    account.limit = link ? resources_.of(*link) : Resources::kTransport;
}

void DelayLedger::close(std::uint32_t connection, Time now) {
    Account& account = accounts_[connection];
    const std::span<Time> times = times_of(of_connection_, connection);
    const Time served = std::clamp(account.circuit_up, account.since, now);
    times[Resources::kCircuits.index()] += served - account.since;
    times[account.limit.index()] += now - served;
    account.has_begun = account.has_begun || served < now;
}

void DelayLedger::begin(std::uint32_t connection, Time now) {
    if (connection >= accounts_.size()) {
        accounts_.resize(connection + 1);
    }
    std::ranges::fill(times_of(of_connection_, connection), Time(0));
    accounts_[connection].has_begun = false;
    open(connection, now);
}

void DelayLedger::change(std::uint32_t connection, Time now) {
    close(connection, now);
    open(connection, now);
}

void DelayLedger::complete(std::uint32_t connection, std::uint32_t message, Time now) {
    close(connection, now);
    std::ranges::copy(times_of(of_connection_, connection), times_of(of_message_, message).begin());
}

void DelayLedger::pass(std::uint32_t message) {
    std::ranges::fill(times_of(of_message_, message), Time(0));
}

void DelayLedger::launch(std::uint32_t message, Time latency, Time more) {
    const std::span<Time> times = times_of(of_message_, message);
    times[Resources::kLatency.index()] += latency;
    times[Resources::kTransport.index()] += more;
    if (message >= tails_.size()) {
        tails_.resize(message + 1);
    }
    tails_[message] = latency + more;
}

Time DelayLedger::add(std::uint32_t message, std::span<Time> times) const {
    const auto known = std::span(of_message_).subspan(message * resources_.size(), resources_.size());
    std::ranges::transform(times, known, times.begin(), std::plus<>());
    return tails_[message];
}

}  // namespace astrolabe::network
