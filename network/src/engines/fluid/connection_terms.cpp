#include "connection_terms.hpp"

#include <algorithm>
#include <cmath>

namespace astrolabe::network {

void ConnectionTerms::add(HostId source, HostId destination, const ClassRoute& route) {
    TermPath path{.forward = route.latency, .back = Time(0), .slowest = Bandwidth(1)};
    ClassLeg last;
    if (!route.legs.empty()) {
        const PathRates rates = classes_.path_rates(source, destination);
        path.slowest = rates.slowest;
        path.serialisation = rates.serialisation;
        ClassRoute back;
        classes_.find_route(destination, source, back);
        path.back = back.latency;
        last = route.legs.back();
    }
    connections_.push_back({.path = PathTerms(terms_, path),
                            .last_class = last.link_class,
                            .last_load = last.load,
                            .idle_since = Time(0),
                            .last_delivery = Time(0)});
}

Time ConnectionTerms::longest_delay(std::uint32_t connection) const {
    return connections_[connection].path.delivery_delay(terms_.framing ? terms_.framing->mtu : Bytes(0));
}

Time ConnectionTerms::start(std::uint32_t index, Bytes size, Time now) {
    Connection& connection = connections_[index];
    entering_[connection.last_class] += connection.last_load;
    Time delay;
    const bool starts_slowly =
        terms_.slow_start &&
        (!connection.was_busy || now - connection.idle_since >= terms_.slow_start->restart_after);
    if (starts_slowly) {
        delay = connection.path.slow_start_delay(size);
    }
    connection.was_busy = true;
    return delay + connection.path.incast_delay(
                       static_cast<std::uint64_t>(std::llround(entering_[connection.last_class])));
}

void ConnectionTerms::end(std::uint32_t index, Time now) {
    Connection& connection = connections_[index];
    connection.idle_since = now;
    entering_[connection.last_class] -= connection.last_load;
}

Time ConnectionTerms::deliver(std::uint32_t index, Bytes size, Time now) {
    Connection& connection = connections_[index];
    connection.last_delivery = std::max(connection.last_delivery, now + connection.path.delivery_delay(size));
    return connection.last_delivery - now;
}

}  // namespace astrolabe::network
