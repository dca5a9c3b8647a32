#include "demand_aware_planner.hpp"

#include "finder_checks.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/scaling.hpp>

namespace astrolabe::network::topoopt {

namespace {

/// Sums of the same terms in another order differ by less than this share.
constexpr double kSameWorth = 1e-9;

/// Who waits without bytes asks for one.
std::uint64_t asked(const WaitingPair& pair) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(pair.bytes.count(), 1));
}

/// What waits, in units of 2^k bytes where there is more than a demand may be.
PairDemand demand_of(std::uint32_t servers, std::span<const WaitingPair> waiting) {
    astrolabe::detail::Int128 total = 0;
    for (const WaitingPair& pair : waiting) {
        total += asked(pair);
    }
    int shift = 0;
    // Every pair may be rounded up to a unit.
    while ((total >> shift) + static_cast<astrolabe::detail::Int128>(waiting.size()) >= kMaxTraffic) {
        ++shift;
    }
    PairDemand demand(servers);
    for (const WaitingPair& pair : waiting) {
        demand.add(static_cast<Server>(pair.source.index()), static_cast<Server>(pair.destination.index()),
                   std::max<std::uint64_t>(asked(pair) >> shift, 1));
    }
    return demand;
}

/// Bytes that a wiring serves of what waits, a second circuit of a pair counting half of the first.
/// `leads_to(link)` is whom a port leads to.
template <class LeadsTo>
double worth(const Fabric& present, std::span<const WaitingPair> waiting, const LeadsTo& leads_to) {
    double sum = 0.0;
    for (const WaitingPair& pair : waiting) {
        const NodeId source = present.node_of(pair.source);
        int circuits = 0;
        for (std::size_t i = 0; i < present.out_degree(source); ++i) {
            circuits += leads_to(LinkId(present.first_link(source).index() + i)) == pair.destination ? 1 : 0;
        }
        if (circuits > 0) {
            sum += static_cast<double>(asked(pair)) * (2.0 - std::ldexp(1.0, 1 - circuits));
        }
    }
    return sum;
}

HostId host_at(const Fabric& fabric, LinkId link) {
    return HostId(fabric.target(link).index());
}

}  // namespace

DemandAwarePlanner::DemandAwarePlanner(Time every, Time delay, DemandAwarePlannerOptions options,
                                       const Fabric& first, std::span<const PlannedLink> planned)
    : DemandAwareCircuits(every, delay),
      options_(std::move(options)),
      planes_(first.link_count(), 0) {
    ASTROLABE_ASSERT(first.link_count() == std::size_t{servers()} * options_.finder.degree,
                     "every port has a link");
    options_.finder.mode = Mode::kPaper;
    options_.common.is_whole = false;
    options_.common.forwards = options_.forwarding;
    if (options_.common.routing == DirectRouting::kByClass) {
        options_.common.routing = DirectRouting::kKShortest;
    }
    if (options_.finder.wiring == Wiring::kPanel) {
        return;
    }
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> planes;
    for (const PlannedLink& link : planned) {
        planes[{link.from, link.to}].push_back(link.from_interface);
    }
    for (LinkId link; link.index() < first.link_count(); ++link) {
        std::vector<std::uint32_t>& left = planes[{first.source(link).index(), first.target(link).index()}];
        ASTROLABE_ASSERT(!left.empty(), "the fabric has the links that were planned");
        planes_[link.index()] = left.back();
        left.pop_back();
    }
}

std::variant<std::shared_ptr<const DemandAwareCircuits>, ValidationErrors> DemandAwarePlanner::scaled(
    double links, double latency, double reconfiguration) const {
    const Time dark = network::scaled(delay(), reconfiguration);
    if (dark >= every()) {
        return ValidationErrors{
            {"reconfiguration",
             fmt::format("circuits that move would be dark for {}, expected less than the {} until they may "
                         "move again",
                         to_string(dark), to_string(every())),
             "take a smaller factor"}};
    }
    DemandAwarePlannerOptions options = options_;
    options.common.link = {network::scaled(options.common.link.rate, links),
                           network::scaled(options.common.link.latency, latency)};
    options.common.forwarding.latency = network::scaled(options.common.forwarding.latency, latency);
    return std::shared_ptr<const DemandAwareCircuits>(
        new DemandAwarePlanner(*this, dark, std::move(options)));
}

bool DemandAwarePlanner::is_joined(const Fabric& present, Server a, Server b, std::uint32_t plane) const {
    const std::size_t first = present.first_link(NodeId(a)).index();
    for (std::size_t link = first; link < first + present.out_degree(NodeId(a)); ++link) {
        if (planes_[link] == plane && host_at(present, LinkId(link)) == HostId(b)) {
            return true;
        }
    }
    return false;
}

void DemandAwarePlanner::place(const Fabric& present, std::span<const MatchingRound> matchings,
                               std::uint32_t first_plane, std::vector<PlannedLink>& planned) const {
    std::vector<std::uint32_t> free(matchings.size());
    std::iota(free.begin(), free.end(), first_plane);
    for (const MatchingRound& round : matchings) {
        const auto kept = [&](std::uint32_t plane) {
            return std::count_if(round.pairs.begin(), round.pairs.end(), [&](const auto& pair) {
                return is_joined(present, pair.first, pair.second, plane);
            });
        };
        const auto best = std::max_element(
            free.begin(), free.end(), [&](std::uint32_t a, std::uint32_t b) { return kept(a) < kept(b); });
        const std::uint32_t plane = *best;
        free.erase(best);
        for (const auto& [a, b] : round.pairs) {
            planned.push_back({a, b, plane, plane});
            planned.push_back({b, a, plane, plane});
        }
    }
}

std::vector<PlannedLink> DemandAwarePlanner::plan(const Fabric& present, const PairDemand& demand) const {
    const std::uint32_t degree = options_.finder.degree;
    std::vector<PlannedLink> planned;
    if (!options_.forwarding) {
        place(present, match_demand(servers(), demand, degree), 0, planned);
    } else {
        Topology found =
            find_topology({.servers = servers(), .groups = {}, .point_to_point = demand}, options_.finder);
        const auto of_rings = [&](const PlannedLink& link) {
            return link.from_interface < found.split.all_reduce;
        };
        std::copy_if(found.links.begin(), found.links.end(), std::back_inserter(planned), of_rings);
        place(present, found.matchings, found.split.all_reduce, planned);
    }
    if (options_.finder.wiring == Wiring::kPanel) {
        for (PlannedLink& link : planned) {
            link.from_interface = 0;
        }
    }
    return planned;
}

DemandAwarePlanner::Ports DemandAwarePlanner::connect(const Fabric& present,
                                                      std::span<const PlannedLink> planned) const {
    std::vector<std::vector<PlannedLink>> out_of(servers());
    for (const PlannedLink& link : planned) {
        out_of[link.from].push_back(link);
    }
    // Whom a port of this plane leads to in the plan, of those that suit; each link is taken once.
    const auto take = [&](LinkId port, const auto& suits) -> std::optional<HostId> {
        std::vector<PlannedLink>& links = out_of[present.source(port).index()];
        const auto found = std::find_if(links.begin(), links.end(), [&](const PlannedLink& link) {
            return link.from_interface == planes_[port.index()] && suits(HostId(link.to));
        });
        if (found == links.end()) {
            return std::nullopt;
        }
        const HostId target(found->to);
        links.erase(found);
        return target;
    };
    Ports targets(present.link_count());
    std::vector<LinkId> moving;
    for (LinkId port; port.index() < present.link_count(); ++port) {
        const HostId target = host_at(present, port);
        if (take(port, [target](HostId to) { return to == target; })) {
            targets[port.index()] = target;
        } else {
            moving.push_back(port);
        }
    }
    for (const LinkId port : moving) {
        const std::optional<HostId> target = take(port, [](HostId) { return true; });
        ASTROLABE_ASSERT(target, "a wiring has a link for every port");
        targets[port.index()] = *target;
    }
    return targets;
}

WiredFabric DemandAwarePlanner::build(const Ports& targets, std::span<const LinkId> links,
                                      bool is_whole) const {
    DirectConnectParameters direct = options_.common;
    for (const LinkId link : links) {
        direct.links.push_back({.from = static_cast<std::int64_t>(link.index() / options_.finder.degree),
                                .to = static_cast<std::int64_t>(targets[link.index()].index()),
                                .one_way = true});
    }
    direct.is_whole = is_whole;
    return {build_direct_connect(direct), {links.begin(), links.end()}};
}

std::optional<Rewiring> DemandAwarePlanner::rewire(const Fabric& present,
                                                   std::span<const WaitingPair> waiting) const {
    const Ports targets = connect(present, plan(present, demand_of(servers(), waiting)));
    const double now = worth(present, waiting, [&](LinkId link) { return host_at(present, link); });
    const double then = worth(present, waiting, [&](LinkId link) { return targets[link.index()]; });
    if (then <= now * (1.0 + kSameWorth)) {
        return std::nullopt;
    }
    std::vector<LinkId> all;
    std::vector<LinkId> staying;
    for (LinkId link; link.index() < present.link_count(); ++link) {
        all.push_back(link);
        if (!options_.all_dark && targets[link.index()] == host_at(present, link)) {
            staying.push_back(link);
        }
    }
    Rewiring rewiring;
    rewiring.next = build(targets, all, options_.forwarding);
    rewiring.dark = all.size() - staying.size();
    if (delay() > Time(0)) {
        rewiring.meanwhile = build(targets, staying, false);
    }
    return rewiring;
}

std::shared_ptr<const Fabric> build_with_planner(DirectConnectParameters first,
                                                 const DemandAwareParameters& moves,
                                                 const FinderOptions& finder,
                                                 std::span<const PlannedLink> planned) {
    first.reconfiguration.reset();
    first.forwards = moves.forwarding;
    DemandAwarePlannerOptions options{.finder = finder,
                                      .forwarding = moves.forwarding,
                                      .all_dark = moves.dark == DarkCircuits::kAll,
                                      .common = {}};
    options.common.hosts = first.hosts;
    options.common.link = first.link;
    options.common.forwarding = first.forwarding;
    options.common.routing = first.routing;
    options.common.paths = first.paths;
    options.common.detour = first.detour;
    options.common.seed = first.seed;
    first.controller = std::make_shared<const DemandAwarePlanner>(
        moves.every, moves.delay, std::move(options), *build_direct_connect(first), planned);
    return build_direct_connect(first);
}

}  // namespace astrolabe::network::topoopt
