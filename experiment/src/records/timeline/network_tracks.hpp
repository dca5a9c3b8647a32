/// What the network of a run does of itself over time (network/family.hpp): a thread for each of its tracks.
#pragma once

#include "trace_writer.hpp"

#include <cstdint>

#include <astrolabe/network/family.hpp>

namespace astrolabe::experiment {

/// The marks before `end`, as instants.
void write_marks(const network::Activity& activity, Time end, TraceProcess process, TraceWriter& writer);
[[nodiscard]] std::uint64_t most_bytes_of_marks(const network::Activity& activity);

struct ActivityCoverage {
    std::uint64_t cycles = 0;  ///< that the run comes to
    std::uint64_t shown = 0;
};
/// The spans from 0 to the end of the run, or of as many whole cycles as fit in `bytes`, and no more than are
/// looked through.
ActivityCoverage write_activity(const network::Activity& activity, Time end, std::uint64_t bytes,
                                TraceProcess process, TraceWriter& writer);

}  // namespace astrolabe::experiment
