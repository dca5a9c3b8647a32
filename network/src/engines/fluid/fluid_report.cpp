// What the fluid engine says of its state.
#include "../../link_traffic.hpp"
#include "fluid_backend.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace astrolabe::network {

// Bytes leave all through a service, so a count taken in the middle of it has what was served.
Bytes FluidBackend::served_so_far(const Connection& connection) const {
    if (connection.state != State::kServing || messages_.front(connection.queue).size == Bytes(0)) {
        return connection.served;
    }
    return connection.served + messages_.front(connection.queue).size - remaining_at_head(connection);
}

Bytes FluidBackend::remaining_at_head(const Connection& connection) const {
    const Bytes size = messages_.front(connection.queue).size;
    if (size == Bytes(0)) {
        return size;
    }
    const auto index = static_cast<std::uint32_t>(&connection - connections_.data());
    const double payload_share = static_cast<double>(size.count()) / work_of_first(index);
    const Bytes left(static_cast<std::int64_t>(std::ceil(work_left(connection) * payload_share)));
    return std::min(left, size);
}

std::vector<OutstandingMessage> FluidBackend::describe_outstanding(std::size_t limit) const {
    std::vector<std::pair<std::uint64_t, OutstandingMessage>> outstanding;
    outstanding.reserve(outstanding_messages());
    const auto add = [&](const MessagePool::Item& message, Bytes remaining) {
        const Connection& connection = connections_[message.connection];
        outstanding.push_back(
            {message.sent_as, {connection.source, connection.destination, message.size, remaining}});
    };
    const auto add_served = [&](const MessagePool::Item& message) { add(message, Bytes(0)); };
    for (const Connection& connection : connections_) {
        bool is_served = connection.state == State::kServing;
        messages_.for_each(connection.queue, [&](const MessagePool::Item& message) {
            add(message, std::exchange(is_served, false) ? remaining_at_head(connection) : message.size);
        });
    }
    messages_.for_each(delivering_, add_served);
    delayed_.for_each(
        [&](Time, const DelayedEvent& event) { messages_.for_each(event.deliveries, add_served); });
    std::sort(outstanding.begin(), outstanding.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<OutstandingMessage> first;
    for (std::size_t i = 0; i < std::min(limit, outstanding.size()); ++i) {
        first.push_back(outstanding[i].second);
    }
    return first;
}

std::string FluidBackend::explain_stall() const {
    const bool any_comes =
        std::any_of(connections_.begin(), connections_.end(), [this](const Connection& connection) {
            return connection.state == State::kWaiting ||
                   (connection.state == State::kServing && moves(connection));
        });
    return any_comes ? std::string(kBeyondTime) : std::string();
}

NetworkStatistics FluidBackend::statistics() const {
    NetworkStatistics statistics;
    const auto images = static_cast<std::int64_t>(classes_->flows_per_representative());
    statistics.messages = delivered_ * classes_->flows_per_representative();
    statistics.bytes_delivered = images * bytes_delivered_;
    statistics.events = events_;
    if (rewired_ != nullptr) {
        rewired_->report(statistics, now_, sent_of());
        return statistics;
    }
    // Loads are exact where they are 1; what is sprayed is rounded to a byte once per class.
    std::vector<Bytes> whole(classes_->size());
    std::vector<double> sprayed(classes_->size(), 0.0);
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        const Bytes served = served_so_far(connections_[i]);
        const auto add = [&](std::uint32_t link_class, double load) {
            if (load == 1.0) {
                whole[link_class] += served;
            } else {
                sprayed[link_class] += load * static_cast<double>(served.count());
            }
        };
        if (circuits_ != nullptr) {
            circuits_->for_each_leg(CircuitRates::FlowId(i), add);
        } else {
            solver_.for_each_leg(MaxMinSolver::FlowId(i), add);
        }
    }
    statistics.links.resize(fabric().link_count());
    for (std::size_t i = 0; i < statistics.links.size(); ++i) {
        const std::uint32_t link_class = classes_->class_of(LinkId(i));
        statistics.links[LinkId(i)].carried = whole[link_class] + round_sprayed(sprayed[link_class]);
    }
    return statistics;
}

}  // namespace astrolabe::network
