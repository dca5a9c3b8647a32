/// How files give a ReuseHistogram: listed,
///
///     {batch: 65536, lookups_per_row: 6.9, rows: [0.473, 0.152, …], lookups: [0.069, 0.044, …]}
///
/// or from a file of locality statistics as facebookresearch/dlrm_datasets publishes them,
///
///     {file: locality_stats.txt, set: fbgemm_t856_bs65536.pt}
///
/// with sets of lines
///
///     fbgemm_t856_bs65536.pt
///     Locality stats after processing 1 batches of size 65536
///     Avg # of indices: 887017990
///     Avg # of unique cols: 128435723
///     Histogram of col sizes:
///     (0, 1]: 0.473
///     …
///     Ratio of index distribution at different column sizes:
///     (0, 1]: 0.069
///     …
///
/// of which other lines are ignored.
#pragma once

#include <optional>
#include <vector>

#include <astrolabe/core/config/schema.hpp>
#include <astrolabe/workload/dlrm/lookup_traits.hpp>

namespace astrolabe::workload {

[[nodiscard]] std::vector<ParameterDescriptor> reuse_parameters();
[[nodiscard]] std::optional<ReuseHistogram> read_reuse(const ConfigNode& node, ReadContext& context);
/// As listed.
[[nodiscard]] ConfigNode write_reuse(const ReuseHistogram& histogram);

}  // namespace astrolabe::workload
