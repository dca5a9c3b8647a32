/// What traffic between hosts puts on every link: no time, no events.
///
/// Model. Amounts D(s, d) between hosts follow routes, and a link carries
///     load(l) = Σ_{s,d} share_l(s, d) · D(s, d),
/// so a network whose links have rates C(l) needs at least max_l load(l) / C(l) for it. With kFlowHash every
/// pair takes the one path that `select` picks; with kSpray every node splits what it has for a destination
/// evenly over `next_links`, which is what ideal spraying does and a feasible routing on any fabric; with
/// kPaths every pair splits evenly over its paths.
///
/// Complexity: kFlowHash and kPaths O(links of the paths) an amount. kSpray O(1) an amount, and at the end
/// O(links towards it) for every *place* that is a destination: hosts that hang by one cable on a switch are
/// one place, the switch; every other host is one by itself. Products of h hosts at p places are O(h + p²)
/// under kSpray, and O(h) at one place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/pair_index.hpp>

namespace astrolabe::network {

/// The switch that a host hangs on by its only cable; the host itself where it has several or one-way links,
/// or is joined to a host.
[[nodiscard]] NodeId place_of(const Fabric& fabric, HostId host);

/// What goes from one place to another.
struct PlaceTraffic {
    NodeId source;
    NodeId destination;
    HostId host;  ///< one at the destination
    double amount = 0;
};

class RouteLoad {
public:
    RouteLoad(const Fabric& fabric, LoadBalancing load_balancing);

    /// Precondition: source != destination, and a route leads there.
    void add(HostId source, HostId destination, double amount);
    /// From hosts[i] to each other host, hosts[j], from[i]·to[j]. Hosts differ; where no route leads from one
    /// to another nothing goes.
    void add_products(std::span<const HostId> hosts, std::span<const double> from,
                      std::span<const double> to);

    /// Of all that was added.
    [[nodiscard]] IndexedVector<LinkId, double> links() const;
    /// Between different places, in the order in which pairs first came; those of products in that of nodes.
    [[nodiscard]] const std::vector<PlaceTraffic>& places() const { return places_; }

private:
    /// `host` is one at `to`, another place.
    void carry(NodeId from, NodeId to, HostId host, double amount);
    /// On the cable between a host and its place, if they differ.
    void leave(HostId source, NodeId place, double amount);
    void enter(HostId destination, NodeId place, double amount);

    const Fabric& fabric_;
    LoadBalancing load_balancing_;
    IndexedVector<LinkId, double> loads_;  // what is known at once
    PairIndex pairs_;
    std::vector<PlaceTraffic> places_;
};

/// Splits traffic between places evenly over all shortest paths: loads of the links between them.
[[nodiscard]] IndexedVector<LinkId, double> sprayed_loads(const Fabric& fabric,
                                                          const std::vector<PlaceTraffic>& traffic);

}  // namespace astrolabe::network
