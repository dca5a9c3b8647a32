/// Time of table-batched embedding kernels, as FBGEMM's move memory: `embedding_time: fbgemm`.
///
/// One call looks up all tables, or shards of tables, that a rank has of one kind of sharding. Of each shard
/// let n be its lookups, u the unique rows among them, b its bags (samples whose sum it writes), D columns of
/// e bytes, o bytes of an output element and its gradient, i of an index (docs/models/embedding-cost.md;
/// pytorch/FBGEMM, fbgemm_gpu/codegen/training). Bytes moved:
///
///     forward    bounds check   n·i + (b + 1)·8
///                rows           n·row [+ 4·n of weights], row = max(D, 32)·e in sectors of 32 bytes
///                indices        n·i + (b + 1)·8
///                output         b·D·o
///     backward   linearise      n·i, and n·(8 + 4) written
///                sort           24·n a pass, ceil(ceil(log2 Σ rows)/8) passes over the keys of all shards
///                run lengths    12·n + 12·u
///                gradients      min(n, b)·D·o: what several lookups of a bag read again hits the cache
///                update         2·u·(D·e and the optimiser's state) in sectors
///                weights        as the rows of the forward pass, where lookups are weighted
///
/// Rows, outputs, gradients and updates go at the device's `lookup.bandwidth` for D columns, the others at
/// the memory's. Eight threads of four values are the fewest that work on a row, so that D < 32 costs as much
/// as 32 columns. A call takes at least the device's `lookup.floor`, its backward pass
/// `lookup.backward_floor`.
///
/// Rows in the host's memory (TableMemory) go over `host_link` instead, n of them forward, and u out and back
/// in the update, both directions at once. Of cached ones (1 - hit_rate)·u are fetched before the lookup,
/// which is `fetch`, while as many go back. State that has a value for each of a row's goes with rows in the
/// host's memory, of cached tables too.
///
/// Limits: runs of a row over 1,024 lookups are reduced by several blocks, whose tail is not modelled;
/// gradients that hit the cache are free; a cache hit in the forward pass, by which a row is read once for
/// several lookups, is not modelled: `lookup.bandwidth` above the memory's stands for it.
#pragma once

#include "../optimizers.hpp"

#include <cstdint>
#include <optional>
#include <span>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/lookup_traits.hpp>

namespace astrolabe::workload {

/// A table, or a part of it, in a call.
struct LookupShard {
    std::int64_t rows = 1;
    std::int64_t columns = 1;      ///< D
    std::int64_t bags = 0;         ///< b
    std::int64_t lookups = 0;      ///< n
    std::int64_t unique_rows = 0;  ///< u
    bool weighted = false;
    TableMemory memory = TableMemory::kHbm;
    double hit_rate = 0;     ///< of kCached
    std::int64_t count = 1;  ///< of shards that are alike
};

/// What all shards of a call have in common.
struct LookupFormat {
    Bytes element = Bytes(4);  ///< e
    Bytes output = Bytes(4);   ///< o
    Bytes index = Bytes(8);    ///< i
    /// None: the rows are written without any state.
    std::optional<EmbeddingOptimizer> optimizer = std::nullopt;
    bool updates = true;  ///< false: the gradients of rows are written, not rows and states
};

struct LookupTimes {
    Time forward;   ///< with `fetch`
    Time fetch;     ///< of the rows that a cache lacks
    Time backward;  ///< sort, reduction and update
};

/// ceil(ceil(log2 keys) / 8), at least 1.
[[nodiscard]] std::int64_t sort_passes(std::int64_t keys);

/// Of one shard by itself, without floors. The device's memory bandwidth must be known, and its host link
/// where rows are in the host's memory.
[[nodiscard]] LookupTimes shard_times(const Device& device, const LookupFormat& format,
                                      const LookupShard& shard, std::int64_t passes);
/// Of a call; nothing where there are no shards.
[[nodiscard]] LookupTimes call_times(const Device& device, const LookupFormat& format,
                                     std::span<const LookupShard> shards);

/// What a shard of `rows` rows of `columns` columns takes: weights and state, and of cached ones the cache
/// with its tables (16 bytes a slot and 4 a row).
struct LookupMemory {
    Bytes device;
    Bytes host;
};
[[nodiscard]] LookupMemory memory_of_shard(const LookupFormat& format, const LookupTraits& traits,
                                           std::int64_t rows, std::int64_t columns);

}  // namespace astrolabe::workload
