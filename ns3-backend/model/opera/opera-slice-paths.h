// SPDX-License-Identifier: GPL-2.0-only
#ifndef OPERA_SLICE_PATHS_H
#define OPERA_SLICE_PATHS_H

#include "opera-router.h"
#include "opera-schedule.h"

#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/rack_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{

/**
 * Shortest paths over the circuits that stay to the end of a superslice (Mellette et al., NSDI 2020, section
 * 4.3): at most so many for a pair of racks, one of them at random for each packet. Circuits that failed are
 * left out from the start of the next superslice on. Where all rotors switch together none stays, and there
 * are no paths. The model is that of astrolabe/network/rotor/rack_graph.hpp.
 *
 * Graphs of superslices are made when they are first asked for, O(racks² + edges), and at most 64 MiB of them
 * kept.
 */
class OperaSlicePaths : public OperaPathSource
{
  public:
    /// \param schedule outlives it \param most for a pair, at least 1
    OperaSlicePaths(const OperaSchedule& schedule, std::size_t most, uint64_t seed);

    bool Find(uint64_t superslice, uint32_t from, uint32_t to, std::vector<uint16_t>& uplinks) override;

    /// Links between racks on the longest path of any superslice of a cycle, without failures.
    /// \returns 0 if some pair of racks is not connected in some superslice
    static uint32_t GetMostHops(const OperaSchedule& schedule);

  private:
    using Slice = astrolabe::network::rotor::MeasuredGraph;

    static Slice MakeSlice(const OperaSchedule& schedule, uint64_t superslice);
    const Slice& GetSlice(uint64_t superslice);

    const OperaSchedule& m_schedule;
    std::size_t m_most;
    uint64_t m_seed;
    std::size_t m_capacity;
    std::size_t m_state{0};                      //!< of m_slices
    std::map<uint32_t, Slice> m_slices;          //!< by superslice of the cycle
    astrolabe::network::rotor::PathList m_found; //!< scratch
    astrolabe::RandomStream m_random;
};

} // namespace ns3

#endif /* OPERA_SLICE_PATHS_H */
