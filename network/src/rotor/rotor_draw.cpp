#include "rotor_draw.hpp"

#include <tuple>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/factorisation.hpp>

namespace astrolabe::network::rotor {

DrawnRotors draw_rotors(const DrawParameters& parameters) {
    const DrawParameters& p = parameters;
    ASTROLABE_ASSERT(p.racks >= 2 && p.draws >= 1, "there are racks to join");
    RandomStream random(p.seed, "matchings");
    std::vector<Matching> matchings;
    if (p.lift_from == 0) {
        matchings = draw_factorisation(p.racks, random);
    } else {
        ASTROLABE_ASSERT(p.racks % p.lift_from == 0, "lifting multiplies racks");
        matchings =
            lift_factorisation(draw_factorisation(p.lift_from, random), p.racks / p.lift_from, random);
    }
    constexpr std::uint32_t kDrawsForConnection = 32;
    // Hops do not depend on lengths of time.
    constexpr RotorTiming kAnyTiming{Time(1), Time(0), Time(0)};
    const auto key = [](const HopCounts& hops) {
        return std::tuple(hops.disconnected(), hops.worst(), hops.mean());
    };
    DrawnRotors best;
    for (std::uint32_t i = 0;
         i < p.draws || (best.hops.disconnected() > 0 && i < p.draws + kDrawsForConnection); ++i) {
        random.shuffle(matchings);
        std::vector<std::vector<Matching>> rotors = deal(matchings, p.uplinks);
        HopCounts hops = HopCounts::of_cycle(RotorSchedule(rotors, p.groups, kAnyTiming));
        if (i == 0 || key(hops) < key(best.hops)) {
            best = {std::move(rotors), std::move(hops)};
        }
    }
    return best;
}

std::shared_ptr<const DrawnRotors> RotorDraws::draw(const DrawParameters& parameters) {
    const std::scoped_lock lock(in_use_);
    if (last_ == nullptr || of_ != parameters) {
        last_ = std::make_shared<const DrawnRotors>(draw_rotors(parameters));
        of_ = parameters;
    }
    return last_;
}

}  // namespace astrolabe::network::rotor
