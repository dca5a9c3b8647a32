#include "rank_lookups.hpp"

#include "../../device/conversion.hpp"

#include <utility>

namespace astrolabe::workload {

RankLookups::RankLookups(const DlrmCost& cost, const std::vector<EqualTables>& tables, DrawnLookups& lookups,
                         std::size_t ranks, std::int64_t samples)
    : cost_(cost),
      tables_(tables),
      lookups_(lookups),
      samples_(samples),
      forward_(ranks),
      backward_(ranks),
      calls_(ranks) {}

void RankLookups::add(std::size_t rank, std::size_t table, std::int64_t columns, std::int64_t block,
                      std::int64_t blocks) {
    const EqualTables& description = tables_[table];
    const std::int64_t all = static_cast<std::int64_t>(forward_.size()) * samples_;
    if (cost_.has_kernels()) {
        const RowBlock rows = row_block(description.rows, block, blocks);
        const std::int64_t count = lookups_.of_all(table, block, blocks);
        add_shard(rank, table,
                  {.rows = rows.end - rows.begin,
                   .columns = columns,
                   .bags = all,
                   .lookups = count,
                   .unique_rows = unique_rows(description.traits, rows.end - rows.begin, count, all)});
        return;
    }
    forward_[rank] += cost_.shard_lookup(description, table, columns, all / blocks, blocks);
    backward_[rank] += cost_.shard_update(description, table, columns, all / blocks, blocks);
}

void RankLookups::add_rows(std::size_t table) {
    const auto blocks = static_cast<std::int64_t>(forward_.size());
    if (!cost_.has_kernels()) {  // all blocks are alike
        const EqualTables& description = tables_[table];
        const Time lookup = cost_.shard_lookup(description, table, description.dimension, samples_, blocks);
        const Time update = cost_.shard_update(description, table, description.dimension, samples_, blocks);
        for (std::size_t rank = 0; rank < forward_.size(); ++rank) {
            forward_[rank] += lookup;
            backward_[rank] += update;
        }
        return;
    }
    for (std::int64_t block = 0; block < blocks; ++block) {
        add(static_cast<std::size_t>(block), table, tables_[table].dimension, block, blocks);
    }
}

void RankLookups::add_copies(std::size_t table) {
    const EqualTables& description = tables_[table];
    updates_ = false;
    for (std::size_t rank = 0; rank < forward_.size(); ++rank) {
        if (cost_.has_kernels()) {
            const std::int64_t count = lookups_.of_rank(rank, table, 0, 1);
            add_shard(rank, table,
                      {.rows = description.rows,
                       .columns = description.dimension,
                       .bags = samples_,
                       .lookups = count,
                       .unique_rows = unique_rows(description.traits, description.rows, count, samples_)});
        } else {
            forward_[rank] += cost_.shard_lookup(description, table, description.dimension, samples_, 1);
            backward_[rank] += cost_.replica_gradient(description, table, samples_);
        }
    }
}

void RankLookups::add_shard(std::size_t rank, std::size_t table, LookupShard shard) {
    const LookupTraits& traits = tables_[table].traits;
    shard.weighted = traits.weighted;
    shard.memory = traits.memory;
    shard.hit_rate = traits.cache.hit_rate;
    is_cached_ = is_cached_ || shard.memory == TableMemory::kCached;
    calls_[rank].push_back(shard);
}

RankLookups::Times RankLookups::times() const {
    std::vector<Time> forward = forward_;
    std::vector<Time> backward = backward_;
    std::vector<Time> fetch(calls_.size());
    for (std::size_t rank = 0; rank < calls_.size(); ++rank) {
        const LookupTimes times = cost_.kernel_times(calls_[rank], updates_);
        forward[rank] += times.forward;
        backward[rank] += times.backward;
        fetch[rank] = times.fetch;
    }
    Times all{
        .forward = per_rank(std::move(forward)), .backward = per_rank(std::move(backward)), .fetch = {}};
    if (is_cached_) {
        all.fetch = per_rank(std::move(fetch));
    }
    return all;
}

}  // namespace astrolabe::workload
