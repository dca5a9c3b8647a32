/// How TorchRec trains: what `training: torchrec` asks for.
#pragma once

#include <cstdint>

namespace astrolabe::workload {

/// Which part of which batch the host issues when; torchrec_loop.hpp.
enum class TorchrecPipeline : std::uint8_t {
    kBase,             ///< only the copy of the next batch to the device overlaps
    kSparseDistLite,   ///< input distribution before the forward pass of its own batch
    kSparseDist,       ///< input distribution of the next batch around the forward pass
    kSparseDist2023,   ///< the same behind the forward pass, as TorchRec did in 2023
    kFusedSparseDist,  ///< and lookups of the next batch beside the dense optimizer
    kSemiSync,         ///< and lookups of the next batch between forward and backward pass
    kPrefetch          ///< as kSparseDist, and rows of cached tables fetched for the next batch
};

struct TorchrecTraining {
    TorchrecPipeline pipeline = TorchrecPipeline::kSparseDist;
};

}  // namespace astrolabe::workload
