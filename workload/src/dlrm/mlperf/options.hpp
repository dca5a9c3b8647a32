/// What `training: mlperf` asks for.
#pragma once

#include <cstdint>
#include <optional>

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload {

struct MlperfTraining {
    std::optional<std::int64_t> ranks_per_host = std::nullopt;  ///< unset: all ranks on one host
    /// Weights and state of a table; smaller ones are replicated. Unset: 8 MB, on 8 hosts and more 12.5 MB.
    std::optional<Bytes> replicate_below = std::nullopt;
    Bytes memory = Bytes(60'000'000'000);  ///< that a rank has for tables
    /// Of memory to exchange, which the plan weighs lookups and shards with. Unset: 7, on several hosts 67.
    std::optional<double> bandwidth_ratio = std::nullopt;
};

}  // namespace astrolabe::workload
