#include "mlperf_plan.hpp"

#include "../../integer_division.hpp"
#include "../dlrm_cost.hpp"
#include "../sharding_decisions.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::workload::mlperf {
namespace {

using system::CollectiveKind;
using system::PairSizes;
using system::PerRank;
using system::RankId;

constexpr Bytes kIndex{4};
constexpr Bytes kInput{4};  // a dense feature, the label
constexpr Bytes kMaster{4};
constexpr Bytes kSmallTable{8'000'000};
constexpr Bytes kSmallTableOfManyHosts{12'500'000};
constexpr std::size_t kManyHosts = 8;
constexpr double kRatioOnOneHost = 7;
constexpr double kRatioOnSeveral = 67;
constexpr double kWorkRatio = 4;

std::size_t ranks_per_host(const MlperfTraining& options, std::size_t ranks) {
    return static_cast<std::size_t>(options.ranks_per_host.value_or(static_cast<std::int64_t>(ranks)));
}

/// With indices of 4 bytes, unless the training says something else.
DlrmTraining with_short_indices(DlrmTraining training) {
    training.sharding.index_size = training.sharding.index_size.value_or(kIndex);
    return training;
}

class PlanWriter {
public:
    PlanWriter(const DlrmModel& model, const DlrmTraining& training, const Device& device, std::size_t ranks)
        : model_(model),
          training_(with_short_indices(training)),
          device_(device),
          cost_(model_, training_, device_, ranks),
          tables_(single_tables(model)),
          ranks_(ranks),
          host_ranks_(ranks_per_host(*mlperf_of(training), ranks)),
          samples_(local_batch(training, ranks)) {
        plan_.ranks = ranks;
        plan_.iterations = training.iterations;
        plan_.sharding = mlperf_sharding(model, training, ranks).value();
        world_ = plan_.partitions.push_back(system::Partition::world(ranks));
    }

    [[nodiscard]] MlperfPlan write() && {
        add_lookups();
        if (plan_.sharding.replicated.size() < tables_.size()) {
            add_exchanges();
        }
        add_dense();
        add_copy();
        return std::move(plan_);
    }

private:
    [[nodiscard]] bool has_hosts() const { return host_ranks_ < ranks_; }
    [[nodiscard]] std::int64_t all_samples() const { return static_cast<std::int64_t>(ranks_) * samples_; }
    /// Ranks that have a part of the rows of a shard.
    [[nodiscard]] std::int64_t ranks_of_bucket() const {
        return has_hosts() ? static_cast<std::int64_t>(host_ranks_) : 1;
    }
    [[nodiscard]] std::size_t bucket_of(std::size_t rank) const {
        return has_hosts() ? rank / host_ranks_ : rank;
    }
    [[nodiscard]] std::int64_t blocks_of(std::size_t table) const {
        return plan_.sharding.shards[table] * ranks_of_bucket();
    }

    /// One of `blocks` blocks of rows, for as many samples.
    [[nodiscard]] LookupShard block(std::size_t index, std::int64_t blocks, std::int64_t samples) const {
        const EqualTables& table = tables_[index];
        const std::int64_t rows = divide_up(table.rows, blocks);
        const std::int64_t lookups = divide_up(samples * table.pooling, blocks);
        return {.rows = rows,
                .columns = table.dimension,
                .bags = samples,
                .lookups = lookups,
                .unique_rows = unique_rows(table.traits, rows, lookups, samples),
                .weighted = table.traits.weighted,
                .memory = table.traits.memory,
                .hit_rate = table.traits.cache.hit_rate};
    }

    void add_lookups() {
        std::vector<Time> lookups;
        std::vector<Time> updates;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            std::vector<LookupShard> shards;
            for (const std::size_t table : plan_.sharding.placed[bucket_of(rank)]) {
                shards.push_back(block(table, blocks_of(table), all_samples()));
            }
            const LookupTimes times = cost_.kernel_times(shards, true);
            lookups.push_back(times.forward);
            updates.push_back(times.backward);
        }
        plan_.lookup = PerRank<Time>(std::move(lookups));
        plan_.update = PerRank<Time>(std::move(updates));
        std::vector<LookupShard> replicas;
        for (const std::size_t table : plan_.sharding.replicated) {
            replicas.push_back(block(table, 1, samples_));
        }
        const LookupTimes times = cost_.kernel_times(replicas, false);
        plan_.replica_lookup = times.forward;
        plan_.replica_gradient = times.backward;
    }

    [[nodiscard]] Time moving(Bytes bytes) const { return time_of(device_, {.bytes = bytes}); }

    [[nodiscard]] std::int64_t columns_of(std::size_t bucket) const {
        const std::vector<std::size_t>& placed = plan_.sharding.placed[bucket];
        return std::accumulate(
            placed.begin(), placed.end(), std::int64_t{0},
            [this](std::int64_t sum, std::size_t table) { return sum + tables_[table].dimension; });
    }

    /// In groups of one kind: position p has `sizes[p]` for each of its group; backward each has it for p.
    [[nodiscard]] static LayerCommunication all_to_all(system::PartitionId partition,
                                                       const std::vector<Bytes>& sizes, bool is_forward,
                                                       std::size_t groups, std::string stage) {
        const PairSizes pairs = is_forward ? PairSizes::by_source(sizes) : PairSizes::by_destination(sizes);
        return {.kind = CollectiveKind::kAllToAll,
                .size = pairs.largest_held(),
                .partition = partition,
                .pair_sizes = std::make_shared<const std::vector<PairSizes>>(groups, pairs),
                .stage = std::move(stage)};
    }

    void add_exchanges() {
        const Bytes element = activation_element_size(model_);
        std::vector<Bytes> keys;
        std::int64_t received = 0;  // columns, partial sums each
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            Bytes own;
            for (const std::size_t table : plan_.sharding.placed[bucket_of(rank)]) {
                own += divide_up(samples_ * tables_[table].pooling, blocks_of(table)) *
                       training_.sharding.bytes_per_index();
            }
            keys.push_back(own);
        }
        plan_.keys = all_to_all(world_, keys, false, 1, "");
        std::vector<Bytes> sums;  // by bucket, of m samples
        for (std::size_t bucket = 0; bucket < plan_.sharding.buckets; ++bucket) {
            sums.push_back(samples_ * columns_of(bucket) * element);
            received += columns_of(bucket);
        }
        std::int64_t columns = 0;  // of tables that are not replicated
        for (std::size_t table = 0; table < tables_.size(); ++table) {
            columns += plan_.sharding.shards[table] > 0 ? tables_[table].dimension : 0;
        }
        plan_.collect = moving(samples_ * (received + columns) * element);
        plan_.spread = plan_.collect;
        if (!has_hosts()) {
            plan_.pooled = Exchange{.first = all_to_all(world_, sums, true, 1, "")};
            plan_.gradients = Exchange{.first = all_to_all(world_, sums, false, 1, "")};
            return;
        }
        add_exchanges_of_hosts(sums);
    }

    void add_exchanges_of_hosts(const std::vector<Bytes>& sums) {
        const system::PartitionId within = plan_.partitions.push_back({.name = "hosts", .groups = {}});
        const system::PartitionId across = plan_.partitions.push_back({.name = "across_hosts", .groups = {}});
        plan_.partitions[within].groups.resize(sums.size());
        plan_.partitions[across].groups.resize(host_ranks_);
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            plan_.partitions[within].groups[rank / host_ranks_].emplace_back(rank);
            plan_.partitions[across].groups[rank % host_ranks_].emplace_back(rank);
        }
        // A rank of host b has partial sums of the samples of B/h ranks for each rank of its host.
        std::vector<PairSizes> pairs;
        std::vector<Time> between;
        Bytes largest;
        for (const Bytes sum : sums) {
            const Bytes partial = static_cast<std::int64_t>(sums.size()) * sum;
            pairs.push_back(PairSizes::by_source(std::vector<Bytes>(host_ranks_, partial)));
            largest = std::max(largest, pairs.back().largest_held());
            // As many as it has ranks are read, and one is written.
            between.insert(between.end(), host_ranks_,
                           moving((static_cast<std::int64_t>(host_ranks_) + 1) * partial));
        }
        const LayerCommunication inside{
            .kind = CollectiveKind::kAllToAll,
            .size = largest,
            .partition = within,
            .pair_sizes = std::make_shared<const std::vector<PairSizes>>(std::move(pairs)),
            .stage = "within_hosts"};
        const auto outside = [&](bool is_forward) {
            return all_to_all(across, sums, is_forward, host_ranks_, "across_hosts");
        };
        const PerRank<Time> work(std::move(between));
        plan_.pooled = Exchange{.first = inside, .second = outside(true), .between = work};
        plan_.gradients = Exchange{.first = outside(false), .second = inside, .between = work};
    }

    [[nodiscard]] DenseLayer dense(const MlpLayer& layer) const {
        const PassTimes times = cost_.mlp(layer);
        return {.name = layer.name,
                .forward = *times.forward,
                .input_gradient = *times.input_gradient,
                .weight_gradient = *times.weight_gradient};
    }

    void add_dense() {
        for (const MlpLayer& layer : bottom_layers(model_)) {
            plan_.bottom.push_back(dense(layer));
        }
        if (training_.interaction_time) {
            const PassTimes times = cost_.interaction();
            plan_.top.push_back({.name = std::string(kInteractionLayer),
                                 .forward = *times.forward,
                                 .input_gradient = *times.input_gradient,
                                 .weight_gradient = Time(0)});
        }
        for (const std::vector<MlpLayer>& layers : {cross_layers(model_), top_layers(model_)}) {
            for (const MlpLayer& layer : layers) {
                plan_.top.push_back(dense(layer));
            }
        }
        plan_.reduced_values = mlp_parameters(model_);
        for (const std::size_t table : plan_.sharding.replicated) {
            plan_.reduced_values += tables_[table].rows * tables_[table].dimension;
        }
        plan_.all_reduce = {.kind = CollectiveKind::kAllReduce,
                            .size = plan_.reduced_values * gradient_element_size(model_),
                            .partition = world_};
        if (training_.dense_optimizer) {
            const Bytes held = kMaster + dense_state_of(*training_.dense_optimizer);
            plan_.optimizer = moving(plan_.reduced_values * (gradient_element_size(model_) +
                                                             activation_element_size(model_) + 2 * held));
        }
    }

    void add_copy() {
        if (!device_.host_link) {
            return;
        }
        std::int64_t lookups = 0;
        for (const EqualTables& table : tables_) {
            lookups += table.pooling;
        }
        plan_.copy = samples_ *
                     ((model_.dense_features + 1) * kInput + lookups * training_.sharding.bytes_per_index()) /
                     *device_.host_link;
    }

    const DlrmModel& model_;
    const DlrmTraining training_;
    const Device& device_;
    DlrmCost cost_;
    std::vector<EqualTables> tables_;
    std::size_t ranks_;
    std::size_t host_ranks_;
    std::int64_t samples_;
    MlperfPlan plan_;
    system::PartitionId world_;
};

}  // namespace

std::optional<MlperfSharding> mlperf_sharding(const DlrmModel& model, const DlrmTraining& training,
                                              std::size_t ranks) {
    const MlperfTraining& options = *mlperf_of(training);
    const std::size_t hosts = ranks / ranks_per_host(options, ranks);
    std::vector<PlannedTable> tables;
    for (const EqualTables& table : single_tables(model)) {
        const Bytes state = training.embedding_optimizer
                                ? state_of_row(*training.embedding_optimizer, table.dimension)
                                : Bytes(0);
        tables.push_back(
            {.pooling = table.pooling, .size = table.rows * (table.dimension * model.element_size + state)});
    }
    const Buckets buckets{.count = hosts > 1 ? hosts : ranks,
                          .ranks = hosts > 1 ? static_cast<std::int64_t>(ranks / hosts) : 1,
                          .memory = options.memory};
    const Bytes small = hosts < kManyHosts ? kSmallTable : kSmallTableOfManyHosts;
    const double ratio = hosts > 1 ? kRatioOnSeveral : kRatioOnOneHost;
    return plan_shards(tables, buckets, options.replicate_below.value_or(small),
                       options.bandwidth_ratio.value_or(ratio) / kWorkRatio);
}

MlperfPlan mlperf_plan(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                       std::size_t ranks) {
    return PlanWriter(model, training, device, ranks).write();
}

}  // namespace astrolabe::workload::mlperf
