/// What optimisers keep beside the parameters, and move when they update them.
///
/// Embedding tables (FBGEMM's fused kernels). A row of D values keeps, in fp32, s values for each of its own
/// and r for the row:
///
///     optimiser             s  r   bytes
///     sgd                   0  0   0
///     adagrad               1  0   4·D
///     row_wise_adagrad      0  1   4
///     adam, lamb            2  0   8·D
///     partial_row_wise_adam 1  1   4·D + 4
///
/// An update reads and writes the state of every row that it touches. Memory moves sectors of 32 bytes, so
/// that the 4 bytes of a row cost 32.
///
/// Dense parameters (PyTorch, one kernel after the other for each tensor), bytes moved for a parameter of 4
/// bytes:
///
///     sgd      w - r·g                                             12                                1
///     kernel adagrad  v + g², its root, + epsilon, w - r·g/root           12 + 8 + 8 + 16 = 44 4 adam     m,
///     v·β, + g², root, / bias, + epsilon, w - r·m/root 12 + 8 + 12 + 8 + 8 + 8 + 16 = 72 7
///
/// Sources: pytorch/FBGEMM, fbgemm_gpu/codegen/training; pytorch, torch/optim, the implementations for one
/// tensor. Limits: weights of FP16 with stochastic rounding are not modelled; fused dense optimisers move
/// less.
#pragma once

#include <cstdint>

#include <astrolabe/core/units.hpp>

namespace astrolabe::workload {

enum class EmbeddingOptimizer : std::uint8_t {
    kSgd,
    kAdagrad,
    kRowWiseAdagrad,
    kAdam,
    kLamb,
    kPartialRowWiseAdam
};

inline constexpr Bytes kMemorySector = Bytes(32);

/// State of one row of `columns` columns: what memory holds of it.
[[nodiscard]] Bytes state_of_row(EmbeddingOptimizer optimizer, std::int64_t columns);
/// What reading it once moves, in whole sectors.
[[nodiscard]] Bytes state_access_of_row(EmbeddingOptimizer optimizer, std::int64_t columns);

/// Whether a row has a value of state for itself.
[[nodiscard]] bool has_row_state(EmbeddingOptimizer optimizer);

enum class DenseOptimizer : std::uint8_t { kSgd, kAdagrad, kAdam };

/// Bytes that memory holds for a parameter beside it and its gradient.
[[nodiscard]] Bytes dense_state_of(DenseOptimizer optimizer);
/// Bytes that the update of one parameter moves.
[[nodiscard]] Bytes dense_update_of(DenseOptimizer optimizer);
/// Kernels that PyTorch launches for one tensor.
[[nodiscard]] std::int64_t dense_kernels_of(DenseOptimizer optimizer);

/// `size` in whole sectors.
[[nodiscard]] Bytes in_sectors(Bytes size);

}  // namespace astrolabe::workload
