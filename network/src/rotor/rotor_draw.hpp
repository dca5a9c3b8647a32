/// The best of several random rotor networks.
///
/// A factorisation of the racks is drawn (factorisation.hpp), put into random order and dealt to the rotors,
/// `draws` times. Draws are compared by
///   1. pairs of racks that no path joins in some superslice, fewest first;
///   2. H, the most hops between racks in any superslice;
///   3. the mean number of hops (slice_graph.hpp),
/// and the first of the best is taken. With one draw and few uplinks, a superslice that falls apart is not
/// rare: 3 in 100 networks of 32 racks with 4 uplinks. While none of the draws hangs together, up to 32 more
/// are made.
///
/// Source: step 4 of the released topology generator of Opera (NSDI 2020), which draws once by default.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <astrolabe/network/rotor/rotor_schedule.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

struct DrawParameters {
    std::uint32_t racks = 0;    ///< 2 … kMaxRacks, a multiple of uplinks
    std::uint32_t uplinks = 0;  ///< >= 1
    std::uint32_t groups = 1;   ///< divides uplinks
    std::uint32_t draws = 1;    ///< >= 1
    /// Draw a factorisation of this many racks and lift it; 0: draw one of all racks. Divides racks.
    std::uint32_t lift_from = 0;
    std::uint64_t seed = 1;

    friend bool operator==(const DrawParameters&, const DrawParameters&) = default;
};

struct DrawnRotors {
    std::vector<std::vector<Matching>> matchings;  ///< by rotor
    HopCounts hops;                                ///< over a cycle
};

/// O(draws) times the cost of the hop counts of a cycle.
[[nodiscard]] DrawnRotors draw_rotors(const DrawParameters& parameters);

/// Draws once for those who ask again: keeps the last network drawn. Several threads may ask at once.
class RotorDraws {
public:
    [[nodiscard]] std::shared_ptr<const DrawnRotors> draw(const DrawParameters& parameters);

private:
    std::mutex in_use_;
    DrawParameters of_;
    std::shared_ptr<const DrawnRotors> last_;
};

}  // namespace astrolabe::network::rotor
