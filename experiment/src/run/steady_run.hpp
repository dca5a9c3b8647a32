// Leaves out the iterations of a run that repeat (docs/models/steady-state.md).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/skipped_iterations.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/rest_state.hpp>
#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/executor/steady_state.hpp>

namespace astrolabe::experiment {

/// Watches one executor. Exactly: at the first rest after each iteration it compares the state with those of
/// the last kRests such instants; with a tolerance, without the order of ends at one instant. By measure:
/// when `window` iterations in a row, the first of the run not among them, took as long within the tolerance.
/// Whatever holds first ends the run after as few further iterations as possible.
class SteadyRun final : public system::IterationObserver {
public:
    /// Observes `executor`, which has not begun. All of them outlive the run, and `experiment.steady_state`
    /// is there.
    SteadyRun(const Experiment& experiment, system::Executor& executor,
              const network::NetworkBackend& backend);
    SteadyRun(const SteadyRun&) = delete;
    SteadyRun& operator=(const SteadyRun&) = delete;

    void iterations_ended(int ended) override;
    [[nodiscard]] bool at_rest(int finished) override;

    /// What the whole run is told of. `statistics` are those of the end.
    void complete(system::ExecutionReport& report, network::NetworkStatistics& statistics) const;
    /// Where the run has not `finished`, nothing was left out of what it is told to have done.
    [[nodiscard]] SkippedIterations summary(bool finished) const;

private:
    using How = SkippedIterations::How;
    static constexpr std::size_t kRests = 8;

    struct Instant {
        int iterations = 0;
        system::StateAtRest state{};
        system::AccountsSoFar accounts;
        network::NetworkStatistics network;
    };
    [[nodiscard]] Instant instant(int iterations, system::StateAtRest state) const;
    /// Whether there was something to leave out.
    bool skip(const Instant& from, const Instant& to, How how);
    [[nodiscard]] bool is_steady() const;
    [[nodiscard]] std::string reason() const;

    const Experiment& experiment_;
    const SteadyState& rule_;
    system::Executor& executor_;
    const network::NetworkBackend& backend_;
    const network::RestState* rest_;  // null: the engine cannot tell
    const std::optional<int> alike_from_;
    std::deque<Instant> rests_;
    std::deque<Instant> ends_;  // of iterations, as many as the window and one
    bool has_rested_ = false;   // with a state that is known
    std::string late_;          // steady, with too few iterations to come
    SkippedIterations summary_;
    std::optional<system::SkippedPeriods> skipped_;
    network::NetworkStatistics network_from_;
    network::NetworkStatistics network_to_;
};

}  // namespace astrolabe::experiment
