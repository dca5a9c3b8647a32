/// The rotor network of eight racks whose matchings are written down in formulas, and for which the figures
/// of the reference simulator are known (docs/theory/opera.md, "Golden numbers"): four rotors with two
/// matchings each, 100 Gb/s.
///
/// M_r for r = 0 … 6 joins r with 7 and r + i with r - i (mod 7) for i = 1, 2, 3; M_7 leaves all idle. Rotor
/// a holds M_2a, then M_2a+1. The farthest racks are H = 4 hops apart, so with 0.5 us between racks, queues
/// of 8 packets of 1500 B (120 ns each):
///   eps = 3 (0.5 + 8 * 0.12) + 7 * 0.12 = 5.22 us, del = 0.5 + 0.12 = 0.62 us, r = 10 us.
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network::rotor {

inline std::vector<std::vector<Matching>> eight_rack_matchings() {
    std::vector<std::vector<Matching>> rotors(4, std::vector<Matching>(2, Matching(8)));
    for (Rack r = 0; r < 8; ++r) {
        Matching& matching = rotors[r / 2][r % 2];
        if (r == 7) {
            matching = {0, 1, 2, 3, 4, 5, 6, 7};
            continue;
        }
        matching[7] = r;
        matching[r] = 7;
        for (Rack i = 1; i <= 3; ++i) {
            matching[(r + i) % 7] = (r + 7 - i) % 7;
            matching[(r + 7 - i) % 7] = (r + i) % 7;
        }
    }
    return rotors;
}

inline constexpr RotorTiming kEightRackTiming{Time(5'220'000), Time(620'000), Time(10'000'000)};

inline RotorSchedule eight_racks(std::uint32_t groups = 1) {
    return {eight_rack_matchings(), groups, kEightRackTiming};
}

}  // namespace astrolabe::network::rotor
