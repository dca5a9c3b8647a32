#include "slot_failures.hpp"

#include <algorithm>

#include <astrolabe/network/rotor/bulk_service.hpp>

namespace astrolabe::network::rotor {

bool SlotFailures::learn(std::uint64_t superslice, RotorLb& lb, PacketCounts& own, PacketCounts& relayed) {
    const std::size_t state = network_.state_in(superslice);
    if (state == state_) {
        return false;
    }
    state_ = state;
    lb.set_connected(connected_racks(schedule()));
    std::erase_if(held_, [&](const Held& held) {
        if (held.until > superslice) {
            return false;
        }
        (held.is_relayed ? relayed : own).add(held.host, held.destination, held.packets);
        return true;
    });
    return true;
}

Time SlotFailures::failure(Rotor rotor, std::uint32_t matching, Rack rack, Time start) const {
    for (std::size_t i = state_; i < network_.failing.size(); ++i) {
        const RotorState& state = network_.failing[i];
        if (state.from > start + timing_.longest()) {
            break;
        }
        if (state.schedule.matching(rotor, matching)[rack] == rack) {
            return state.from;
        }
    }
    return Time::max();
}

std::uint32_t SlotFailures::packets_through(const Grant& grant, std::uint32_t rank, Time start,
                                            Time failure) {
    if (grant.kind == Grant::Kind::kIntraRack) {
        return grant.packets;
    }
    // Out of the rotor at the picosecond before, in the other rack a link later.
    const Time there = failure - start - Time(1) + timing_.packet() + network_.host_latency;
    const std::uint32_t through =
        timing_.packets_by(timing_.last_transmission_slot_for(there) - rank, grant.packets);
    if (through < grant.packets) {
        held_.push_back({grant.from, grant.destination, grant.packets - through,
                         grant.kind == Grant::Kind::kSecondHop,
                         network_.first_superslice(network_.state_at(failure))});
    }
    return through;
}

}  // namespace astrolabe::network::rotor
