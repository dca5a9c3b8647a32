#include "dlrm_cost.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/dlrm_training.hpp>

namespace astrolabe::workload {

namespace {

using system::CollectiveKind;

// PyTorch's sparse gradients carry 64-bit indices.
constexpr std::int64_t kRowIndexBytes = 8;

/// Rows of all tables that `samples` samples touch at most, in values and in bytes with their indices.
struct TouchedRows {
    std::int64_t values = 0;
    Bytes size;
};

TouchedRows touched_rows(const DlrmModel& model, std::int64_t samples) {
    TouchedRows touched;
    for (const EmbeddingTables& tables : model.tables) {
        const std::int64_t rows = tables.count * std::min(samples * tables.pooling, tables.rows);
        touched.values += rows * tables.dimension;
        touched.size += rows * (tables.dimension * model.element_size + Bytes(kRowIndexBytes));
    }
    return touched;
}

class PlanBuilder {
public:
    PlanBuilder(const DlrmModel& model, const DlrmTraining& training, const Device& device, std::size_t ranks)
        : model_(model),
          training_(training),
          cost_(model, training, device, ranks),
          ranks_(static_cast<std::int64_t>(ranks)),
          samples_(local_batch(training, ranks)),
          bottom_(bottom_layers(model)),
          top_(top_layers(model)) {
        plan_.ranks = ranks;
        plan_.iterations = training.iterations;
        world_ = plan_.partitions.push_back(system::Partition::world(ranks));
    }

    [[nodiscard]] TrainingPlan build() && {
        plan_.layers.push_back(embedding());
        for (const MlpLayer& layer : bottom_) {
            plan_.layers.push_back(mlp(layer));
        }
        // Model parallelism exchanges around the interaction even where its compute is not counted.
        if (training_.interaction_time || training_.parallelism == Parallelism::kModel) {
            plan_.layers.push_back(interaction());
        }
        for (const MlpLayer& layer : top_) {
            plan_.layers.push_back(mlp(layer));
        }
        return std::move(plan_);
    }

private:
    [[nodiscard]] LayerCommunication collective(CollectiveKind kind, Bytes size) const {
        return {.kind = kind, .size = size, .partition = world_};
    }

    [[nodiscard]] TrainingLayer embedding() const {
        TrainingLayer layer;
        layer.name = kEmbeddingLayer;
        layer.forward = cost_.lookup();
        if (training_.parallelism == Parallelism::kData) {
            replicate(layer);
            return layer;
        }
        layer.weight_gradient = cost_.embedding_update();
        const Bytes pooled = samples_ * pooled_width(model_) * model_.element_size;
        layer.forward_communication = collective(CollectiveKind::kAllToAll, pooled);
        if (training_.parallelism == Parallelism::kHybrid) {
            layer.input_gradient_communication = collective(CollectiveKind::kAllToAll, pooled);
        }
        return layer;
    }

    void replicate(TrainingLayer& layer) const {
        layer.weight_gradient = cost_.embedding_gradient();
        if (training_.embedding_gradients == EmbeddingGradients::kDense) {
            layer.weight_gradient_communication =
                collective(CollectiveKind::kAllReduce, embedding_size(model_));
            layer.update_delay = cost_.replica_update(embedding_parameters(model_));
        } else {
            const TouchedRows touched = touched_rows(model_, samples_);
            layer.weight_gradient_communication = collective(CollectiveKind::kAllGather, touched.size);
            layer.update_delay = cost_.replica_update(ranks_ * touched.values);
        }
    }

    [[nodiscard]] TrainingLayer mlp(const MlpLayer& description) const {
        const LayerTimes times = cost_.mlp(description);
        TrainingLayer layer{.name = description.name,
                            .forward = *times.forward,
                            .input_gradient = *times.input_gradient,
                            .weight_gradient = *times.weight_gradient};
        const bool is_first_bottom = description.name == bottom_.front().name;
        if (is_first_bottom && !training_.dense_feature_gradient) {
            layer.input_gradient.reset();
        }
        if (training_.parallelism != Parallelism::kModel) {
            layer.weight_gradient_communication = collective(
                CollectiveKind::kAllReduce, description.parameters() * gradient_element_size(model_));
            return layer;
        }
        const bool is_last_bottom = description.name == bottom_.back().name;
        layer.forward_communication =
            collective(is_last_bottom ? CollectiveKind::kAllToAll : CollectiveKind::kAllGather,
                       samples_ * description.output_width * model_.element_size);
        if (!is_first_bottom) {
            layer.input_gradient_communication =
                collective(CollectiveKind::kReduceScatter,
                           ranks_ * samples_ * description.input_width * model_.element_size);
        }
        return layer;
    }

    [[nodiscard]] TrainingLayer interaction() const {
        const LayerTimes times = cost_.interaction();
        TrainingLayer layer{.name = std::string(kInteractionLayer),
                            .forward = *times.forward,
                            .input_gradient = *times.input_gradient};
        if (training_.parallelism == Parallelism::kModel) {
            layer.forward_communication = collective(
                CollectiveKind::kAllGather, samples_ * interaction_width(model_) * model_.element_size);
            layer.input_gradient_communication = collective(
                CollectiveKind::kAllToAll,
                samples_ * (pooled_width(model_) + model_.bottom_mlp.back()) * model_.element_size);
        }
        return layer;
    }

    const DlrmModel& model_;
    const DlrmTraining& training_;
    DlrmCost cost_;
    std::int64_t ranks_;
    std::int64_t samples_;
    std::vector<MlpLayer> bottom_;
    std::vector<MlpLayer> top_;
    TrainingPlan plan_;
    system::PartitionId world_;
};

Time compute_of(const TrainingLayer& layer) {
    const system::RankId any(0);
    const auto time = [any](const std::optional<system::PerRank<Time>>& pass) {
        return pass ? (*pass)[any] : Time(0);
    };
    return layer.forward[any] + time(layer.input_gradient) + time(layer.weight_gradient);
}

}  // namespace

std::int64_t local_batch(const DlrmTraining& training, std::size_t ranks) {
    return training.local_batch ? *training.local_batch
                                : training.global_batch.value() / static_cast<std::int64_t>(ranks);
}

std::vector<ParameterProblem> problems(const DlrmModel& model, const DlrmTraining& training,
                                       const Device& device, std::size_t ranks) {
    constexpr Time kMost = Time::max() / 2;
    detail::Int128 iteration = 0;  // every time by itself saturates, their sum would overflow
    for (const TrainingLayer& layer : PlanBuilder(model, training, device, ranks).build().layers) {
        for (const auto& pass : {std::optional(layer.forward), layer.input_gradient, layer.weight_gradient,
                                 std::optional<system::PerRank<Time>>(layer.update_delay)}) {
            iteration += pass ? (*pass)[system::RankId(0)].count() : 0;
        }
    }
    if (iteration <= kMost.count() / training.iterations) {
        return {};
    }
    const double seconds =
        static_cast<double>(iteration) * training.iterations / static_cast<double>(kPicosecondsPerSecond);
    return {{.key = "",
             .message = fmt::format("{} iterations compute for {:.4g} s, expected at most {}",
                                    training.iterations, seconds, readable(kMost)),
             .hint = "check the units of the device's rates and times, or simulate fewer iterations"}};
}

TrainingPlan dlrm_training_plan(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                                std::size_t ranks) {
    ASTROLABE_ASSERT(problems(model).empty() && problems(training, model, ranks).empty() &&
                         problems(device, training, model).empty() &&
                         problems(model, training, device, ranks).empty(),
                     "the user's problems were reported before");
    return PlanBuilder(model, training, device, ranks).build();
}

system::Program build_dlrm_program(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                                   std::size_t ranks) {
    const TrainingPlan plan = dlrm_training_plan(model, training, device, ranks);
    switch (training.parallelism) {
        case Parallelism::kData:
            return data_loop(plan);
        case Parallelism::kModel:
            return model_loop(plan);
        case Parallelism::kHybrid:
            break;
    }
    return dlrm_loop(plan, model.bottom_mlp.size(), training.embedding_update);
}

DlrmSummary summarise(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                      std::size_t ranks) {
    DlrmSummary summary;
    summary.local_batch = local_batch(training, ranks);
    summary.global_batch = summary.local_batch * static_cast<std::int64_t>(ranks);
    summary.mlp_parameters = mlp_parameters(model);
    summary.embedding_parameters = embedding_parameters(model);
    summary.embedding_size = embedding_size(model);
    for (const TrainingLayer& layer : dlrm_training_plan(model, training, device, ranks).layers) {
        for (const auto* communication : {&layer.forward_communication, &layer.input_gradient_communication,
                                          &layer.weight_gradient_communication}) {
            if (*communication) {
                summary.traffic[static_cast<std::size_t>((*communication)->kind)] += (*communication)->size;
            }
        }
        Time& compute = layer.name == kEmbeddingLayer     ? summary.embedding_compute
                        : layer.name == kInteractionLayer ? summary.interaction_compute
                                                          : summary.mlp_compute;
        compute += compute_of(layer);
    }
    return summary;
}

double all_reduce_to_compute_ratio(const DlrmSummary& summary, Bandwidth rate) {
    const Bytes size = summary.traffic[static_cast<std::size_t>(CollectiveKind::kAllReduce)];
    return to_seconds(2 * size / rate) / to_seconds(summary.mlp_compute);
}

}  // namespace astrolabe::workload
