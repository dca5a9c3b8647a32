/// Which links of the fabric the slot engine uses, and what it put on them.
///
/// A packet to another rack crosses the source's link up, the circuit of its rotor, and the link down to the
/// destination; one that is relayed does so twice. Circuits are the links between two top-of-rack switches:
/// of parallel ones each belongs to the installation during which it exists.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>

namespace astrolabe::network::opera {

class SlotLinks {
public:
    /// Precondition: `fabric` has rotors, and its hosts and circuits are theirs.
    explicit SlotLinks(const Fabric& fabric);

    void carry_to_other_rack(Rotor rotor, std::uint32_t index, std::uint32_t from, std::uint32_t to,
                             std::uint32_t packets, Bytes payload);
    void carry_in_rack(std::uint32_t from, std::uint32_t to, std::uint32_t packets, Bytes payload);

    /// Fills in packets, hops, and what links carried.
    void report(NetworkStatistics& statistics) const;

private:
    [[nodiscard]] std::size_t circuit(Rotor rotor, std::uint32_t index, Rack rack) const {
        return (std::size_t{rotor} * schedule_->matchings_per_rotor() + index) * schedule_->racks() + rack;
    }

    const RotorSchedule* schedule_;  // of the fabric
    std::uint32_t hosts_per_rack_;
    std::vector<LinkId> up_;        // by host
    std::vector<LinkId> down_;      // by host
    std::vector<LinkId> circuits_;  // by rotor, matching, rack the link leaves; any for idle ones
    IndexedVector<LinkId, Bytes> carried_;
    std::uint64_t packets_ = 0;
    std::uint64_t packet_hops_ = 0;
};

}  // namespace astrolabe::network::opera
