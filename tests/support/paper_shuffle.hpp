/// The network of the shuffle in the Opera paper's artefact (docs/theory/opera.md, "Golden numbers"): 108
/// racks of six hosts at 10 Gb/s, over direct circuits alone, with the paper's cycle.
///
///   T = 87.3 + 1.7 + 10 us = 99 us, a cycle 108 T = 10.692 ms; a slot 5 T + 87.3 = 582.3 us, in which a host
///   sends floor(582.3 / 7.2) = 80 packets on a circuit. 36 messages of 70 packets between two racks are 2520
///   of 480 a circuit, so five circuits are full and the sixth carries the 120 that are left.
#pragma once

#include <rotor_fabric.hpp>

namespace astrolabe::network::rotor {

inline constexpr Time kPaperSuperslice{99'000'000};

inline RotorNetwork paper_network(std::uint64_t seed = 1) {
    const DrawnRotors drawn = draw_rotors({.racks = 108, .uplinks = 6, .seed = seed});
    RotorNetwork network = eight_rack_network(seed);
    network.schedule =
        RotorSchedule(drawn.matchings, 1, {Time(87'300'000), Time(1'700'000), Time(10'000'000)});
    network.hosts_per_rack = 6;
    network.rate = Bandwidth(10'000'000'000);
    network.bulk.routing = BulkRouting::kDirectOnly;
    network.bulk.intra_rack = IntraRack::kDirect;
    return network;
}

}  // namespace astrolabe::network::rotor
