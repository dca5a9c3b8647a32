#include <astrolabe/network/opera/slot_links.hpp>

namespace astrolabe::network::opera {

SlotLinks::SlotLinks(const Fabric& fabric)
    : links_(fabric),
      hosts_per_rack_(fabric.rotors()->hosts_per_rack),
      payload_(fabric.rotors()->bulk.payload),
      carried_(fabric.link_count()) {}

Bytes SlotLinks::carry_at_hosts(std::uint32_t from, std::uint32_t to, std::uint64_t circuits,
                                std::uint64_t packets, Bytes payload) {
    packets_ += packets;
    packet_hops_ += (2 + circuits) * packets;
    const Bytes missing = payload_ * static_cast<std::int64_t>(packets) - payload;
    carry(links_.up(from), packets, missing);
    carry(links_.down(to), packets, missing);
    return missing;
}

void SlotLinks::carry_over(std::uint32_t from, std::uint32_t to, std::span<const Hop> hops,
                           std::uint64_t packets, Bytes payload) {
    const Bytes missing = carry_at_hosts(from, to, hops.size(), packets, payload);
    for (const Hop& hop : hops) {
        carry(links_.circuit(hop.rotor, hop.matching, hop.rack), packets, missing);
    }
}

void SlotLinks::carry_to_other_rack(Rotor rotor, std::uint32_t index, std::uint32_t from, std::uint32_t to,
                                    std::uint32_t packets, Bytes payload) {
    const Bytes missing = carry_at_hosts(from, to, 1, packets, payload);
    carry(links_.circuit(rotor, index, from / hosts_per_rack_), packets, missing);
}

void SlotLinks::carry_in_rack(std::uint32_t from, std::uint32_t to, std::uint32_t packets, Bytes payload) {
    carry_at_hosts(from, to, 0, packets, payload);
}

void SlotLinks::repeat(const SlotLinks& from, const SlotLinks& to, std::uint64_t times) {
    packets_ += times * (to.packets_ - from.packets_);
    packet_hops_ += times * (to.packet_hops_ - from.packet_hops_);
    for (std::size_t i = 0; i < carried_.size(); ++i) {
        const LinkId link(i);
        carried_[link].packets += times * (to.carried_[link].packets - from.carried_[link].packets);
    }
}

void SlotLinks::report(NetworkStatistics& statistics) const {
    statistics.packets = packets_;
    statistics.packet_hops = packet_hops_;
    statistics.links.resize(carried_.size());
    for (std::size_t i = 0; i < carried_.size(); ++i) {
        statistics.links[LinkId(i)].carried =
            payload_ * static_cast<std::int64_t>(carried_[LinkId(i)].packets) - carried_[LinkId(i)].missing;
    }
}

}  // namespace astrolabe::network::opera
