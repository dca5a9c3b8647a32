/// Rotor networks for tests: the one whose figures are known, and drawn ones.
#pragma once

#include "network/src/rotor/rotor_draw.hpp"
#include "network/src/rotor/rotor_fabric.hpp"
#include "network/src/rotor/rotor_timing.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include <eight_racks.hpp>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::network::rotor {

inline std::shared_ptr<const Fabric> build_rotor_fabric(RotorNetwork network) {
    return build_rotor_fabric("rotors", std::make_shared<const RotorNetwork>(std::move(network)));
}

/// The network of docs/theory/opera.md, "Golden numbers": four hosts a rack, 100 Gb/s, messages within a rack
/// in two hops.
inline RotorNetwork eight_rack_network(std::uint64_t seed = 1) {
    return {.schedule = eight_racks(),
            .hosts_per_rack = 4,
            .rate = Bandwidth(100'000'000'000),
            .propagation = Time(500'000),
            .host_latency = Time(0),
            .bulk = {.intra_rack = IntraRack::kTwoHops},
            .low_latency = {},
            .paths = nullptr,
            .seed = seed};
}

/// Messages below `cutoff` take the shortest paths of the superslice.
inline RotorNetwork with_low_latency(RotorNetwork network, Bytes cutoff) {
    network.low_latency.cutoff = cutoff;
    network.paths = std::make_shared<const ShortestSlicePaths>(network.schedule, 12, network.seed);
    return network;
}

/// Rotors drawn at random, with as many hosts as uplinks per rack, 500 ns between racks and 10 us dark. The
/// lengths of slots are those of `most_hops`, whatever the draw has, so that they are those of a run to
/// compare with.
inline RotorNetwork drawn_rotor_network(std::uint32_t racks, std::uint32_t uplinks, Bandwidth rate,
                                        std::int64_t most_hops, std::uint64_t seed = 1) {
    const RotorTiming timing = derive_timing({.propagation = Time(500'000),
                                              .rate = rate,
                                              .most_hops = most_hops,
                                              .reconfiguration = Time(10'000'000)});
    const DrawnRotors drawn = draw_rotors({.racks = racks, .uplinks = uplinks, .seed = seed});
    RotorNetwork network = eight_rack_network(seed);
    network.schedule = RotorSchedule(drawn.matchings, 1, timing);
    network.hosts_per_rack = uplinks;
    network.rate = rate;
    return network;
}

}  // namespace astrolabe::network::rotor
