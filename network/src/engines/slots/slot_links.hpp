/// What the slot engine put on which links of the fabric.
///
/// A packet to another rack crosses the source's link up, the circuit of its rotor, and the link down to the
/// destination; one that is relayed does so twice.
#pragma once

#include <cstdint>
#include <span>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::network::rotor {

class SlotLinks {
public:
    /// Precondition: `fabric` has rotors, and its hosts and circuits are theirs.
    explicit SlotLinks(const Fabric& fabric);

    /// Over the circuit that leaves the rack of `from`, where the matching of a rotor is `index`.
    void carry_to_other_rack(Rotor rotor, std::uint32_t index, std::uint32_t from, std::uint64_t packets,
                             Bytes payload) {
        const Bytes missing = missing_of(packets, payload);
        carry(links_.up(from), packets, missing);
        carry(links_.circuit(rotor, index, from / hosts_per_rack_), packets, missing);
    }
    void carry_in_rack(std::uint32_t from, std::uint64_t packets, Bytes payload) {
        carry(links_.up(from), packets, missing_of(packets, payload));
    }
    /// The last link of either.
    void carry_down(std::uint32_t to, std::uint64_t packets, Bytes payload) {
        carry(links_.down(to), packets, missing_of(packets, payload));
    }

    /// A circuit on a way of several: the uplink of `rack` while its rotor holds this matching.
    struct Hop {
        Rotor rotor;
        std::uint32_t matching;
        Rack rack;
    };
    void carry_over(std::uint32_t from, std::uint32_t to, std::span<const Hop> hops, std::uint64_t packets,
                    Bytes payload);

    /// Carries `times` again as many packets as between two of its states, all of them full.
    void repeat(const SlotLinks& from, const SlotLinks& to, std::uint64_t times);

    [[nodiscard]] Bytes carried(LinkId link) const {
        return payload_ * static_cast<std::int64_t>(carried_[link].packets) - carried_[link].missing;
    }
    /// Fills in packets, hops, and what links carried.
    void report(NetworkStatistics& statistics) const;

private:
    RotorLinks links_;
    std::uint32_t hosts_;
    std::uint32_t hosts_per_rack_;
    struct Carried {
        std::uint64_t packets = 0;
        Bytes missing;  ///< to full payloads
    };
    [[nodiscard]] Bytes missing_of(std::uint64_t packets, Bytes payload) const {
        return payload_ * static_cast<std::int64_t>(packets) - payload;
    }
    void carry(LinkId link, std::uint64_t packets, Bytes missing) {
        carried_[link].packets += packets;
        carried_[link].missing += missing;
    }

    Bytes payload_;
    IndexedVector<LinkId, Carried> carried_;
};

}  // namespace astrolabe::network::rotor
