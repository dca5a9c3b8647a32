/// Lists of embedding tables as TorchRec configures them, in JSON.
///
/// Format (pytorch/torchrec, modules/embedding_configs: EmbeddingBagConfig; distributed/planner:
/// ParameterConstraints), a list of
///
///     {"name": "t_0", "num_embeddings": 1000, "embedding_dim": 64, "feature_names": ["f_0"],
///      "pooling_factors": [20]}
///
/// of which name, feature_names and pooling_factors may be left out. A table looks up the sum of its pooling
/// factors, one a feature; where they are left out, one for each feature. What a list has beside these fields
/// (data_type, pooling, init_fn and the like) does not reach costs and is passed over.
///
/// Limits: pooling factors are whole numbers; at most 65,536 tables.
#pragma once

#include <optional>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {

/// The tables as one group with a value each. Errors go to the context, with the line.
[[nodiscard]] std::optional<EmbeddingTables> read_table_list(const ConfigNode& root, ReadContext& context);

}  // namespace astrolabe::workload
