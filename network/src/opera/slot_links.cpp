#include <astrolabe/network/opera/slot_links.hpp>

namespace astrolabe::network::opera {

SlotLinks::SlotLinks(const Fabric& fabric)
    : links_(fabric),
      hosts_per_rack_(fabric.rotors()->hosts_per_rack),
      carried_(fabric.link_count()) {}

void SlotLinks::carry_to_other_rack(Rotor rotor, std::uint32_t index, std::uint32_t from, std::uint32_t to,
                                    std::uint32_t packets, Bytes payload) {
    packets_ += packets;
    packet_hops_ += std::uint64_t{3} * packets;
    carried_[links_.up(from)] += payload;
    carried_[links_.circuit(rotor, index, from / hosts_per_rack_)] += payload;
    carried_[links_.down(to)] += payload;
}

void SlotLinks::carry_in_rack(std::uint32_t from, std::uint32_t to, std::uint32_t packets, Bytes payload) {
    packets_ += packets;
    packet_hops_ += std::uint64_t{2} * packets;
    carried_[links_.up(from)] += payload;
    carried_[links_.down(to)] += payload;
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
