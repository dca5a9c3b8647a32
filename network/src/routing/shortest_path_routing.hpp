/// Shortest-path routing with equal-cost multipath: the policy a `FabricBuilder` installs.
///
/// Model: the length of a path is the sum of the costs of its links, positive integers the fabric's builder
/// gave them. With costs of 1, the default, it is the number of links; other costs let a topology say which
/// of two networks a pair of hosts uses, like the metric of an OSPF interface, whatever rates and latencies
/// are. Every link on some shortest path to the destination is a next link. Hosts forward when a shortest
/// path leads through them, which happens only where hosts have several cables and forward (Node::forwards);
/// a host on one cable is never between two others. Circuits count as existing at all times: a flow routed
/// over a circuit that is down waits until it is up.
///
/// Up and down (PathRule::kUpDown): of paths that rise in tiers and then fall, a node from where a falling
/// path leads to the destination takes the shortest of these; any other the shortest way up to such a node.
/// Links between equal tiers are not used. What is chosen depends on the destination alone, as a falling path
/// goes on falling.
///
/// Choice among n equal links. kFlowHash: floor(h·n / 2^32), where h is the upper half of a 64-bit mix of
/// (seed, source, destination, node). The node enters, so that consecutive stages choose independently.
/// kSpray: each of the n links gets 1/n of what reaches the node, whatever its rate.
///
/// Memory: a table is built when a destination is first asked for. Hosts that hang on one switch by one cable
/// (*leaf hosts*) share the table of that switch. With F forwarding nodes (all nodes but leaf hosts) and D
/// destinations used that differ in this sense,
///
///     8·F·D bytes + the distinct next-link sets, each stored once for all tables.
///
/// A k-ary fat-tree has F = 5k²/4 and D ≤ k²/2: 0.3 MB for k = 16 (1,024 hosts), 13 MB for k = 40 (16,000
/// hosts). Where every host forwards, F and D are the number of hosts: 8 MB for 1,024, 134 MB for 4,096. A
/// table takes Dial's bucket search (Algorithm 360, CACM 1969), which with costs of 1 is a breadth-first
/// search: O(forwarding nodes + their links + length of the longest path).
///
/// Queries from several threads at once are safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network {

enum class PathRule : std::uint8_t { kShortest, kUpDown };

class ShortestPathRouting final : public RoutingPolicy {
public:
    /// `fabric` owns the policy and outlives it.
    ShortestPathRouting(const Fabric& fabric, LoadBalancing load_balancing, std::uint64_t seed,
                        PathRule rule = PathRule::kShortest);
    ~ShortestPathRouting() override;

    [[nodiscard]] LoadBalancing load_balancing() const override { return load_balancing_; }
    [[nodiscard]] std::span<const LinkId> next_links(NodeId at, HostId destination) const override;
    [[nodiscard]] LinkId select(NodeId at, HostId source, HostId destination) const override;
    [[nodiscard]] Route route(HostId source, HostId destination) const override;

private:
    using LinkSet = std::vector<LinkId>;

    /// Next links of every forwarding node towards one forwarding node; empty where there are none. Two loads
    /// lead from a table to a link: packet engines look one up for every packet and hop.
    using Table = std::unique_ptr<std::span<const LinkId>[]>;

    [[nodiscard]] bool is_leaf_host(NodeId node) const { return forwarding_index_[node] == kLeaf; }
    [[nodiscard]] const std::span<const LinkId>* table_of(std::uint32_t attachment) const;
    [[nodiscard]] Table make_table(NodeId attachment) const;
    /// Sums of costs towards a forwarding node, by forwarding index.
    using Distances = std::vector<std::uint64_t>;
    /// Takes distances on to all from where `usable` links lead to where one is known; those known stay.
    template <class Usable>
    void search(Distances& distances, NodeId destination, const Usable& usable) const;
    [[nodiscard]] bool falls(LinkId link) const;
    [[nodiscard]] bool rises(LinkId link) const;
    [[nodiscard]] std::span<const LinkId> intern(const LinkSet& links) const;
    [[nodiscard]] Route single_path(HostId source, HostId destination) const;
    [[nodiscard]] Route spread(HostId source, HostId destination) const;

    static constexpr std::uint32_t kLeaf = 0xffffffffU;

    const Fabric& fabric_;
    LoadBalancing load_balancing_;
    std::uint64_t seed_;
    PathRule rule_;
    std::size_t highest_cost_ = 0;
    IndexedVector<NodeId, std::uint32_t> forwarding_index_;  // kLeaf for leaf hosts
    std::vector<NodeId> forwarding_nodes_;
    /// The forwarding node whose table serves a node, by its index: the switch of a leaf host, otherwise
    /// itself.
    IndexedVector<NodeId, std::uint32_t> attachment_;
    std::vector<LinkId> leaf_up_;    // of leaf hosts, by host index
    std::vector<LinkId> leaf_down_;  // its reverse

    // Filled on demand: a table is published by its pointer, everything it refers to stays where it is.
    mutable std::mutex building_;
    mutable std::vector<std::atomic<const std::span<const LinkId>*>> tables_;  // by forwarding index
    mutable std::deque<LinkSet> link_sets_;
    mutable std::unordered_multimap<std::uint64_t, const LinkSet*> link_sets_by_hash_;
};

}  // namespace astrolabe::network
