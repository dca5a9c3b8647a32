#include "../engines/slots/slot_timing.hpp"

#include <fmt/format.h>

#include <astrolabe/network/rotor/bulk_service.hpp>

namespace astrolabe::network::rotor {

std::vector<std::uint8_t> connected_racks(const RotorSchedule& schedule) {
    std::vector<std::uint8_t> connected(std::size_t{schedule.racks()} * schedule.racks(), 1);
    bool all_connected = true;
    for (Rack from = 0; from < schedule.racks(); ++from) {
        for (Rack to = 0; to < schedule.racks(); ++to) {
            if (from != to && schedule.installations(from, to).empty()) {
                connected[std::size_t{from} * schedule.racks() + to] = 0;
                all_connected = false;
            }
        }
    }
    return all_connected ? std::vector<std::uint8_t>() : connected;
}

RotorLbOptions rotor_lb_options(const RotorNetwork& network) {
    return {.racks = network.schedule.racks(),
            .hosts_per_rack = network.hosts_per_rack,
            .slot = SlotTiming(network).packets_per_slot(),
            .two_hops = network.bulk.routing == BulkRouting::kRotorLb,
            .intra_rack_direct = network.bulk.intra_rack == IntraRack::kDirect,
            .remainders = network.bulk.remainders,
            .connected = connected_racks(network.schedule)};
}

std::optional<std::string> bulk_unsupported(const RotorNetwork& network) {
    const RotorLbOptions options = rotor_lb_options(network);
    if (options.slot == 0) {
        return fmt::format("a circuit carries bulk traffic for {}, less than one packet per host takes",
                           to_string(network.schedule.bulk_slot()));
    }
    if (options.slot == SlotTiming::kMaxPackets) {
        return fmt::format(
            "a circuit carries bulk traffic for {}, {} packets of a host or more: make packets larger "
            "(bulk.payload) or superslices shorter",
            to_string(network.schedule.bulk_slot()), SlotTiming::kMaxPackets);
    }
    if (options.two_hops && options.slot < options.hosts_per_rack) {
        return fmt::format(
            "RotorLB passes a relayed packet on only if a slot has one per host of a rack: {} packets fit "
            "into "
            "it, for {} hosts",
            options.slot, options.hosts_per_rack);
    }
    if (options.hosts_per_rack > 1 && !options.intra_rack_direct &&
        (!options.two_hops || options.racks == 1)) {
        return "messages within a rack take two hops (bulk.intra_rack), and there is no second hop to take";
    }
    return std::nullopt;
}

std::optional<std::string> service_unsupported(const RotorNetwork& network) {
    if (network.has_low_latency() && network.paths == nullptr) {
        return "its low-latency messages (low_latency.cutoff and low_latency.classes) have no paths to take";
    }
    return bulk_unsupported(network);
}

}  // namespace astrolabe::network::rotor
