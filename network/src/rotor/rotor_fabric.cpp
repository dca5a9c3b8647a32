#include "rotor_fabric.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

namespace {

constexpr std::uint32_t kIdle = 0xffffffffU;

/// Directions of cables that lead away from a rack, by rotor, matching and rack; kIdle where none does.
using Circuits = std::vector<std::vector<std::vector<std::uint32_t>>>;

std::vector<CircuitInterval<std::uint32_t>> intervals(const RotorSchedule& schedule,
                                                      const Circuits& circuits) {
    std::vector<CircuitInterval<std::uint32_t>> all;
    std::vector<const std::uint32_t*> up;  // of an interval, by rotor
    const auto add = [&](Time duration, std::uint32_t superslice, bool reconfiguring) {
        if (duration == Time(0)) {
            return;
        }
        CircuitInterval<std::uint32_t>& interval = all.emplace_back();
        interval.duration = duration;
        up.clear();
        for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
            if (!reconfiguring || !schedule.goes_dark(rotor, superslice)) {
                up.push_back(circuits[rotor][schedule.matching_index(rotor, superslice)].data());
            }
        }
        // In the order in which a fabric numbers links, by rack and then as they were added, so that nothing
        // is left to sort.
        interval.links.reserve(up.size() * schedule.racks());
        for (Rack rack = 0; rack < schedule.racks(); ++rack) {
            for (const std::uint32_t* directions : up) {
                if (directions[rack] != kIdle) {
                    interval.links.push_back(directions[rack]);
                }
            }
        }
    };
    for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
        add(schedule.timing().eps + schedule.timing().del, s, false);
        add(schedule.timing().reconfiguration, s, true);
    }
    return all;
}

}  // namespace

std::shared_ptr<const Fabric> build_rotor_fabric(std::string kind,
                                                 std::shared_ptr<const RotorNetwork> network,
                                                 RotorVariants variants) {
    const RotorSchedule& schedule = network->schedule;
    ASTROLABE_ASSERT(network->hosts_per_rack > 0, "a rack has a host");
    FabricBuilder builder(std::move(kind));
    const std::uint32_t hosts = schedule.racks() * network->hosts_per_rack;
    for (std::uint32_t host = 0; host < hosts; ++host) {
        builder.add_host(fmt::format("host {}", host));
    }
    std::vector<NodeId> switches;
    for (Rack rack = 0; rack < schedule.racks(); ++rack) {
        switches.push_back(builder.add_switch(fmt::format("rack {}", rack)));
    }
    for (std::uint32_t host = 0; host < hosts; ++host) {
        builder.connect(NodeId(host), switches[host / network->hosts_per_rack],
                        {network->rate_of_host(), network->host_latency, Bytes(0)});
    }
    Circuits circuits(schedule.uplinks());
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
            const Matching& matching = schedule.matching(rotor, index);
            std::vector<std::uint32_t>& directions = circuits[rotor].emplace_back(schedule.racks(), kIdle);
            for (Rack rack = 0; rack < schedule.racks(); ++rack) {
                if (rack < matching[rack]) {
                    const FabricBuilder::Cable cable =
                        builder.connect(switches[rack], switches[matching[rack]],
                                        {network->rate, network->propagation, Bytes(0)});
                    directions[rack] = cable.forward;
                    directions[matching[rack]] = cable.backward;
                }
            }
        }
    }
    builder.set_circuits(schedule.cycle(), intervals(schedule, circuits));
    const std::uint64_t seed = network->seed;
    builder.set_family(rotor_family(std::move(network), std::move(variants)));
    return std::move(builder).build(LoadBalancing::kFlowHash, seed);
}

}  // namespace astrolabe::network::rotor
