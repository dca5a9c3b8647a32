#include "embedding_layers.hpp"

#include "../device/conversion.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload {

namespace {

using system::CollectiveKind;
using system::PairSizes;
using system::PerRank;
using system::RankId;

// PyTorch's sparse gradients carry 64-bit indices.
constexpr std::int64_t kRowIndexBytes = 8;

template <class T>
bool all_equal(const std::vector<T>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

std::optional<PerRank<Time>> as_per_rank(std::optional<Time> time) {
    return time ? std::optional<PerRank<Time>>(*time) : std::nullopt;
}

TrainingLayer layer_of(std::string_view name, const RankLookups& lookups) {
    RankLookups::Times times = lookups.times();
    TrainingLayer layer{.name = std::string(name), .forward = std::move(times.forward)};
    layer.weight_gradient = std::move(times.backward);
    layer.fetch = std::move(times.fetch);
    return layer;
}

enum class Direction : std::uint8_t { kForward, kBackward };

/// all_to_all in groups of one kind: position p has `sizes[p]` for each (forward), or each has it for p
/// (backward).
void set_all_to_all(LayerCommunication& communication, std::vector<Bytes> sizes, Direction direction,
                    std::size_t groups) {
    communication.kind = CollectiveKind::kAllToAll;
    const auto positions = static_cast<std::int64_t>(sizes.size());
    if (all_equal(sizes)) {
        communication.size = positions * sizes.front();
        return;
    }
    const PairSizes pairs = direction == Direction::kForward ? PairSizes::by_source(std::move(sizes))
                                                             : PairSizes::by_destination(std::move(sizes));
    communication.size = pairs.largest_held();
    communication.pair_sizes = std::make_shared<const std::vector<PairSizes>>(groups, pairs);
}

/// What the tables' ranks pool is encoded rank by rank and decoded by every sample's, gradients the
/// other way.
void set_conversion(LayerCommunication& communication, std::optional<PerRank<Time>> of_pooled,
                    std::optional<Time> of_samples, Direction direction) {
    if (!of_pooled) {
        return;
    }
    communication.encode = std::move(of_pooled);
    communication.decode = of_samples.value();
    if (direction == Direction::kBackward) {
        std::swap(communication.encode, communication.decode);
    }
}

system::Partition hosts_of(const ShardingPlan& sharding) {
    system::Partition partition{.name = "hosts", .groups = {}};
    for (std::size_t rank = 0; rank < sharding.ranks; ++rank) {
        if (rank % sharding.ranks_per_host == 0) {
            partition.groups.emplace_back();
        }
        partition.groups.back().push_back(RankId(rank));
    }
    return partition;
}

system::Partition across_hosts_of(const ShardingPlan& sharding) {
    system::Partition partition{.name = "across_hosts", .groups = {}};
    partition.groups.resize(sharding.ranks_per_host);
    for (std::size_t rank = 0; rank < sharding.ranks; ++rank) {
        partition.groups[rank % sharding.ranks_per_host].push_back(RankId(rank));
    }
    return partition;
}

/// One collective after the other, as one.
LayerCommunication chain(std::vector<LayerCommunication> stages) {
    LayerCommunication first = std::move(stages.front());
    first.then.assign(std::make_move_iterator(stages.begin() + 1), std::make_move_iterator(stages.end()));
    return first;
}

}  // namespace

EmbeddingLayers::EmbeddingLayers(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                                 const DlrmCost& cost, TrainingPlan& plan, system::PartitionId world)
    : model_(model),
      training_(training),
      device_(device),
      cost_(cost),
      plan_(plan),
      world_(world),
      ranks_(static_cast<std::int64_t>(plan.ranks)),
      samples_(local_batch(training, plan.ranks)) {}

TrainingLayer EmbeddingLayers::balanced() const {
    Pooled pooled;
    for (const EqualTables& run : equal_tables(model_)) {
        pooled.add(run.dimension, run.count);
    }
    const WireFormats& formats = training_.wire_formats;
    const Payload forward = payload(pooled, samples_, formats.forward_all_to_all);
    TrainingLayer layer{.name = std::string(kEmbeddingLayer), .forward = cost_.lookup()};
    layer.weight_gradient = cost_.embedding_update();
    layer.fetch = as_per_rank(cost_.embedding_fetch());
    layer.forward_communication =
        converted(world_collective(CollectiveKind::kAllToAll, forward.size()), forward, forward, device_);
    if (training_.parallelism == Parallelism::kHybrid) {
        const Payload backward = payload(pooled, samples_, formats.backward_all_to_all);
        layer.input_gradient_communication = converted(
            world_collective(CollectiveKind::kAllToAll, backward.size()), backward, backward, device_);
    }
    return layer;
}

TrainingLayer EmbeddingLayers::replicated() const {
    TrainingLayer layer{.name = std::string(kEmbeddingLayer), .forward = cost_.lookup()};
    layer.weight_gradient = cost_.embedding_gradient();
    layer.fetch = as_per_rank(cost_.embedding_fetch());
    exchange_replicas(layer, equal_tables(model_));
    return layer;
}

std::vector<TrainingLayer> EmbeddingLayers::sharded(const ShardingPlan& sharding) {
    std::vector<TrainingLayer> layers;
    DrawnLookups lookups(sharding.tables, sharding.ranks, samples_);
    const auto lookups_of_kind = [&] {
        return RankLookups(cost_, sharding.tables, lookups, sharding.ranks, samples_);
    };
    if (!sharding.shards.empty()) {
        layers.push_back(on_ranks(sharding, lookups_of_kind()));
    }
    for (const TableSharding kind : {TableSharding::kTableRowWise, TableSharding::kGrid}) {
        if (std::any_of(sharding.host_tables.begin(), sharding.host_tables.end(),
                        [kind](const HostTable& table) { return table.kind == kind; })) {
            layers.push_back(on_hosts(sharding, kind, lookups_of_kind()));
        }
    }
    if (!sharding.row_wise.empty()) {
        layers.push_back(on_rows(sharding, lookups_of_kind()));
    }
    if (!sharding.data_parallel.empty()) {
        layers.push_back(on_replicas(sharding, lookups_of_kind()));
    }
    for (TrainingLayer& layer : layers) {
        if (const auto time = device_.measured_time(layer.name, &LayerTimes::forward, samples_)) {
            layer.forward = *time;
            layer.fetch.reset();
        }
        if (const auto time = device_.measured_time(layer.name, &LayerTimes::weight_gradient, samples_)) {
            layer.weight_gradient = *time;
        }
    }
    return layers;
}

Payload EmbeddingLayers::payload(const Pooled& pooled, std::int64_t samples,
                                 std::optional<WireFormat> format) const {
    return {.values = samples * pooled.columns,
            .rows = samples * pooled.rows,
            .blocks = samples * pooled.blocks,
            .fours = samples * pooled.fours,
            .element_size = activation_element_size(model_),
            .format = format};
}

LayerCommunication EmbeddingLayers::world_collective(CollectiveKind kind, Bytes size) const {
    return {.kind = kind, .size = size, .partition = world_};
}

EmbeddingLayers::TouchedRows EmbeddingLayers::touched_rows(const std::vector<EqualTables>& tables) const {
    TouchedRows touched;
    for (const EqualTables& run : tables) {
        const std::int64_t rows = run.count * std::min(samples_ * run.pooling, run.rows);
        touched.values += rows * run.dimension;
        touched.size += rows * (run.dimension * model_.element_size + Bytes(kRowIndexBytes));
    }
    return touched;
}

void EmbeddingLayers::exchange_replicas(TrainingLayer& layer, const std::vector<EqualTables>& tables) const {
    if (training_.embedding_gradients == EmbeddingGradients::kDense) {
        std::int64_t values = 0;
        for (const EqualTables& run : tables) {
            values += run.count * run.rows * run.dimension;
        }
        layer.weight_gradient_communication =
            world_collective(CollectiveKind::kAllReduce, values * model_.element_size);
        layer.update_delay = cost_.replica_update(layer.name, values);
    } else {
        const TouchedRows touched = touched_rows(tables);
        layer.weight_gradient_communication = world_collective(CollectiveKind::kAllGather, touched.size);
        layer.update_delay = cost_.replica_update(layer.name, ranks_ * touched.values);
    }
}

TrainingLayer EmbeddingLayers::on_ranks(const ShardingPlan& sharding, RankLookups lookups) const {
    std::vector<Pooled> held(sharding.ranks);
    Pooled all;
    for (const Shard& shard : sharding.shards) {
        lookups.add(shard.rank.index(), shard.table, shard.columns, 0, 1);
        held[shard.rank.index()].add(shard.columns);
        all.add(shard.columns);
    }
    TrainingLayer layer = layer_of(kEmbeddingLayer, lookups);

    const auto exchange = [&](Direction direction, std::optional<WireFormat> format) {
        LayerCommunication communication{.partition = world_};
        std::vector<Bytes> sizes;
        std::vector<std::optional<Time>> conversions;
        for (const Pooled& own : held) {
            sizes.push_back(payload(own, samples_, format).size());
            conversions.push_back(payload(own, ranks_ * samples_, format).conversion_time(device_));
        }
        set_all_to_all(communication, std::move(sizes), direction, 1);
        set_conversion(communication, per_rank(conversions),
                       payload(all, samples_, format).conversion_time(device_), direction);
        return communication;
    };
    layer.forward_communication = exchange(Direction::kForward, training_.wire_formats.forward_all_to_all);
    layer.input_gradient_communication =
        exchange(Direction::kBackward, training_.wire_formats.backward_all_to_all);
    return layer;
}

TrainingLayer EmbeddingLayers::on_hosts(const ShardingPlan& sharding, TableSharding kind,
                                        RankLookups lookups) {
    const std::size_t host_size = sharding.ranks_per_host;
    const std::size_t hosts = sharding.ranks / host_size;
    const std::int64_t samples_of_place = static_cast<std::int64_t>(hosts) * samples_;  // B/h
    std::vector<Pooled> held(hosts);
    Pooled all;
    for (const HostTable& host_table : sharding.host_tables) {
        if (host_table.kind != kind) {
            continue;
        }
        const std::int64_t columns = host_table.columns;
        for (std::size_t i = 0; i < host_size; ++i) {
            lookups.add(host_table.host * host_size + i, host_table.table, columns,
                        static_cast<std::int64_t>(i), static_cast<std::int64_t>(host_size));
        }
        held[host_table.host].add(columns);
        all.add(columns);
    }
    TrainingLayer layer =
        layer_of(kind == TableSharding::kGrid ? kGridEmbeddingLayer : kHostEmbeddingLayer, lookups);

    if (!within_hosts_) {
        within_hosts_ = plan_.partitions.push_back(hosts_of(sharding));
        across_hosts_ = plan_.partitions.push_back(across_hosts_of(sharding));
    }
    const auto exchange = [&](Direction direction, std::optional<WireFormat> format) {
        LayerCommunication inside{.partition = *within_hosts_, .stage = "within_hosts"};
        LayerCommunication outside{.partition = *across_hosts_, .stage = "across_hosts"};
        std::vector<Bytes> partial_sums;  // by host, from each rank of it to each
        std::vector<Bytes> sums;          // by host, to the ranks of the same place or from them
        std::vector<std::optional<Time>> conversions;
        for (const Pooled& own : held) {
            partial_sums.push_back(payload(own, samples_of_place, format).size());
            sums.push_back(payload(own, samples_, format).size());
            conversions.insert(conversions.end(), host_size,
                               payload(own, ranks_ * samples_, format).conversion_time(device_));
        }
        const auto positions = static_cast<std::int64_t>(host_size);
        if (all_equal(partial_sums)) {
            const bool forward = direction == Direction::kForward;
            inside.kind = forward ? CollectiveKind::kReduceScatter : CollectiveKind::kAllGather;
            inside.size = (forward ? positions : 1) * partial_sums.front();
        } else {
            inside.kind = CollectiveKind::kAllToAll;
            inside.size = positions * *std::max_element(partial_sums.begin(), partial_sums.end());
            std::vector<PairSizes> pairs;
            for (const Bytes size : partial_sums) {
                pairs.push_back(PairSizes::by_source(std::vector<Bytes>(host_size, size)));
            }
            inside.pair_sizes = std::make_shared<const std::vector<PairSizes>>(std::move(pairs));
        }
        set_all_to_all(outside, std::move(sums), direction, host_size);
        LayerCommunication both =
            direction == Direction::kForward ? chain({inside, outside}) : chain({outside, inside});
        set_conversion(both, per_rank(conversions), payload(all, samples_, format).conversion_time(device_),
                       direction);
        return both;
    };
    layer.forward_communication = exchange(Direction::kForward, training_.wire_formats.forward_all_to_all);
    layer.input_gradient_communication =
        exchange(Direction::kBackward, training_.wire_formats.backward_all_to_all);
    return layer;
}

TrainingLayer EmbeddingLayers::on_rows(const ShardingPlan& sharding, RankLookups lookups) const {
    Pooled all;
    for (const std::size_t index : sharding.row_wise) {
        lookups.add_rows(index);
        all.add(sharding.tables[index].dimension);
    }
    TrainingLayer layer = layer_of(kRowEmbeddingLayer, lookups);
    const auto partial = [&](std::optional<WireFormat> format) {
        return payload(all, ranks_ * samples_, format);
    };
    const WireFormats& formats = training_.wire_formats;
    const Payload sums = partial(formats.forward_reduce_scatter);
    layer.forward_communication =
        converted(world_collective(CollectiveKind::kReduceScatter, sums.size()), sums,
                  payload(all, samples_, formats.forward_reduce_scatter), device_);
    const Payload gradients = payload(all, samples_, formats.backward_all_gather);
    layer.input_gradient_communication =
        converted(world_collective(CollectiveKind::kAllGather, gradients.size()), gradients,
                  partial(formats.backward_all_gather), device_);
    return layer;
}

TrainingLayer EmbeddingLayers::on_replicas(const ShardingPlan& sharding, RankLookups lookups) const {
    std::vector<EqualTables> tables;
    for (const std::size_t index : sharding.data_parallel) {
        tables.push_back(sharding.tables[index]);
        lookups.add_copies(index);
    }
    TrainingLayer layer = layer_of(kReplicatedEmbeddingLayer, lookups);
    exchange_replicas(layer, tables);
    return layer;
}

}  // namespace astrolabe::workload
