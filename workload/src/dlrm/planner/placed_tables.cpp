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
    const auto sum = [](Time a, Time b) {
        return std::min(a, Time::max() / 2) + std::min(b, Time::max() / 2);
    };
    TrainingCosts costs{.ranks = ranks,
                        .samples = samples,
                        .element_size = model.element_size,
                        .activation_size = activation_element_size(model),
                        .formats = training.wire_formats,
                        .has_dense_gradients = is_dense};
    costs.lookup = [shared, sum](std::size_t table, std::int64_t columns, std::int64_t looking_up,
                                 std::int64_t blocks) {
        const EqualTables& description = shared->tables[table];
        return sum(shared->cost.shard_lookup(description, table, columns, looking_up, blocks),
                   shared->cost.shard_update(description, table, columns, looking_up, blocks));
    };
    costs.replica = [shared, sum, samples, is_dense, ranks](std::size_t table) {
        const EqualTables& copy = shared->tables[table];
        const std::int64_t touched =
            static_cast<std::int64_t>(ranks) * std::min(samples * copy.pooling, copy.rows);
        const Time work = sum(shared->cost.shard_lookup(copy, table, copy.dimension, samples, 1),
                              shared->cost.replica_gradient(copy, table, samples));
        return sum(work, shared->cost.replica_update(kReplicatedEmbeddingLayer,
                                                     (is_dense ? copy.rows : touched) * copy.dimension));
    };
    costs.state_of_row = [optimizer = training.embedding_optimizer](std::int64_t columns) {
        return optimizer ? state_of_row(*optimizer, columns) : Bytes(0);
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
    if (!training.sharding.is_searched_fully()) {
        return plan_sharding(training.sharding, model, ranks, costs.samples, costs.lookup);
    }
    FullPlan full = plan_fully(training.sharding, model, costs);
    if (!full.validation_errors.empty()) {
        return {.plan = {}, .validation_errors = std::move(full.validation_errors)};
    }
    ShardingResult result = plan_sharding(made_explicit(training.sharding, std::move(full.rules)), model,
                                          ranks, costs.samples, costs.lookup);
    result.plan.report = std::move(full.report);
    return result;
}

}  // namespace astrolabe::workload::planner
