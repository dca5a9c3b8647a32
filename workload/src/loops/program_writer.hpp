/// Writes a Program compute operation by compute operation; what the training loops share.
///
/// Waits collect until the next compute operation, which depends on them in the order they were asked for. A
/// collective depends on the compute operation written last, unless it is issued at the start.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/system/program.hpp>
#include <astrolabe/workload/training_loop.hpp>

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
    /// W-wait: for the layer's weight-gradient collective of the iteration before.
    void wait_for_weights(std::size_t layer) { wait_for(weights_[layer]); }

    /// Does nothing where the layer does not compute the pass.
    void compute(std::size_t layer, Pass pass);
    /// The layer's weight-gradient time, as "<layer>.update".
    void update(std::size_t layer);

    /// Returns nothing where the layer does not communicate after the pass.
    std::optional<system::OperationId> communicate(std::size_t layer, Pass pass, system::Priority priority);
    /// The same, depending on nothing.
    std::optional<system::OperationId> issue_at_start(std::size_t layer, Pass pass,
                                                      system::Priority priority);

    /// Forward pass of a layer once more, for the backward pass of `initiator`, with its blocking collective.
    void recompute(std::size_t layer, std::size_t initiator);

private:
    std::optional<system::OperationId> communicate(std::size_t layer, Pass pass, std::string_view what,
                                                   system::Priority priority,
                                                   std::vector<system::OperationId> dependencies);
    void add_compute(const TrainingLayer& layer, std::string_view what,
                     const system::PerRank<Time>& duration);
    void end_iteration();

    const TrainingPlan& plan_;
    system::Program program_;
    int iteration_ = -1;
    std::optional<system::OperationId> last_compute_;
    std::vector<system::OperationId> waits_;
    std::vector<std::optional<system::OperationId>> weights_;  // by layer: last weight-gradient collective
};

}  // namespace astrolabe::workload
