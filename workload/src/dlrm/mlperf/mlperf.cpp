#include "mlperf.hpp"

#include "mlperf_loop.hpp"
#include "mlperf_plan.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace astrolabe::workload::mlperf {

void check(ValidationErrors& found, const DlrmTraining& training, std::size_t ranks) {
    const MlperfTraining& options = *mlperf_of(training);
    require(found, training.parallelism == Parallelism::kHybrid, "training",
            "these submissions shard tables and replicate the rest", "set parallelism to hybrid");
    require(found, training.sharding.is_balanced() && !training.sharding.input_distribution, "sharding",
            "these submissions have a plan of their own", "leave it out");
    require(found, !training.gradient_buckets, "gradient_buckets",
            "dense gradients and replicated tables are reduced together", "leave it out");
    require(found, training.dense_sharding == DenseSharding::kReplicated, "dense_sharding",
            "dense parameters are replicated", "leave it out");
    require(found, training.priorities.empty(), "priorities",
            "collectives of keys, embeddings and gradients do not wait for one another", "leave them out");
    require(found, training.embedding_update == EmbeddingUpdate::kAfterGradients, "embedding_update",
            "the update needs its gradients", "leave it out");
    const WireFormats& formats = training.wire_formats;
    require(found,
            !formats.forward_all_to_all && !formats.backward_all_to_all && !formats.forward_reduce_scatter &&
                !formats.backward_all_gather && !formats.all_reduce && !formats.parameter_all_gather &&
                !formats.gradient_reduce_scatter,
            "wire_formats", "what is exchanged is what is computed with",
            "set model.activation_element_size and model.gradient_element_size");
    require(found, training.embedding_time == EmbeddingTime::kFbgemm, "embedding_time",
            "shards of rows cost what their kernels do", "write fbgemm");
    const auto all = static_cast<std::int64_t>(ranks);
    require(found, all % options.ranks_per_host.value_or(all) == 0, "training.ranks_per_host",
            fmt::format("{} ranks do not make hosts of {}", ranks, options.ranks_per_host.value_or(all)),
            "choose a divisor");
}

ValidationErrors memory_errors(const DlrmModel& model, const DlrmTraining& training, std::size_t ranks) {
    if (mlperf_sharding(model, training, ranks)) {
        return {};
    }
    ValidationErrors found;
    add_error(found, "training.memory",
              fmt::format("{} ranks with {} each have no room for the tables, {} of weights, and their state",
                          ranks, readable(mlperf_of(training)->memory), readable(embedding_size(model))),
              "use more ranks, give them more memory, or replicate less");
    return found;
}

system::Program build_program(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                              std::size_t ranks) {
    const HostCosts host = device.host.value_or(HostCosts{});
    return mlperf_loop(mlperf_plan(model, training, device, ranks), host.forward_launch + host.iteration);
}

Time embedding_compute(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                       std::size_t ranks) {
    const MlperfPlan plan = mlperf_plan(model, training, device, ranks);
    const Time on_all = plan.replica_lookup + plan.replica_gradient + plan.collect + plan.spread;
    Time longest;
    for (std::size_t index = 0; index < ranks; ++index) {
        const system::RankId rank(index);
        Time own = on_all + plan.lookup[rank] + plan.update[rank];
        for (const std::optional<Exchange>* exchange : {&plan.pooled, &plan.gradients}) {
            own += *exchange ? (*exchange)->between[rank] : Time(0);
        }
        longest = std::max(longest, own);
    }
    return longest;
}

std::vector<std::pair<std::string, std::string>> facts(const DlrmModel& model, const DlrmTraining& training,
                                                       const Device& device, std::size_t ranks) {
    const MlperfPlan plan = mlperf_plan(model, training, device, ranks);
    std::vector<std::string> cut;
    for (std::size_t table = 0; table < plan.sharding.shards.size(); ++table) {
        if (plan.sharding.shards[table] > 1) {
            cut.push_back(fmt::format("{} in {}", table, plan.sharding.shards[table]));
        }
    }
    std::vector<std::string> placed;
    for (const std::vector<std::size_t>& tables : plan.sharding.placed) {
        placed.push_back(fmt::format("{{{}}}", fmt::join(tables, ", ")));
    }
    return {{"replicated tables", fmt::format("{}", fmt::join(plan.sharding.replicated, ", "))},
            {"tables cut by rows", cut.empty() ? "none" : fmt::format("{}", fmt::join(cut, ", "))},
            {plan.sharding.buckets == ranks ? "tables of each rank" : "tables of each host",
             fmt::format("{}", fmt::join(placed, ", "))},
            {"reduced together",
             fmt::format("{} values, {}", plan.reduced_values, readable(plan.all_reduce.size))}};
}

}  // namespace astrolabe::workload::mlperf
