/// Which links of a rotor network's fabric are cables of hosts, and which are circuits of which installation.
///
/// Circuits are the links between two top-of-rack switches: of parallel ones each belongs to the installation
/// during which it exists.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

class RotorLinks {
public:
    /// Precondition: `fabric` has rotors, and its hosts and circuits are theirs.
    explicit RotorLinks(const Fabric& fabric);

    /// From a host to the switch of its rack, and back.
    [[nodiscard]] LinkId up(std::uint32_t host) const { return up_[host]; }
    [[nodiscard]] LinkId down(std::uint32_t host) const { return down_[host]; }
    /// From `rack` to the one that this matching of the rotor joins it with, which is not itself.
    [[nodiscard]] LinkId circuit(Rotor rotor, std::uint32_t matching, Rack rack) const {
        return circuits_[(std::size_t{rotor} * matchings_per_rotor_ + matching) * racks_ + rack];
    }

private:
    std::uint32_t matchings_per_rotor_;
    std::uint32_t racks_;
    std::vector<LinkId> up_;        // by host
    std::vector<LinkId> down_;      // by host
    std::vector<LinkId> circuits_;  // by rotor, matching, rack the link leaves; any for idle ones
};

}  // namespace astrolabe::network::rotor
