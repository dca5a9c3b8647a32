#include "demand_aware_circuits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <astrolabe/network/scaling.hpp>
#include <astrolabe/network/topologies/parameters.hpp>

namespace astrolabe::network {

namespace {

/// "rack 12" is a rack.
std::string kind_of_node(const Fabric& fabric, NodeId node) {
    std::string name = fabric.node(node).name;
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    while (!name.empty() && (name.back() == ' ' || name.back() == '.' || name.back() == ',')) {
        name.pop_back();
    }
    return name;
}

/// Slowest and fastest rate of each class of links, and the longest latency of all.
struct Speeds {
    std::map<std::string, std::pair<Bandwidth, Bandwidth>> rates;
    Time latency;
};

Speeds speeds_of(const Fabric& fabric) {
    Speeds speeds;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        const Link& of = fabric.link(link);
        const auto [known, is_new] =
            speeds.rates.try_emplace(link_class_name(fabric, link), of.rate, of.rate);
        known->second = {std::min(known->second.first, of.rate), std::max(known->second.second, of.rate)};
        speeds.latency = std::max(speeds.latency, of.latency);
    }
    for (std::size_t host = 0; host < fabric.host_count(); ++host) {
        speeds.latency = std::max(speeds.latency, fabric.node(NodeId(host)).forwarding);
    }
    return speeds;
}

/// Of a network whose links all have the same rate.
ValidationErrors several_rates(const Fabric& fabric, const Scaling& scaling) {
    const std::vector<std::string> names = link_class_names(fabric);
    std::vector<std::string> given;
    bool is_one_factor = true;
    for (const std::string& name : names) {
        given.push_back(fmt::format("{}: {}", name, scaling.of_links(name)));
        is_one_factor = is_one_factor && scaling.of_links(name) == scaling.of_links(names.front());
    }
    if (is_one_factor) {
        return {};
    }
    return {{"links",
             fmt::format("all links of network '{}' have one rate, and {{{}}} would make it several",
                         fabric.kind(), fmt::join(given, ", ")),
             fmt::format("give {} the same factor", fmt::join(names, " and "))}};
}

ValidationErrors scaling_errors(const Fabric& fabric, const Scaling& scaling) {
    ValidationErrors errors;
    const Speeds speeds = speeds_of(fabric);
    for (const auto& [name, factor] : scaling.links) {
        const auto found = speeds.rates.find(name);
        if (found == speeds.rates.end()) {
            const std::vector<std::string> names = link_class_names(fabric);
            add_error(errors, "links." + name,
                      fmt::format("network '{}' has no links '{}', it has {}", fabric.kind(), name,
                                  fmt::join(names, ", ")),
                      suggest(name, names));
            continue;
        }
        const auto& [slowest, fastest] = found->second;
        const auto rate = [factor = factor](Bandwidth of) {
            return static_cast<double>(of.count()) * factor;
        };
        if (std::isfinite(factor) &&
            (rate(fastest) > static_cast<double>(kMaxLinkRate.count()) || rate(slowest) < 1)) {
            add_error(errors, "links." + name,
                      fmt::format("{} times {} is no rate between 1bps and {}", factor,
                                  to_string(rate(slowest) < 1 ? slowest : fastest), to_string(kMaxLinkRate)),
                      "take a smaller factor, or inf for links that take no time");
        }
    }
    if (static_cast<double>(speeds.latency.count()) * scaling.latency >
        static_cast<double>(kMaxLinkLatency.count())) {
        add_error(errors, "latency",
                  fmt::format("{} times {} is above {}", scaling.latency, to_string(speeds.latency),
                              to_string(kMaxLinkLatency)),
                  "take a smaller factor");
    }
    if (scaling.reconfiguration != 1 && fabric.is_static()) {
        add_error(errors, "reconfiguration",
                  fmt::format("network '{}' has no circuits that go down", fabric.kind()),
                  "leave it out, or take a network whose circuits come and go (astrolabe list networks)");
    }
    return errors;
}

}  // namespace

double Scaling::of_links(const std::string& link_class) const {
    const auto found = links.find(link_class);
    return found == links.end() ? 1.0 : found->second;
}

std::string link_class_name(const Fabric& fabric, LinkId link) {
    const auto [inner, outer] = std::minmax({fabric.source(link), fabric.target(link)});
    return fmt::format("{}-{}", kind_of_node(fabric, inner), kind_of_node(fabric, outer));
}

std::vector<std::string> link_class_names(const Fabric& fabric) {
    std::vector<std::string> names;
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        std::string name = link_class_name(fabric, link);
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

Bandwidth scaled(Bandwidth rate, double factor) {
    if (factor == 1) {
        return rate;
    }
    const double product = static_cast<double>(rate.count()) * factor;
    return product >= static_cast<double>(kMaxLinkRate.count())
               ? kMaxLinkRate
               : Bandwidth(std::max<std::int64_t>(1, std::llround(product)));
}

Time scaled(Time time, double factor) {
    if (factor == 1) {  // exact, however long
        return time;
    }
    constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int64_t>::max());
    const double product = static_cast<double>(time.count()) * factor;
    return product >= kMost ? Time::max() : Time(std::llround(product));
}

ScaledFabric scale(const std::shared_ptr<const Fabric>& fabric, const Scaling& scaling) {
    if (ValidationErrors errors = scaling_errors(*fabric, scaling); !errors.empty()) {
        return errors;
    }
    if (fabric->family().has_one_rate()) {
        if (ValidationErrors errors = several_rates(*fabric, scaling); !errors.empty()) {
            return errors;
        }
    }
    if (std::optional<ScaledFabric> own = fabric->family().scaled(*fabric, scaling)) {
        return *std::move(own);
    }
    std::shared_ptr<const DemandAwareCircuits> circuits = fabric->demand_aware_circuits();
    if (circuits != nullptr) {
        // All their links join hosts, so there is one class.
        const double links =
            fabric->link_count() == 0 ? 1.0 : scaling.of_links(link_class_name(*fabric, LinkId(0)));
        auto moved = circuits->scaled(links, scaling.latency, scaling.reconfiguration);
        if (auto* errors = std::get_if<ValidationErrors>(&moved)) {
            return std::move(*errors);
        }
        circuits = std::get<std::shared_ptr<const DemandAwareCircuits>>(std::move(moved));
    } else if (scaling.reconfiguration != 1) {
        return ValidationErrors{
            {"reconfiguration",
             fmt::format("the circuits of network '{}' follow a schedule of their own", fabric->kind()),
             "leave it out"}};
    }
    const auto speed = [&](LinkId id) {
        const Link& link = fabric->link(id);
        const double factor = scaling.of_links(link_class_name(*fabric, id));
        return LinkSpeed{scaled(link.rate, factor), scaled(link.latency, scaling.latency)};
    };
    const auto forwarding = [&](Time time) { return scaled(time, scaling.latency); };
    return fabric->with_speeds(speed, forwarding, std::move(circuits));
}

}  // namespace astrolabe::network
