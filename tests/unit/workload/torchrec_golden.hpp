/// The worked example of the reference for DLRM training: four ranks on two hosts, two samples each. A: 100
/// rows of 8, on rank 1. B: 60 rows of 8, columns on ranks 0 and 3. C: 10 rows of 4 over all ranks: blocks of
/// ⌈10/4⌉ = 3, 3, 3 and 1. D: 8 rows of 4 on the second host, 4 a rank. E: 3 rows of 4, a copy on every rank.
/// A dense layer before (4 → 4) and one after the concatenation (32 → 1), with biases.
#pragma once

#include "workload/src/dlrm/torchrec/plan.hpp"

#include <algorithm>
#include <vector>

namespace astrolabe::workload::testing {

struct GoldenExample {
    GoldenExample() {
        using namespace astrolabe::literals;
        model.dense_features = 4;
        model.bottom_mlp = {4};
        model.top_mlp = {1};
        model.interaction = Interaction::kConcatenation;
        model.biases = true;
        model.element_size = 4_B;
        for (const auto& [rows, dimension] : {std::pair{100, 8}, {60, 8}, {10, 4}, {8, 4}, {3, 4}}) {
            model.tables.push_back({.count = 1, .rows = rows, .dimension = dimension, .pooling = 2});
        }
        training.local_batch = 2;
        training.embedding_time = EmbeddingTime::kFlops;
        training.framework = TorchrecTraining{};
        training.sharding.plan = ShardingMethod::kExplicit;
        training.sharding.ranks_per_host = 2;
        training.sharding.tables = {
            {.first = 0, .sharding = TableSharding::kTableWise, .ranks = {1}},
            {.first = 1, .sharding = TableSharding::kColumnWise, .shards = 2, .ranks = {0, 3}},
            {.first = 2, .sharding = TableSharding::kRowWise},
            {.first = 3, .sharding = TableSharding::kTableRowWise, .hosts = {1}},
            {.first = 4, .sharding = TableSharding::kDataParallel}};
        device.peak = 1_TFLOPS;  // a FLOP takes 1 ps
    }

    [[nodiscard]] torchrec::TorchrecPlan plan() const {
        const LookupCount count = [this](std::size_t rank, std::size_t table, std::int64_t block,
                                         std::int64_t blocks) {
            const RowBlock rows = row_block(kRows[table], block, blocks);
            const std::vector<std::int64_t>& looked_up = indices[rank][table];
            return std::count_if(looked_up.begin(), looked_up.end(), [&rows](std::int64_t index) {
                return rows.begin <= index && index < rows.end;
            });
        };
        return torchrec::torchrec_plan(model, training, device, 4, count);
    }

    static constexpr std::int64_t kRows[] = {100, 60, 10, 8, 3};
    DlrmModel model;
    DlrmTraining training;
    Device device;
    /// By rank and table, both samples.
    std::vector<std::vector<std::vector<std::int64_t>>> indices{
        {{5, 7, 8}, {1, 2, 3}, {0, 9, 4}, {7, 0, 3}, {0, 2}},
        {{5, 6, 7}, {10, 11, 12}, {8, 2, 3}, {4, 5, 1}, {1, 1}},
        {{99, 5}, {59}, {9}, {2, 6}, {0, 0}},
        {{0, 1, 5}, {2, 2, 2}, {1, 1, 5, 7}, {3, 3}, {2, 2}}};
};

}  // namespace astrolabe::workload::testing
