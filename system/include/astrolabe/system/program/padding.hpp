/// Padding: collectives rounded up to sizes that their ranks share in equal blocks.
///
/// S bytes over N ranks leave S mod N blocks one byte larger than the others, so that ranks send different
/// amounts and cannot be folded (folding.hpp). Libraries that shard tensors pad them instead:
/// PyTorch's FSDP appends zeros to a flat parameter until its shards are equal (Zhao et al., "PyTorch FSDP:
/// Experiences on Scaling Fully Sharded Data Parallel", VLDB 2023, section 3.2). With k chunks (chunk_count
/// of the padded size) and N the ranks of the largest group,
///
///     S' = k·N · ⌈S / (k·N)⌉,        S' - S < k·N bytes per rank,
///
/// for every all_reduce, reduce_scatter and all_to_all of more than 0 bytes without sizes by pair. Other
/// collectives have equal blocks, or a root.
#pragma once

#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system {

/// O(operations · groups).
void pad_collectives(Program& program, const SystemOptions& options);

}  // namespace astrolabe::system
