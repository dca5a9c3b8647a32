#include <algorithm>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/opera/slot_links.hpp>

namespace astrolabe::network::opera {

SlotLinks::SlotLinks(const Fabric& fabric)
    : schedule_(&fabric.rotors()->schedule),
      hosts_per_rack_(fabric.rotors()->hosts_per_rack),
      circuits_(std::size_t{schedule_->uplinks()} * schedule_->matchings_per_rotor() * schedule_->racks()),
      carried_(fabric.link_count()) {
    ASTROLABE_ASSERT(fabric.host_count() == std::size_t{schedule_->racks()} * hosts_per_rack_,
                     "the fabric has the hosts of its racks");
    std::vector<NodeId> switches;
    for (std::uint32_t host = 0; host < fabric.host_count(); ++host) {
        up_.push_back(fabric.first_link(NodeId(host)));
        down_.push_back(fabric.link(up_.back()).reverse);
        if (host % hosts_per_rack_ == 0) {
            switches.push_back(fabric.target(up_.back()));
        }
    }
    const CircuitSchedule& presences = fabric.circuits();
    for (Rack rack = 0; rack < schedule_->racks(); ++rack) {
        std::vector<std::uint8_t> is_taken(fabric.out_degree(switches[rack]), 0);
        const std::uint32_t first = fabric.first_link(switches[rack]).index();
        for (Rotor rotor = 0; rotor < schedule_->uplinks(); ++rotor) {
            for (std::uint32_t index = 0; index < schedule_->matchings_per_rotor(); ++index) {
                const Rack peer = schedule_->matching(rotor, index)[rack];
                if (peer == rack) {
                    continue;
                }
                const std::uint64_t superslice =
                    schedule_->phase(rotor) + std::uint64_t{index} * schedule_->residence();
                const Time installed = schedule_->timing().superslice() * superslice;
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
                circuits_[circuit(rotor, index, rack)] = LinkId(first + found);
            }
        }
    }
}

void SlotLinks::carry_to_other_rack(Rotor rotor, std::uint32_t index, std::uint32_t from, std::uint32_t to,
                                    std::uint32_t packets, Bytes payload) {
    packets_ += packets;
    packet_hops_ += std::uint64_t{3} * packets;
    carried_[up_[from]] += payload;
    carried_[circuits_[circuit(rotor, index, from / hosts_per_rack_)]] += payload;
    carried_[down_[to]] += payload;
}

void SlotLinks::carry_in_rack(std::uint32_t from, std::uint32_t to, std::uint32_t packets, Bytes payload) {
    packets_ += packets;
    packet_hops_ += std::uint64_t{2} * packets;
    carried_[up_[from]] += payload;
    carried_[down_[to]] += payload;
}

void SlotLinks::report(NetworkStatistics& statistics) const {
    statistics.packets = packets_;
    statistics.packet_hops = packet_hops_;
    statistics.links.resize(carried_.size());
    for (std::size_t i = 0; i < carried_.size(); ++i) {
        statistics.links[LinkId(i)].carried = carried_[LinkId(i)];
    }
}

}  // namespace astrolabe::network::opera
