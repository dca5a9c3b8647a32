#include "routing_bound.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <astrolabe/network/analysis/concurrent_flow.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {
namespace {

using network::HostId;
using network::LinkId;
using network::NodeId;
using system::OperationId;

/// The fabric between places: parallel links are one edge, hosts on one cable are part of their switch.
struct PlaceGraph {
    std::vector<network::FlowEdge> edges;
    std::vector<double> out;  ///< capacity by node, B/s
    std::vector<double> in;
};

PlaceGraph place_graph(const network::Fabric& fabric) {
    PlaceGraph graph{
        {}, std::vector<double>(fabric.node_count(), 0), std::vector<double>(fabric.node_count(), 0)};
    std::map<std::pair<NodeId, NodeId>, double> capacity;
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId id(i);
        if (is_between_places(fabric, id)) {
            const double rate = to_bytes_per_second(fabric.link(id).rate);
            capacity[{fabric.source(id), fabric.target(id)}] += rate;
            graph.out[fabric.source(id).index()] += rate;
            graph.in[fabric.target(id).index()] += rate;
        }
    }
    for (const auto& [ends, rate] : capacity) {
        graph.edges.push_back({static_cast<std::uint32_t>(ends.first.index()),
                               static_cast<std::uint32_t>(ends.second.index()), rate});
    }
    return graph;
}

/// What must leave and enter every host, and every place.
Time fullest_place(const TotalLoad& total, const PlaceGraph& graph, const network::Fabric& fabric,
                   const Placement& placement) {
    Time most;
    for (std::size_t rank = 0; rank < total.sent.size(); ++rank) {
        const HostId host = placement[rank];
        most = std::max({most, carrying_time(total.sent[rank], fabric.egress_rate(host)),
                         carrying_time(total.received[rank], fabric.ingress_rate(host))});
    }
    std::vector<double> out(fabric.node_count(), 0);
    std::vector<double> in(fabric.node_count(), 0);
    for (const network::PlaceTraffic& pair : total.places) {
        out[pair.source.index()] += pair.amount;
        in[pair.destination.index()] += pair.amount;
    }
    for (std::size_t node = 0; node < fabric.node_count(); ++node) {
        // A place without links between places is bound by its hosts' cables only.
        if (graph.out[node] > 0) {
            most = std::max(most, carrying_time(out[node], graph.out[node]));
        }
        if (graph.in[node] > 0) {
            most = std::max(most, carrying_time(in[node], graph.in[node]));
        }
    }
    return most;
}

/// The certificate of lengths that are the links' costs in routing: by them the routes in use are shortest,
/// so Σ cost · bytes is the least there is, and Σ cost · rate what the fabric carries.
Time by_costs(const TotalLoad& total, const network::Fabric& fabric) {
    double work = 0;
    double rate = 0;
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId id(i);
        if (is_between_places(fabric, id)) {
            const network::Link& link = fabric.link(id);
            work += link.cost * total.links[id];
            rate += link.cost * to_bytes_per_second(link.rate);
        }
    }
    return carrying_time(work, rate);
}

/// Certificate and routing are as good as equal.
constexpr double kGap = 0.02;

bool is_closed(const RoutingBound& bound) {
    return to_seconds(bound.most) <= to_seconds(bound.least) * (1 + kGap);
}

}  // namespace

bool is_between_places(const network::Fabric& fabric, LinkId id) {
    const auto is_place = [&fabric](NodeId node) {
        return node.index() >= fabric.host_count() || network::place_of(fabric, HostId(node.index())) == node;
    };
    return is_place(fabric.source(id)) && is_place(fabric.target(id));
}

Busiest busiest_link(const LinkBytes& bytes, const network::Fabric& fabric) {
    Busiest busiest;
    double longest = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const LinkId id(i);
        const double time = bytes[id] / static_cast<double>(fabric.link(id).rate.count());
        if (time > longest) {
            longest = time;
            busiest.link = id;
        }
    }
    if (busiest.link) {
        busiest.time = carrying_time(bytes[*busiest.link], fabric.link(*busiest.link).rate);
    }
    return busiest;
}

void add_links(LinkBytes& bytes, const ScheduleLoads::Part& part) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[LinkId(i)] += part.units * part.load->links[LinkId(i)];
    }
}

TotalLoad total_load(const system::Program& program, const ScheduleLoads& loads,
                     const network::Fabric& fabric) {
    std::map<const UnitLoad*, double> units;
    std::vector<const UnitLoad*> order;  // as operations name them: addresses have none
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        for (const ScheduleLoads::Part& part : loads.of(OperationId(i))) {
            if (units.try_emplace(part.load, 0).second) {
                order.push_back(part.load);
            }
            units[part.load] += part.units;
        }
    }
    TotalLoad total{std::vector<double>(program.ranks, 0),
                    std::vector<double>(program.ranks, 0),
                    LinkBytes(fabric.link_count(), 0),
                    {}};
    std::map<std::pair<NodeId, NodeId>, network::PlaceTraffic> places;
    for (const UnitLoad* load : order) {
        const double count = units[load];
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            total.sent[rank] += count * load->sent[rank];
            total.received[rank] += count * load->received[rank];
        }
        if (!load->links.empty()) {
            add_links(total.links, {load, count});
        }
        for (const network::PlaceTraffic& pair : load->places) {
            const network::PlaceTraffic none{pair.source, pair.destination, pair.host, 0};
            places.try_emplace({pair.source, pair.destination}, none).first->second.amount +=
                count * pair.amount;
        }
    }
    for (const auto& [ends, pair] : places) {
        total.places.push_back(pair);
    }
    return total;
}

RoutingBound routing_bound(const TotalLoad& total, Time in_use, const network::Fabric& fabric,
                           const Placement& placement) {
    const PlaceGraph graph = place_graph(fabric);
    RoutingBound bound{fullest_place(total, graph, fabric, placement), in_use, "ports and switches"};
    if (is_closed(bound) || total.places.empty() || !fabric.is_static()) {
        return bound;
    }
    const Time hosts = bound.least;
    const Time lengths = fabric.routing().follows_costs() ? by_costs(total, fabric) : Time(0);
    if (lengths > bound.least) {
        bound.least = lengths;
        bound.how = "lengths of the routes in use";
    }
    const Time spread =
        std::max(hosts, busiest_link(network::sprayed_loads(fabric, total.places), fabric).time);
    bound.most = std::min(bound.most, spread);
    if (is_closed(bound)) {
        return bound;
    }
    std::vector<network::FlowDemand> demands;
    for (const network::PlaceTraffic& pair : total.places) {
        demands.push_back({static_cast<std::uint32_t>(pair.source.index()),
                           static_cast<std::uint32_t>(pair.destination.index()), pair.amount});
    }
    // Some eight looks at every edge for every source are needed to tell anything.
    constexpr std::uint64_t kLeastPhases = 32;
    const network::ConcurrentFlowLimits limits{.gap = kGap, .most_steps = 4'000'000};
    std::size_t sources = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        sources += i == 0 || demands[i].source != demands[i - 1].source ? 1 : 0;
    }
    if (kLeastPhases * sources * graph.edges.size() > limits.most_steps) {
        bound.how += fmt::format("; no concurrent flow: {} places on {} edges are too many", sources,
                                 graph.edges.size());
        return bound;
    }
    const network::ConcurrentFlow flow = network::max_concurrent_flow(
        static_cast<std::uint32_t>(fabric.node_count()), graph.edges, demands, limits);
    if (flow.most > 0) {
        const Time certified(static_cast<std::int64_t>(std::min(9.2e18, kSafety * 1e12 / flow.most)));
        const Time found(static_cast<std::int64_t>(std::min(9.2e18, 1e12 / flow.least)));
        if (certified > bound.least) {
            bound.least = certified;
            bound.how = fmt::format("concurrent flow of {} phases", flow.phases);
        }
        bound.most = std::min(bound.most, std::max(hosts, found));
    }
    return bound;
}

}  // namespace astrolabe::experiment
