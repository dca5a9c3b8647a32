/// A schedule in the XML of MSCCL, for NCCL's interpreter and others that read it.
///
/// Model. Every message is a step `s` at its sender and `r` or `rrc` at its receiver. The messages of a pair
/// of ranks share a connection, with a thread block for each end, where the schedule keeps them in order
/// anyway: where the later one cannot be sent before the earlier one has arrived, nor received before it has
/// been received. Where all ranks have one program that is meant of ranks that keep step. Others go over
/// further channels, so that nothing waits that need not. What a step waits for is its dependency, several
/// are steps `nop` before it; the stages of a schedule follow each other by such steps. Blocks that are not
/// neighbours in their buffer go through the scratch buffer: `cpy` before the send, `cpy` or `re` after the
/// receive. An all_to_all is written out of place, everything else in place.
///
/// Read back (msccl_schedule.hpp), messages, sizes and longest chain are the same, and so is the time on a
/// network on which all ranks are alike; of a schedule with one program for all ranks, elsewhere a later
/// message of a connection may wait for an earlier one.
///
/// Limits: no point_to_point, for which MSCCL has no collective; at most 32,768 actions, of one rank where
/// all have one program, of all ranks together elsewhere (128 MiB to tell which message is before which).
#pragma once

#include <optional>
#include <string>

#include <astrolabe/system/schedule/schedule.hpp>

namespace astrolabe::system {

/// Why `schedule` cannot be written, or nothing if it can.
[[nodiscard]] std::optional<std::string> unsupported_by_msccl(const CollectiveSchedule& schedule);

/// The file. `name` is that of the algorithm in it. Precondition: supported.
[[nodiscard]] std::string msccl_text(const CollectiveSchedule& schedule, const std::string& name);

}  // namespace astrolabe::system
