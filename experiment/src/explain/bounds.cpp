#include "circuit_bound.hpp"
#include "dependency_bound.hpp"
#include "routing_bound.hpp"
#include "schedule_loads.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <astrolabe/experiment/explain/bounds.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {
namespace {

using network::HostId;
using network::LinkId;
using network::NodeId;
using system::OperationId;

/// Fastest that a message can go: at the rate of a host's link, or of all where its bytes are spread.
double fastest_byte(const network::Fabric& fabric, std::size_t ranks, const Placement& placement,
                    bool follows_routes) {
    const bool single =
        follows_routes && fabric.routing().load_balancing() == network::LoadBalancing::kFlowHash;
    Bandwidth fastest(1);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const HostId host = placement[rank];
        if (!single) {
            fastest = std::max(fastest, fabric.egress_rate(host));
            continue;
        }
        const NodeId node = fabric.node_of(host);
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            fastest = std::max(fastest, fabric.link(LinkId(fabric.first_link(node).index() + i)).rate);
        }
    }
    return 8e12 / static_cast<double>(fastest.count());
}

/// Bounds of every collective; those that move the same are found once.
class CollectiveBounds {
public:
    CollectiveBounds(const Experiment& experiment, const ScheduleLoads& loads, bool follows_routes)
        : experiment_(experiment),
          loads_(loads),
          has_links_(follows_routes && loads.omission().empty()),
          latency_(least_latency(*experiment.fabric, experiment.program.ranks, experiment.placement)),
          byte_time_(fastest_byte(*experiment.fabric, experiment.program.ranks, experiment.placement,
                                  follows_routes)) {
        const system::EndPoint& end_point = experiment.cluster.options.end_point;
        if (end_point.timing == system::EndPointTiming::kPerMessage) {
            copy_ = end_point.injection_latency;
            if (end_point.reduction_bandwidth) {
                added_byte_time_ = 24e12 / static_cast<double>(end_point.reduction_bandwidth->count());
            }
        }
    }

    [[nodiscard]] CollectiveBound of(OperationId id) {
        const system::CollectiveOperation& work = experiment_.program.operations[id].collective();
        const auto key =
            std::tuple(work.kind, work.partition, work.size, static_cast<const void*>(work.pair_sizes.get()),
                       static_cast<const void*>(work.method.get()));
        const auto [entry, is_new] = known_.try_emplace(key);
        if (is_new) {
            entry->second = find(id);
        }
        return entry->second;
    }

private:
    [[nodiscard]] CollectiveBound find(OperationId id) const {
        CollectiveBound bound;
        if (loads_.chain(id, Time(1), 0, 0) == Time(0)) {
            return bound;
        }
        bound.latency = loads_.chain(id, latency_, 0, 0);
        bound.end_points = loads_.chain(id, copy_, 0, added_byte_time_);
        bound.chain = loads_.chain(id, saturating_sum(latency_, copy_), byte_time_, added_byte_time_);
        const network::Fabric& fabric = *experiment_.fabric;
        if (has_links_) {
            LinkBytes bytes(fabric.link_count(), 0);
            for (const ScheduleLoads::Part& part : loads_.of(id)) {
                add_links(bytes, part);
            }
            const Busiest busiest = busiest_link(bytes, fabric);
            bound.links = busiest.time;
            bound.busiest = busiest.link;
        } else {
            bound.links = ports(id);
        }
        bound.value =
            std::max({saturating_sum(bound.links, latency_), bound.latency, bound.end_points, bound.chain});
        return bound;
    }

    /// What every rank sends and receives over the rate of its host.
    [[nodiscard]] Time ports(OperationId id) const {
        const network::Fabric& fabric = *experiment_.fabric;
        Time most;
        for (std::size_t rank = 0; rank < experiment_.program.ranks; ++rank) {
            double sent = 0;
            double received = 0;
            for (const ScheduleLoads::Part& part : loads_.of(id)) {
                sent += part.units * part.load->sent[rank];
                received += part.units * part.load->received[rank];
            }
            const HostId host = experiment_.placement[rank];
            most = std::max({most, carrying_time(sent, fabric.egress_rate(host)),
                             carrying_time(received, fabric.ingress_rate(host))});
        }
        return most;
    }

    using Key = std::tuple<system::CollectiveKind, system::PartitionId, Bytes, const void*, const void*>;

    const Experiment& experiment_;
    const ScheduleLoads& loads_;
    bool has_links_;
    Time latency_;
    double byte_time_;  ///< ps
    Time copy_;
    double added_byte_time_ = 0;
    std::map<Key, CollectiveBound> known_;
};

}  // namespace

Time Bounds::value() const {
    Time most = std::max({compute, ports, dependencies});
    most = links ? std::max(most, *links) : most;
    return any_routing ? std::max(most, any_routing->least) : most;
}

std::string_view Bounds::binding() const {
    const Time most = value();
    if (compute == most) {
        return "compute";
    }
    if (ports == most) {
        return "ports";
    }
    if (links && *links == most) {
        return "links";
    }
    return any_routing && any_routing->least == most ? "any_routing" : "dependencies";
}

Bounds certified_bounds(const Experiment& experiment) {
    const system::Program& program = experiment.program;
    const network::Fabric& fabric = *experiment.fabric;
    const system::SystemOptions& options = experiment.cluster.options;
    const Bound least = lower_bound(program, options, fabric, experiment.placement);
    Bounds bounds;
    bounds.compute = least.compute;
    bounds.collectives.resize(program.operations.size());
    if (!experiment.backend.shares_links) {
        bounds.omission = "the engine shares no links";
        bounds.dependencies =
            dependency_bound(program, fabric, experiment.placement, bounds.collectives, nullptr, false);
        return bounds;
    }
    bounds.ports = least.communication;
    const ScheduleLoads loads(program, options, fabric, experiment.placement);
    const bool follows_routes = fabric.is_static() && experiment.backend.follows_routes(fabric);
    CollectiveBounds collectives(experiment, loads, follows_routes);
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        if (program.operations[OperationId(i)].is_collective()) {
            bounds.collectives[OperationId(i)] = collectives.of(OperationId(i));
        }
    }
    bounds.dependencies =
        dependency_bound(program, fabric, experiment.placement, bounds.collectives, &loads, follows_routes);
    bounds.omission = loads.omission();
    if (!bounds.omission.empty() || bounds.ports == Time(0)) {
        return bounds;
    }
    const TotalLoad total = total_load(program, loads, fabric);
    const Busiest busiest = busiest_link(total.links, fabric);
    const Time latency = least_latency(fabric, program.ranks, experiment.placement);
    if (follows_routes) {
        bounds.links = saturating_sum(busiest.time, latency);
        bounds.busiest = busiest.link;
    } else {
        bounds.omission = "the engine does not keep to the fabric's routes";
    }
    bounds.any_routing =
        routing_bound(total, fabric.is_static() ? busiest.time : Time::max(), fabric, experiment.placement);
    bounds.any_routing->least = saturating_sum(bounds.any_routing->least, latency);
    bounds.any_routing->most = saturating_sum(bounds.any_routing->most, latency);
    if (!fabric.circuits().is_static()) {
        if (const Time circuits = circuit_bound(total, fabric); circuits > bounds.any_routing->least) {
            bounds.any_routing->least = circuits;
            bounds.any_routing->how = "circuits of the fullest switch";
        }
    }
    return bounds;
}

}  // namespace astrolabe::experiment
