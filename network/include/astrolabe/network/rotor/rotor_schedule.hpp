/// Which rack a rotor switch joins to which, and when.
///
/// Model. A rotor switch has one port per rack and holds a few *matchings*: involutions M of the racks,
/// M(M(x)) = x, that it installs one after the other, for ever. M(x) = x leaves the uplink of x idle. Uplink
/// `a` of every rack hangs on rotor `a`. Time is cut into *superslices* of equal length T, each into three
/// parts:
///   eps  all circuits carry; packets in flight on a circuit about to go have this long to finish;
///   del  the circuits about to go only drain;
///   r    the rotors that reconfigure are dark, the others carry.
/// The u rotors form G groups of g = u/G; rotor a has phase a mod g, and rotors of one phase switch together:
///   installed at the start of superslices s = phase (mod g), kept for g superslices, dark during r of the
///   last of them; index of the matching floor(((s - phase) mod S) / g) with S = g * matchings per rotor
///   superslices in a cycle.
/// G = 1 is Opera: one rotor at a time is dark. G = u is RotorNet: all of them are.
///
/// Over a cycle a circuit between two racks is installed once where all matchings together sum to the
/// all-ones matrix, as those of `opera` do.
///
/// Source: Opera (NSDI 2020) section 3; RotorNet (SIGCOMM 2017) section 3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/rotor/matching.hpp>

namespace astrolabe::network::rotor {

struct RotorTiming {
    Time eps;
    Time del;
    Time reconfiguration;

    [[nodiscard]] Time superslice() const { return eps + del + reconfiguration; }
    friend bool operator==(const RotorTiming&, const RotorTiming&) = default;
};

class RotorSchedule {
public:
    /// `matchings[a]` are those of rotor a, in the order of installation: involutions of the same racks, as
    /// many on each rotor. `groups` divides the number of rotors. No length is negative, and T > 0.
    RotorSchedule(std::vector<std::vector<Matching>> matchings, std::uint32_t groups, RotorTiming timing);

    [[nodiscard]] std::uint32_t racks() const { return racks_; }
    [[nodiscard]] std::uint32_t uplinks() const { return uplinks_; }
    [[nodiscard]] std::uint32_t groups() const { return uplinks_ / residence_; }
    [[nodiscard]] std::uint32_t matchings_per_rotor() const { return per_rotor_; }
    [[nodiscard]] const Matching& matching(Rotor rotor, std::uint32_t index) const {
        return matchings_[rotor][index];
    }

    [[nodiscard]] const RotorTiming& timing() const { return timing_; }
    /// Superslices a matching stays installed: g.
    [[nodiscard]] std::uint32_t residence() const { return residence_; }
    /// Superslices of a cycle: S.
    [[nodiscard]] std::uint32_t superslices() const { return residence_ * per_rotor_; }
    [[nodiscard]] Time cycle() const { return timing_.superslice() * superslices(); }
    /// From its installation, how long bulk traffic may use a circuit: (g - 1) T + eps.
    [[nodiscard]] Time bulk_slot() const { return timing_.superslice() * (residence_ - 1) + timing_.eps; }
    /// Share of time in which a circuit that is never idle carries: 1 - r / (g T).
    [[nodiscard]] double duty() const;

    // Superslices are counted from time 0; any number is fine, the schedule repeats.

    [[nodiscard]] std::uint32_t phase(Rotor rotor) const { return rotor % residence_; }
    [[nodiscard]] bool installs(Rotor rotor, std::uint64_t superslice) const {
        return superslice % residence_ == phase(rotor);
    }
    /// Is the rotor dark in the last part of this superslice?
    [[nodiscard]] bool goes_dark(Rotor rotor, std::uint64_t superslice) const {
        return installs(rotor, superslice + 1);
    }
    [[nodiscard]] std::uint32_t matching_index(Rotor rotor, std::uint64_t superslice) const;
    /// Where uplink `rotor` of `rack` leads, dark or not; `rack` itself if it is idle.
    [[nodiscard]] Rack peer(Rotor rotor, Rack rack, std::uint64_t superslice) const {
        return matchings_[rotor][matching_index(rotor, superslice)][rack];
    }

    enum class Part : std::uint8_t { kEps, kDel, kReconfiguration };
    struct Position {
        std::uint64_t superslice;
        Part part;
        Time begin;  ///< of the superslice
    };
    /// Which part of which superslice holds `time` >= 0; a part includes its start, not its end.
    [[nodiscard]] Position at(Time time) const;

    /// A circuit of an ordered pair of racks: present in superslices first, first + S, …, for g of them.
    struct Installation {
        Rotor rotor;
        std::uint32_t first;  ///< superslice of the cycle, below S
    };
    /// All circuits that join `from` to `to`, which differ, by `first`. O(1).
    [[nodiscard]] std::span<const Installation> installations(Rack from, Rack to) const {
        const std::size_t pair = std::size_t{from} * racks_ + to;
        return std::span(installations_).subspan(first_of_[pair], first_of_[pair + 1] - first_of_[pair]);
    }

private:
    std::uint32_t racks_ = 0;
    std::uint32_t uplinks_ = 0;
    std::uint32_t per_rotor_ = 0;
    std::uint32_t residence_ = 0;
    RotorTiming timing_;
    std::vector<std::vector<Matching>> matchings_;
    std::vector<Installation> installations_;  // by pair
    std::vector<std::uint32_t> first_of_;      // into installations_; pairs + 1
};

}  // namespace astrolabe::network::rotor
