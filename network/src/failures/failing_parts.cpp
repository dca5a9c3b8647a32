#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/failures/failing_parts.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network {

namespace {

bool fits(const std::string& name, const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/// Exponential, at least a picosecond; Time::max(): after the end of time.
Time draw_time(Time mean, RandomStream& random) {
    const double fraction = static_cast<double>(random.next() >> 11) * 0x1p-53;
    const double drawn = -std::log1p(-fraction) * static_cast<double>(mean.count());
    constexpr auto kMost = static_cast<double>(Time::max().count());
    return drawn >= kMost ? Time::max() : Time(std::max<std::int64_t>(1, std::llround(std::ceil(drawn))));
}

Time later(Time time, Time by) {
    return by < Time::max() - time ? time + by : Time::max();
}

}  // namespace

FailingParts::FailingParts(const Fabric& fabric)
    : fabric_(fabric) {
    for (LinkId link; link.index() < fabric.link_count(); ++link) {
        const auto reverse = fabric.link(link).reverse;
        if (reverse && *reverse < link) {
            continue;
        }
        const std::string& from = fabric.node(fabric.source(link)).name;
        const std::string& to = fabric.node(fabric.target(link)).name;
        cables_.push_back({from + " - " + to, to + " - " + from, from + " to " + to,
                           reverse ? to + " to " + from : std::string(), link_class_name(fabric, link),
                           link});
    }
}

std::vector<FailingPart> FailingParts::find(PartKind kind, const std::string& pattern) const {
    std::vector<FailingPart> found;
    if (kind == PartKind::kCable) {
        for (const Cable& cable : cables_) {
            const auto reverse = fabric_.link(cable.link).reverse;
            if (fits(cable.name, pattern) || fits(cable.other, pattern) || fits(cable.link_class, pattern)) {
                found.push_back({cable.name, {cable.link}});
                if (reverse) {
                    found.back().links.push_back(*reverse);
                }
                continue;
            }
            if (fits(cable.direction, pattern)) {
                found.push_back({cable.direction, {cable.link}});
            }
            if (reverse && fits(cable.reverse, pattern)) {
                found.push_back({cable.reverse, {*reverse}});
            }
        }
        return found;
    }
    const NodeKind node_kind = kind == PartKind::kSwitch ? NodeKind::kSwitch : NodeKind::kHost;
    for (NodeId node; node.index() < fabric_.node_count(); ++node) {
        if (fabric_.node(node).kind != node_kind || !fits(fabric_.node(node).name, pattern)) {
            continue;
        }
        FailingPart& part = found.emplace_back(FailingPart{fabric_.node(node).name, {}});
        for (std::size_t i = 0; i < fabric_.out_degree(node); ++i) {
            part.links.emplace_back(fabric_.first_link(node).index() + i);
        }
        const std::span<const LinkId> into = fabric_.links_into(node);
        part.links.insert(part.links.end(), into.begin(), into.end());
    }
    return found;
}

std::string FailingParts::examples(PartKind kind) const {
    if (kind == PartKind::kCable) {
        return cables_.empty() ? "the network has no cables"
                               : fmt::format(
                                     "a cable is '{}', one direction of it '{}', and classes of "
                                     "cables are {}; names may have * and ?",
                                     cables_.back().name, cables_.back().direction,
                                     fmt::join(link_class_names(fabric_), ", "));
    }
    const bool is_switch = kind == PartKind::kSwitch;
    if (is_switch && fabric_.node_count() == fabric_.host_count()) {
        return "the network has no switches";
    }
    const NodeId example(is_switch ? fabric_.node_count() - 1 : fabric_.host_count() - 1);
    return fmt::format("one is '{}', and names may have * and ?", fabric_.node(example).name);
}

std::vector<Outage> draw_outages(const OutageRates& rates, Time from, Time until, std::size_t limit,
                                 RandomStream& random) {
    ASTROLABE_ASSERT(rates.mean_time_between > Time(0) && rates.mean_time_to_repair > Time(0),
                     "parts work for a time, and fail for a time");
    std::vector<Outage> outages;
    for (Time at = later(from, draw_time(rates.mean_time_between, random));
         at < until && outages.size() < limit;) {
        const Time repaired = later(at, draw_time(rates.mean_time_to_repair, random));
        outages.push_back({at, repaired});
        at = later(repaired, draw_time(rates.mean_time_between, random));
    }
    return outages;
}

}  // namespace astrolabe::network
