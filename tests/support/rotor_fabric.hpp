/// A fabric of rotor switches from its schedule: hosts, their top-of-rack switches, and a circuit for every
/// matching of every rotor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <eight_racks.hpp>

#include <astrolabe/network/fabric.hpp>
#include <astrolabe/network/opera/rotor_draw.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>
#include <astrolabe/network/opera/rotor_timing.hpp>

namespace astrolabe::network::opera {

inline std::shared_ptr<const Fabric> build_rotor_fabric(RotorNetwork network) {
    const RotorSchedule& schedule = network.schedule;
    FabricBuilder builder("rotors");
    for (std::uint32_t host = 0; host < schedule.racks() * network.hosts_per_rack; ++host) {
        builder.add_host("host " + std::to_string(host));
    }
    std::vector<NodeId> switches;
    for (Rack rack = 0; rack < schedule.racks(); ++rack) {
        switches.push_back(builder.add_switch("rack " + std::to_string(rack)));
        for (std::uint32_t port = 0; port < network.hosts_per_rack; ++port) {
            builder.connect(NodeId(rack * network.hosts_per_rack + port), switches.back(),
                            {network.rate, network.host_latency, Bytes(0)});
        }
    }
    std::vector<std::vector<std::vector<std::uint32_t>>> circuits(schedule.uplinks());
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        circuits[rotor].resize(schedule.matchings_per_rotor());
        for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
            for (Rack rack = 0; rack < schedule.racks(); ++rack) {
                const Rack peer = schedule.matching(rotor, index)[rack];
                if (peer > rack) {
                    const FabricBuilder::Cable cable = builder.connect(
                        switches[rack], switches[peer], {network.rate, network.propagation, Bytes(0)});
                    circuits[rotor][index].push_back(cable.forward);
                    circuits[rotor][index].push_back(cable.backward);
                }
            }
        }
    }
    std::vector<CircuitInterval<std::uint32_t>> intervals;
    for (std::uint32_t superslice = 0; superslice < schedule.superslices(); ++superslice) {
        CircuitInterval<std::uint32_t> all{schedule.timing().eps + schedule.timing().del, {}};
        CircuitInterval<std::uint32_t> some{schedule.timing().reconfiguration, {}};
        for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
            for (const std::uint32_t link : circuits[rotor][schedule.matching_index(rotor, superslice)]) {
                all.links.push_back(link);
                if (!schedule.goes_dark(rotor, superslice)) {
                    some.links.push_back(link);
                }
            }
        }
        intervals.push_back(std::move(all));
        intervals.push_back(std::move(some));
    }
    builder.set_circuits(schedule.cycle(), std::move(intervals));
    builder.set_rotors(std::make_shared<const RotorNetwork>(std::move(network)));
    return std::move(builder).build();
}

/// The golden network of section 10 of the reference: four hosts a rack, 100 Gb/s.
inline RotorNetwork eight_rack_network(std::uint64_t seed = 1) {
    return {.schedule = RotorSchedule(eight_rack_matchings(), 1, kEightRackTiming),
            .hosts_per_rack = 4,
            .rate = Bandwidth(100'000'000'000),
            .propagation = Time(500'000),
            .host_latency = Time(0),
            .bulk = {},
            .low_latency = {},
            .paths = nullptr,
            .seed = seed};
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

}  // namespace astrolabe::network::opera
