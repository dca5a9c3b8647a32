#include "../opera.hpp"
#include "../rotor_family.hpp"
#include "failure_list.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::network::rotor {

namespace {

/// Parts are racks, then rotors, then cables of rotors by rack, then cables of hosts.
struct PartPlaces {
    std::size_t racks;
    std::size_t uplinks;

    [[nodiscard]] std::optional<BrokenPart> part_at(std::size_t place, Time at) const {
        BrokenPart part{.at = at};
        if (place < racks) {
            part.kind = BrokenPart::Kind::kRack;
            part.rack = static_cast<std::uint32_t>(place);
            return part;
        }
        place -= racks;
        if (place < uplinks) {
            part.kind = BrokenPart::Kind::kRotor;
            part.rotor = static_cast<std::uint32_t>(place);
            return part;
        }
        place -= uplinks;
        if (place < racks * uplinks) {
            part.rack = static_cast<std::uint32_t>(place / uplinks);
            part.rotor = static_cast<std::uint32_t>(place % uplinks);
            return part;
        }
        return std::nullopt;  // of a host
    }
};

}  // namespace

std::vector<NamedPart> rotor_parts(const RotorNetwork& network) {
    const std::uint32_t racks = network.schedule.racks();
    const std::uint32_t uplinks = network.schedule.uplinks();
    std::vector<NamedPart> parts;
    for (Rack rack = 0; rack < racks; ++rack) {
        parts.push_back({PartKind::kSwitch, fmt::format("rack {}", rack), {}, {}});
    }
    for (Rotor rotor = 0; rotor < uplinks; ++rotor) {
        parts.push_back({PartKind::kSwitch, fmt::format("rotor {}", rotor), {}, {}});
    }
    const auto add_cable = [&parts](const std::string& from, const std::string& to, const char* part_class) {
        parts.push_back({PartKind::kCable, from + " - " + to, to + " - " + from, part_class});
    };
    for (Rack rack = 0; rack < racks; ++rack) {
        for (Rotor rotor = 0; rotor < uplinks; ++rotor) {
            add_cable(fmt::format("rack {}", rack), fmt::format("rotor {}", rotor), "rack-rotor");
        }
    }
    const std::uint32_t hosts = racks * network.hosts_per_rack;
    for (std::uint32_t host = 0; host < hosts; ++host) {
        add_cable(fmt::format("host {}", host), fmt::format("rack {}", host / network.hosts_per_rack),
                  "host-rack");
    }
    for (std::uint32_t host = 0; host < hosts; ++host) {
        parts.push_back({PartKind::kHost, fmt::format("host {}", host), {}, {}});
    }
    return parts;
}

BrokenFabric break_rotor_parts(
    const RotorNetwork& network, const std::vector<PartFailure>& failures,
    const std::function<ScaledFabric(const std::vector<BrokenPart>&)>& break_parts) {
    const PartPlaces places{network.schedule.racks(), network.schedule.uplinks()};
    std::vector<PartProblem> problems;
    std::vector<BrokenPart> broken;
    std::set<Time> times;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        const PartFailure& failure = failures[i];
        if (failure.factor > 0) {
            problems.push_back({i, "slows down a part of a network of rotors",
                                "all its links have one rate at all times; leave rate out, and it is down"});
        } else if (failure.until < Time::max()) {
            problems.push_back({i, "ends, and what fails in a network of rotors stays broken",
                                "leave until out, or draw a number instead of repairs"});
        } else if (const auto part = places.part_at(failure.part, failure.from)) {
            broken.push_back(*part);
            times.insert(part->at);
        } else {
            problems.push_back({i, "is of a host, and in a network of rotors hosts keep their cables",
                                "its rack may fail, a rotor, or a cable between them"});
        }
        if (times.size() > kMostFailureTimes) {
            problems.push_back(
                {i, fmt::format("is the first beyond {} times at which something fails", kMostFailureTimes),
                 "let what fails soon one after the other fail at once"});
            break;
        }
    }
    if (!problems.empty()) {
        return problems;
    }
    std::ranges::stable_sort(broken, {}, &BrokenPart::at);
    ScaledFabric made = break_parts(broken);
    if (auto* errors = std::get_if<ValidationErrors>(&made)) {
        for (const ValidationError& error : *errors) {
            problems.push_back({0, error.message, error.hint});
        }
        return problems;
    }
    return std::get<std::shared_ptr<const Fabric>>(std::move(made));
}

}  // namespace astrolabe::network::rotor
