/// The fluid model written down as plainly as possible, for comparison: textbook water-filling over single
/// links at every event, every boundary of the circuit schedule being one.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

struct ReferenceMessage {
    Time sent;
    HostId source;
    HostId destination;
    Bytes size;
};

/// Rates in bit/s of flows with these routes over links of these capacities: raise all together, fix those on
/// the link that fills first, repeat.
inline std::vector<double> water_filling(std::vector<double> capacities,
                                         const std::vector<std::vector<RouteLeg>>& routes) {
    std::vector<double> rates(routes.size(), 0.0);
    std::vector<bool> is_fixed(routes.size(), false);
    for (;;) {
        std::vector<double> shares(capacities.size(), 0.0);
        for (std::size_t flow = 0; flow < routes.size(); ++flow) {
            for (const RouteLeg& leg : routes[flow]) {
                shares[leg.link.index()] += is_fixed[flow] ? 0.0 : leg.share;
            }
        }
        double level = std::numeric_limits<double>::infinity();
        for (std::size_t link = 0; link < shares.size(); ++link) {
            if (shares[link] > 0.0) {
                level = std::min(level, std::max(capacities[link], 0.0) / shares[link]);
            }
        }
        if (level == std::numeric_limits<double>::infinity()) {
            return rates;
        }
        std::vector<bool> is_full(capacities.size(), false);
        for (std::size_t link = 0; link < shares.size(); ++link) {
            is_full[link] = shares[link] > 0.0 && capacities[link] <= level * shares[link] * (1.0 + 1e-12);
        }
        for (std::size_t flow = 0; flow < routes.size(); ++flow) {
            const bool is_stopped = !is_fixed[flow] && std::any_of(routes[flow].begin(), routes[flow].end(),
                                                                   [&](const RouteLeg& leg) {
                                                                       return is_full[leg.link.index()];
                                                                   });
            if (is_stopped) {
                is_fixed[flow] = true;
                rates[flow] = level;
                for (const RouteLeg& leg : routes[flow]) {
                    capacities[leg.link.index()] -= level * leg.share;
                }
            }
        }
    }
}

/// When each message is delivered, in ps; infinite if never. Messages of a pair are served in turn.
inline std::vector<double> reference_deliveries(const Fabric& fabric,
                                                const std::vector<ReferenceMessage>& messages) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const auto number = [](Time time) { return static_cast<double>(time.count()); };
    std::vector<Route> routes;
    std::vector<double> left;
    for (const ReferenceMessage& message : messages) {
        routes.push_back(fabric.routing().route(message.source, message.destination));
        left.push_back(static_cast<double>(message.size.count()) * 8e12);
    }
    std::vector<double> delivered(messages.size(), kNever);
    std::size_t interval = 0;
    double boundary = fabric.is_static() ? kNever : number(fabric.circuits().end(0));
    std::size_t idle = 0;
    for (double now = 0.0;;) {
        // The first of each pair that is there and has bytes left.
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> first;
        double next = kNever;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (number(messages[i].sent) > now) {
                next = std::min(next, number(messages[i].sent));
            } else if (left[i] > 0.0) {
                first.try_emplace({messages[i].source.index(), messages[i].destination.index()}, i);
            }
        }
        std::vector<std::size_t> served;
        std::vector<std::vector<RouteLeg>> legs;
        for (const auto& [pair, message] : first) {
            served.push_back(message);
            legs.push_back(routes[message].legs);
        }
        std::vector<double> capacities;
        for (std::size_t i = 0; i < fabric.link_count(); ++i) {
            const bool exists = fabric.is_static() || fabric.circuits().exists(LinkId(i), interval);
            capacities.push_back(exists ? static_cast<double>(fabric.link(LinkId(i)).rate.count()) : 0.0);
        }
        const std::vector<double> rates = water_filling(capacities, legs);
        std::size_t ending = messages.size();
        for (std::size_t i = 0; i < served.size(); ++i) {
            const double end = rates[i] > 0.0 ? now + left[served[i]] / rates[i] : kNever;
            if (end < next) {
                next = end;
                ending = served[i];
            }
        }
        idle = next == kNever ? idle + 1 : 0;
        if (idle > fabric.circuits().intervals().size() || (next == kNever && served.empty())) {
            return delivered;
        }
        const bool switches = boundary <= next;
        if (switches) {
            next = boundary;
        }
        for (std::size_t i = 0; i < served.size(); ++i) {
            left[served[i]] -= rates[i] * (next - now);
        }
        now = next;
        if (switches) {
            interval = (interval + 1) % fabric.circuits().intervals().size();
            boundary += number(fabric.circuits().intervals()[interval].duration);
        } else if (ending < messages.size()) {
            left[ending] = 0.0;
        }
        for (std::size_t i = 0; i < served.size(); ++i) {
            // Less than a thousandth of a bit is rounding.
            if (left[served[i]] <= 1e9 && delivered[served[i]] == kNever) {
                left[served[i]] = 0.0;
                delivered[served[i]] = now + number(routes[served[i]].latency);
            }
        }
    }
}

}  // namespace astrolabe::network
