/// Pipeline-parallel training: the workload kind `pipeline` (docs/models/pipeline.md).
///
/// Model. A model is a list of layers. It is cut in p·v parts of consecutive layers for p stages
/// (schedule.hpp). A stage is D replicas of t ranks each; rank i of replica d of stage s is
///
///     (s·D + d)·t + i,    D = ranks / (p·t)
///
/// so that tensor groups are neighbours, then replicas, then stages. `batch` samples of an iteration are
/// split over replicas and micro-batches: b = batch / (D·m) samples a micro-batch.
///
///     forward(layer)  = max(FLOP·b / t / rate, bytes / memory bandwidth)     or as given or measured
///     backward(layer) = twice that, and once more with `recompute`
///     bytes           = parameters·e / t + b·(input + output)·e,   e = element_size
///
/// Inside a tensor group a layer's pass is cut in as many equal pieces as it has `all_reduces`, each followed
/// by an all-reduce of b·output·e bytes that the next piece waits for (Shoeybi et al., "Megatron-LM", 2019,
/// section 3). Between parts every rank sends b·output·e bytes to the rank of its place in the next stage,
/// and as many back for the gradient, one-sided: the stage computes on meanwhile.
///
/// When a part has done its last backward pass of an iteration its gradients are all-reduced over the
/// replicas; with `bucket` in buckets of at least so many bytes, each as soon as the last micro-batch has
/// passed its layers. The first forward pass of the part in the next iteration waits for them.
///
/// Errors: validation_errors. Complexity: O(iterations · m · layers) operations, whatever D and t are.
#pragma once

#include "schedule.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/system/program/program.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::workload {

/// `count` layers that are alike.
struct PipelineLayer {
    std::string name;
    std::int64_t count = 1;
    std::int64_t flops = 0;  ///< of a sample, forward
    std::int64_t parameters = 0;
    std::int64_t output = 0;                      ///< values of a sample that go on to the next layer
    std::optional<Bytes> kept = std::nullopt;     ///< of a sample for the backward pass; unset: its output
    std::int64_t all_reduces = 0;                 ///< of its output in a tensor group, each way
    std::optional<Time> forward = std::nullopt;   ///< of a micro-batch on a rank, instead of computed
    std::optional<Time> backward = std::nullopt;  ///< likewise; unset: twice `forward`, where that is given
};

struct PipelineModel {
    std::vector<PipelineLayer> layers;
    Bytes element_size = Bytes(2);           ///< of values and parameters that are read
    Bytes gradient_element_size = Bytes(2);  ///< of gradients of parameters
};

struct PipelineTraining {
    std::int64_t batch = 0;  ///< samples of an iteration over all replicas
    PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
    std::int64_t stages = 1;
    std::int64_t micro_batches = 1;
    std::int64_t virtual_stages = 1;
    std::int64_t tensor_parallel = 1;
    std::vector<std::int64_t> split = {};  ///< layers of every part; empty: balanced
    bool recompute = false;
    std::optional<Bytes> bucket = std::nullopt;
    Precision precision = Precision::kFp16;
    int iterations = 1;
};

/// Keys are those of the workload section. The second needs that the first finds nothing.
[[nodiscard]] ValidationErrors validation_errors(const PipelineModel& model, const PipelineTraining& training,
                                                 std::size_t ranks);
[[nodiscard]] ValidationErrors size_errors(const PipelineModel& model, const PipelineTraining& training,
                                           const Device& device, std::size_t ranks);
/// Keys are those of the device section.
[[nodiscard]] ValidationErrors validation_errors(const Device& device, const PipelineModel& model,
                                                 const PipelineTraining& training);

/// Layers [first, end) of the list in which every layer is by itself.
struct PipelinePart {
    std::size_t first = 0;
    std::size_t end = 0;
};

/// A job on so many ranks of a device, without validation errors.
class PipelinePlan {
public:
    PipelinePlan(const PipelineModel& model, const PipelineTraining& training, const Device& device,
                 std::size_t ranks);

    [[nodiscard]] const PipelineSize& size() const { return size_; }
    [[nodiscard]] std::size_t ranks() const { return size_.stages * replicas_ * tensor_; }
    [[nodiscard]] std::size_t replicas() const { return replicas_; }
    [[nodiscard]] std::size_t tensor() const { return tensor_; }
    [[nodiscard]] system::RankId rank(std::size_t stage, std::size_t replica, std::size_t place) const {
        return system::RankId((stage * replicas_ + replica) * tensor_ + place);
    }
    /// By number.
    [[nodiscard]] const std::vector<PipelinePart>& parts() const { return parts_; }
    [[nodiscard]] Time forward(std::size_t part) const;
    [[nodiscard]] Time backward(std::size_t part) const;
    /// What a rank sends behind a part, and receives as its gradient.
    [[nodiscard]] Bytes message(std::size_t part) const;
    /// Of gradients of a part on a rank.
    [[nodiscard]] Bytes gradients(std::size_t part) const;
    [[nodiscard]] std::int64_t parameters(std::size_t part) const;
    /// Of a micro-batch on a rank, between the passes of a part.
    [[nodiscard]] Bytes kept(std::size_t part) const;
    /// The largest that a stage keeps at once.
    [[nodiscard]] Bytes most_kept(std::size_t stage) const;

    /// What is computed at a stretch, and the all-reduces behind it.
    struct Piece {
        Time duration{};
        std::optional<Bytes> tensor_all_reduce = std::nullopt;
        std::optional<Bytes> gradients = std::nullopt;  ///< of a bucket whose layers are all passed
    };
    /// With `ends`, the last backward pass of an iteration.
    [[nodiscard]] std::vector<Piece> pieces(std::size_t part, bool is_forward, bool ends) const;

    /// Of an iteration whose messages and all-reduces take no time.
    [[nodiscard]] Time free_network_time() const;
    /// Of a stage in an iteration.
    [[nodiscard]] Time compute(std::size_t stage) const;

private:
    struct Layer {
        const PipelineLayer* model;
        Time forward;
        Time backward;
        Bytes output;     // of a micro-batch
        Bytes gradients;  // of its parameters on a rank
    };

    void add_layers(const PipelineModel& model, const PipelineTraining& training, const Device& device);
    void cut(const PipelineTraining& training);

    PipelineSize size_;
    std::size_t tensor_;
    std::size_t replicas_;
    std::int64_t samples_;  // of a micro-batch
    bool recomputes_;
    std::optional<Bytes> bucket_;
    std::vector<Layer> layers_;
    std::vector<PipelinePart> parts_;
};

[[nodiscard]] system::Program pipeline_program(const PipelinePlan& plan, int iterations);

}  // namespace astrolabe::workload
