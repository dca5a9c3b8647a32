#include "repaired_routing.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/failures/links_over_time.hpp>

namespace astrolabe::network {

namespace {

constexpr std::size_t kLargestListed = 10;

}  // namespace

LinksOverTime::LinksOverTime(const Fabric& fabric)
    : fabric_(fabric),
      failures_(*fabric.failures()),
      factors_(fabric.link_count(), 1.0),
      is_known_down_(fabric.link_count(), 0) {}

LinksOverTime::~LinksOverTime() = default;

Time LinksOverTime::next_change() const {
    Time next = Time::max();
    if (next_rate_ < failures_.rate_changes().size()) {
        next = failures_.rate_changes()[next_rate_].at;
    }
    if (next_route_ < failures_.route_changes().size()) {
        next = std::min(next, failures_.route_changes()[next_route_].at);
    }
    return next;
}

bool LinksOverTime::advance(Time now, const Visitor& visit) {
    const auto rates = failures_.rate_changes();
    for (; next_rate_ < rates.size() && rates[next_rate_].at <= now; ++next_rate_) {
        factors_[rates[next_rate_].link] = rates[next_rate_].factor;
        visit(rates[next_rate_].link, rates[next_rate_].factor);
    }
    const auto routes = failures_.route_changes();
    const std::size_t before = next_route_;
    for (; next_route_ < routes.size() && routes[next_route_].at <= now; ++next_route_) {
        is_known_down_[routes[next_route_].link] = routes[next_route_].is_down ? 1 : 0;
    }
    if (next_route_ == before) {
        return false;
    }
    repaired_ = std::make_unique<const RepairedRouting>(fabric_, is_known_down_);
    return true;
}

const RoutingPolicy& LinksOverTime::routing() const {
    return repaired_ != nullptr ? *repaired_ : fabric_.routing();
}

std::string LinksOverTime::name_cut_pairs(const std::vector<OutstandingMessage>& messages) const {
    IndexedVector<LinkId, std::uint8_t> is_down(factors_.size(), 0);
    for (LinkId link; link.index() < factors_.size(); ++link) {
        is_down[link] = is_up(link) ? 0 : 1;
    }
    const RepairedRouting left(fabric_, std::move(is_down));
    std::set<std::pair<HostId, HostId>> cut;
    for (const OutstandingMessage& message : messages) {
        if (!left.connects(message.source, message.destination)) {
            cut.emplace(message.source, message.destination);
        }
    }
    if (cut.empty()) {
        return {};
    }
    std::string text = fmt::format("links that are down cut these pairs, {} in all:", cut.size());
    std::size_t listed = 0;
    for (const auto& [source, destination] : cut) {
        if (++listed > kLargestListed) {
            break;
        }
        text += fmt::format("\n  {} -> {}", fabric_.node(fabric_.node_of(source)).name,
                            fabric_.node(fabric_.node_of(destination)).name);
    }
    return text;
}

}  // namespace astrolabe::network
