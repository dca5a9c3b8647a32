#include "dlrm_training.hpp"

#include "../device/conversion.hpp"
#include "../integer_division.hpp"
#include "dlrm_cost.hpp"
#include "embedding/drawn_lookups.hpp"
#include "embedding_layers.hpp"
#include "input_distribution.hpp"
#include "mlperf/mlperf.hpp"
#include "planner/memory_use.hpp"
#include "planner/placed_tables.hpp"
#include "sharding_decisions.hpp"
#include "torchrec/torchrec.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/dlrm/sharding_names.hpp>

namespace astrolabe::workload {

namespace {

using system::CollectiveKind;

class PlanBuilder {
public:
    /// `sharding` is there where the embeddings' is not balanced.
    PlanBuilder(const DlrmModel& model, const DlrmTraining& training, const Device& device, std::size_t ranks,
                const std::optional<ShardingPlan>& sharding)
        : model_(model),
          training_(training),
          device_(device),
          sharding_(sharding),
          cost_(model, training, device, ranks),
          ranks_(static_cast<std::int64_t>(ranks)),
          samples_(local_batch(training, ranks)),
          bottom_(bottom_layers(model)),
          cross_(cross_layers(model)),
          top_(top_layers(model)) {
        plan_.ranks = ranks;
        plan_.iterations = training.iterations;
        plan_.prefetch = training.parameter_prefetch.value_or(1);
        world_ = plan_.partitions.push_back(system::Partition::world(ranks));
    }

    [[nodiscard]] TrainingPlan build() && {
        add_embeddings();
        for (const MlpLayer& layer : bottom_) {
            plan_.layers.push_back(mlp(layer));
        }
        // Model parallelism exchanges around the interaction even where its compute is not counted.
        if (training_.interaction_time || training_.parallelism == Parallelism::kModel) {
            plan_.layers.push_back(interaction());
        }
        for (const auto* layers : {&cross_, &top_}) {
            for (const MlpLayer& layer : *layers) {
                plan_.layers.push_back(mlp(layer));
            }
        }
        set_priorities();
        if (training_.gradient_buckets) {
            fill_buckets(*training_.gradient_buckets);
        }
        return std::move(plan_);
    }

private:
    [[nodiscard]] LayerCommunication collective(CollectiveKind kind, Bytes size) const {
        return {.kind = kind, .size = size, .partition = world_};
    }

    [[nodiscard]] LayerCommunication exchanged(CollectiveKind kind, const Payload& held,
                                               const Payload& received) const {
        return converted(collective(kind, held.size()), held, received, device_);
    }

    void add_embeddings() {
        EmbeddingLayers embeddings(model_, training_, device_, cost_, plan_, world_);
        if (training_.parallelism == Parallelism::kData) {
            plan_.layers.push_back(embeddings.replicated());
        } else if (sharding_) {
            plan_.layers = embeddings.sharded(*sharding_);
            if (training_.sharding.input_distribution) {
                distribute_input(*training_.sharding.input_distribution);
            }
        } else {
            plan_.layers.push_back(embeddings.balanced());
        }
    }

    /// One collective after the other: splits, then lengths and values of each kind of sharding.
    void distribute_input(const InputDistribution& input) {
        const std::vector<IndexExchange> exchanges =
            index_exchanges(*sharding_, places_of(*sharding_), samples_, input,
                            drawn_lookups(sharding_->tables, sharding_->ranks, samples_));
        if (exchanges.empty()) {
            return;
        }
        LayerCommunication splits =
            collective(CollectiveKind::kAllToAll, ranks_ * split_bytes(exchanges.size()));
        splits.stage = "splits";
        for (const IndexExchange& exchange : exchanges) {
            for (const auto& [what, sizes] :
                 {std::pair("lengths", &exchange.lengths), std::pair("values", &exchange.values)}) {
                LayerCommunication stage = collective(CollectiveKind::kAllToAll, sizes->largest_held());
                stage.stage = fmt::format("{}.{}", ValueTraits<TableSharding>::format(exchange.kind), what);
                stage.pair_sizes =
                    std::make_shared<const std::vector<system::PairSizes>>(std::size_t{1}, *sizes);
                splits.then.push_back(std::move(stage));
            }
        }
        plan_.input = std::move(splits);
        plan_.input_ahead = input.ahead;
    }

    [[nodiscard]] TrainingLayer mlp(const MlpLayer& description) const {
        const PassTimes times = cost_.mlp(description);
        TrainingLayer layer{.name = description.name,
                            .forward = *times.forward,
                            .input_gradient = *times.input_gradient,
                            .weight_gradient = *times.weight_gradient};
        const bool is_first_bottom = description.name == bottom_.front().name;
        if (is_first_bottom && !training_.dense_feature_gradient) {
            layer.input_gradient.reset();
        }
        if (training_.dense_optimizer) {
            layer.optimizer_step = cost_.dense_update(description);
        }
        if (training_.parallelism != Parallelism::kModel) {
            exchange_gradients(layer, description);
            return layer;
        }
        const bool is_last_bottom = description.name == bottom_.back().name;
        layer.forward_communication =
            collective(is_last_bottom ? CollectiveKind::kAllToAll : CollectiveKind::kAllGather,
                       samples_ * description.output_width * activation_element_size(model_));
        if (!is_first_bottom) {
            layer.input_gradient_communication =
                collective(CollectiveKind::kReduceScatter,
                           ranks_ * samples_ * description.input_width * activation_element_size(model_));
        }
        return layer;
    }

    void exchange_gradients(TrainingLayer& layer, const MlpLayer& description) const {
        const Payload gradients{.values = description.parameters(),
                                .rows = description.output_width,
                                .element_size = gradient_element_size(model_),
                                .format = training_.wire_formats.all_reduce};
        if (training_.dense_sharding == DenseSharding::kReplicated) {
            layer.weight_gradient_communication = exchanged(CollectiveKind::kAllReduce, gradients, gradients);
            return;
        }
        const auto part = [&](Bytes element_size, std::optional<WireFormat> format) {
            return Payload{.values = divide_up(description.parameters(), ranks_),
                           .rows = divide_up(description.output_width, ranks_),
                           .element_size = element_size,
                           .format = format};
        };
        const auto whole = [this](Payload payload) {
            payload.values *= ranks_;
            payload.rows *= ranks_;
            return payload;
        };
        const Payload parameters = part(model_.element_size, training_.wire_formats.parameter_all_gather);
        layer.parameter_gather = exchanged(CollectiveKind::kAllGather, parameters, whole(parameters));
        const Payload reduced =
            part(gradient_element_size(model_), training_.wire_formats.gradient_reduce_scatter);
        layer.weight_gradient_communication =
            exchanged(CollectiveKind::kReduceScatter, whole(reduced), reduced);
    }

    void set_priorities() {
        for (TrainingLayer& layer : plan_.layers) {
            const auto given = training_.priorities.find(layer.name);
            if (given != training_.priorities.end()) {
                layer.priority = given->second;
            }
        }
    }

    /// Cuts the all-reduced layers, in the order asked for, after each that fills its bucket.
    void fill_buckets(const GradientBuckets& buckets) {
        std::vector<std::size_t> order;
        for (std::size_t layer = 0; layer < plan_.layers.size(); ++layer) {
            const TrainingLayer& candidate = plan_.layers[layer];
            if (!is_embedding(candidate.name) && candidate.weight_gradient_communication) {
                order.push_back(layer);
            }
        }
        if (buckets.order == BucketOrder::kReverse) {
            std::reverse(order.begin(), order.end());
        }
        bool is_full = true;
        Bytes unpacked;
        for (const std::size_t index : order) {
            if (is_full) {
                plan_.buckets.push_back({.name = fmt::format("Bucket_{}", plan_.buckets.size()),
                                         .layers = {},
                                         .communication = collective(CollectiveKind::kAllReduce, Bytes(0))});
                unpacked = Bytes(0);
            }
            unpacked += gradients_of(plan_.layers[index].name);
            put_in_bucket(index);
            is_full =
                unpacked >= (plan_.buckets.size() == 1 ? buckets.first.value_or(buckets.size) : buckets.size);
        }
    }

    /// As computed, before any conversion.
    [[nodiscard]] Bytes gradients_of(const std::string& name) const {
        for (const auto* layers : {&bottom_, &cross_, &top_}) {
            for (const MlpLayer& layer : *layers) {
                if (layer.name == name) {
                    return layer.parameters() * gradient_element_size(model_);
                }
            }
        }
        ASTROLABE_ASSERT(false, "only MLP layers have buckets");
    }

    void put_in_bucket(std::size_t index) {
        TrainingLayer& layer = plan_.layers[index];
        GradientBucket& bucket = plan_.buckets.back();
        layer.bucket = plan_.buckets.size() - 1;
        bucket.layers.push_back(index);
        const LayerCommunication own = *std::exchange(layer.weight_gradient_communication, std::nullopt);
        bucket.communication.size += own.size;
        const auto add = [](std::optional<system::PerRank<Time>>& sum,
                            const std::optional<system::PerRank<Time>>& time) {
            if (time) {
                const system::RankId any(0);
                sum = (sum ? (*sum)[any] : Time(0)) + (*time)[any];
            }
        };
        add(bucket.communication.encode, own.encode);
        add(bucket.communication.decode, own.decode);
        if (layer.priority) {
            bucket.priority = std::max(bucket.priority.value_or(*layer.priority), *layer.priority);
        }
    }

    [[nodiscard]] TrainingLayer interaction() const {
        const PassTimes times = cost_.interaction();
        TrainingLayer layer{.name = std::string(kInteractionLayer),
                            .forward = *times.forward,
                            .input_gradient = *times.input_gradient};
        if (training_.parallelism == Parallelism::kModel) {
            const Bytes element = activation_element_size(model_);
            layer.forward_communication =
                collective(CollectiveKind::kAllGather, samples_ * interaction_width(model_) * element);
            layer.input_gradient_communication =
                collective(CollectiveKind::kAllToAll,
                           samples_ * (pooled_width(model_) + model_.bottom_mlp.back()) * element);
        }
        return layer;
    }

    const DlrmModel& model_;
    const DlrmTraining& training_;
    const Device& device_;
    const std::optional<ShardingPlan>& sharding_;
    DlrmCost cost_;
    std::int64_t ranks_;
    std::int64_t samples_;
    std::vector<MlpLayer> bottom_;
    std::vector<MlpLayer> cross_;
    std::vector<MlpLayer> top_;
    TrainingPlan plan_;
    system::PartitionId world_;
};

/// All compute of an iteration on one rank, in 128 bits: every time by itself saturates, their sum would
/// overflow.
detail::Int128 compute_of(const TrainingLayer& layer, system::RankId rank) {
    detail::Int128 sum = layer.update_delay.count();
    for (const auto& pass :
         {std::optional(layer.forward), layer.input_gradient, layer.weight_gradient, layer.optimizer_step}) {
        sum += pass ? (*pass)[rank].count() : 0;
    }
    return sum;
}

detail::Int128 conversions_of(const LayerCommunication& communication, system::RankId rank) {
    detail::Int128 sum = 0;
    for (const auto& time : {communication.encode, communication.decode}) {
        sum += time ? (*time)[rank].count() : 0;
    }
    return sum;
}

/// Calls visit(communication, times an iteration) for all that an iteration communicates.
template <class Visit>
void for_each_communication(const TrainingPlan& plan, Visit visit) {
    for (const TrainingLayer& layer : plan.layers) {
        for (const auto* communication : {&layer.forward_communication, &layer.input_gradient_communication,
                                          &layer.weight_gradient_communication}) {
            if (*communication) {
                visit(**communication, 1);
            }
        }
        if (layer.parameter_gather) {
            visit(*layer.parameter_gather, 2);
        }
    }
    for (const GradientBucket& bucket : plan.buckets) {
        visit(bucket.communication, 1);
    }
    if (plan.input) {
        visit(*plan.input, 1);
    }
}

detail::Int128 longest_iteration(const TrainingPlan& plan) {
    detail::Int128 longest = 0;
    for (std::size_t index = 0; index < plan.ranks; ++index) {
        const system::RankId rank(index);
        detail::Int128 sum = 0;
        for (const TrainingLayer& layer : plan.layers) {
            sum += compute_of(layer, rank);
        }
        for_each_communication(plan, [&](const LayerCommunication& communication, int times) {
            sum += times * conversions_of(communication, rank);
        });
        longest = std::max(longest, sum);
    }
    return longest;
}

/// Layers whose time was measured, but not for the samples of a rank.
ValidationErrors unknown_rows(const Device& device, std::int64_t samples) {
    ValidationErrors found;
    for (const auto& [layer, times] : device.measured) {
        for (const auto& time : {times.forward, times.input_gradient, times.weight_gradient}) {
            if (time && !time->knows(samples)) {
                add_error(
                    found, "batch",
                    fmt::format("layer {} was measured for {} to {} rows, not for the {} samples "
                                "of a rank",
                                layer, time->by_rows().front().first, time->by_rows().back().first, samples),
                    "choose a local batch that was measured");
                break;
            }
        }
    }
    return found;
}

double maximum_over_mean(const std::vector<std::int64_t>& values) {
    const std::int64_t maximum = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const std::int64_t value : values) {
        sum += static_cast<double>(value);
    }
    return sum > 0 ? static_cast<double>(maximum) * static_cast<double>(values.size()) / sum : 1.0;
}

void summarise_sharding(DlrmSummary& summary, const ShardingPlan& sharding, const TrainingPlan& plan,
                        Bytes element_size) {
    std::vector<std::int64_t> compute;
    for (std::size_t rank = 0; rank < plan.ranks; ++rank) {
        detail::Int128 sum = 0;
        for (const TrainingLayer& layer : plan.layers) {
            if (is_embedding(layer.name)) {
                sum += compute_of(layer, system::RankId(rank)) - layer.update_delay.count();
            }
        }
        compute.push_back(static_cast<std::int64_t>(sum));
    }
    std::vector<std::int64_t> memory;
    for (const Bytes held : memory_of(sharding, element_size)) {
        memory.push_back(held.count());
        summary.largest_memory = std::max(summary.largest_memory, held);
    }
    summary.imbalance = {.compute = maximum_over_mean(compute),
                         .bytes = maximum_over_mean(columns_of(sharding)),
                         .memory = maximum_over_mean(memory)};
    summary.shards = sharding.shards.size();
    summary.placement = sharding.placement;
    summary.report = sharding.report;
}

}  // namespace

Precision precision(const DlrmTraining& training) {
    return training.precision.value_or(Precision::kFp32);
}

std::optional<ShardingPlan> sharding_plan(const DlrmModel& model, const DlrmTraining& training,
                                          const Device& device, std::size_t ranks) {
    if (training.sharding.is_balanced()) {
        return std::nullopt;
    }
    ShardingResult result = planner::place_tables(model, training, device, ranks);
    ASTROLABE_ASSERT(result.validation_errors.empty(), "the user's errors were reported before");
    return std::move(result.plan);
}

std::int64_t local_batch(const DlrmTraining& training, std::size_t ranks) {
    return training.local_batch ? *training.local_batch
                                : training.global_batch.value() / static_cast<std::int64_t>(ranks);
}

ValidationErrors validation_errors(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                                   std::size_t ranks) {
    ValidationErrors found = unknown_rows(device, local_batch(training, ranks));
    if (!found.empty()) {
        return found;
    }
    if (mlperf_of(training) != nullptr) {
        found = mlperf::memory_errors(model, training, ranks);
        if (!found.empty()) {
            return found;
        }
    }
    std::optional<ShardingPlan> sharding;
    if (!training.sharding.is_balanced()) {
        ShardingResult result = planner::place_tables(model, training, device, ranks);
        if (!result.validation_errors.empty()) {
            return std::move(result.validation_errors);
        }
        sharding = std::move(result.plan);
    }
    if (device.memory && mlperf_of(training) == nullptr) {
        found = planner::memory_errors(
            planner::memory_use(model, training, planner::training_costs(model, training, device, ranks),
                                sharding),
            device);
        if (!found.empty()) {
            return found;
        }
    }
    constexpr Time kMax = Time::max() / 2;
    const detail::Int128 iteration =
        longest_iteration(PlanBuilder(model, training, device, ranks, sharding).build()) +
        (torchrec_of(training) != nullptr ? torchrec::longest_launches(model, device, ranks) : 0);
    if (iteration <= kMax.count() / training.iterations) {
        return {};
    }
    const double seconds =
        static_cast<double>(iteration) * training.iterations / static_cast<double>(kPicosecondsPerSecond);
    return {{.key = "",
             .message = fmt::format("{} iterations compute for {:.4g} s, expected at most {}",
                                    training.iterations, seconds, readable(kMax)),
             .hint = "check the units of the device's rates and times, or simulate fewer iterations"}};
}

std::optional<std::vector<TablePlace>> table_places(const DlrmModel& model, const DlrmTraining& training,
                                                    const Device& device, std::size_t ranks) {
    const std::optional<ShardingPlan> plan = sharding_plan(model, training, device, ranks);
    return plan ? std::optional(places_of(*plan)) : std::nullopt;
}

TrainingPlan dlrm_training_plan(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                                std::size_t ranks) {
    ASTROLABE_ASSERT(validation_errors(model).empty() && validation_errors(training, model, ranks).empty() &&
                         validation_errors(device, training, model).empty() &&
                         validation_errors(model, training, device, ranks).empty(),
                     "the user's errors were reported before");
    const std::optional<ShardingPlan> sharding = sharding_plan(model, training, device, ranks);
    return PlanBuilder(model, training, device, ranks, sharding).build();
}

system::Program build_dlrm_program(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                                   std::size_t ranks) {
    if (torchrec_of(training) != nullptr) {
        return torchrec::build_program(model, training, device, ranks);
    }
    if (mlperf_of(training) != nullptr) {
        return mlperf::build_program(model, training, device, ranks);
    }
    const TrainingPlan plan = dlrm_training_plan(model, training, device, ranks);
    switch (training.parallelism) {
        case Parallelism::kData:
            return data_loop(plan);
        case Parallelism::kModel:
            return model_loop(plan);
        case Parallelism::kHybrid:
            break;
    }
    const auto embeddings = static_cast<std::size_t>(
        std::count_if(plan.layers.begin(), plan.layers.end(),
                      [](const TrainingLayer& layer) { return is_embedding(layer.name); }));
    return dlrm_loop(plan, embeddings + model.bottom_mlp.size() - 1, training.embedding_update, embeddings,
                     training.staleness);
}

DlrmSummary summarise(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                      std::size_t ranks) {
    DlrmSummary summary;
    summary.local_batch = local_batch(training, ranks);
    summary.global_batch = summary.local_batch * static_cast<std::int64_t>(ranks);
    summary.mlp_parameters = mlp_parameters(model);
    summary.embedding_parameters = embedding_parameters(model);
    summary.embedding_size = embedding_size(model);
    const TrainingPlan plan = dlrm_training_plan(model, training, device, ranks);
    for_each_communication(plan, [&summary](const LayerCommunication& communication, int times) {
        summary.traffic[static_cast<std::size_t>(communication.kind)] += times * communication.size;
        for (const LayerCommunication& stage : communication.then) {
            summary.traffic[static_cast<std::size_t>(stage.kind)] += times * stage.size;
        }
    });
    for (std::size_t index = 0; index < ranks; ++index) {
        const system::RankId rank(index);
        Time embeddings;
        Time conversions;
        for (const TrainingLayer& layer : plan.layers) {
            const Time time(static_cast<std::int64_t>(compute_of(layer, rank)) - layer.update_delay.count());
            if (is_embedding(layer.name)) {
                embeddings += time;
            } else if (index == 0) {
                (layer.name == kInteractionLayer ? summary.interaction_compute : summary.mlp_compute) += time;
            }
        }
        for_each_communication(plan, [&](const LayerCommunication& communication, int times) {
            conversions += Time(times * static_cast<std::int64_t>(conversions_of(communication, rank)));
        });
        summary.embedding_compute = std::max(summary.embedding_compute, embeddings);
        summary.conversion_compute = std::max(summary.conversion_compute, conversions);
    }
    const std::optional<ShardingPlan> sharding = sharding_plan(model, training, device, ranks);
    if (sharding) {
        summarise_sharding(summary, *sharding, plan, model.element_size);
    }
    if (device.memory || training.sharding.is_searched_fully()) {
        const std::vector<planner::RankMemory> memory = planner::memory_use(
            model, training, planner::training_costs(model, training, device, ranks), sharding);
        const std::size_t rank = planner::fullest(memory);
        summary.fullest_rank = fmt::format("rank {}, {}", rank, planner::describe(memory[rank]));
    }
    return summary;
}

}  // namespace astrolabe::workload
