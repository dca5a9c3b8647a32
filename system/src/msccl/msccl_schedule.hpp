/// A schedule of MSCCL becomes a CollectiveSchedule.
///
/// Model. The file is run over symbols: what a place holds is a block of the collective and the set of GPUs
/// whose contribution is in it. That says which block a scratch place stands for, which receives add, and
/// whether every output ends as the definition of the collective wants it. Then
///     s                   a send after the step before it in its thread block and the step it waits for
///     r                   a receive that stores, or one that adds where its chunks are added later to a sum
///                         that has the GPU's own contribution
///     rcs, rrc, rrs, rrcs a receive, storing or adding, and a send after it
///     cpy, re, nop        nothing but the order that they carry
/// and the schedule is proven as any other (proof.hpp), under many orders. Thread blocks and channels mean
/// nothing else: rings on eight channels are eight flows at once. A block's next step waits until a send is
/// delivered. Chunks that are added later than they arrive count as received when they are added, after
/// everything that is before the addition but the arrival of other such chunks.
///
/// Not said by a schedule, and refused: a GPU that has two different sums of a chunk and uses both.
///
/// Not modelled: proto (LL, LL128, Simple) and its slots, the sizes that a file is meant for (minBytes,
/// maxBytes), the time of local copies.
///
/// Errors: "msccl.file" of what cannot be read or run, "msccl.proof" where the definition is not met; both at
/// the step, named with thread block, GPU and chunk.
///
/// Complexity: that of the proof.
#pragma once

#include "msccl_file.hpp"

#include <memory>

#include <astrolabe/core/result.hpp>
#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system::msccl {

[[nodiscard]] Result<CollectiveSchedule> schedule_of(const std::shared_ptr<const SourceText>& text);

}  // namespace astrolabe::system::msccl
