#include "routing/shortest_path_routing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network {

Bandwidth Fabric::egress_rate(HostId host) const {
    const NodeId node = node_of(host);
    const LinkId first = first_link(node);
    Bandwidth sum;
    for (std::size_t i = 0; i < out_degree(node); ++i) {
        sum += link(LinkId(first.index() + i)).rate;
    }
    return sum;
}

Bandwidth Fabric::ingress_rate(HostId host) const {
    Bandwidth sum;
    for (const LinkId in : links_into(node_of(host))) {
        sum += link(in).rate;
    }
    return sum;
}

std::shared_ptr<Fabric> Fabric::copy() const {
    std::shared_ptr<Fabric> copy(new Fabric);
    copy->kind_ = kind_;
    copy->nodes_ = nodes_;
    copy->host_count_ = host_count_;
    copy->links_ = links_;
    copy->sources_ = sources_;
    copy->targets_ = targets_;
    copy->first_links_ = first_links_;
    copy->links_in_ = links_in_;
    copy->first_links_in_ = first_links_in_;
    copy->one_way_links_ = one_way_links_;
    copy->make_routing_ = make_routing_;
    copy->circuits_ = circuits_;
    copy->family_ = family_;
    copy->demand_aware_circuits_ = demand_aware_circuits_;
    copy->failures_ = failures_;
    return copy;
}

std::shared_ptr<const Fabric> Fabric::with_speeds(const std::function<LinkSpeed(LinkId)>& speed,
                                                  const std::function<Time(Time)>& forwarding,
                                                  std::shared_ptr<const DemandAwareCircuits> circuits) const {
    ASTROLABE_ASSERT((circuits == nullptr) == (demand_aware_circuits_ == nullptr),
                     "a copy has circuits that move where its original does");
    const std::shared_ptr<Fabric> copy = this->copy();
    for (Node& node : copy->nodes_) {
        node.forwarding = forwarding(node.forwarding);
    }
    for (LinkId id; id.index() < links_.size(); ++id) {
        const LinkSpeed of = speed(id);
        ASTROLABE_ASSERT(of.rate > Bandwidth(0) && of.latency >= Time(0),
                         "a link has a rate, and its latency is not negative");
        copy->links_[id].rate = of.rate;
        copy->links_[id].latency = of.latency;
    }
    copy->demand_aware_circuits_ = std::move(circuits);
    copy->routing_ = make_routing_(*copy);
    return copy;
}

std::shared_ptr<const Fabric> Fabric::with_failures(std::shared_ptr<const FailureTimeline> failures) const {
    const std::shared_ptr<Fabric> copy = this->copy();
    copy->failures_ = std::move(failures);
    copy->routing_ = make_routing_(*copy);
    return copy;
}

HostId FabricBuilder::add_host(std::string name, Time forwarding, bool forwards) {
    ASTROLABE_ASSERT(nodes_.size() == host_count_, "hosts are added before switches");
    ASTROLABE_ASSERT(forwarding >= Time(0), "forwarding takes no negative time");
    nodes_.push_back({.kind = NodeKind::kHost,
                      .name = std::move(name),
                      .buffer = Bytes(0),
                      .forwarding = forwarding,
                      .forwards = forwards});
    return HostId(host_count_++);
}

NodeId FabricBuilder::add_switch(std::string name, Bytes buffer, std::uint16_t tier) {
    ASTROLABE_ASSERT(buffer >= Bytes(0), "a switch buffer is a size");
    nodes_.push_back({.kind = NodeKind::kSwitch,
                      .name = std::move(name),
                      .buffer = buffer,
                      .forwarding = Time(0),
                      .tier = tier});
    return NodeId(nodes_.size() - 1);
}

FabricBuilder::Cable FabricBuilder::connect(NodeId a, NodeId b, const LinkParameters& both_directions) {
    return connect(a, b, both_directions, both_directions);
}

FabricBuilder::Cable FabricBuilder::connect(NodeId a, NodeId b, const LinkParameters& forward,
                                            const LinkParameters& backward) {
    check_link(a, b, forward);
    check_link(b, a, backward);
    const auto index = static_cast<std::uint32_t>(links_.size());
    links_.push_back({a, b, forward, index + 1});
    links_.push_back({b, a, backward, index});
    return {index, index + 1};
}

std::uint32_t FabricBuilder::connect_one_way(NodeId from, NodeId to, const LinkParameters& parameters) {
    check_link(from, to, parameters);
    links_.push_back({from, to, parameters, std::nullopt});
    return static_cast<std::uint32_t>(links_.size() - 1);
}

void FabricBuilder::check_link(NodeId from, NodeId to, const LinkParameters& parameters) const {
    ASTROLABE_ASSERT(from.index() < nodes_.size() && to.index() < nodes_.size(),
                     "a link joins nodes that exist");
    ASTROLABE_ASSERT(from != to, "a link joins two distinct nodes");
    ASTROLABE_ASSERT(parameters.rate > Bandwidth(0), "a link has a rate");
    ASTROLABE_ASSERT(parameters.latency >= Time(0) && parameters.buffer >= Bytes(0),
                     "latency and buffer of a link are not negative");
    ASTROLABE_ASSERT(parameters.cost > 0, "no link is free, or paths could turn in circles");
}

void FabricBuilder::set_circuits(Time period, std::vector<CircuitInterval<std::uint32_t>> intervals) {
    period_ = period;
    intervals_ = std::move(intervals);
}

void FabricBuilder::set_family(std::shared_ptr<const NetworkFamily> family) {
    family_ = std::move(family);
}

void FabricBuilder::set_demand_aware_circuits(std::shared_ptr<const DemandAwareCircuits> reconfiguration) {
    demand_aware_circuits_ = std::move(reconfiguration);
}

std::shared_ptr<const Fabric> FabricBuilder::build(LoadBalancing load_balancing, std::uint64_t seed) && {
    ASTROLABE_ASSERT(load_balancing != LoadBalancing::kPaths, "shortest-path routing names no paths");
    return std::move(*this).build([load_balancing, seed](const Fabric& fabric) {
        return std::make_shared<const ShortestPathRouting>(fabric, load_balancing, seed);
    });
}

std::shared_ptr<const Fabric> FabricBuilder::build(const RoutingMaker& routing) && {
    ASTROLABE_ASSERT(host_count_ > 0, "a fabric has a host");
    const std::size_t node_count = nodes_.size();
    const std::size_t link_count = links_.size();

    // Counting sort by source keeps the order in which links were added to a node.
    const std::shared_ptr<Fabric> fabric(new Fabric);
    fabric->first_links_.assign(node_count + 1, 0);
    for (const PendingLink& link : links_) {
        ++fabric->first_links_[link.source.index() + 1];
    }
    for (std::size_t i = 0; i < node_count; ++i) {
        fabric->first_links_[i + 1] += fabric->first_links_[i];
    }
    std::vector<std::uint32_t> next_of_node(fabric->first_links_.begin(), fabric->first_links_.end() - 1);
    std::vector<LinkId> id_of(link_count);
    std::vector<std::uint32_t> pending_of(link_count);
    for (std::uint32_t i = 0; i < link_count; ++i) {
        const std::uint32_t id = next_of_node[links_[i].source.index()]++;
        id_of[i] = LinkId(id);
        pending_of[id] = i;
    }

    fabric->nodes_ = std::move(nodes_);
    fabric->links_.reserve(link_count);
    fabric->sources_.reserve(link_count);
    fabric->targets_.reserve(link_count);
    for (const std::uint32_t i : pending_of) {
        const PendingLink& link = links_[i];
        fabric->links_.push_back({link.parameters.rate, link.parameters.latency, link.parameters.buffer,
                                  link.reverse ? std::optional(id_of[*link.reverse]) : std::nullopt,
                                  link.parameters.cost});
        fabric->one_way_links_ += link.reverse ? 0 : 1;
        fabric->sources_.push_back(link.source);
        fabric->targets_.push_back(link.target);
    }

    fabric->first_links_in_.assign(node_count + 1, 0);
    for (const PendingLink& link : links_) {
        ++fabric->first_links_in_[link.target.index() + 1];
    }
    std::partial_sum(fabric->first_links_in_.begin(), fabric->first_links_in_.end(),
                     fabric->first_links_in_.begin());
    next_of_node.assign(fabric->first_links_in_.begin(), fabric->first_links_in_.end() - 1);
    fabric->links_in_.resize(link_count);
    for (std::uint32_t i = 0; i < link_count; ++i) {
        fabric->links_in_[next_of_node[links_[i].target.index()]++] = id_of[i];
    }

    fabric->kind_ = std::move(kind_);
    fabric->host_count_ = host_count_;
    if (!intervals_.empty()) {
        std::vector<CircuitInterval<LinkId>> intervals;
        intervals.reserve(intervals_.size());
        for (const CircuitInterval<std::uint32_t>& pending : intervals_) {
            CircuitInterval<LinkId>& interval = intervals.emplace_back();
            interval.duration = pending.duration;
            interval.links.reserve(pending.links.size());
            for (const std::uint32_t link : pending.links) {
                ASTROLABE_ASSERT(link < link_count, "a circuit is a link of the fabric");
                interval.links.push_back(id_of[link]);
            }
        }
        fabric->circuits_ = CircuitSchedule(link_count, std::move(intervals));
        ASTROLABE_ASSERT(fabric->circuits_.period() == period_, "the intervals fill the period");
    }
    ASTROLABE_ASSERT(demand_aware_circuits_ == nullptr || (intervals_.empty() && node_count == host_count_),
                     "circuits that move with the demand join hosts, and have no schedule");
    fabric->family_ = family_ != nullptr ? std::move(family_) : std::make_shared<const NetworkFamily>();
    fabric->demand_aware_circuits_ = std::move(demand_aware_circuits_);
    fabric->make_routing_ = routing;
    fabric->routing_ = routing(*fabric);
    return fabric;
}

}  // namespace astrolabe::network
