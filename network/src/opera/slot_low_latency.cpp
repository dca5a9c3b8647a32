#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/opera/slot_low_latency.hpp>

namespace astrolabe::network::opera {

SlotLowLatency::SlotLowLatency(const RotorNetwork& network)
    : network_(network),
      packet_((network.bulk.payload + network.bulk.header) / network.rate),
      up_(std::size_t{network.schedule.racks()} * network.hosts_per_rack),
      down_(up_.size()),
      uplinks_(std::size_t{network.schedule.racks()} * network.schedule.uplinks()),
      random_(network.seed, "low_latency") {
    ASTROLABE_ASSERT(network.paths != nullptr, "low-latency messages have paths");
}

std::optional<Time> SlotLowLatency::send(HostId source, HostId destination, Bytes size, Time now,
                                         SlotLinks& links) {
    const RotorSchedule& schedule = network_.schedule;
    const Rack from = source.index() / network_.hosts_per_rack;
    const Rack to = destination.index() / network_.hosts_per_rack;
    Wire& out = up_[source.index()];
    const Time begin = std::max(now, out.free_from);
    hops_.clear();
    if (from != to) {
        const std::uint64_t superslice = schedule.at(begin).superslice;
        network_.paths->find(superslice, from, to, paths_);
        if (paths_.size() == 0) {
            return std::nullopt;
        }
        Rack rack = from;
        for (const std::uint16_t rotor : paths_[random_.below(static_cast<std::uint32_t>(paths_.size()))]) {
            hops_.push_back({rotor, schedule.matching_index(rotor, superslice), rack});
            rack = schedule.peer(rotor, rack, superslice);
        }
    }
    const Bytes payload = network_.bulk.payload;
    const Bytes header = network_.bulk.header;
    const std::int64_t packets =
        std::max<std::int64_t>(1, (size.count() + payload.count() - 1) / payload.count());
    const Time all = (size + header * packets) / network_.rate;
    const Time first = (std::min(size, payload) + header) / network_.rate;
    const Time last = (size - payload * (packets - 1) + header) / network_.rate;

    const auto hops = static_cast<std::int64_t>(hops_.size()) + 3;
    const Time alone = std::max({all, network_.propagation, network_.host_latency});
    if (3 * hops > (Time::max() - std::max(begin, latest_)) / std::max(alone, Time(1))) {
        return std::nullopt;
    }
    Time head = begin;  // first and last bit into the link
    Time tail = begin + all;
    Time latency = network_.host_latency;
    out.free_from = tail;
    out.booked += all;
    const auto cross = [&](Wire& wire, Time its_latency) {
        head = std::max(head + first + latency, wire.free_from);
        tail = std::max(head + all, tail + latency + last);
        latency = its_latency;
        wire.free_from = tail;
        wire.booked += all;
    };
    for (const SlotLinks::Hop& hop : hops_) {
        cross(uplink(hop.rack, hop.rotor), network_.propagation);
    }
    cross(down_[destination.index()], network_.host_latency);
    latest_ = std::max(latest_, tail);
    links.carry_over(source.index(), destination.index(), hops_, static_cast<std::uint64_t>(packets), size);
    return tail + latency;
}

/// What was served by `now` and not yet charged; what is booked is served last.
Time SlotLowLatency::Wire::charge(Time now, Time most) {
    const Time served = std::max(charged, booked - std::max(Time(0), free_from - now));
    return std::min(most, served - std::exchange(charged, served));
}

std::uint32_t SlotLowLatency::packets(Time time) const {
    return static_cast<std::uint32_t>((time.count() + packet_.count() - 1) / packet_.count());
}

SlotLowLatency::Taken SlotLowLatency::taken(std::uint32_t host, Time uplink, Time now) {
    const Time most = network_.schedule.timing().superslice();
    return {packets(up_[host].charge(now, most) + uplink), packets(down_[host].charge(now, most))};
}

Time SlotLowLatency::taken_of_uplink(Rack rack, Rotor rotor, Time now) {
    const Time most = network_.schedule.timing().superslice() * network_.schedule.residence();
    return uplink(rack, rotor).charge(now, most) / network_.hosts_per_rack;
}

}  // namespace astrolabe::network::opera
