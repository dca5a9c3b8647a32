/// Schedules written by users: a collective algorithm from a file.
///
///     schema: astrolabe/1
///     kind: all_reduce
///     ranks: 4
///     blocks: 4                      # each a quarter of the collective, whatever its size
///     programs:                      # one per rank, in order; actions count from 0
///       - - {send: 1, blocks: [3]}
///         - {receive: 3, blocks: [2], reduce: true}
///         - {send: 1, blocks: [2], after: [1]}
///         - …
///       - …
///
/// Keys:
///     kind        any collective kind; blocks mean what they mean in schedule.hpp
///     ranks       2 … 4,096; the schedule serves groups of so many ranks and no others
///     blocks      free for all_reduce, broadcast, reduce and point_to_point, by default 1; N under a
///                 symmetry and for reduce_scatter and all_gather, N² for all_to_all
///     symmetry    none (default), rotation or exclusive_or: there is one program, that of rank 0, in which
///                 peers and blocks are relative
///     dimensions  the shape of the groups it serves; by default any of so many ranks
///     stages      list of {dimension, kind}; an action then has a `stage`, 0 by default
///     programs    per rank a list of actions:
///                   send, receive  the peer: one of the two
///                   blocks         a list of blocks; of an all_to_all pairs [source, destination]
///                   after          earlier actions of the rank, and the stage, that must be complete
///                   reduce         of a receive: add to the own blocks instead of replacing them
///
/// A file that is XML is a schedule of MSCCL instead (../msccl/msccl_schedule.hpp).
///
/// A file is read strictly, built and proven (proof.hpp) before it is used. Diagnostics: those of schemas;
/// `schedule.build` where actions do not fit together, at the action; `schedule.proof` where the collective's
/// definition is not met, at the action that shows the first wrong block: where it is wrong only in the end,
/// the last one by which the rank got it.
///
/// Limits: the proof may take 1 GiB, N · blocks · ⌈N/64⌉ words of 8 bytes: an all_to_all of 299 ranks, 512
/// blocks of 4,096 ranks, 8,192 blocks of 1,024 ranks. What it does not find (proof.hpp) is not found here.
#pragma once

#include <filesystem>
#include <memory>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>

namespace astrolabe::system {

[[nodiscard]] Result<std::shared_ptr<const CollectiveAlgorithm>> read_schedule_file(
    const std::filesystem::path& path);

/// The same from what a file holds.
[[nodiscard]] Result<std::shared_ptr<const CollectiveAlgorithm>> read_schedule(const ConfigNode& node);

}  // namespace astrolabe::system
