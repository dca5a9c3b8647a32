/// What the slot engine put on which links of the fabric.
///
/// A packet to another rack crosses the source's link up, the circuit of its rotor, and the link down to the
/// destination; one that is relayed does so twice.
///
/// Over time, for an observer of links: the packets of a grant leave evenly over the slot, and cross each
/// link of their way later by the links before it. A host has a part of 1/max(h, u) of each circuit's slot,
/// so neither its links nor a circuit has more than its rate at any time. A low-latency message is reported,
/// and counted, on each link when it comes to it, for the time from its first bit there to its last. Bytes on
/// the wire are payload and a header for each packet.
#pragma once

#include "slot_timing.hpp"

#include <cstdint>

#include <astrolabe/core/ids.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/link_observer.hpp>
#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::network::rotor {

class SlotLinks {
public:
    /// Precondition: `fabric` has rotors, and its hosts and circuits are theirs.
    explicit SlotLinks(const Fabric& fabric);

    /// Reports from now on what is carried, and what arrives, to `observer`, which outlives this.
    void report_to(LinkObserver& observer) { observer_ = &observer; }

    /// From the slot that starts at `slot`: over the circuit that leaves the rack of `from`, where the
    /// matching of a rotor is `index`.
    void carry_to_other_rack(Rotor rotor, std::uint32_t index, std::uint32_t from, std::uint64_t packets,
                             Bytes payload, Time slot) {
        const Bytes missing = missing_of(packets, payload);
        const LinkId up = links_.up(from);
        const LinkId circuit = links_.circuit(rotor, index, from / hosts_per_rack_);
        carry(up, packets, missing);
        carry(circuit, packets, missing);
        if (observer_ != nullptr) {
            report_slot(up, slot, packets, payload);
            report_slot(circuit, slot + timing_.to_circuit(), packets, payload);
        }
    }
    void carry_in_rack(std::uint32_t from, std::uint64_t packets, Bytes payload, Time slot) {
        carry(links_.up(from), packets, missing_of(packets, payload));
        if (observer_ != nullptr) {
            report_slot(links_.up(from), slot, packets, payload);
        }
    }
    /// The last link of either, `arrival` being when a packet is there that leaves as the slot starts.
    void carry_down(std::uint32_t to, std::uint64_t packets, Bytes payload, Time arrival) {
        carry(links_.down(to), packets, missing_of(packets, payload));
        if (observer_ != nullptr) {
            report_slot(links_.down(to), arrival - timing_.from_last_link(), packets, payload);
        }
    }
    /// What has come down is there to stay.
    void deliver(std::uint32_t to, Bytes payload, Time arrival) {
        if (observer_ != nullptr) {
            observer_->delivered(HostId(to), arrival, arrival + timing_.slot(),
                                 static_cast<double>(payload.count()));
        }
    }

    /// A circuit on a way of several: the uplink of `rack` while its rotor holds this matching.
    struct Hop {
        Rotor rotor;
        std::uint32_t matching;
        Rack rack;
    };
    /// A piece of a low-latency message on a link of its way, from its first bit to its last.
    struct Piece {
        std::uint64_t packets = 0;
        Bytes payload;
        Time first_bit;
        Time last_bit;
    };
    void cross_up(std::uint32_t from, const Piece& piece) { cross(links_.up(from), piece); }
    void cross_circuit(const Hop& hop, const Piece& piece) {
        cross(links_.circuit(hop.rotor, hop.matching, hop.rack), piece);
    }
    /// And into the host, `latency` later.
    void cross_down(std::uint32_t to, const Piece& piece, Time latency);

    /// Carries `times` again as many packets as between two of its states, all of them full.
    void repeat(const SlotLinks& from, const SlotLinks& to, std::uint64_t times);

    [[nodiscard]] Bytes carried(LinkId link) const {
        return payload_ * static_cast<std::int64_t>(carried_[link].packets) - carried_[link].missing;
    }
    /// Fills in packets, hops, and what links carried.
    void report(NetworkStatistics& statistics) const;

private:
    void report_slot(LinkId link, Time slot, std::uint64_t packets, Bytes payload) {
        observer_->carried(link, slot, slot + timing_.slot(), bytes_of(packets, payload));
    }
    void cross(LinkId link, const Piece& piece) {
        carry(link, piece.packets, missing_of(piece.packets, piece.payload));
        if (observer_ != nullptr) {
            observer_->carried(link, piece.first_bit, piece.last_bit, bytes_of(piece.packets, piece.payload));
        }
    }
    [[nodiscard]] PieceBytes bytes_of(std::uint64_t packets, Bytes payload) const {
        const Bytes wire = payload + header_ * static_cast<std::int64_t>(packets);
        return {static_cast<double>(wire.count()), static_cast<double>(payload.count())};
    }

    RotorLinks links_;
    SlotTiming timing_;
    LinkObserver* observer_ = nullptr;  // null: nobody observes links
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
    Bytes header_;
    IndexedVector<LinkId, Carried> carried_;
};

}  // namespace astrolabe::network::rotor
