/// The fabric: what carries the bytes, and when.
///
/// Model: a directed multigraph of hosts and switches. A link is one direction of a cable: it serialises at
/// `rate`, then takes `latency` to arrive; a full-duplex cable is two links that name each other as
/// `reverse`, and a link on a fibre of its own has none. `buffer` is the room of the output queue in front of
/// a link, `Node::buffer` the packet memory of a whole switch that its ports may share; engines without
/// queues ignore both. `cost` is what routing adds up along a path (shortest_path_routing.hpp). A circuit
/// schedule (circuit_schedule.hpp) says which links exist when; a static network has none that come and go.
/// Where a controller moves circuits while messages wait (demand_aware_circuits.hpp), the links are those of
/// the first wiring.
///
/// Life cycle: a `FabricBuilder` collects nodes and links, `build` checks and freezes them. A Fabric never
/// changes afterwards and can be shared by everything that runs on it.
///
/// Ids: nodes 0 … hosts-1 are the hosts, in the order they were added; links are numbered by source node,
/// then in the order they were added. Parallel links between two nodes are kept apart.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/circuit_schedule.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

class NetworkFamily;
class DemandAwareCircuits;
class FailureTimeline;
class RoutingPolicy;

enum class NodeKind : std::uint8_t { kHost, kSwitch };

struct Node {
    NodeKind kind = NodeKind::kHost;
    std::string name;        ///< "host 3", "leaf 0": for people
    Bytes buffer;            ///< packet memory of a switch that its ports may share; 0: unlimited
    Time forwarding;         ///< from when a host has what is for others until it queues it to go on
    bool forwards = true;    ///< whether a host is ever between two others; switches always are
    std::uint16_t tier = 0;  ///< of a switch in a network with tiers, from 1; hosts are below
};

struct Link {
    Bandwidth rate;
    Time latency;                   ///< from the last bit out of the source to the last bit into the target
    Bytes buffer;                   ///< output queue of this link alone; 0: unlimited
    std::optional<LinkId> reverse;  ///< the other direction of the same cable; none: one way only
    std::uint16_t cost = 1;         ///< in the metric of routing
};

/// One direction of a link as it is being added.
struct LinkParameters {
    Bandwidth rate;
    Time latency;
    Bytes buffer;
    std::uint16_t cost = 1;
};

/// What a link may have otherwise in a copy of its fabric.
struct LinkSpeed {
    Bandwidth rate;
    Time latency;
};

class Fabric;
/// Makes the routes of a fabric that is otherwise complete. The fabric keeps it, for copies with other
/// speeds.
using RoutingMaker = std::function<std::shared_ptr<const RoutingPolicy>(const Fabric&)>;

class Fabric {
public:
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    [[nodiscard]] const std::string& kind() const { return kind_; }  ///< "flat", "fat_tree", …

    [[nodiscard]] std::size_t host_count() const { return host_count_; }
    [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
    [[nodiscard]] std::size_t link_count() const { return sources_.size(); }

    [[nodiscard]] NodeId node_of(HostId host) const { return NodeId(host.index()); }
    [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.index()]; }
    [[nodiscard]] const Link& link(LinkId id) const { return links_[id]; }
    [[nodiscard]] NodeId source(LinkId id) const { return sources_[id]; }
    [[nodiscard]] NodeId target(LinkId id) const { return targets_[id]; }
    /// Links out of `node` are the consecutive ids [first_link(node), first_link(node + 1)).
    [[nodiscard]] LinkId first_link(NodeId node) const { return LinkId(first_links_[node.index()]); }
    [[nodiscard]] std::size_t out_degree(NodeId node) const {
        return first_links_[node.index() + 1] - first_links_[node.index()];
    }
    /// In the order they were added; of full-duplex cables that of the links out of `node`.
    [[nodiscard]] std::span<const LinkId> links_into(NodeId node) const {
        return std::span(links_in_).subspan(
            first_links_in_[node.index()], first_links_in_[node.index() + 1] - first_links_in_[node.index()]);
    }
    /// Links without a reverse.
    [[nodiscard]] std::size_t one_way_link_count() const { return one_way_links_; }

    [[nodiscard]] const RoutingPolicy& routing() const { return *routing_; }
    [[nodiscard]] const CircuitSchedule& circuits() const { return circuits_; }
    /// All links exist at all times.
    [[nodiscard]] bool is_static() const {
        return circuits_.is_static() && demand_aware_circuits_ == nullptr;
    }
    /// What its family of networks adds; neutral where it belongs to none.
    [[nodiscard]] const NetworkFamily& family() const { return *family_; }

    /// Of a fabric whose circuits move with the demand, else null.
    [[nodiscard]] const std::shared_ptr<const DemandAwareCircuits>& demand_aware_circuits() const {
        return demand_aware_circuits_;
    }

    /// What fails of it, and when (failures/failure_timeline.hpp); null: nothing does. Links, their rates and
    /// `routing` are those of the whole fabric.
    [[nodiscard]] const std::shared_ptr<const FailureTimeline>& failures() const { return failures_; }
    /// The same network of which this fails.
    [[nodiscard]] std::shared_ptr<const Fabric> with_failures(
        std::shared_ptr<const FailureTimeline> failures) const;

    /// Sum of the rates of all links out of (into) a host: no host ever sends (receives) faster.
    [[nodiscard]] Bandwidth egress_rate(HostId host) const;
    [[nodiscard]] Bandwidth ingress_rate(HostId host) const;

    /// The same network with other speeds; routes are found anew. Rates are above 0, times not negative.
    /// `circuits` are null where those of this fabric are.
    [[nodiscard]] std::shared_ptr<const Fabric> with_speeds(
        const std::function<LinkSpeed(LinkId)>& speed, const std::function<Time(Time)>& forwarding,
        std::shared_ptr<const DemandAwareCircuits> circuits) const;

private:
    friend class FabricBuilder;
    Fabric() = default;
    /// All but the routes, which are made for the copy when it is complete.
    [[nodiscard]] std::shared_ptr<Fabric> copy() const;

    std::string kind_;
    std::vector<Node> nodes_;
    std::size_t host_count_ = 0;
    IndexedVector<LinkId, Link> links_;
    IndexedVector<LinkId, NodeId> sources_;
    IndexedVector<LinkId, NodeId> targets_;
    std::vector<std::uint32_t> first_links_;  // node_count + 1
    std::vector<LinkId> links_in_;            // by target, then in the order they were added
    std::vector<std::uint32_t> first_links_in_;
    std::size_t one_way_links_ = 0;
    RoutingMaker make_routing_;
    std::shared_ptr<const RoutingPolicy> routing_;
    CircuitSchedule circuits_;
    std::shared_ptr<const NetworkFamily> family_;
    std::shared_ptr<const DemandAwareCircuits> demand_aware_circuits_;
    std::shared_ptr<const FailureTimeline> failures_;
};

/// Which of several equal paths a message takes.
enum class LoadBalancing : std::uint8_t {
    kFlowHash,  ///< ECMP: one path per (source, destination), chosen by hash at every branch
    kSpray,     ///< ideal packet spraying: every branch splits evenly over all its equal next links
    kPaths      ///< every (source, destination) splits evenly over paths of its own, named by the routing
};

class FabricBuilder {
public:
    explicit FabricBuilder(std::string kind)
        : kind_(std::move(kind)) {}

    /// Hosts must be added before switches.
    HostId add_host(std::string name, Time forwarding = Time(0), bool forwards = true);
    NodeId add_switch(std::string name, Bytes buffer = Bytes(0), std::uint16_t tier = 0);

    /// Handle of a cable while it is being built: its two directions in builder numbering.
    struct Cable {
        std::uint32_t forward;
        std::uint32_t backward;
    };
    /// A full-duplex cable between two distinct nodes; rate > 0, latency >= 0 and cost >= 1, else an
    /// invariant fails (parameters from a user were checked before).
    Cable connect(NodeId a, NodeId b, const LinkParameters& both_directions);
    Cable connect(NodeId a, NodeId b, const LinkParameters& forward, const LinkParameters& backward);

    /// A link without a way back, as on a fibre of its own, in builder numbering; the same must hold of its
    /// parameters. Engines whose transport needs the way back, for pauses, credits or acknowledgements on the
    /// same cable, refuse a fabric that has one and say so.
    std::uint32_t connect_one_way(NodeId from, NodeId to, const LinkParameters& parameters);

    /// Directions named in no interval exist at all times. Indices are those of `Cable`. The durations of the
    /// intervals sum to `period`.
    void set_circuits(Time period, std::vector<CircuitInterval<std::uint32_t>> intervals);

    /// Not null. Where it has circuits, those that were set are the same.
    void set_family(std::shared_ptr<const NetworkFamily> family);

    /// Who moves the links, which have no circuit schedule then. They join hosts, as many out of a host and
    /// into it at all times.
    void set_demand_aware_circuits(std::shared_ptr<const DemandAwareCircuits> reconfiguration);

    /// Freezes: sorts links, fixes ids, installs shortest-path routing with the given choice among equal
    /// paths, kFlowHash or kSpray. `seed` enters the flow hash. The fabric must have at least one host.
    [[nodiscard]] std::shared_ptr<const Fabric> build(LoadBalancing load_balancing = LoadBalancing::kFlowHash,
                                                      std::uint64_t seed = 1) &&;
    /// The same with routes of the caller's making. What `routing` refers to outlives the fabric.
    [[nodiscard]] std::shared_ptr<const Fabric> build(const RoutingMaker& routing) &&;

private:
    struct PendingLink {
        NodeId source;
        NodeId target;
        LinkParameters parameters;
        std::optional<std::uint32_t> reverse;
    };

    void check_link(NodeId from, NodeId to, const LinkParameters& parameters) const;

    std::string kind_;
    std::vector<Node> nodes_;
    std::size_t host_count_ = 0;
    std::vector<PendingLink> links_;
    Time period_;
    std::vector<CircuitInterval<std::uint32_t>> intervals_;
    std::shared_ptr<const NetworkFamily> family_;
    std::shared_ptr<const DemandAwareCircuits> demand_aware_circuits_;
};

}  // namespace astrolabe::network
