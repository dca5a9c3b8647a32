/// Paths inside a server, from GPUs to GPUs and NICs.
///
/// The server is a fabric of its own, whose hosts are its GPUs and then its NICs, all of which forward.
/// A link of the scale-up network costs 1, any other as much as the server has nodes, which no path over the
/// scale-up network exceeds: bytes cross the bus only where NVLink does not lead. Messages take the cheapest
/// path (ShortestPathRouting); of several by hash, or evenly where the whole network sprays.
///
/// The NICs of a GPU are the nearest over the bus, by the number of links; where it leads to none, the
/// nearest by cost. GPUs with the same nearest NICs divide them: of g such GPUs and m NICs GPU i has NICs
/// floor(i·m/g) to floor((i+1)·m/g) - 1, at least the first of these.
///
/// Example. Eight GPUs and four NICs around one switch: GPUs 0 and 1 have NIC 0, GPUs 2 and 3 NIC 1, …
#pragma once

#include "server_graph.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::network::servers {

/// What belongs to links, in the order of their ids (fabric.hpp): by source, then as they were added.
template <class T>
[[nodiscard]] IndexedVector<LinkId, T> by_link(std::size_t nodes,
                                               const std::vector<std::pair<NodeId, T>>& added) {
    std::vector<std::uint32_t> next(nodes + 1, 0);
    for (const auto& [source, value] : added) {
        ++next[source.index() + 1];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    IndexedVector<LinkId, T> sorted(added.size());
    for (const auto& [source, value] : added) {
        sorted[LinkId(next[source.index()]++)] = value;
    }
    return sorted;
}

class ServerPaths {
public:
    /// `load_balancing` is not kPaths. O(links · GPUs) where NICs are nodes, else O(links).
    ServerPaths(const ServerGraph& graph, LoadBalancing load_balancing, std::uint64_t seed);

    [[nodiscard]] std::uint32_t gpus() const { return gpus_; }
    [[nodiscard]] std::uint32_t nics() const { return nics_; }
    [[nodiscard]] bool has_integrated_nics() const { return has_integrated_nics_; }
    [[nodiscard]] std::size_t switches() const { return fabric_->node_count() - fabric_->host_count(); }
    /// Of which GPUs come first, then NICs that are nodes, then switches.
    [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
    [[nodiscard]] const RoutingPolicy& routing() const { return fabric_->routing(); }
    /// Host of the server's fabric that is NIC number `nic`.
    [[nodiscard]] HostId nic(std::uint32_t nic) const {
        return HostId(has_integrated_nics_ ? nic : gpus_ + nic);
    }
    /// Numbers of the NICs of a GPU; empty: no NIC can be reached from it.
    [[nodiscard]] const std::vector<std::uint32_t>& nics_of(std::uint32_t gpu) const {
        return nics_of_gpu_[gpu];
    }
    /// Numbers of the nearest NICs of a switch; empty: none can be reached.
    [[nodiscard]] std::span<const std::uint32_t> nics_near(NodeId node) const {
        return nics_of_switch_[node.index() - fabric_->host_count()];
    }
    [[nodiscard]] bool is_processor(NodeId switch_node) const {
        return is_processor_[switch_node.index() - fabric_->host_count()];
    }
    /// Packet memory of a NIC that is a node.
    [[nodiscard]] Bytes buffer_of(std::uint32_t nic) const { return buffers_[nic]; }
    /// Whether a path leads from any node to a GPU, or NIC.
    [[nodiscard]] bool reaches(NodeId from, HostId to) const {
        return from.index() == to.index() || !routing().next_links(from, to).empty();
    }
    /// The same paths over links of other speeds, by link of the server's fabric.
    [[nodiscard]] std::shared_ptr<const ServerPaths> with_speeds(
        const std::function<LinkSpeed(LinkId)>& speed) const;
    /// Whether every GPU reaches every other GPU and every NIC.
    [[nodiscard]] bool is_connected() const;
    [[nodiscard]] LinkPlace place_of(LinkId link) const { return places_[link]; }

private:
    void find_nics();
    [[nodiscard]] std::vector<std::uint32_t> nearest(NodeId node) const;
    /// NICs at the least number of links that are none of the scale-up network. O(links).
    [[nodiscard]] std::vector<std::uint32_t> nearest_over_bus(NodeId node) const;
    /// Of the cheapest path to a NIC.
    [[nodiscard]] std::uint64_t cost(NodeId from, HostId to) const;

    std::uint32_t gpus_ = 0;
    std::uint32_t nics_ = 0;
    bool has_integrated_nics_ = false;
    std::shared_ptr<const Fabric> fabric_;
    std::vector<std::vector<std::uint32_t>> nics_of_gpu_;
    std::vector<std::vector<std::uint32_t>> nics_of_switch_;
    std::vector<bool> is_processor_;  ///< by switch
    std::vector<Bytes> buffers_;
    IndexedVector<LinkId, LinkPlace> places_;
};

}  // namespace astrolabe::network::servers
