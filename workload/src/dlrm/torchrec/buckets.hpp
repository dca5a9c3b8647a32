/// Buckets of PyTorch's DistributedDataParallel.
///
/// Model (S. Li et al., "PyTorch Distributed: experiences on accelerating data parallel training", VLDB 2020,
/// section 3.2; torch.nn.parallel.distributed). Parameters are taken in reverse order of their registration,
/// which is about the order in which their gradients are ready. A bucket takes parameters until it holds at
/// least its cap; the first bucket has a cap of its own, small, so that its all-reduce starts early. A
/// bucket is all-reduced when all its gradients are there, and after the buckets before it.
///
/// Limits: the order is not rebuilt after the first iteration (PyTorch takes the order in which gradients
/// became ready; within a layer that may exchange weights and bias). Complexity: O(parameters).
#pragma once

#include <cstddef>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload::torchrec {

inline constexpr Bytes kFirstBucket = Bytes(std::int64_t{1} << 20);
inline constexpr Bytes kBucket = Bytes(std::int64_t{25} << 20);

struct DdpBucket {
    std::vector<std::size_t> tensors;  ///< in the order in which they are filled in
    Bytes size;
};

/// `sizes` of the gradients in order of registration.
[[nodiscard]] std::vector<DdpBucket> ddp_buckets(const std::vector<Bytes>& sizes, Bytes first, Bytes cap);

}  // namespace astrolabe::workload::torchrec
