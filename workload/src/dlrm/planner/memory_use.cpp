#include "memory_use.hpp"

#include "../../integer_division.hpp"
#include "../optimizers.hpp"
#include "../sharding_decisions.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace astrolabe::workload::planner {

namespace {

PieceMemory divided(const PieceMemory& memory, std::int64_t parts) {
    const auto part = [parts](Bytes size) { return Bytes(divide_up(size.count(), parts)); };
    return {.weights = part(memory.weights),
            .state = part(memory.state),
            .activations = part(memory.activations),
            .indices = part(memory.indices)};
}

}  // namespace

RankMemory dense_memory(const DlrmModel& model, const DlrmTraining& training, std::size_t ranks) {
    const auto count = static_cast<std::int64_t>(ranks);
    const std::int64_t samples = local_batch(training, ranks);
    const Bytes state = training.dense_optimizer ? dense_state_of(*training.dense_optimizer) : Bytes(0);
    RankMemory memory;
    memory.parameters = mlp_parameters(model) * (model.element_size + gradient_element_size(model) + state);
    const bool is_model_parallel = training.parallelism == Parallelism::kModel;
    if (is_model_parallel || training.dense_sharding == DenseSharding::kFsdp) {
        memory.parameters = Bytes(divide_up(memory.parameters.count(), count));
    }
    std::int64_t outputs = interaction_width(model) + 2 * pooled_width(model);
    for (const MlpLayer& layer : dense_layers(model)) {
        outputs += layer.output_width;
    }
    memory.activations = samples * outputs * activation_element_size(model);
    return memory;
}

std::vector<RankMemory> memory_use(const DlrmModel& model, const DlrmTraining& training,
                                   const TrainingCosts& costs, const std::optional<ShardingPlan>& plan) {
    std::vector<RankMemory> ranks(costs.ranks, dense_memory(model, training, costs.ranks));
    const auto piece = [&](const EqualTables& table, TableSharding kind, std::int64_t columns) {
        return piece_memory(training.sharding, costs, table, kind, columns);
    };
    if (!plan) {
        const bool is_copied = training.parallelism == Parallelism::kData;
        PieceMemory all;
        for (const EqualTables& run : equal_tables(model)) {
            const PieceMemory one = piece(
                run, is_copied ? TableSharding::kDataParallel : TableSharding::kTableWise, run.dimension);
            for (std::int64_t i = 0; i < run.count; ++i) {
                all += one;
            }
        }
        for (RankMemory& rank : ranks) {
            rank.tables = is_copied ? all : divided(all, static_cast<std::int64_t>(costs.ranks));
        }
        return ranks;
    }
    for (const Shard& shard : plan->shards) {
        ranks[shard.rank.index()].tables +=
            piece(plan->tables[shard.table], plan->kinds[shard.table], shard.columns);
    }
    for (const HostTable& table : plan->host_tables) {
        const PieceMemory each = piece(plan->tables[table.table], table.kind, table.columns);
        for (std::size_t i = 0; i < plan->ranks_per_host; ++i) {
            ranks[table.host * plan->ranks_per_host + i].tables += each;
        }
    }
    for (const auto& [tables, kind] : {std::pair(&plan->row_wise, TableSharding::kRowWise),
                                       std::pair(&plan->data_parallel, TableSharding::kDataParallel)}) {
        for (const std::size_t table : *tables) {
            const PieceMemory each = piece(plan->tables[table], kind, plan->tables[table].dimension);
            for (RankMemory& rank : ranks) {
                rank.tables += each;
            }
        }
    }
    return ranks;
}

std::size_t fullest(const std::vector<RankMemory>& ranks) {
    return static_cast<std::size_t>(
        std::max_element(ranks.begin(), ranks.end(),
                         [](const RankMemory& a, const RankMemory& b) { return a.total() < b.total(); }) -
        ranks.begin());
}

std::string describe(const RankMemory& memory) {
    std::string text = readable(memory.total());
    const std::pair<std::string_view, Bytes> parts[] = {
        {"tables", memory.tables.weights},
        {"their optimiser's state", memory.tables.state},
        {"pooled values and gradients", memory.tables.activations},
        {"indices", memory.tables.indices},
        {"dense parameters, gradients and state", memory.parameters},
        {"dense activations", memory.activations}};
    std::string_view separator = ": ";
    for (const auto& [name, size] : parts) {
        if (size > Bytes(0)) {
            text += fmt::format("{}{} {}", separator, name, readable(size));
            separator = ", ";
        }
    }
    return text;
}

ValidationErrors memory_errors(const std::vector<RankMemory>& ranks, const Device& device) {
    const std::size_t rank = fullest(ranks);
    if (!device.memory || ranks[rank].total() <= *device.memory) {
        return {};
    }
    return {{.key = "sharding",
             .message = fmt::format("rank {} needs {}; the device has {}, {} too little", rank,
                                    describe(ranks[rank]), readable(*device.memory),
                                    readable(ranks[rank].total() - *device.memory)),
             .hint = "use more ranks or a smaller batch, or sharding: {plan: planner, search: full}, which "
                     "keeps to the memory"}};
}

}  // namespace astrolabe::workload::planner
