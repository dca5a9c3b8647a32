/// The layers that embeddings make of a training plan; equations in dlrm_training.hpp and sharding.hpp.
#pragma once

#include "../integer_division.hpp"
#include "../loops/training_loop.hpp"
#include "dlrm_cost.hpp"
#include "dlrm_training.hpp"
#include "embedding/rank_lookups.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>
#include <astrolabe/workload/dlrm/sharding.hpp>

namespace astrolabe::workload {

class EmbeddingLayers {
public:
    /// The references must outlive the object; `world` is the partition of all ranks in `plan`.
    EmbeddingLayers(const DlrmModel& model, const DlrmTraining& training, const Device& device,
                    const DlrmCost& cost, TrainingPlan& plan, system::PartitionId world);

    /// Every rank has the same share of the tables.
    [[nodiscard]] TrainingLayer balanced() const;
    /// Every rank has all tables.
    [[nodiscard]] TrainingLayer replicated() const;
    /// One layer of each way of sharding that is used.
    [[nodiscard]] std::vector<TrainingLayer> sharded(const ShardingPlan& sharding);

private:
    /// Pooled values that a sample brings, or that a rank has for it: columns, and the rows they come in.
    struct Pooled {
        std::int64_t columns = 0;
        std::int64_t rows = 0;
        std::int64_t blocks = 0;  ///< of 32 columns, and of 4: of formats that pack vectors
        std::int64_t fours = 0;

        void add(std::int64_t more, std::int64_t times = 1) {
            columns += times * more;
            rows += times;
            blocks += times * divide_up(more, 32);
            fours += times * divide_up(more, 4);
        }
    };
    /// Rows of tables that samples touch at most, in values and in bytes with their indices.
    struct TouchedRows {
        std::int64_t values = 0;
        Bytes size;
    };

    [[nodiscard]] Payload payload(const Pooled& pooled, std::int64_t samples,
                                  std::optional<WireFormat> format) const;
    [[nodiscard]] LayerCommunication world_collective(system::CollectiveKind kind, Bytes size) const;
    [[nodiscard]] TouchedRows touched_rows(const std::vector<EqualTables>& tables) const;
    void exchange_replicas(TrainingLayer& layer, const std::vector<EqualTables>& tables) const;

    [[nodiscard]] TrainingLayer on_ranks(const ShardingPlan& sharding, RankLookups lookups) const;
    /// Of the tables of one kind that are spread over the ranks of hosts.
    [[nodiscard]] TrainingLayer on_hosts(const ShardingPlan& sharding, TableSharding kind,
                                         RankLookups lookups);
    [[nodiscard]] TrainingLayer on_rows(const ShardingPlan& sharding, RankLookups lookups) const;
    [[nodiscard]] TrainingLayer on_replicas(const ShardingPlan& sharding, RankLookups lookups) const;

    const DlrmModel& model_;
    const DlrmTraining& training_;
    const Device& device_;
    const DlrmCost& cost_;
    TrainingPlan& plan_;
    system::PartitionId world_;
    std::int64_t ranks_;
    std::int64_t samples_;  // per rank
    std::optional<system::PartitionId> within_hosts_;
    std::optional<system::PartitionId> across_hosts_;
};

}  // namespace astrolabe::workload
