/// Lookups and updates of the ranks, of tables that are sharded in one way.
#pragma once

#include "../dlrm_cost.hpp"
#include "drawn_lookups.hpp"
#include "embedding_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {

class RankLookups {
public:
    /// The references must outlive the object. `lookups` are those of `tables`.
    RankLookups(const DlrmCost& cost, const std::vector<EqualTables>& tables, DrawnLookups& lookups,
                std::size_t ranks, std::int64_t samples);

    /// A rank holds `columns` columns of block `block` of `blocks` of a table's rows, for all samples.
    void add(std::size_t rank, std::size_t table, std::int64_t columns, std::int64_t block,
             std::int64_t blocks);
    /// Every rank holds its block of a table's rows.
    void add_rows(std::size_t table);
    /// Every rank holds a copy of a table for its own samples, and writes gradients for rows.
    void add_copies(std::size_t table);

    struct Times {
        system::PerRank<Time> forward;
        system::PerRank<Time> backward;
        std::optional<system::PerRank<Time>> fetch;  ///< of `forward`; none where no table is cached
    };
    [[nodiscard]] Times times() const;

private:
    void add_shard(std::size_t rank, std::size_t table, LookupShard shard);

    const DlrmCost& cost_;
    const std::vector<EqualTables>& tables_;
    DrawnLookups& lookups_;
    std::int64_t samples_;  // of a rank
    std::vector<Time> forward_;
    std::vector<Time> backward_;
    std::vector<std::vector<LookupShard>> calls_;  // by rank, where kernels are modelled
    bool updates_ = true;
    bool is_cached_ = false;
};

}  // namespace astrolabe::workload
