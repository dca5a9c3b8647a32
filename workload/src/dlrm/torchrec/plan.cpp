#include "plan.hpp"

#include "../../device/conversion.hpp"
#include "../dlrm_cost.hpp"
#include "../embedding/drawn_lookups.hpp"
#include "../embedding_layers.hpp"
#include "../optimizers.hpp"
#include "buckets.hpp"
#include "launches.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/workload/dlrm/sharding_names.hpp>

namespace astrolabe::workload::torchrec {
namespace {

using system::CollectiveKind;

/// The tables of a group: sharded in one way, weighted or not. Replicated ones are one group.
struct GroupOf {
    TableSharding kind;
    bool weighted;

    [[nodiscard]] std::string name() const {
        return fmt::format("{}{}", ValueTraits<TableSharding>::format(kind), weighted ? "_weighted" : "");
    }
};

/// The part of a plan that is of one group.
ShardingPlan part_of(const ShardingPlan& sharding, const std::vector<TablePlace>& places, GroupOf group) {
    ShardingPlan part = sharding;
    const auto is_other = [&](std::size_t table) {
        return sharding.tables[table].traits.weighted != group.weighted;
    };
    std::erase_if(part.shards, [&](const Shard& shard) {
        return places[shard.table].sharding != group.kind || is_other(shard.table);
    });
    std::erase_if(part.host_tables, [&](const HostTable& table) {
        return table.kind != group.kind || is_other(table.table);
    });
    std::erase_if(part.row_wise, [&](std::size_t table) {
        return group.kind != TableSharding::kRowWise || is_other(table);
    });
    if (group.kind != TableSharding::kDataParallel || group.weighted) {
        part.data_parallel.clear();
    }
    return part;
}

bool is_empty(const ShardingPlan& plan) {
    return plan.shards.empty() && plan.host_tables.empty() && plan.row_wise.empty() &&
           plan.data_parallel.empty();
}

/// As TorchRec: what sums on the way, and its mirror, is not sent in FP8 or MX4 but in 16 bits.
WireFormats carried(WireFormats formats) {
    const auto widened = [](std::optional<WireFormat> format, WireFormat wide) {
        const bool is_narrow =
            format == WireFormat::kFp8 || format == WireFormat::kFp8Rows || format == WireFormat::kMx4;
        return is_narrow ? std::optional(wide) : format;
    };
    formats.forward_reduce_scatter = widened(formats.forward_reduce_scatter, WireFormat::kFp16);
    formats.backward_all_gather = widened(formats.backward_all_gather, WireFormat::kBf16);
    return formats;
}

class Builder {
public:
    Builder(const DlrmModel& model, const DlrmTraining& training, const Device& device, std::size_t ranks)
        : model_(model),
          original_(training),
          training_(adapted(training)),
          device_(device),
          ranks_(ranks),
          samples_(local_batch(training, ranks)),
          sharding_(*sharding_plan(model, training, device, ranks)),
          places_(places_of(sharding_)),
          cost_(model, training_, device, ranks) {
        plan_.ranks = ranks;
        plan_.iterations = training.iterations;
        plan_.interaction_kind = model.interaction;
    }

    [[nodiscard]] TorchrecPlan build(const LookupCount& lookups) && {
        add_groups(lookups ? lookups : drawn_lookups(sharding_.tables, ranks_, samples_));
        add_dense();
        add_buckets();
        plan_.copy = copy_time();
        return std::move(plan_);
    }

private:
    static DlrmTraining adapted(DlrmTraining training) {
        training.embedding_gradients = EmbeddingGradients::kDense;
        training.wire_formats = carried(training.wire_formats);
        return training;
    }

    [[nodiscard]] Time moved(Bytes bytes) const {
        return device_.memory_bandwidth ? time_of(device_, {.bytes = 2 * bytes}) : Time(0);
    }

    [[nodiscard]] system::PerRank<Time> moved(const std::vector<Bytes>& by_rank) const {
        std::vector<Time> times;
        times.reserve(by_rank.size());
        for (const Bytes bytes : by_rank) {
            times.push_back(moved(bytes));
        }
        return per_rank(std::move(times));
    }

    void add_groups(const LookupCount& lookups) {
        // Partitions and communications of all groups are in one plan, so that they share the hosts'.
        TrainingPlan scratch;
        scratch.ranks = ranks_;
        plan_.world = scratch.partitions.push_back(system::Partition::world(ranks_));
        EmbeddingLayers layers(model_, training_, device_, cost_, scratch, plan_.world);
        const InputDistribution input = training_.sharding.input_distribution.value_or(InputDistribution{});
        for (const auto& [name, kind] : EnumNames<TableSharding>::kNames) {
            for (const bool weighted : {false, true}) {
                add_group(layers, {kind, weighted}, input, lookups);
            }
        }
        plan_.partitions = scratch.partitions;
        for (Group& group : plan_.groups) {
            add_movements(group);
        }
        plan_.concatenate_groups = moved(samples_ * (pooled_width(model_) + model_.bottom_mlp.back()) *
                                         activation_element_size(model_));
    }

    void add_group(EmbeddingLayers& layers, GroupOf of, const InputDistribution& input,
                   const LookupCount& lookups) {
        const ShardingPlan part = part_of(sharding_, places_, of);
        if (is_empty(part)) {
            return;
        }
        TrainingLayer layer = layers.sharded(part).front();
        if (of.kind == TableSharding::kDataParallel) {
            plan_.replicated_tables = static_cast<std::int64_t>(part.data_parallel.size());
            plan_.replicas = std::move(layer);
            return;
        }
        layer.name = fmt::format("Embedding_{}", of.name());
        const auto exchange = [&](Bytes element) {
            InputDistribution of_element = input;
            of_element.index = element;
            return index_exchanges(part, places_, samples_, of_element, lookups).front();
        };
        const IndexExchange indices = exchange(input.index);
        system::PerRank<Time> lookup = without(layer.forward, layer.fetch);
        plan_.groups.push_back(
            {.name = of.name(),
             .layer = std::move(layer),
             .tensors = {{"lengths", indices.lengths}, {"values", indices.values}},
             .lookup_without_fetch = std::move(lookup),
             .input_launches = input_launches(of.kind)});
        if (of.weighted) {
            constexpr Bytes kWeight(4);
            plan_.groups.back().tensors.push_back({"weights", exchange(kWeight).values});
        }
    }

    [[nodiscard]] system::PerRank<Time> without(const system::PerRank<Time>& whole,
                                                const std::optional<system::PerRank<Time>>& part) const {
        if (!part) {
            return whole;
        }
        std::vector<Time> rest;
        for (std::size_t index = 0; index < ranks_; ++index) {
            const system::RankId rank(index);
            rest.push_back(whole[rank] - (*part)[rank]);
        }
        return per_rank(std::move(rest));
    }

    void add_movements(Group& group) const {
        std::vector<Bytes> sent(ranks_);
        std::vector<Bytes> received(ranks_);
        for (const IndexTensor& tensor : group.tensors) {
            for (std::size_t rank = 0; rank < ranks_; ++rank) {
                sent[rank] += tensor.sizes.held(rank);
                received[rank] += tensor.sizes.received(rank);
            }
        }
        group.permute_before = moved(sent);
        group.permute_after = moved(received);
        const auto last = [](const LayerCommunication& communication) -> const LayerCommunication& {
            return communication.then.empty() ? communication : communication.then.back();
        };
        const LayerCommunication& pooled = last(*group.layer.forward_communication);
        const LayerCommunication& gradients = *group.layer.input_gradient_communication;
        const LayerCommunication& arrived = last(gradients);
        group.concatenate = moved(received_by_rank(pooled, plan_.partitions[pooled.partition]));
        group.split = moved(held_by_rank(gradients, plan_.partitions[gradients.partition]));
        group.divide = moved(received_by_rank(arrived, plan_.partitions[arrived.partition]));
    }

    void add_dense() {
        const TrainingPlan known = dlrm_training_plan(model_, original_, device_, ranks_);
        const auto layer_of = [&known](const std::string& name) {
            const auto found = std::find_if(known.layers.begin(), known.layers.end(),
                                            [&name](const TrainingLayer& each) { return each.name == name; });
            ASTROLABE_ASSERT(found != known.layers.end(), "the plan has every dense layer");
            return *found;
        };
        const std::int64_t kernels =
            training_.dense_optimizer ? dense_kernels_of(*training_.dense_optimizer) : 0;
        const std::vector<MlpLayer> bottom = bottom_layers(model_);
        const std::vector<MlpLayer> all = dense_layers(model_);
        for (std::size_t index = 0; index < all.size(); ++index) {
            const MlpLayer& description = all[index];
            const bool is_last = index + 1 == all.size();
            TrainingLayer layer = layer_of(description.name);
            const bool has_input_gradient = layer.input_gradient.has_value();
            DenseLayer dense{.layer = std::move(layer),
                             .forward_launches = forward_launches(description, is_last),
                             .input_gradient_launches = input_gradient_launches(description, is_last),
                             .weight_gradient_launches =
                                 weight_gradient_launches(description, has_input_gradient, is_last),
                             .optimizer_launches = kernels * tensors_of(description)};
            (index < bottom.size() ? plan_.bottom : plan_.top).push_back(std::move(dense));
        }
        plan_.replica_optimizer_launches = kernels * plan_.replicated_tables;
        const PassTimes interaction = cost_.interaction();
        plan_.interaction = {.name = std::string(kInteractionLayer),
                             .forward = *interaction.forward,
                             .input_gradient = *interaction.input_gradient};
    }

    void add_buckets() {
        const Bytes first = training_.gradient_buckets
                                ? training_.gradient_buckets->first.value_or(training_.gradient_buckets->size)
                                : kFirstBucket;
        const Bytes cap = training_.gradient_buckets ? training_.gradient_buckets->size : kBucket;
        std::map<std::string, std::size_t> layers;
        for (const MlpLayer& layer : dense_layers(model_)) {
            layers.emplace(layer.name, layers.size());
        }
        const std::vector<DenseTensor> tensors = dense_tensors(model_);
        const Bytes element = gradient_element_size(model_);
        std::vector<Bytes> sizes;
        for (const DenseTensor& tensor : tensors) {
            sizes.push_back(tensor.parameters * element);
        }
        for (const DdpBucket& bucket : ddp_buckets(sizes, first, cap)) {
            std::size_t last = layers.size();
            std::int64_t values = 0;
            for (const std::size_t tensor : bucket.tensors) {
                last = std::min(last, layers.at(tensors[tensor].layer));
                values += tensors[tensor].parameters;
            }
            plan_.buckets.push_back({.name = fmt::format("Bucket_{}", plan_.buckets.size()),
                                     .last_layer = last,
                                     .communication = all_reduce(values)});
        }
        std::vector<Bytes> replicas;
        for (const std::size_t table : sharding_.data_parallel) {
            const EqualTables& description = sharding_.tables[table];
            replicas.push_back(description.rows * description.dimension * model_.element_size);
        }
        for (const DdpBucket& bucket : ddp_buckets(replicas, first, cap)) {
            plan_.replica_buckets.push_back(
                {.kind = CollectiveKind::kAllReduce, .size = bucket.size, .partition = plan_.world});
        }
    }

    [[nodiscard]] LayerCommunication all_reduce(std::int64_t values) const {
        const Payload payload{.values = values,
                              .rows = 0,
                              .element_size = gradient_element_size(model_),
                              .format = training_.wire_formats.all_reduce};
        return converted(
            {.kind = CollectiveKind::kAllReduce, .size = payload.size(), .partition = plan_.world}, payload,
            payload, device_);
    }

    [[nodiscard]] Time copy_time() const {
        if (!device_.host_link) {
            return Time(0);
        }
        constexpr Bytes kDenseValue(4);
        const InputDistribution input = training_.sharding.input_distribution.value_or(InputDistribution{});
        Bytes sample = (model_.dense_features + 1) * kDenseValue;
        for (const EqualTables& table : sharding_.tables) {
            constexpr Bytes kWeight(4);
            sample += table.pooling * (input.index + (table.traits.weighted ? kWeight : Bytes(0))) + input.length;
        }
        return samples_ * sample / *device_.host_link;
    }

    const DlrmModel& model_;
    const DlrmTraining& original_;
    const DlrmTraining training_;
    const Device& device_;
    std::size_t ranks_;
    std::int64_t samples_;
    const ShardingPlan sharding_;
    const std::vector<TablePlace> places_;
    DlrmCost cost_;
    TorchrecPlan plan_;
};

/// The position of every rank in its group, and the number of the group.
struct Place {
    std::size_t group = 0;
    std::size_t position = 0;
};
std::vector<Place> group_places(const system::Partition& partition) {
    std::vector<Place> places;
    for (std::size_t group = 0; group < partition.groups.size(); ++group) {
        for (std::size_t position = 0; position < partition.groups[group].size(); ++position) {
            const std::size_t rank = partition.groups[group][position].index();
            places.resize(std::max(places.size(), rank + 1));
            places[rank] = {group, position};
        }
    }
    return places;
}

}  // namespace

std::vector<Bytes> held_by_rank(const LayerCommunication& communication, const system::Partition& partition) {
    std::vector<Bytes> held;
    for (const Place& place : group_places(partition)) {
        held.push_back(communication.pair_sizes
                           ? (*communication.pair_sizes)[place.group].held(place.position)
                           : communication.size);
    }
    return held;
}

std::vector<Bytes> received_by_rank(const LayerCommunication& communication,
                                    const system::Partition& partition) {
    std::vector<Bytes> received;
    for (const Place& place : group_places(partition)) {
        const auto positions = static_cast<std::int64_t>(partition.groups[place.group].size());
        if (communication.pair_sizes) {
            received.push_back((*communication.pair_sizes)[place.group].received(place.position));
        } else if (communication.kind == CollectiveKind::kAllGather) {
            received.push_back(positions * communication.size);
        } else if (communication.kind == CollectiveKind::kReduceScatter) {
            received.push_back(Bytes(communication.size.count() / positions));
        } else {
            received.push_back(communication.size);
        }
    }
    return received;
}

TorchrecPlan torchrec_plan(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                           std::size_t ranks, const LookupCount& lookups) {
    return Builder(model, training, device, ranks).build(lookups);
}

}  // namespace astrolabe::workload::torchrec
