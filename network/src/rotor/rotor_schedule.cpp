#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network::rotor {

RotorSchedule::RotorSchedule(std::vector<std::vector<Matching>> matchings, std::uint32_t groups,
                             RotorTiming timing)
    : uplinks_(static_cast<std::uint32_t>(matchings.size())),
      timing_(timing),
      matchings_(std::move(matchings)) {
    ASTROLABE_ASSERT(uplinks_ > 0 && groups > 0 && uplinks_ % groups == 0, "groups divide the rotors");
    ASTROLABE_ASSERT(timing.eps >= Time(0) && timing.del >= Time(0) && timing.reconfiguration >= Time(0) &&
                         timing.superslice() > Time(0),
                     "a superslice has a length");
    residence_ = uplinks_ / groups;
    per_rotor_ = static_cast<std::uint32_t>(matchings_.front().size());
    ASTROLABE_ASSERT(per_rotor_ > 0, "a rotor has a matching");
    racks_ = static_cast<std::uint32_t>(matchings_.front().front().size());

    struct Circuit {
        std::size_t pair;
        Installation installation;
    };
    std::vector<Circuit> circuits;
    for (Rotor rotor = 0; rotor < uplinks_; ++rotor) {
        ASTROLABE_ASSERT(matchings_[rotor].size() == per_rotor_, "rotors hold equally many matchings");
        for (std::uint32_t index = 0; index < per_rotor_; ++index) {
            const Matching& matching = matchings_[rotor][index];
            ASTROLABE_ASSERT(matching.size() == racks_, "a matching names every rack");
            const std::uint32_t first = (index * residence_ + phase(rotor)) % superslices();
            for (Rack rack = 0; rack < racks_; ++rack) {
                const Rack peer = matching[rack];
                ASTROLABE_ASSERT(peer < racks_ && matching[peer] == rack, "a matching is an involution");
                if (peer != rack) {
                    circuits.push_back({std::size_t{rack} * racks_ + peer, {rotor, first}});
                }
            }
        }
    }
    std::stable_sort(circuits.begin(), circuits.end(), [](const Circuit& a, const Circuit& b) {
        return std::pair(a.pair, a.installation.first) < std::pair(b.pair, b.installation.first);
    });
    first_of_.assign(std::size_t{racks_} * racks_ + 1, 0);
    installations_.reserve(circuits.size());
    for (const Circuit& circuit : circuits) {
        ++first_of_[circuit.pair + 1];
        installations_.push_back(circuit.installation);
    }
    for (std::size_t pair = 1; pair < first_of_.size(); ++pair) {
        first_of_[pair] += first_of_[pair - 1];
    }
}

double RotorSchedule::duty() const {
    const auto up = static_cast<double>((timing_.superslice() * residence_).count());
    return 1.0 - static_cast<double>(timing_.reconfiguration.count()) / up;
}

std::uint32_t RotorSchedule::matching_index(Rotor rotor, std::uint64_t superslice) const {
    const std::uint64_t in_cycle = superslice % superslices();
    return static_cast<std::uint32_t>((in_cycle + superslices() - phase(rotor)) % superslices() / residence_);
}

RotorSchedule::Position RotorSchedule::at(Time time) const {
    const Time length = timing_.superslice();
    const auto superslice = static_cast<std::uint64_t>(time / length);
    const Time begin = length * static_cast<std::int64_t>(superslice);
    const Time inside = time - begin;
    if (inside < timing_.eps) {
        return {superslice, Part::kEps, begin};
    }
    return {superslice, inside < timing_.eps + timing_.del ? Part::kDel : Part::kReconfiguration, begin};
}

}  // namespace astrolabe::network::rotor
