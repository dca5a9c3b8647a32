/// How each table is sharded by the defaults and the rules of a sharding, before anything is placed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload {

/// w of `min_partition`, the width of the shards that TorchRec cuts (sharding.hpp).
[[nodiscard]] std::int64_t partition_width(std::int64_t dimension, std::int64_t min_partition);
/// Columns of the i-th of `shards` shards.
[[nodiscard]] std::int64_t columns_of_shard(std::int64_t dimension, std::int64_t shards, std::int64_t i);

[[nodiscard]] bool is_placed_on_ranks(TableSharding kind);
[[nodiscard]] bool is_placed_on_hosts(TableSharding kind);

/// Whether the columns of a table are cut in a number of shards that is chosen.
[[nodiscard]] bool has_shards(TableSharding kind);
/// Shards that a rule cuts a table in; nothing where it needs a number and has none.
[[nodiscard]] std::optional<std::int64_t> shards_of(const Sharding& sharding, const TableRule& rule,
                                                    const EqualTables& table);

/// The model's tables one by one.
[[nodiscard]] std::vector<EqualTables> single_tables(const DlrmModel& model);

/// How a table is sharded, and where it is if a rule places it.
struct Decision {
    TableSharding kind = TableSharding::kTableWise;
    std::int64_t shards = 1;  ///< each on a rank of its own choice; of kGrid on a host
    std::vector<std::int64_t> ranks{};
    std::vector<std::int64_t> hosts{};

    [[nodiscard]] bool is_placed() const {
        return is_placed_on_hosts(kind) ? !hosts.empty() : !is_placed_on_ranks(kind) || !ranks.empty();
    }
};

/// Those of the plan that was read, then those of the file.
[[nodiscard]] std::vector<TableRule> all_rules(const Sharding& sharding);

/// By table. An invalid rule has no effect: `validation_errors` reports it.
[[nodiscard]] std::vector<Decision> decide(const Sharding& sharding, const std::vector<EqualTables>& tables,
                                           Bytes element_size);

}  // namespace astrolabe::workload
