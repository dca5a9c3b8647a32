#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/failures/failing_parts.hpp>
#include <astrolabe/network/family.hpp>
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

}  // namespace

FailingParts::FailingParts(const Fabric& fabric)
    : fabric_(fabric),
      named_(fabric.family().named_parts()) {
    if (!named_.empty()) {
        return;
    }
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

std::vector<FailingPart> FailingParts::find_named(PartKind kind, const std::string& pattern) const {
    std::vector<FailingPart> found;
    for (std::size_t i = 0; i < named_.size(); ++i) {
        const NamedPart& part = named_[i];
        if (part.kind == kind &&
            (fits(part.name, pattern) || fits(part.other, pattern) || fits(part.part_class, pattern))) {
            found.push_back({part.name, {}, i});
        }
    }
    return found;
}

std::vector<FailingPart> FailingParts::find(PartKind kind, const std::string& pattern) const {
    if (!named_.empty()) {
        return find_named(kind, pattern);
    }
    std::vector<FailingPart> found;
    if (kind == PartKind::kCable) {
        for (const Cable& cable : cables_) {
            const auto reverse = fabric_.link(cable.link).reverse;
            if (fits(cable.name, pattern) || fits(cable.other, pattern) || fits(cable.link_class, pattern)) {
                found.push_back({cable.name, {cable.link}, {}});
                if (reverse) {
                    found.back().links.push_back(*reverse);
                }
                continue;
            }
            if (fits(cable.direction, pattern)) {
                found.push_back({cable.direction, {cable.link}, {}});
            }
            if (reverse && fits(cable.reverse, pattern)) {
                found.push_back({cable.reverse, {*reverse}, {}});
            }
        }
        return found;
    }
    const NodeKind node_kind = kind == PartKind::kSwitch ? NodeKind::kSwitch : NodeKind::kHost;
    for (NodeId node; node.index() < fabric_.node_count(); ++node) {
        if (fabric_.node(node).kind != node_kind || !fits(fabric_.node(node).name, pattern)) {
            continue;
        }
        FailingPart& part = found.emplace_back(FailingPart{fabric_.node(node).name, {}, {}});
        for (std::size_t i = 0; i < fabric_.out_degree(node); ++i) {
            part.links.emplace_back(fabric_.first_link(node).index() + i);
        }
        const std::span<const LinkId> into = fabric_.links_into(node);
        part.links.insert(part.links.end(), into.begin(), into.end());
    }
    return found;
}

std::string FailingParts::named_examples(PartKind kind) const {
    std::vector<std::string> names;
    std::set<std::string> classes;
    for (const NamedPart& part : named_) {
        if (part.kind != kind) {
            continue;
        }
        const bool is_another = names.empty() || part.name.substr(0, part.name.find(' ')) !=
                                                     names.back().substr(0, names.back().find(' '));
        if (kind == PartKind::kCable ? classes.insert(part.part_class).second : is_another) {
            names.push_back(part.name);
        }
    }
    return names.empty()
               ? "the network has none that fail"
               : fmt::format("there are '{}'{}; names may have * and ?", fmt::join(names, "', '"),
                             classes.empty() ? std::string()
                                             : fmt::format(", of classes {}", fmt::join(classes, ", ")));
}

std::string FailingParts::examples(PartKind kind) const {
    if (!named_.empty()) {
        return named_examples(kind);
    }
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
    for (Time at = saturating_sum(from, draw_time(rates.mean_time_between, random));
         at < until && outages.size() < limit;) {
        const Time repaired = saturating_sum(at, draw_time(rates.mean_time_to_repair, random));
        outages.push_back({at, repaired});
        at = saturating_sum(repaired, draw_time(rates.mean_time_between, random));
    }
    return outages;
}

}  // namespace astrolabe::network
