#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/rotor_links.hpp>

namespace astrolabe::network::rotor {

RotorLinks::RotorLinks(const Fabric& fabric)
    : matchings_per_rotor_(rotors_of(fabric)->schedule.matchings_per_rotor()),
      racks_(rotors_of(fabric)->schedule.racks()) {
    const RotorSchedule& schedule = rotors_of(fabric)->schedule;
    const std::uint32_t hosts_per_rack = rotors_of(fabric)->hosts_per_rack;
    circuits_.resize(std::size_t{schedule.uplinks()} * matchings_per_rotor_ * racks_);
    ASTROLABE_ASSERT(fabric.host_count() == std::size_t{racks_} * hosts_per_rack,
                     "the fabric has the hosts of its racks");
    std::vector<NodeId> switches;
    for (std::uint32_t host = 0; host < fabric.host_count(); ++host) {
        up_.push_back(fabric.first_link(NodeId(host)));
        down_.push_back(*fabric.link(up_.back()).reverse);
        if (host % hosts_per_rack == 0) {
            switches.push_back(fabric.target(up_.back()));
        }
    }
    const CircuitSchedule& presences = fabric.circuits();
    for (Rack rack = 0; rack < racks_; ++rack) {
        std::vector<std::uint8_t> is_taken(fabric.out_degree(switches[rack]), 0);
        const std::uint32_t first = fabric.first_link(switches[rack]).index();
        for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
            for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
                const Rack peer = schedule.matching(rotor, index)[rack];
                if (peer == rack) {
                    continue;
                }
                const std::uint64_t superslice =
                    schedule.phase(rotor) + std::uint64_t{index} * schedule.residence();
                const Time installed = schedule.timing().superslice() * superslice;
                std::size_t found = is_taken.size();
                for (std::size_t k = 0; k < is_taken.size() && found == is_taken.size(); ++k) {
                    const LinkId link(first + k);
                    if (is_taken[k] == 0 && fabric.target(link) == switches[peer] &&
                        presences.is_circuit(link) &&
                        presences.next_presence(link, installed).begin <= installed) {
                        found = k;
                    }
                }
                ASTROLABE_ASSERT(found < is_taken.size(), "every installation has its circuit in the fabric");
                is_taken[found] = 1;
                circuits_[(std::size_t{rotor} * matchings_per_rotor_ + index) * racks_ + rack] =
                    LinkId(first + found);
            }
        }
    }
}

}  // namespace astrolabe::network::rotor
