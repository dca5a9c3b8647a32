#include "../integer_division.hpp"
#include "pipeline.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {
namespace {

Time product_and_traffic(const PipelineLayer& layer, const Device& device, std::int64_t flops,
                         std::int64_t bytes, Precision precision) {
    Time time;
    if (layer.flops > 0) {
        time = Flops(flops) / device.gemm_rate(precision).value();
    }
    if (device.memory_bandwidth) {
        time = std::max(time, Bytes(bytes) / *device.memory_bandwidth);
    }
    return time;
}

/// Consecutive items cut in parts of at least one, so that the largest sum is as small as can be.
class Cut {
public:
    Cut(std::vector<std::int64_t> costs, std::size_t parts)
        : costs_(std::move(costs)),
          parts_(parts) {
        std::int64_t low = *std::ranges::max_element(costs_);
        std::int64_t high = std::accumulate(costs_.begin(), costs_.end(), std::int64_t{0});
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (is_enough(0, parts_, middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        limit_ = low;
    }

    /// Each part ends when it has its share of what is left, where the rest can then be cut as well.
    [[nodiscard]] std::vector<PipelinePart> parts() const {
        std::vector<PipelinePart> parts;
        std::int64_t left = std::accumulate(costs_.begin(), costs_.end(), std::int64_t{0});
        std::size_t next = 0;
        for (std::size_t part = 0; part < parts_; ++part) {
            const std::size_t behind = parts_ - part - 1;
            const std::size_t first = next;
            std::int64_t sum = costs_[next++];
            while (next + behind < costs_.size() && sum + costs_[next] <= limit_) {
                const bool has_share = sum >= divide_up(left, static_cast<std::int64_t>(behind) + 1);
                if (has_share && behind > 0 && is_enough(next, behind, limit_)) {
                    break;
                }
                sum += costs_[next++];
            }
            left -= sum;
            parts.push_back({first, next});
        }
        ASTROLABE_ASSERT(next == costs_.size(), "every layer is in a part");
        return parts;
    }

private:
    [[nodiscard]] bool is_enough(std::size_t first, std::size_t parts, std::int64_t limit) const {
        std::size_t needed = 1;
        std::int64_t sum = 0;
        for (std::size_t item = first; item < costs_.size(); ++item) {
            if (sum + costs_[item] > limit) {
                ++needed;
                sum = 0;
            }
            sum += costs_[item];
        }
        return needed <= parts;
    }

    std::vector<std::int64_t> costs_;
    std::size_t parts_;
    std::int64_t limit_ = 0;
};

}  // namespace

PipelinePlan::PipelinePlan(const PipelineModel& model, const PipelineTraining& training, const Device& device,
                           std::size_t ranks)
    : size_{training.schedule, static_cast<std::size_t>(training.stages),
            static_cast<std::size_t>(training.micro_batches),
            static_cast<std::size_t>(training.virtual_stages)},
      tensor_(static_cast<std::size_t>(training.tensor_parallel)),
      replicas_(ranks / (size_.stages * tensor_)),
      samples_(training.batch / (training.micro_batches * static_cast<std::int64_t>(replicas_))),
      recomputes_(training.recompute),
      bucket_(training.bucket) {
    add_layers(model, training, device);
    cut(training);
}

void PipelinePlan::add_layers(const PipelineModel& model, const PipelineTraining& training,
                              const Device& device) {
    const auto tensor = static_cast<std::int64_t>(tensor_);
    const std::int64_t element = model.element_size.count();
    std::int64_t input = 0;
    for (const PipelineLayer& layer : model.layers) {
        for (std::int64_t repeat = 0; repeat < layer.count; ++repeat) {
            const std::int64_t flops = divide_up(layer.flops * samples_, tensor);
            const std::int64_t own = divide_up(layer.parameters, tensor);
            const std::int64_t bytes = own * element + samples_ * (input + layer.output) * element;
            Layer& added = layers_.emplace_back();
            added.model = &layer;
            const auto measured = [&](std::optional<MeasuredTime> LayerTimes::*pass) {
                return device.measured_time(layer.name, pass, samples_);
            };
            if (layer.forward) {
                added.forward = *layer.forward;
            } else {
                added.forward =
                    measured(&LayerTimes::forward)
                        .value_or(product_and_traffic(layer, device, flops, bytes, training.precision));
            }
            const std::optional<Time> input_gradient = measured(&LayerTimes::input_gradient);
            const std::optional<Time> weight_gradient = measured(&LayerTimes::weight_gradient);
            if (layer.backward) {
                added.backward = *layer.backward;
            } else if (!layer.forward && (input_gradient || weight_gradient)) {
                added.backward = input_gradient.value_or(Time(0)) + weight_gradient.value_or(Time(0));
            } else {
                added.backward = 2 * added.forward;
            }
            if (training.recompute) {
                added.backward += added.forward;
            }
            added.output = samples_ * layer.output * model.element_size;
            added.gradients = own * model.gradient_element_size;
            input = layer.output;
        }
    }
}

void PipelinePlan::cut(const PipelineTraining& training) {
    if (training.split.empty()) {
        std::vector<std::int64_t> costs;
        for (const Layer& layer : layers_) {
            costs.push_back((layer.forward + layer.backward).count());
        }
        parts_ = Cut(std::move(costs), size_.parts()).parts();
        return;
    }
    std::size_t next = 0;
    for (const std::int64_t layers : training.split) {
        parts_.push_back({next, next + static_cast<std::size_t>(layers)});
        next = parts_.back().end;
    }
}

Time PipelinePlan::forward(std::size_t part) const {
    Time time;
    for (std::size_t layer = parts_[part].first; layer < parts_[part].end; ++layer) {
        time += layers_[layer].forward;
    }
    return time;
}

Time PipelinePlan::backward(std::size_t part) const {
    Time time;
    for (std::size_t layer = parts_[part].first; layer < parts_[part].end; ++layer) {
        time += layers_[layer].backward;
    }
    return time;
}

Bytes PipelinePlan::message(std::size_t part) const {
    return layers_[parts_[part].end - 1].output;
}

Bytes PipelinePlan::gradients(std::size_t part) const {
    Bytes bytes;
    for (std::size_t layer = parts_[part].first; layer < parts_[part].end; ++layer) {
        bytes += layers_[layer].gradients;
    }
    return bytes;
}

std::int64_t PipelinePlan::parameters(std::size_t part) const {
    std::int64_t parameters = 0;
    for (std::size_t layer = parts_[part].first; layer < parts_[part].end; ++layer) {
        parameters += layers_[layer].model->parameters;
    }
    return parameters;
}

Bytes PipelinePlan::kept(std::size_t part) const {
    Bytes bytes;
    if (recomputes_) {
        return part > 0 ? message(part - 1) : bytes;
    }
    for (std::size_t layer = parts_[part].first; layer < parts_[part].end; ++layer) {
        const std::optional<Bytes>& kept = layers_[layer].model->kept;
        bytes += kept ? Bytes(divide_up(kept->count() * samples_, static_cast<std::int64_t>(tensor_)))
                      : layers_[layer].output;
    }
    return bytes;
}

Bytes PipelinePlan::most_kept(std::size_t stage) const {
    Bytes now;
    Bytes most;
    for (const PipelineStep& step : steps_of_stage(size_, stage)) {
        if (step.is_forward) {
            now += kept(step.part);
            most = std::max(most, now);
        } else {
            now -= kept(step.part);
        }
    }
    return most;
}

std::vector<PipelinePlan::Piece> PipelinePlan::pieces(std::size_t part, bool is_forward, bool ends) const {
    std::vector<Piece> pieces(1);
    Bytes bucket;
    const auto [first, end] = parts_[part];
    for (std::size_t i = first; i < end; ++i) {
        const Layer& layer = layers_[is_forward ? i : end - 1 - (i - first)];
        const Time time = is_forward ? layer.forward : layer.backward;
        const std::int64_t all_reduces = tensor_ > 1 ? layer.model->all_reduces : 0;
        if (all_reduces == 0) {
            pieces.back().duration += time;
        }
        for (std::int64_t number = 0; number < all_reduces; ++number) {
            pieces.back().duration += time / all_reduces + Time(number < time.count() % all_reduces ? 1 : 0);
            pieces.back().tensor_all_reduce = layer.output;
            pieces.emplace_back();
        }
        bucket += layer.gradients;
        const bool is_last = i + 1 == end;
        if (ends && bucket > Bytes(0) && (is_last || (bucket_ && bucket >= *bucket_))) {
            // The all-reduce of the pass through the layer is behind its gradients, in a piece of its own.
            Piece& complete = all_reduces > 0 ? pieces[pieces.size() - 2] : pieces.back();
            complete.gradients = complete.gradients.value_or(Bytes(0)) + bucket;
            bucket = Bytes(0);
            if (all_reduces == 0) {
                pieces.emplace_back();
            }
        }
    }
    if (pieces.size() > 1 && pieces.back().duration == Time(0) && !pieces.back().tensor_all_reduce) {
        pieces.pop_back();
    }
    return pieces;
}

Time PipelinePlan::free_network_time() const {
    std::vector<Time> stage_end(size_.stages);
    std::vector<std::vector<Time>> forward_end(size_.parts(), std::vector<Time>(size_.micro_batches));
    std::vector<std::vector<Time>> backward_end = forward_end;
    for (const PipelineStep& step : steps_in_order(size_)) {
        Time& end = stage_end[size_.stage_of(step.part)];
        const bool is_last = step.part + 1 == size_.parts();
        if (step.is_forward) {
            const Time ready = step.part == 0 ? Time(0) : forward_end[step.part - 1][step.micro_batch];
            end = std::max(end, ready) + forward(step.part);
            forward_end[step.part][step.micro_batch] = end;
        } else {
            const Time ready = is_last ? forward_end[step.part][step.micro_batch]
                                       : backward_end[step.part + 1][step.micro_batch];
            end = std::max(end, ready) + backward(step.part);
            backward_end[step.part][step.micro_batch] = end;
        }
    }
    return *std::ranges::max_element(stage_end);
}

Time PipelinePlan::compute(std::size_t stage) const {
    Time time;
    for (std::size_t part = stage; part < size_.parts(); part += size_.stages) {
        time += (forward(part) + backward(part)) * size_.micro_batches;
    }
    return time;
}

}  // namespace astrolabe::workload
