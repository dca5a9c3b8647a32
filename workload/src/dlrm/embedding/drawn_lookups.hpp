/// Lookups of each rank's samples, drawn where the model says that they vary (PoolingSpread).
#pragma once

#include "../input_distribution.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {

/// The same arguments give the same numbers on every machine. Not for several threads: what was drawn is
/// kept.
class DrawnLookups {
public:
    /// `tables` must outlive the object.
    DrawnLookups(const std::vector<EqualTables>& tables, std::size_t ranks, std::int64_t samples);

    /// Of one rank's samples in a block of a table's rows.
    [[nodiscard]] std::int64_t of_rank(std::size_t rank, std::size_t table, std::int64_t block,
                                       std::int64_t blocks);
    /// Of all ranks' samples.
    [[nodiscard]] std::int64_t of_all(std::size_t table, std::int64_t block, std::int64_t blocks);

private:
    using Blocks = std::vector<std::int64_t>;

    [[nodiscard]] Blocks draw(std::size_t rank, std::size_t table, std::int64_t blocks) const;
    [[nodiscard]] const std::vector<Blocks>& by_rank(std::size_t table, std::int64_t blocks);

    const std::vector<EqualTables>& tables_;
    std::size_t ranks_;
    std::int64_t samples_;
    LookupCount even_;
    std::map<std::pair<std::size_t, std::int64_t>, std::vector<Blocks>> drawn_;  // by table and blocks
    std::map<std::pair<std::size_t, std::int64_t>, Blocks> sums_;
};

/// What index_exchanges asks for. `tables` must outlive what is given back.
[[nodiscard]] LookupCount drawn_lookups(const std::vector<EqualTables>& tables, std::size_t ranks,
                                        std::int64_t samples);

}  // namespace astrolabe::workload
