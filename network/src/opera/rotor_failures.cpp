#include <algorithm>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/opera/rotor_failures.hpp>

namespace astrolabe::network::opera {

RotorFailures draw_failures(const RotorSchedule& schedule, const FailureCounts& counts,
                            RandomStream& random) {
    const auto draw = [&random](std::uint32_t of, std::uint32_t failed) {
        ASTROLABE_ASSERT(failed <= of, "no more fail than there are");
        std::vector<std::uint8_t> which(of, 0);
        std::fill_n(which.begin(), failed, std::uint8_t{1});
        random.shuffle(which);
        return which;
    };
    RotorFailures failures;
    failures.cables = draw(schedule.racks() * schedule.uplinks(), counts.cables);
    failures.racks = draw(schedule.racks(), counts.racks);
    failures.rotors = draw(schedule.uplinks(), counts.rotors);
    return failures;
}

RotorSchedule without_failed(const RotorSchedule& schedule, const RotorFailures& failures) {
    std::vector<std::vector<Matching>> matchings(schedule.uplinks());
    for (Rotor rotor = 0; rotor < schedule.uplinks(); ++rotor) {
        for (std::uint32_t index = 0; index < schedule.matchings_per_rotor(); ++index) {
            Matching matching = schedule.matching(rotor, index);
            for (Rack rack = 0; rack < schedule.racks(); ++rack) {
                if (!failures.works(rotor, rack, schedule.uplinks())) {
                    const Rack peer = std::exchange(matching[rack], rack);
                    matching[peer] = peer;
                }
            }
            matchings[rotor].push_back(std::move(matching));
        }
    }
    return {std::move(matchings), schedule.groups(), schedule.timing()};
}

}  // namespace astrolabe::network::opera
