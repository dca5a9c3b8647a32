#include "rotor_description.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

namespace {

double ratio(std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

RotorCapacity capacity_of(const RotorNetwork& network) {
    const RotorSchedule& schedule = network.schedule;
    std::int64_t carried = 0;  // installations of ordered pairs in a cycle
    std::int64_t met = 0;
    for (Rack from = 0; from < schedule.racks(); ++from) {
        for (Rack to = 0; to < schedule.racks(); ++to) {
            const auto circuits = static_cast<std::int64_t>(schedule.installations(from, to).size());
            carried += circuits;
            met += circuits > 0 ? 1 : 0;
        }
    }
    const std::int64_t pairs = std::int64_t{schedule.racks()} * (schedule.racks() - 1);
    const std::int64_t all =
        std::int64_t{schedule.uplinks()} * schedule.matchings_per_rotor() * schedule.racks();
    const Bytes packet = network.bulk.payload + network.bulk.header;
    const std::int64_t parts = network.parts_of_host();
    // A host sends on one rotor once in so many packet times.
    const Time transmission_slot = packet * parts / network.rate_of_host();
    const Time stay = schedule.timing().superslice() * schedule.residence();

    RotorCapacity capacity;
    capacity.carried = ratio(carried, all);
    capacity.slot = ratio(schedule.bulk_slot().count(), stay.count());
    capacity.uplinks = ratio(schedule.uplinks(), parts);
    capacity.packets_per_slot = schedule.bulk_slot() / transmission_slot;
    capacity.whole = schedule.bulk_slot() == Time(0)
                         ? 0.0
                         : static_cast<double>(capacity.packets_per_slot) *
                               ratio(transmission_slot.count(), schedule.bulk_slot().count());
    capacity.payload = ratio(network.bulk.payload.count(), packet.count());
    capacity.pair_rate = static_cast<double>(network.hosts_per_rack * capacity.packets_per_slot *
                                             network.bulk.payload.count() * 8) /
                         to_seconds(schedule.cycle()) * ratio(carried, pairs);
    capacity.met = ratio(met, pairs);
    capacity.host_rate = static_cast<double>(network.rate_of_host().count()) * capacity.share();
    return capacity;
}

SliceFigures slice_figures(const RotorSchedule& schedule) {
    ASTROLABE_ASSERT(schedule.groups() < schedule.uplinks(), "some rotor stays through a superslice");
    SliceFigures figures;
    figures.hops = HopCounts::of_cycle(schedule);
    for (std::uint32_t s = 0; s < schedule.superslices(); ++s) {
        const SpectralGap gap = spectral_gap(schedule, s);
        figures.least_gap = s == 0 ? gap.gap : std::min(figures.least_gap, gap.gap);
        figures.mean_gap += gap.gap / schedule.superslices();
        figures.ideal_gap = gap.ideal;
    }
    constexpr std::uint32_t kDraws = 6;
    RandomStream random(1, "failures");
    const auto add = [&](FailingPart part, std::uint32_t failed) {
        const auto same = [&](const FailureTolerance& row) {
            return row.part == part && row.failed == failed;
        };
        if (failed > 0 && failed < count_of(part, schedule) && std::ranges::none_of(figures.failures, same)) {
            figures.failures.push_back(
                {part, failed, worst_disconnected_share(schedule, part, failed, kDraws, random)});
        }
    };
    constexpr std::array<std::uint32_t, 7> kPercents{2, 4, 7, 10, 15, 20, 30};
    for (const FailingPart part : {FailingPart::kCables, FailingPart::kRacks}) {
        for (const std::uint32_t percent : kPercents) {
            add(part, count_of(part, schedule) * percent / 100);
        }
    }
    for (std::uint32_t rotors = 1; rotors <= 3; ++rotors) {
        add(FailingPart::kRotors, rotors);
    }
    return figures;
}

}  // namespace astrolabe::network::rotor
