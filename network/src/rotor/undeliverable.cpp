#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/network/rotor/undeliverable.hpp>

namespace astrolabe::network::rotor {

namespace {

constexpr std::size_t kDescribed = 8;

struct Undeliverable {
    std::uint32_t host;
    std::uint32_t destination;
    bool is_relayed;
    std::uint64_t packets;

    [[nodiscard]] auto order() const { return std::tuple(host, destination, is_relayed); }
};

bool meets_any(const RotorSchedule& schedule, Rack rack) {
    for (Rack other = 0; other < schedule.racks(); ++other) {
        if (other != rack && !schedule.installations(rack, other).empty()) {
            return true;
        }
    }
    return false;
}

std::string when_failed(const RotorNetwork& network, std::size_t state) {
    return state == 0 ? "from the start" : "since " + to_string(network.failing[state - 1].from);
}

/// When the first state began for which `holds`, up to `now`; what failed stays so. Empty if there is none.
template <class Holds>
std::string since(const RotorNetwork& network, std::size_t now, Holds&& holds) {
    for (std::size_t state = 0; state <= now; ++state) {
        if (holds(network.schedule_of(state))) {
            return when_failed(network, state);
        }
    }
    return {};
}

std::string cut_off_in(const RotorNetwork& network, std::size_t state, std::uint32_t host,
                       std::uint32_t destination) {
    for (const Rack rack : {host / network.hosts_per_rack, destination / network.hosts_per_rack}) {
        const auto is_cut_off = [rack](const RotorSchedule& schedule) { return !meets_any(schedule, rack); };
        if (const std::string when = since(network, state, is_cut_off); !when.empty()) {
            return fmt::format("rack {} is disconnected {}", rack, when);
        }
    }
    return {};
}

std::string reason(const RotorNetwork& network, std::size_t state, const Undeliverable& at) {
    if (std::string disconnected = cut_off_in(network, state, at.host, at.destination);
        !disconnected.empty()) {
        return disconnected;
    }
    const Rack from = at.host / network.hosts_per_rack;
    const Rack to = at.destination / network.hosts_per_rack;
    const auto meet_not = [&](const RotorSchedule& schedule) {
        return from != to && schedule.installations(from, to).empty();
    };
    const std::string when = since(network, state, meet_not);
    return when.empty() ? "no circuit has room"
                        : fmt::format("racks {} and {} are not connected {}", from, to, when);
}

}  // namespace

std::string describe_given_up(const RotorNetwork& network, Time now, std::span<const PairOfHosts> pairs) {
    std::string text;
    for (const auto& [source, destination] : pairs.first(std::min(pairs.size(), kDescribed))) {
        const std::string reason = cut_off_in(network, network.state_at(now), source, destination);
        text += fmt::format("\n  host {} -> host {}{}{}", source, destination, reason.empty() ? "" : ": ",
                            reason);
    }
    if (pairs.size() > kDescribed) {
        text += fmt::format("\n  and {} more", pairs.size() - kDescribed);
    }
    return text;
}

std::string describe_undeliverable(const RotorNetwork& network, Time now, const PacketCounts& own,
                                   const PacketCounts& relayed) {
    std::vector<Undeliverable> all;
    const std::uint32_t hosts = network.schedule.racks() * network.hosts_per_rack;
    for (std::uint32_t host = 0; host < hosts; ++host) {
        for (const PacketCounts* counts : {&own, &relayed}) {
            for (const std::uint32_t destination : counts->destinations(host)) {
                all.push_back({host, destination, counts == &relayed, (*counts)(host, destination)});
            }
        }
    }
    if (all.empty()) {
        return {};
    }
    std::ranges::sort(all, {}, &Undeliverable::order);
    const auto packets = own.total() + relayed.total();
    std::string text = fmt::format(
        "{} bulk packet{} of {} pair{} of hosts wait{} for circuits, and in a whole cycle none came that "
        "could "
        "take one:",
        packets, packets == 1 ? "" : "s", all.size(), all.size() == 1 ? "" : "s", packets == 1 ? "s" : "");
    const std::size_t state = network.state_at(now);
    for (std::size_t i = 0; i < std::min(all.size(), kDescribed); ++i) {
        text += fmt::format("\n  {} at host {} for host {}{}: {}", all[i].packets, all[i].host,
                            all[i].destination, all[i].is_relayed ? ", relayed" : "",
                            reason(network, state, all[i]));
    }
    if (all.size() > kDescribed) {
        const std::size_t more = all.size() - kDescribed;
        text += fmt::format("\n  and of {} more pair{}", more, more == 1 ? "" : "s");
    }
    std::uint64_t stranded = 0;
    for (const Undeliverable& one : all) {
        const Rack from = one.host / network.hosts_per_rack;
        const Rack to = one.destination / network.hosts_per_rack;
        const bool has_circuit = !network.schedule_of(state).installations(from, to).empty();
        stranded += one.is_relayed && from != to && !has_circuit ? one.packets : 0;
    }
    if (stranded > 0) {
        text += fmt::format(
            "\n  {} of them {} stranded: relayed before the failure to a rack that has lost its circuit to "
            "their "
            "destination since; RotorLB relays a packet once",
            stranded, stranded == 1 ? "is" : "are");
    }
    return text;
}

}  // namespace astrolabe::network::rotor
