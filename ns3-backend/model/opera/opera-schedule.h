// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_SCHEDULE_H
#define OPERA_SCHEDULE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * Which racks each rotor switch connects, and when (Mellette et al., "Expanding across time to deliver
 * bandwidth efficiency and low latency", NSDI 2020, section 3).
 *
 * A matching names the rack each rack is connected to, itself where it is left out; it is its own inverse.
 * Time is cut into superslices of length T = eps + del + r. A rotor installs its matchings one after the
 * other, each for `residence` superslices, and is dark for the last r of them; those with the same number
 * modulo `residence` switch together. Bulk traffic may use a circuit for (residence - 1) T + eps from its
 * installation; in what is left, it drains.
 *
 * Circuits may fail: from a time on other matchings stand for the first ones, in which racks idle whose
 * circuits are no more. The time between two failures is a state, from 0 at the start.
 *
 * All times in ps, from 0. The last superslice and the last state that were asked for are remembered, so that
 * asking about times of one superslice in a row divides nothing.
 */
class OperaSchedule
{
  public:
    using Matching = std::vector<uint32_t>;

    struct Timing
    {
        int64_t eps; //!< ps
        int64_t del; //!< ps
        int64_t r;   //!< ps
    };

    /// Nothing, until it is assigned to.
    OperaSchedule() = default;
    /// \param matchings of each rotor, by order of installation; as many of each, over the same racks
    /// \param groups of rotors, each of which switches one at a time; a divisor of their number
    OperaSchedule(std::vector<std::vector<Matching>> matchings, uint32_t groups, Timing timing);

    /// From `when` on, which is after all earlier failures, these matchings. \param matchings as many as at
    /// the start; where they are not the same, a rack idles instead
    void Fail(int64_t when, const std::vector<std::vector<Matching>>& matchings);

    /// All pairs of `racks`, once each: matching m connects x with (m - x) mod racks. Rotor a has matchings
    /// a·racks/rotors and on. Regular, so that its slices are poor expanders: for bulk traffic.
    static std::vector<std::vector<Matching>> MakeCyclicMatchings(uint32_t racks, uint32_t rotors);

    uint32_t GetRacks() const
    {
        return m_racks;
    }

    uint32_t GetRotors() const
    {
        return m_rotors;
    }

    uint32_t GetMatchingsPerRotor() const
    {
        return m_perRotor;
    }

    uint32_t GetResidence() const
    {
        return m_residence;
    }

    /// Of a superslice, T.
    int64_t GetLength() const
    {
        return m_superslice;
    }

    /// Of a cycle.
    uint32_t GetSuperslices() const
    {
        return m_residence * m_perRotor;
    }

    int64_t GetBulkSlot() const
    {
        return m_superslice * (m_residence - 1) + m_eps;
    }

    uint64_t GetSuperslice(int64_t when) const
    {
        if (when < m_begin || when - m_begin >= m_superslice)
        {
            m_current = static_cast<uint64_t>(when / m_superslice);
            m_begin = static_cast<int64_t>(m_current) * m_superslice;
        }
        return m_current;
    }

    bool IsInstalled(uint32_t rotor, uint64_t superslice) const //!< at its start
    {
        return superslice % m_residence == rotor % m_residence;
    }

    uint32_t GetMatchingIndex(uint32_t rotor, uint64_t superslice) const
    {
        const uint64_t cycle = uint64_t{m_residence} * m_perRotor;
        return static_cast<uint32_t>((superslice + cycle - rotor % m_residence) % cycle / m_residence);
    }

    bool IsDark(uint32_t rotor, int64_t when) const
    {
        const uint64_t superslice = GetSuperslice(when);
        return when - m_begin >= m_carries && IsInstalled(rotor, superslice + 1);
    }

    /// Where a circuit leads at a time, whether it is installed then or not.
    uint32_t GetPeer(uint32_t rotor, uint32_t matching, uint32_t rack, int64_t when) const
    {
        return m_states[GetState(when)].peers[(std::size_t{rotor} * m_perRotor + matching) * m_racks + rack];
    }

    std::size_t GetState(int64_t when) const
    {
        if (when < m_states[m_state].from ||
            (m_state + 1 < m_states.size() && when >= m_states[m_state + 1].from))
        {
            FindState(when);
        }
        return m_state;
    }

    /// When a state begins, ps.
    int64_t GetStart(std::size_t state) const
    {
        return m_states[state].from;
    }

    /// Matchings as they are in the last state.
    std::vector<std::vector<Matching>> GetMatchings() const;

  private:
    struct State
    {
        int64_t from;                //!< ps
        std::vector<uint32_t> peers; //!< by rotor, matching, rack
    };

    std::vector<uint32_t> JoinMatchings(const std::vector<std::vector<Matching>>& matchings) const;
    void FindState(int64_t when) const;

    uint32_t m_racks{0};
    uint32_t m_rotors{0};
    uint32_t m_perRotor{0};
    uint32_t m_residence{1};
    int64_t m_superslice{1};
    int64_t m_carries{0}; //!< eps + del
    int64_t m_eps{0};
    std::vector<State> m_states; //!< by time
    mutable std::size_t m_state{0};
    mutable uint64_t m_current{0};
    mutable int64_t m_begin{0};
};

} // namespace ns3

#endif /* OPERA_SCHEDULE_H */
