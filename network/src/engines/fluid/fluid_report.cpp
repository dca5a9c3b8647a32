// What the fluid engine says of its state.
#include "fluid_backend.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

// Bytes leave all through a service, so a count taken in the middle of it has what was served.
Bytes FluidBackend::sent(std::uint32_t index) const {
    const Connection& connection = connections_[index];
    if (connection.state != State::kServing || connection.first.size == Bytes(0)) {
        return connection.served;
    }
    return connection.served + connection.first.size - remaining_at_head(connection);
}

Bytes FluidBackend::waiting(std::uint32_t index) const {
    const Connection& connection = connections_[index];
    Bytes bytes = remaining_at_head(connection);
    queues_.for_each(connection.behind,
                     [&bytes](const MessageQueues::Waiting& message) { bytes += message.size; });
    return bytes;
}

Bytes FluidBackend::remaining_at_head(const Connection& connection) const {
    const Bytes size = connection.first.size;
    if (size == Bytes(0)) {
        return size;
    }
    const auto index = static_cast<std::uint32_t>(&connection - connections_.data());
    const double payload_share = static_cast<double>(size.count()) / work_of_first(index);
    const Bytes left(static_cast<std::int64_t>(std::ceil(rates_->work_left(index, now_) * payload_share)));
    return std::min(left, size);
}

PieceBytes FluidBackend::in_service(std::uint32_t index) const {
    const Connection& connection = connections_[index];
    const double work = connection.state == State::kServing ? work_of_first(index) : 0.0;
    if (work <= 0.0) {
        return {};
    }
    const double wire = work - std::min(rates_->work_left(index, now_), work);
    const auto size = static_cast<double>(connection.first.size.count());
    return {wire, size == work ? wire : size * (wire / work)};
}

void FluidBackend::find_rates_by_link() {
    rates_by_link_ = dynamic_cast<LevelRates*>(rates_.get());
    rates_keep_ends_ = rates_->keeps_ends();
}

void FluidBackend::follow_connections() {
    if (rates_keep_ends_) {
        ASTROLABE_ASSERT(sent_ == 0, "rates are kept by connection from the first message on");
        rates_ = make_flow_rates(classes_, terms_.get(), strategy_, std::nullopt, connections_, *this);
        find_rates_by_link();
        applies_slack_ = false;
    }
}

LinkReports FluidBackend::observe_links(LinkObserver& observer) {
    ASTROLABE_ASSERT(classes_->flows_per_representative() == 1 && sent_ == 0,
                     "who observes links sees all messages from the first on");
    follow_connections();
    const ConnectionBytes& bytes = *this;
    record_ = std::make_unique<ServiceRecord>(observer, connections_, bytes, *rates_);
    rates_->settle_with(*record_);
    const bool has_fixed_routes =
        fabric().demand_aware_circuits() == nullptr && fabric().failures() == nullptr;
    if (has_fixed_routes && classes_->size() < fabric().link_count()) {
        std::vector<std::uint32_t> class_of;
        for (LinkId link; link.index() < fabric().link_count(); ++link) {
            class_of.push_back(classes_->class_of(link));
        }
        observer.links_are_alike(class_of);
    }
    // Where routes change a byte of each connection may be cut, and is of the piece after it.
    return has_fixed_routes ? LinkReports::kAll : LinkReports::kOverlapping;
}

void FluidBackend::settle_service() {
    if (record_ == nullptr) {
        return;
    }
    for (std::uint32_t index = 0; index < connections_.size(); ++index) {
        if (connections_[index].state == State::kServing) {
            record_->settle(index, now_);
        }
    }
}

std::vector<OutstandingMessage> FluidBackend::describe_outstanding(std::size_t limit) const {
    struct Outstanding {
        std::uint32_t before;  // what is sent next
        OutstandingMessage message;
    };
    std::vector<Outstanding> outstanding;
    outstanding.reserve(outstanding_messages());
    const auto add = [&](const Connection& connection, const auto& message, Bytes remaining) {
        outstanding.push_back({static_cast<std::uint32_t>(sent_) - message.sent_as,
                               {connection.source, connection.destination, message.size, remaining}});
    };
    const auto add_served = [&](const MessagePool::Item& message) {
        add(connections_[message.connection], message, Bytes(0));
    };
    for (const Connection& connection : connections_) {
        if (connection.has_messages()) {
            const bool is_served = connection.state == State::kServing;
            add(connection, connection.first,
                is_served ? remaining_at_head(connection) : connection.first.size);
        }
        queues_.for_each(connection.behind, [&](const MessageQueues::Waiting& message) {
            add(connection, message, message.size);
        });
    }
    in_flight_.for_each(delivering_, add_served);
    delayed_.for_each(
        [&](Time, const DelayedEvent& event) { in_flight_.for_each(event.deliveries, add_served); });
    std::stable_sort(outstanding.begin(), outstanding.end(),
                     [](const Outstanding& a, const Outstanding& b) { return a.before > b.before; });
    std::vector<OutstandingMessage> first;
    for (std::size_t i = 0; i < std::min(limit, outstanding.size()); ++i) {
        first.push_back(outstanding[i].message);
    }
    return first;
}

std::string FluidBackend::explain_stall() const {
    const bool any_comes =
        std::any_of(connections_.begin(), connections_.end(), [this](const Connection& connection) {
            const auto index = static_cast<std::uint32_t>(&connection - connections_.data());
            return connection.state == State::kWaiting ||
                   (connection.state == State::kServing && rates_->moves(index));
        });
    return any_comes ? std::string(kBeyondTime)
                     : rates_->explain(describe_outstanding(outstanding_messages()));
}

PresentLimits FluidBackend::present_limits(std::size_t most) const {
    const std::uint64_t images = classes_->flows_per_representative();
    PresentLimits limits;
    std::vector<std::uint64_t> flows(fabric().link_count());
    for (std::uint32_t index = 0; index < connections_.size(); ++index) {
        if (connections_[index].state != State::kServing) {
            continue;
        }
        if (rates_->circuit_wait(index, now_, false) > now_) {
            limits.circuit_waits += images;
        } else if (const std::optional<LinkId> link = rates_->bottleneck(index)) {
            flows[link->index()] += images;
            limits.flows += images;
        }
    }
    std::vector<std::size_t> alike(classes_->size());
    for (LinkId link; link.index() < fabric().link_count(); ++link) {
        ++alike[classes_->class_of(link)];
    }
    for (LinkId link; link.index() < fabric().link_count(); ++link) {
        if (flows[link.index()] > 0) {
            limits.links.push_back({link, alike[classes_->class_of(link)], flows[link.index()]});
            limits.all_links += limits.links.back().links;
        }
    }
    std::ranges::stable_sort(limits.links, std::greater<>(),
                             [](const LimitingLink& link) { return link.flows / link.links; });
    limits.links.resize(std::min(most, limits.links.size()));
    return limits;
}

NetworkStatistics FluidBackend::statistics() const {
    NetworkStatistics statistics;
    statistics.messages = delivered_ * classes_->flows_per_representative();
    statistics.bytes_delivered = bytes_delivered();
    statistics.events = events_;
    statistics.rate_interval = interval_report();
    if (rate_slack_ > 0.0) {
        statistics.rate_slack = {rate_slack_, applies_slack_};
    }
    rates_->report(statistics, now_);
    return statistics;
}

std::optional<RateIntervalReport> FluidBackend::interval_report() const {
    if (rate_interval_ == Time(0)) {
        return std::nullopt;
    }
    RateIntervalReport report = interval_report_;
    report.interval = rate_interval_;
    for (LinkId link; link.index() < withheld_bytes_.size(); ++link) {
        const double seconds = withheld_bytes_[link] / to_bytes_per_second(fabric().link(link).rate);
        const Time time(std::llround(seconds * static_cast<double>(kPicosecondsPerSecond)));
        if (time > report.withheld) {
            report.withheld = time;
            report.most_withheld = link;
        }
    }
    return report;
}

}  // namespace astrolabe::network
