#include "rotor_failures.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network::rotor {

RotorFailures draw_failures(const RotorSchedule& schedule, const FailureCounts& counts, RandomStream& random,
                            const RotorFailures& earlier) {
    const auto draw = [&random](std::uint32_t of, std::uint32_t more, std::vector<std::uint8_t> failed) {
        failed.resize(of, 0);
        std::vector<std::uint8_t> which(static_cast<std::size_t>(std::ranges::count(failed, 0)), 0);
        ASTROLABE_ASSERT(more <= which.size(), "no more fail than there are");
        std::fill_n(which.begin(), more, std::uint8_t{1});
        random.shuffle(which);
        auto next = which.begin();
        for (std::uint8_t& part : failed) {
            part = part != 0 ? part : *next++;
        }
        return failed;
    };
    RotorFailures failures;
    failures.cables = draw(schedule.racks() * schedule.uplinks(), counts.cables, earlier.cables);
    failures.racks = draw(schedule.racks(), counts.racks, earlier.racks);
    failures.rotors = draw(schedule.uplinks(), counts.rotors, earlier.rotors);
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

}  // namespace astrolabe::network::rotor
