#include "slot_links.hpp"

namespace astrolabe::network::rotor {

SlotLinks::SlotLinks(const Fabric& fabric)
    : links_(fabric),
      timing_(*rotors_of(fabric)),
      hosts_(static_cast<std::uint32_t>(fabric.host_count())),
      hosts_per_rack_(rotors_of(fabric)->hosts_per_rack),
      payload_(rotors_of(fabric)->bulk.payload),
      header_(rotors_of(fabric)->bulk.header),
      carried_(fabric.link_count()) {}

void SlotLinks::cross_down(std::uint32_t to, const Piece& piece, Time latency) {
    cross(links_.down(to), piece);
    if (observer_ != nullptr) {
        observer_->delivered(HostId(to), piece.first_bit + latency, piece.last_bit + latency,
                             static_cast<double>(piece.payload.count()));
    }
}

void SlotLinks::repeat(const SlotLinks& from, const SlotLinks& to, std::uint64_t times) {
    for (std::size_t i = 0; i < carried_.size(); ++i) {
        const LinkId link(i);
        carried_[link].packets += times * (to.carried_[link].packets - from.carried_[link].packets);
    }
}

void SlotLinks::report(NetworkStatistics& statistics) const {
    for (std::uint32_t host = 0; host < hosts_; ++host) {
        statistics.packets += carried_[links_.up(host)].packets;
    }
    statistics.links.resize(carried_.size());
    for (std::size_t i = 0; i < carried_.size(); ++i) {
        statistics.packet_hops += carried_[LinkId(i)].packets;
        statistics.links[LinkId(i)].carried = carried(LinkId(i));
    }
}

}  // namespace astrolabe::network::rotor
