/// What the time of a run can go to: the parts of a machine that someone could make faster.
///
///     compute      a rank computes, or applies what a collective brought
///     end points   copies, reductions and launches at the ends of messages
///     latency      propagation and forwarding, whatever the size of a message
///     network      on engines that share no links, where no link can be named
///     circuits     a message waits for a circuit that is not there yet, or moves
///     transport    windows, pacing, headers' acknowledgements, timeouts: the path had room
///     A-B links    a class of links: all links between nodes of kind A and nodes of kind B, both ways, at
///                  their rate ("leaf-spine links")
///
/// Numbered from 0, those above in this order, classes of links as they first occur in the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

using ResourceId = Id<struct ResourceTag>;

class Resources {
public:
    static constexpr ResourceId kCompute{0};
    static constexpr ResourceId kEndPoints{1};
    static constexpr ResourceId kLatency{2};
    static constexpr ResourceId kNetwork{3};
    static constexpr ResourceId kCircuits{4};
    static constexpr ResourceId kTransport{5};

    /// O(links).
    explicit Resources(const Fabric& fabric);

    [[nodiscard]] std::size_t size() const { return names_.size(); }
    [[nodiscard]] const std::string& name(ResourceId resource) const { return names_[resource]; }
    /// The class of a link.
    [[nodiscard]] ResourceId of(LinkId link) const { return of_link_[link]; }

private:
    IndexedVector<ResourceId, std::string> names_;
    IndexedVector<LinkId, ResourceId> of_link_;
};

}  // namespace astrolabe::network
