/// Writes a Program compute operation by compute operation: shared by the training loops.
///
/// Waits collect until the next compute operation, which depends on them in the order they were asked for. A
/// collective depends on the compute operation written last, unless it is issued at the start. Buckets,
/// gathers of parameters and wire formats (training_loop.hpp) are applied here, not in the loops.
#pragma once

#include "training_loop.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/system/program/program.hpp>

namespace astrolabe::workload {

enum class Pass : std::uint8_t { kForward, kInputGradient, kWeightGradient };

class ProgramWriter {
public:
    /// `plan` must outlive the writer.
    explicit ProgramWriter(const TrainingPlan& plan);

    /// Starts the next iteration; what the one before still waits for becomes an operation of its own.
    void begin_iteration();
    [[nodiscard]] system::Program finish() &&;

    /// Does nothing where there is no collective to wait for.
    void wait_for(std::optional<system::OperationId> collective);
    /// W-wait: for the layer's weight-gradient collective of the iteration before, and the step of its
    /// optimiser.
    void wait_for_weights(std::size_t layer);

    /// Does nothing where the layer does not compute the pass.
    void compute(std::size_t layer, Pass pass);
    /// The layer's weight-gradient time, as "<layer>.update", and its weight-gradient collective. Of an update
    /// that comes so many iterations late in an iteration that has its own: "<layer>.update_late_2".
    void update(std::size_t layer, std::size_t late = 0);

    /// Returns nothing where the layer does not communicate after the pass.
    std::optional<system::OperationId> communicate(std::size_t layer, Pass pass, system::Priority priority);
    /// The plan's input of an iteration, this one or the next, behind what was computed last.
    [[nodiscard]] system::OperationId issue_input(int iteration);
    /// As the first, depending on nothing.
    std::optional<system::OperationId> issue_at_start(std::size_t layer, Pass pass,
                                                      system::Priority priority);

    /// Forward pass of a layer once more, for the backward pass of `initiator`, with its blocking collective.
    void recompute(std::size_t layer, std::size_t initiator);

private:
    /// A collective with its names.
    struct Issue {
        const LayerCommunication& communication;
        std::string layer;
        std::string what;  ///< "weight_gradient"
        system::Priority priority = system::Priority::kDefault;
        std::optional<std::int64_t> explicit_priority = std::nullopt;
        Time completion_delay = Time(0);
        std::optional<int> iteration = std::nullopt;  ///< unset: the one that is written
    };
    struct Decode {
        std::string layer;
        std::string what;
        system::PerRank<Time> duration;
    };
    /// A computation of a layer with all its parameters.
    struct Visit {
        std::size_t layer = 0;
        bool forward = true;
        std::optional<system::OperationId> gather = std::nullopt;
    };

    std::optional<system::OperationId> communicate(std::size_t layer, Pass pass, std::string_view what,
                                                   system::Priority priority,
                                                   std::vector<system::OperationId> dependencies);
    /// Counts a gradient of the bucket; its last one issues the collective.
    std::optional<system::OperationId> complete_gradient(std::size_t bucket);
    system::OperationId issue(const Issue& issue, std::vector<system::OperationId> dependencies);
    void gather_parameters(std::size_t layer);
    void issue_gather(std::size_t visit);
    void decode_awaited();
    void add_compute(std::string_view layer, std::string_view what, const system::PerRank<Time>& duration);
    void append_compute(std::string name, std::string layer, const system::PerRank<Time>& duration,
                        std::vector<system::OperationId> dependencies);
    void end_iteration();

    const TrainingPlan& plan_;
    system::Program program_;
    int iteration_ = -1;
    std::optional<system::OperationId> last_compute_;
    std::vector<system::OperationId> waits_;
    std::vector<std::optional<system::OperationId>> weights_;  // by layer: last weight-gradient collective
    std::vector<std::size_t> gradients_missing_;               // by bucket, of this iteration
    std::map<system::OperationId, Decode> decodes_;  // of collectives that nothing has waited for yet
    std::vector<Visit> visits_;                      // of this iteration
    std::size_t next_visit_ = 0;
};

}  // namespace astrolabe::workload
