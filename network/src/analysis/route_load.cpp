#include <algorithm>
#include <map>
#include <numeric>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {
namespace {

/// Pushes what waits at nodes towards one destination, splitting it evenly over the next links. Nodes are
/// taken when all that comes to them has come.
class Spreader {
public:
    explicit Spreader(const Fabric& fabric)
        : fabric_(fabric),
          waiting_(fabric.node_count(), 0),
          missing_(fabric.node_count(), 0),
          is_known_(fabric.node_count(), 0) {}

    void put(NodeId node, double amount) {
        waiting_[node] += amount;
        reach(node);
    }

    void spread(NodeId destination, HostId host, IndexedVector<LinkId, double>& loads) {
        for (std::size_t i = 0; i < known_.size(); ++i) {
            if (known_[i] == destination) {
                continue;
            }
            for (const LinkId link : fabric_.routing().next_links(known_[i], host)) {
                ++missing_[fabric_.target(link)];
                reach(fabric_.target(link));
            }
        }
        std::vector<NodeId> ready;
        std::copy_if(known_.begin(), known_.end(), std::back_inserter(ready),
                     [this](NodeId node) { return missing_[node] == 0; });
        while (!ready.empty()) {
            const NodeId node = ready.back();
            ready.pop_back();
            if (node == destination) {
                continue;
            }
            const auto next = fabric_.routing().next_links(node, host);
            ASTROLABE_ASSERT(!next.empty(), "what is to be carried has a route");
            const double part = waiting_[node] / static_cast<double>(next.size());
            for (const LinkId link : next) {
                loads[link] += part;
                const NodeId target = fabric_.target(link);
                waiting_[target] += part;
                if (--missing_[target] == 0) {
                    ready.push_back(target);
                }
            }
        }
        for (const NodeId node : known_) {
            waiting_[node] = 0;
            missing_[node] = 0;
            is_known_[node] = 0;
        }
        known_.clear();
    }

private:
    void reach(NodeId node) {
        if (is_known_[node] == 0) {
            is_known_[node] = 1;
            known_.push_back(node);
        }
    }

    const Fabric& fabric_;
    IndexedVector<NodeId, double> waiting_;
    IndexedVector<NodeId, std::uint32_t> missing_;  ///< links from which something is to come
    IndexedVector<NodeId, std::uint8_t> is_known_;
    std::vector<NodeId> known_;
};

}  // namespace

NodeId place_of(const Fabric& fabric, HostId host) {
    const NodeId node = fabric.node_of(host);
    if (fabric.out_degree(node) != 1 || fabric.links_into(node).size() != 1) {
        return node;
    }
    const LinkId only = fabric.first_link(node);
    if (!fabric.link(only).reverse) {
        return node;
    }
    const NodeId neighbour = fabric.target(only);
    return fabric.node(neighbour).kind == NodeKind::kSwitch ? neighbour : node;
}

RouteLoad::RouteLoad(const Fabric& fabric, LoadBalancing load_balancing)
    : fabric_(fabric),
      load_balancing_(load_balancing),
      loads_(fabric.link_count(), 0) {}

void RouteLoad::add(HostId source, HostId destination, double amount) {
    const NodeId from = place_of(fabric_, source);
    const NodeId to = place_of(fabric_, destination);
    if (from != to && fabric_.routing().next_links(from, destination).empty()) {
        return;
    }
    if (from != to) {
        carry(from, to, destination, amount);
    }
    const NodeId end = fabric_.node_of(destination);
    const RoutingPolicy& routing = fabric_.routing();
    if (load_balancing_ == LoadBalancing::kFlowHash && routing.load_balancing() == LoadBalancing::kSpray) {
        for (NodeId at = fabric_.node_of(source); at != end;) {
            const LinkId link = routing.select(at, source, destination);
            loads_[link] += amount;
            at = fabric_.target(link);
        }
        return;
    }
    if (load_balancing_ != LoadBalancing::kSpray) {
        for (const RouteLeg& leg : fabric_.routing().route(source, destination).legs) {
            loads_[leg.link] += leg.share * amount;
        }
        return;
    }
    leave(source, from, amount);
    enter(destination, to, amount);
}

void RouteLoad::carry(NodeId from, NodeId to, HostId host, double amount) {
    // Numbers of switches lie beyond those of hosts, so the pair is one of nodes.
    const HostId first(from.index());
    const HostId second(to.index());
    std::uint32_t number = pairs_.find(first, second);
    if (number == PairIndex::kNone) {
        number = static_cast<std::uint32_t>(places_.size());
        pairs_.insert(first, second, number);
        places_.push_back({from, to, host});
    }
    places_[number].amount += amount;
}

void RouteLoad::leave(HostId source, NodeId place, double amount) {
    const NodeId node = fabric_.node_of(source);
    if (node != place) {
        loads_[fabric_.first_link(node)] += amount;
    }
}

void RouteLoad::enter(HostId destination, NodeId place, double amount) {
    const NodeId node = fabric_.node_of(destination);
    if (node != place) {
        loads_[*fabric_.link(fabric_.first_link(node)).reverse] += amount;
    }
}

void RouteLoad::add_products(std::span<const HostId> hosts, std::span<const double> from,
                             std::span<const double> to) {
    struct Place {
        std::vector<std::size_t> hosts;
        double from = 0;  // sums over them
        double to = 0;
        double reached_from = 0;  // sums over all hosts that it reaches, and that reach it
        double reached_to = 0;
    };
    std::map<NodeId, Place> places;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        Place& place = places[place_of(fabric_, hosts[i])];
        place.hosts.push_back(i);
        place.from += from[i];
        place.to += to[i];
    }
    // On one switch there is one path, whatever chooses it.
    if (load_balancing_ != LoadBalancing::kSpray && places.size() > 1) {
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            for (std::size_t j = 0; j < hosts.size(); ++j) {
                if (i != j && from[i] * to[j] > 0) {
                    add(hosts[i], hosts[j], from[i] * to[j]);
                }
            }
        }
        return;
    }
    for (auto& [source, leaving] : places) {
        for (auto& [destination, entering] : places) {
            const HostId host = hosts[entering.hosts.front()];
            if (source != destination && fabric_.routing().next_links(source, host).empty()) {
                continue;
            }
            const double amount = leaving.from * entering.to;
            if (source != destination && amount > 0) {
                carry(source, destination, host, amount);
            }
            leaving.reached_to += entering.to;
            entering.reached_from += leaving.from;
        }
    }
    for (const auto& [node, place] : places) {
        for (const std::size_t i : place.hosts) {
            leave(hosts[i], node, from[i] * (place.reached_to - to[i]));
            enter(hosts[i], node, to[i] * (place.reached_from - from[i]));
        }
    }
}

IndexedVector<LinkId, double> RouteLoad::links() const {
    IndexedVector<LinkId, double> loads = loads_;
    if (load_balancing_ == LoadBalancing::kSpray) {
        const IndexedVector<LinkId, double> inner = sprayed_loads(fabric_, places_);
        for (std::size_t i = 0; i < loads.size(); ++i) {
            loads[LinkId(i)] += inner[LinkId(i)];
        }
    }
    return loads;
}

IndexedVector<LinkId, double> sprayed_loads(const Fabric& fabric, const std::vector<PlaceTraffic>& traffic) {
    std::vector<std::size_t> order(traffic.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return traffic[a].destination < traffic[b].destination;
    });
    IndexedVector<LinkId, double> loads(fabric.link_count(), 0);
    Spreader spreader(fabric);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const PlaceTraffic& pair = traffic[order[i]];
        spreader.put(pair.source, pair.amount);
        if (i + 1 == order.size() || traffic[order[i + 1]].destination != pair.destination) {
            spreader.spread(pair.destination, pair.host, loads);
        }
    }
    return loads;
}

}  // namespace astrolabe::network
