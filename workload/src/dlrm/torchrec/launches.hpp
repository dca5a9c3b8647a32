/// How many kernels PyTorch, TorchRec and FBGEMM launch for each part of an iteration.
///
/// Counted in the trace of a step on 8 V100 (facebookresearch/param, dlrm_kineto.tar.gz, rank 0, September
/// 2023), without collectives, by the operator that launched them:
///
///     part                              forward                          backward
///     dense layer                       product, activation              activation, two products, bias
///     - without activation (the last)   copy, product, reduction of it   two products, bias
///     - each of its tensors                                              copy into its bucket
///     dot interaction                   5, two blocking copies           13, two blocking copies
///     loss                              16                               6
///     lookup of a kind of sharding      8, bounds check included         14: sort, reduction, update
///     lookup of replicated tables       6                                15
///     pooled embeddings, N ranks        2: concatenation                 N + 2: splitting by rank
///                                                                        1: division by N
///     input of a kind                   7: permutation, before           9: permutation, after the exchange
///     splits                            1
///     dense optimizer                   4 for each tensor (Adagrad)
///
/// For that model of 3 and 4 layers this makes 61 forward (63 in the trace: cuBLAS cut two products), 8 of
/// the input (8), 100 backward (102, again two products cut) and 64 of the optimizer (64). Not in the trace,
/// and counted by operators instead: cross layers (a product for each matrix, ∘ and +; backward their
/// gradients), the bucketing of indices by rows (5), concatenation (1 and 2), the fetch of a cache's missing
/// rows (8).
///
/// Limits: small products that cuBLAS cuts along k launch one kernel more; a graph would launch once.
#pragma once

#include <cstddef>
#include <cstdint>

#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload::torchrec {

/// Of a dense layer; `is_last`: without activation.
[[nodiscard]] std::int64_t forward_launches(const MlpLayer& layer, bool is_last);
[[nodiscard]] std::int64_t input_gradient_launches(const MlpLayer& layer, bool is_last);
[[nodiscard]] std::int64_t weight_gradient_launches(const MlpLayer& layer, bool has_input_gradient,
                                                    bool is_last);
/// Tensors of a dense layer's parameters.
[[nodiscard]] std::int64_t tensors_of(const MlpLayer& layer);

/// Of the interaction, before and after the point at which the host blocks.
struct InteractionLaunches {
    std::int64_t before = 0;
    std::int64_t after = 0;
    std::int64_t blocking_copies = 0;
};
[[nodiscard]] InteractionLaunches forward_launches(Interaction interaction);
[[nodiscard]] InteractionLaunches backward_launches(Interaction interaction);

inline constexpr std::int64_t kLossForward = 16;
inline constexpr std::int64_t kLossBackward = 6;
inline constexpr std::int64_t kLookup = 8;
inline constexpr std::int64_t kUpdate = 14;
inline constexpr std::int64_t kReplicaLookup = 6;
inline constexpr std::int64_t kReplicaGradient = 15;
inline constexpr std::int64_t kConcatenation = 1;  ///< of a kind's blocks, and of the kinds
inline constexpr std::int64_t kDivision = 1;
inline constexpr std::int64_t kConversion = 1;  ///< into a wire format, or back
inline constexpr std::int64_t kInputAfter = 9;
inline constexpr std::int64_t kSplits = 1;
inline constexpr std::int64_t kFetch = 8;

/// Of the pooled gradients into the blocks of `ranks` ranks.
[[nodiscard]] std::int64_t splitting_launches(std::size_t ranks);
/// Of the permutation of a kind's indices before they are sent.
[[nodiscard]] std::int64_t input_launches(TableSharding kind);

}  // namespace astrolabe::workload::torchrec
