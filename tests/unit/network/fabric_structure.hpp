/// What topology tests measure of a fabric: distances, paths, bisection.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

/// Greatest rate at which the first half of the hosts can send to the second half, in bit/s, all links at
/// their rates: a maximum flow from a super-source above the first half to a super-sink below the second.
inline std::int64_t bisection_rate(const Fabric& fabric) {
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using FlowGraph = boost::adjacency_list<
        boost::vecS, boost::vecS, boost::directedS, boost::no_property,
        boost::property<boost::edge_capacity_t, std::int64_t,
                        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
    FlowGraph graph(fabric.node_count() + 2);
    const std::size_t source = fabric.node_count();
    const std::size_t sink = source + 1;
    const auto add = [&graph](std::size_t from, std::size_t to, std::int64_t capacity) {
        const auto forward = boost::add_edge(from, to, graph).first;
        const auto backward = boost::add_edge(to, from, graph).first;
        boost::put(boost::edge_capacity, graph, forward, capacity);
        boost::put(boost::edge_capacity, graph, backward, 0);
        boost::put(boost::edge_reverse, graph, forward, backward);
        boost::put(boost::edge_reverse, graph, backward, forward);
    };
    for (std::size_t i = 0; i < fabric.link_count(); ++i) {
        const LinkId link(i);
        add(fabric.source(link).index(), fabric.target(link).index(), fabric.link(link).rate.count());
    }
    for (std::size_t host = 0; host < fabric.host_count(); ++host) {
        const HostId id(host);
        if (host < fabric.host_count() / 2) {
            add(source, host, fabric.egress_rate(id).count());
        } else {
            add(host, sink, fabric.ingress_rate(id).count());
        }
    }
    return boost::push_relabel_max_flow(graph, source, sink);
}

/// How many shortest paths lead from one host to another.
inline std::uint64_t path_count(const Fabric& fabric, NodeId at, HostId destination) {
    if (at == fabric.node_of(destination)) {
        return 1;
    }
    std::uint64_t count = 0;
    for (const LinkId link : fabric.routing().next_links(at, destination)) {
        count += path_count(fabric, fabric.target(link), destination);
    }
    return count;
}

inline std::size_t hops(const Fabric& fabric, int source, int destination) {
    return fabric.routing().route(HostId(source), HostId(destination)).hops;
}

/// How many hosts are how many links away from `source`.
inline std::map<std::size_t, int> hop_distribution(const Fabric& fabric, std::size_t source) {
    std::map<std::size_t, int> distribution;
    for (std::size_t destination = 0; destination < fabric.host_count(); ++destination) {
        if (destination != source) {
            ++distribution[fabric.routing().route(HostId(source), HostId(destination)).hops];
        }
    }
    return distribution;
}

}  // namespace astrolabe::network
