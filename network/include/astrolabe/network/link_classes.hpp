/// Links that always carry the same, taken as one: what flow engines solve in place of the whole fabric.
///
/// Model. Links fall into *classes* such that at any time all links of a class carry the same, whatever the
/// flows. A class is then one constraint: with a_fc the *load* of flow f on each link of class c, per unit of
/// its rate, and C the rate of one of its links,
///
///     Σ_f a_fc · x_f ≤ C_c          for every class c.
///
/// Links are alike for one of two reasons.
///
/// *Bundles.* Under ideal spraying every next link gets the same part, so the uplinks of a switch carry the
/// same, and so do the links behind them as far as the network looks the same from each. Classes are the
/// coarsest stable colouring of nodes and links: two links are alike if both ends are, and for every
/// destination both are among equally many next links or both are not; two switches are alike if the links
/// into them are alike in pairs, and those out of them. Every host is unlike all others. By induction over
/// the hops of a flow, links of one colour carry the same of every flow. A fat-tree of 1,024 hosts has 8,192
/// links and some 2,400 classes; a sprayed flow crosses at most 6 of them instead of 146 links. Without
/// spraying every link is a class of its own.
///
/// *Images.* Where hosts are simulated once for several that behave alike (`fold`), a flow of a simulated
/// host stands for `flows_per_representative` flows, its images. Classes then hold all images of a link, and
/// the load of a flow on a class is what all its images together put on one of the links: a = share ·
/// flows_per_representative / (bundles in the class). That max-min fair rates of the images are equal and
/// those of this smaller problem follows from their uniqueness: by (B) of max_min_solver.hpp, rates that are
/// the same for all images of a flow are fair in the whole network if and only if they are fair in this one.
///
/// Complexity: colouring O(forwarding nodes · destinations · next links + rounds · links), rounds at most the
/// longest path, once and only under spraying; a route O(classes on it) for hosts on one cable, whose inner
/// part is shared by all hosts of the two switches and kept, 8 bytes a leg.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>
#include <astrolabe/network/pair_index.hpp>

namespace astrolabe::network {

struct ClassLeg {
    std::uint32_t link_class = 0;
    double load = 1.0;  ///< on each link of the class, per unit of the flow's rate
};

/// Empty legs: the destination cannot be reached.
struct ClassRoute {
    std::vector<ClassLeg> legs;  ///< every class at most once, in the order in which the flow meets them
    Time latency;                ///< of the path that takes longest
};

/// Rates of the links that a flow crosses.
struct PathRates {
    Bandwidth slowest;  ///< rate of the slowest of them
    double serialisation =
        0;  ///< ps that a byte needs on all links of a path one after another, mean over paths
};

class LinkClasses {
public:
    explicit LinkClasses(std::shared_ptr<const Fabric> fabric);

    /// Coarser classes: class c becomes part of class `image_of[c]`, numbered 0, 1, …; a message stands for
    /// `flows_per_representative` images. The caller has made sure that they are images (folding.hpp).
    [[nodiscard]] LinkClasses fold(const std::vector<std::uint32_t>& image_of,
                                   std::size_t flows_per_representative) const;

    [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
    [[nodiscard]] std::size_t size() const { return examples_.size(); }
    [[nodiscard]] std::uint32_t class_of(LinkId link) const { return class_of_[link]; }
    /// One link of the class; all have its rate and latency.
    [[nodiscard]] LinkId example(std::uint32_t link_class) const { return examples_[link_class]; }
    /// How many flows a flow stands for.
    [[nodiscard]] std::size_t flows_per_representative() const { return flows_per_representative_; }

    /// Writes the route into `route`, whose memory is used again; source != destination. Not for several
    /// threads at once.
    void find_route(HostId source, HostId destination, ClassRoute& route) const;
    /// Of the flow itself, images aside. The destination can be reached. Not for several threads at once.
    [[nodiscard]] PathRates path_rates(HostId source, HostId destination) const;

private:
    /// The part of a route between two forwarding nodes.
    struct InnerRoute {
        std::uint32_t first_leg = 0;  ///< into inner_legs_
        std::uint32_t leg_count = 0;
        Time latency;
    };

    /// Appends the bundles from `entry` to where `destination` hangs, in the order in which they are met.
    void spread(NodeId entry, NodeId exit, HostId destination, ClassRoute& route) const;
    void single_path(HostId source, HostId destination, ClassRoute& route) const;
    [[nodiscard]] const InnerRoute& inner_route(NodeId entry, NodeId exit, HostId destination) const;
    void find_bundles(HostId source, HostId destination, ClassRoute& route) const;
    void map_to_images(ClassRoute& route) const;

    std::shared_ptr<const Fabric> fabric_;
    IndexedVector<LinkId, std::uint32_t> class_of_;
    std::vector<LinkId> examples_;
    std::size_t flows_per_representative_ = 1;

    // Bundles, which routes are found in. Without spraying they are the links.
    bool is_sprayed_ = false;
    IndexedVector<LinkId, std::uint32_t> bundle_of_;
    std::vector<std::uint32_t> links_in_bundle_;
    std::vector<LinkId> example_of_bundle_;
    IndexedVector<NodeId, std::uint32_t> colour_of_node_;  ///< numbered 0, 1, …
    std::vector<std::uint32_t> nodes_of_colour_;           ///< how many
    // Folded only.
    std::vector<std::uint32_t> image_of_;  ///< class by bundle
    std::vector<double> factor_;           ///< by class: flows_per_representative / bundles in it

    mutable PairIndex inner_index_;
    mutable std::vector<InnerRoute> inner_routes_;
    mutable std::vector<ClassLeg> inner_legs_;
};

}  // namespace astrolabe::network
