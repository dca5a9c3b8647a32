#include "placed_tables.hpp"

#include "../dlrm_cost.hpp"
#include "../optimizers.hpp"
#include "../sharding_decisions.hpp"
#include "full_planner.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace astrolabe::workload::planner {

namespace {

Time sum(Time a, Time b) {
    return std::min(a, Time::max() / 2) + std::min(b, Time::max() / 2);
}

}  // namespace

TrainingCosts training_costs(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                             std::size_t ranks) {
    struct Shared {
        DlrmCost cost;
        std::vector<EqualTables> tables;
    };
    const auto shared = std::make_shared<const Shared>(
        Shared{DlrmCost(model, training, device, ranks), single_tables(model)});
    const std::int64_t samples = local_batch(training, ranks);
    const bool is_dense = training.embedding_gradients == EmbeddingGradients::kDense;
    TrainingCosts costs{.ranks = ranks,
                        .samples = samples,
                        .optimizer = training.embedding_optimizer,
                        .element_size = model.element_size,
                        .activation_size = activation_element_size(model),
                        .formats = training.wire_formats,
                        .has_dense_gradients = is_dense};
    costs.lookup = [shared](std::size_t table, std::int64_t columns, std::int64_t looking_up,
                            std::int64_t blocks) {
        return shared->cost.shard_lookup(shared->tables[table], table, columns, looking_up, blocks);
    };
    costs.update = [shared](std::size_t table, std::int64_t columns, std::int64_t looking_up,
                            std::int64_t blocks) {
        return shared->cost.shard_update(shared->tables[table], table, columns, looking_up, blocks);
    };
    costs.replica_update = [shared, samples, is_dense, ranks](std::size_t table) {
        const EqualTables& copy = shared->tables[table];
        const std::int64_t touched =
            static_cast<std::int64_t>(ranks) * std::min(samples * copy.pooling, copy.rows);
        return sum(shared->cost.replica_gradient(copy, table, samples),
                   shared->cost.replica_update(kReplicatedEmbeddingLayer,
                                               (is_dense ? copy.rows : touched) * copy.dimension));
    };
    if (device.memory) {
        const Bytes dense = dense_memory(model, training, ranks).total();
        costs.memory = std::max(*device.memory - dense, Bytes(0));
    }
    return costs;
}

ShardingResult place_tables(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                            std::size_t ranks) {
    const TrainingCosts costs = training_costs(model, training, device, ranks);
    const ShardTime both = [&costs](std::size_t table, std::int64_t columns, std::int64_t samples,
                                    std::int64_t blocks) {
        return sum(costs.lookup(table, columns, samples, blocks),
                   costs.update(table, columns, samples, blocks));
    };
    if (!training.sharding.is_searched_fully()) {
        return plan_sharding(training.sharding, model, ranks, costs.samples, both);
    }
    FullPlan full = plan_fully(training.sharding, model, costs);
    if (!full.validation_errors.empty()) {
        return {.plan = {}, .validation_errors = std::move(full.validation_errors)};
    }
    ShardingResult result = plan_sharding(made_explicit(training.sharding, std::move(full.rules)), model,
                                          ranks, costs.samples, both);
    result.plan.report = std::move(full.report);
    return result;
}

}  // namespace astrolabe::workload::planner
