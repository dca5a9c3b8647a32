/// Compute times of a DLRM's layers on one rank; equations in dlrm_training.hpp.
#pragma once

#include "dlrm_training.hpp"
#include "embedding/embedding_kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device/device.hpp>
#include <astrolabe/workload/dlrm/dlrm_model.hpp>

namespace astrolabe::workload {

/// Times of a layer's passes.
struct PassTimes {
    std::optional<Time> forward = std::nullopt;
    std::optional<Time> input_gradient = std::nullopt;
    std::optional<Time> weight_gradient = std::nullopt;
};

class DlrmCost {
public:
    /// The references must outlive the object.
    DlrmCost(const DlrmModel& model, const DlrmTraining& training, const Device& device, std::size_t ranks);

    [[nodiscard]] Time lookup() const;
    /// Update of the rows looked up, tables spread over the ranks.
    [[nodiscard]] Time embedding_update() const;
    /// Writing the gradients of the rows looked up, tables on every rank.
    [[nodiscard]] Time embedding_gradient() const;
    /// Of `lookup`: rows that caches lack; none where no table is cached.
    [[nodiscard]] std::optional<Time> embedding_fetch() const;
    /// Update of `values` values of this rank's copy of the tables; nothing where the embedding's weight
    /// gradient was measured, which then holds it.
    [[nodiscard]] Time replica_update(std::string_view layer, std::int64_t values) const;

    /// Lookup, and update, of `columns` values of a row of table number `index`, in one of `blocks` blocks of
    /// its rows, which has the lookups of as many samples. Of kernels without their floors, and with the sort
    /// of all of the model's rows.
    [[nodiscard]] Time shard_lookup(const EqualTables& table, std::size_t index, std::int64_t columns,
                                    std::int64_t samples, std::int64_t blocks) const;
    [[nodiscard]] Time shard_update(const EqualTables& table, std::size_t index, std::int64_t columns,
                                    std::int64_t samples, std::int64_t blocks) const;
    /// Whether lookups cost what kernels do: `embedding_time: fbgemm`, and no times by table.
    [[nodiscard]] bool has_kernels() const;
    /// Of a rank's call; requires that they do.
    [[nodiscard]] LookupTimes kernel_times(std::span<const LookupShard> shards, bool updates) const;
    /// What a shard takes of memory, with the state of its optimiser.
    [[nodiscard]] LookupMemory memory(const EqualTables& table, std::int64_t rows,
                                      std::int64_t columns) const;
    /// Writing the gradients of as many values as samples look up in the table.
    [[nodiscard]] Time replica_gradient(const EqualTables& table, std::size_t index,
                                        std::int64_t samples) const;

    /// All three passes are there.
    [[nodiscard]] PassTimes mlp(const MlpLayer& layer) const;
    /// Forward and input gradient are there.
    [[nodiscard]] PassTimes interaction() const;
    /// Update of a dense layer's parameters; the training has a dense optimiser.
    [[nodiscard]] Time dense_update(const MlpLayer& layer) const;

private:
    /// By the rule of the training, nothing measured.
    [[nodiscard]] PassTimes computed_mlp(const MlpLayer& layer) const;
    [[nodiscard]] PassTimes products(const MlpLayer& layer) const;
    /// Ranks over which the tables are spread.
    [[nodiscard]] std::int64_t sharers() const;
    [[nodiscard]] LookupFormat lookup_format(bool updates) const;
    [[nodiscard]] LookupTimes shard_kernels(const EqualTables& table, std::int64_t columns,
                                            std::int64_t samples, std::int64_t blocks, bool updates) const;
    /// Of all tables, of which a rank has one of `blocks` blocks of rows.
    [[nodiscard]] LookupTimes even_kernels(std::int64_t blocks, bool updates) const;
    /// Of `values` values by the embedding time rule, each `accesses` times, and of reading `indices`; fixed
    /// time scales with the values.
    [[nodiscard]] Time embedding_time(std::int64_t values, std::int64_t accesses,
                                      Bytes indices = Bytes(0)) const;
    /// All tables, for the samples of a rank, where they were measured.
    [[nodiscard]] std::optional<Time> measured_tables(std::vector<Time> TableTimes::*pass) const;
    [[nodiscard]] std::optional<Time> measured_shard(std::vector<Time> TableTimes::*pass,
                                                     const EqualTables& table, std::size_t index,
                                                     std::int64_t columns, std::int64_t samples) const;
    [[nodiscard]] std::optional<Time> measured_embedding(std::optional<MeasuredTime> LayerTimes::*layer_pass,
                                                         std::vector<Time> TableTimes::*table_pass) const;

    const DlrmModel& model_;
    const DlrmTraining& training_;
    const Device& device_;
    std::int64_t ranks_;
    std::int64_t samples_;  // per rank
    std::int64_t looked_up_;
    std::int64_t rows_;  // of all tables
};

}  // namespace astrolabe::workload
