/// Sharding plans as TorchRec has them, in JSON.
///
/// Format (pytorch/torchrec, distributed: ShardingPlan, EmbeddingModuleShardingPlan, ParameterSharding, and
/// ShardMetadata of torch.distributed, field by field):
///
///     {"plan": {"<path of the module>": {"<table>": {
///         "sharding_type": "column_wise", "compute_kernel": "fused", "ranks": [0, 3],
///         "sharding_spec": {"shards": [
///             {"shard_offsets": [0, 0], "shard_sizes": [60, 4], "placement": "rank:0/cuda:0"}, …]}}}}}
///
/// "plan" and the path may be left out. Offsets and sizes are rows, then columns. "ranks" or "sharding_spec"
/// may be null where the other says where the table is, of data_parallel both. Tables are numbered in the
/// order of the file.
///
/// What is read must be what the simulator can simulate, shard by shard: blocks of ceil(R/k) rows, columns
/// cut as columns_of_shard does, table_row_wise and table_column_wise on all ranks of one host, grid_shard on
/// all ranks of hosts, row_wise on all ranks. compute_kernel is "fused" or "dense"; other kernels keep rows
/// outside of the device's memory, which a model says, not a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload::planner {

struct ReadPlan {
    std::vector<ImportedTable> tables;
    std::optional<std::int64_t> ranks_per_host;  ///< where a table lies on a host
};

/// Errors go to the context, with the line.
[[nodiscard]] std::optional<ReadPlan> read_torchrec_plan(const ConfigNode& root, ReadContext& context);

/// Of all tables of a model, named table_0, table_1, …; a plan that reads back to the same places.
[[nodiscard]] nlohmann::ordered_json torchrec_plan(const DlrmModel& model,
                                                   const std::vector<TablePlace>& places, std::size_t ranks,
                                                   std::int64_t ranks_per_host);

}  // namespace astrolabe::workload::planner
