/// In which order a stage of a pipeline computes its micro-batches.
///
/// Model. p stages, m micro-batches, v parts of the model on every stage (1 but for the interleaved
/// schedule): part c of the p·v parts is on stage c mod p as its ⌊c / p⌋-th. A *step* is the forward or the
/// backward pass of one micro-batch through one part.
///
///   gpipe        all forward passes, then all backward passes (Huang et al., "GPipe: efficient training of
///                giant neural networks using pipeline parallelism", NeurIPS 2019)
///   1f1b         w = min(p - 1 - s, m) forward passes to warm up, then a forward and a backward pass in
///                turn, then the w backward passes that are left; all of an iteration before any of the next
///                (Narayanan et al., "Memory-efficient pipeline-parallel DNN training", ICML 2021, and
///                "Efficient large-scale language model training on GPU clusters using Megatron-LM", SC 2021,
///                section 2.2.1)
///   interleaved  the same with v parts a stage, whose micro-batches go p at a time through a part before the
///                next part takes them (SC 2021, section 2.2.2); w = min(2 (p - 1 - s) + (v - 1) p, m v);
///                m is a multiple of p
///
/// With passes of f and b on every stage (f/v and b/v on every part) and messages that take no time an
/// iteration takes, and is idle for a share of
///
///     gpipe, 1f1b   (m + p - 1) (f + b)          (p - 1) / (m + p - 1)
///     interleaved   (m + (p - 1) / v) (f + b)    (p - 1) / (v m + p - 1)
///
/// In flight, which is between their forward and their backward pass, a stage s has at most
///
///     gpipe         m                             micro-batches
///     1f1b          min(m, p - s)
///     interleaved   min(m v, 2 (p - 1 - s) + (v - 1) p + 1)   of a part each
///
/// Complexity: O(m v) for a stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace astrolabe::workload {

enum class PipelineSchedule : std::uint8_t { kGpipe, kOneForwardOneBackward, kInterleaved };

struct PipelineStep {
    bool is_forward = true;
    std::size_t part = 0;  ///< of all p·v
    std::size_t micro_batch = 0;

    friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};

struct PipelineSize {
    PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
    std::size_t stages = 1;
    std::size_t micro_batches = 1;
    std::size_t parts_per_stage = 1;

    [[nodiscard]] std::size_t parts() const { return stages * parts_per_stage; }
    [[nodiscard]] std::size_t stage_of(std::size_t part) const { return part % stages; }
};

/// Of one iteration, in the order in which the stage computes them. Requires what the schedules do: one part
/// a stage, or of the interleaved one micro-batches in multiples of the stages.
[[nodiscard]] std::vector<PipelineStep> steps_of_stage(const PipelineSize& size, std::size_t stage);

/// The steps of all stages in an order in which each comes after that whose result it needs: that of the part
/// before it (forward) or behind it (backward), or the forward pass of the last part.
[[nodiscard]] std::vector<PipelineStep> steps_in_order(const PipelineSize& size);

/// Micro-batches, of a part each, between forward and backward pass at most.
[[nodiscard]] std::size_t most_in_flight(const std::vector<PipelineStep>& steps_of_a_stage);

}  // namespace astrolabe::workload
