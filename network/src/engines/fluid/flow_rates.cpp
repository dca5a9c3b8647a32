#include "flow_rates.hpp"

#include "demand_aware_rates.hpp"
#include "failing_rates.hpp"
#include "fixed_route_rates.hpp"
#include "level_rates.hpp"
#include "rounding.hpp"
#include "service_record.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

namespace {

/// Picoseconds that a byte takes at 1 bit/s.
constexpr double kPacePerBit = 8.0 * static_cast<double>(kPicosecondsPerSecond);

/// Halfway to a completion that is nearer is not worth planning for.
constexpr double kNear = 1000.0;

}  // namespace

double FlowRates::served_at(double rate, Time duration) {
    return static_cast<double>(duration.count()) * rate / kPacePerBit;
}

double FlowRates::constant_work_left(const Connection& connection, Time now) {
    return std::max(0.0, connection.work - served_at(connection.rate, now - connection.since));
}

void FlowRates::change_rate(Connection& connection, double rate, Time now) {
    if (record_ != nullptr) {
        record_->settle(static_cast<std::uint32_t>(&connection - connections_.data()), now);
    }
    if (connection.since < now) {
        connection.work = constant_work_left(connection, now);
        connection.since = now;
    }
    connection.rate = snapped(rate);
    connection.whole = is_whole(connection.rate) && is_whole(connection.work);
}

Time FlowRates::completion(std::uint32_t index) const {
    const Connection& connection = connections_[index];
    return end_of({connection.since, connection.work, connection.rate, connection.whole}, connection.latency);
}

double FlowRates::pace_at(double rate) {
    return kPacePerBit / rate;
}

Time FlowRates::end_of(const Service& service, Time latency) {
    return service.rate <= 0.0 ? Time::max() : end_of(service, pace_at(service.rate), latency);
}

Time FlowRates::end_of(const Service& service, double pace, Time latency) {
    const double duration = service.work * pace;
    const double limit = static_cast<double>((Time::max() - service.since - latency).count());
    if (duration >= limit * (1.0 - 0x1p-50)) {
        return Time::max();
    }
    auto picoseconds = static_cast<std::int64_t>(duration);
    const double excess = duration - static_cast<double>(picoseconds);
    const double tolerance = rounding_tolerance(duration);
    if (excess > tolerance && excess < 1.0 - tolerance) {
        ++picoseconds;
    } else if (service.whole) {
        // So near a whole picosecond that the rounding of `duration` may have crossed it, unless it is a
        // product of integers: a pace that is whole as a double is whole, being no nearer to an integer than
        // 1 / rate.
        if (!is_whole(pace) || duration >= kExactIntegers) {
            picoseconds =
                detail::multiply_divide_up(static_cast<std::int64_t>(service.work), 8 * kPicosecondsPerSecond,
                                           static_cast<std::int64_t>(service.rate));
        }
    } else if (excess > tolerance) {
        ++picoseconds;
    }
    return service.since + Time(picoseconds);
}

std::optional<Time> FlowRates::completion_bound(std::uint32_t index, Time planned) const {
    const Connection& connection = connections_[index];
    if (connection.rate <= 0.0) {
        return std::nullopt;
    }
    // `completion` rounds down by less than a picosecond, and its doubles err by a few 2^-53.
    const double work = connection.work * kPacePerBit;
    const auto wait = static_cast<double>((planned - connection.since).count());
    if ((wait + 1.0) * connection.rate <= work * (1.0 - 0x1p-40)) {
        return planned;
    }
    const double half = 0.5 * work / connection.rate;
    if (half < kNear || half >= static_cast<double>((Time::max() - connection.since).count())) {
        return std::nullopt;
    }
    return connection.since + Time(static_cast<std::int64_t>(half));
}

const MaxMinSolver::Counters& FlowRates::counters() const {
    ASTROLABE_ASSERT(false, "rates of a static network are counted");
}

bool can_keep_rates_by_link(const Fabric& fabric, const TransportTerms& terms) {
    return fabric.is_static() && fabric.demand_aware_circuits() == nullptr && fabric.failures() == nullptr &&
           terms == TransportTerms();
}

std::unique_ptr<FlowRates> make_flow_rates(std::shared_ptr<const LinkClasses> classes, ConnectionTerms* terms,
                                           MaxMinSolver::Strategy strategy, std::optional<double> slack,
                                           std::vector<Connection>& connections,
                                           const ConnectionBytes& bytes) {
    const Fabric& fabric = classes->fabric();
    ASTROLABE_ASSERT(fabric.is_static() || classes->flows_per_representative() == 1,
                     "what one flow stands for would have to find its circuits together");
    if (fabric.demand_aware_circuits() != nullptr) {
        ASTROLABE_ASSERT(terms == nullptr, "terms are of one path");
        return std::make_unique<DemandAwareRates>(std::move(classes), connections, bytes);
    }
    if (!fabric.is_static()) {
        return std::make_unique<PeriodicRates>(*classes, terms, connections, bytes);
    }
    if (fabric.failures() != nullptr) {
        ASTROLABE_ASSERT(terms == nullptr && classes->flows_per_representative() == 1,
                         "a flow that a link fails under has a path that changes, and stands for itself");
        return std::make_unique<FailingRates>(fabric, connections, bytes);
    }
    if (slack) {
        ASTROLABE_ASSERT(terms == nullptr, "terms cap connections, and links that keep levels know no caps");
        return std::make_unique<LevelRates>(*classes, connections, bytes, *slack);
    }
    return std::make_unique<StaticRates>(*classes, terms, strategy, connections, bytes);
}

}  // namespace astrolabe::network
