// Samples how far a simulation is, for an observer of progress (progress.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include <astrolabe/experiment/file/experiment.hpp>
#include <astrolabe/experiment/run/progress.hpp>
#include <astrolabe/network/backend.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::experiment {

/// How far the jobs on an engine are, as only their executors know.
struct JobStanding {
    int finished_iterations = 0;
    int iterations = 0;
    std::optional<double> done{};
    std::size_t computing_ranks = 0;
    std::size_t waiting_ranks = 0;
    std::string jobs{};
};

/// Of an executor that runs alone; `work` is all that its program sends.
[[nodiscard]] JobStanding standing_of(const system::Executor& executor, const Experiment& experiment,
                                      const network::NetworkBackend& backend, std::uint64_t messages,
                                      Bytes bytes);

class RunWatch final : public network::RunWatcher {
public:
    using Clock = std::chrono::steady_clock;
    struct Subject {
        const Experiment& experiment;  ///< of its backend, and of what its end points do
        const network::Fabric& fabric;
        network::NetworkBackend& backend;
        std::size_t simulation;
        Clock::time_point start;  ///< of all simulations
        std::function<JobStanding()> standing;
    };

    /// From now on `backend` is watched; all must outlive its last `run`.
    RunWatch(const ProgressObserver& observer, Subject subject);

    [[nodiscard]] std::uint64_t pulse() override;
    /// The last sample, of a simulation that took `total`.
    void end(Time total, bool finished);

private:
    /// What a link carried when it was looked at last.
    struct Sampled {
        std::vector<Bytes> carried;
        Time at;
    };

    [[nodiscard]] Progress sample();
    [[nodiscard]] Bottleneck bottleneck(const JobStanding& standing);
    [[nodiscard]] Bottleneck limit_of_packets(const network::PresentLimits& limits);
    /// Of an engine that knows of some.
    [[nodiscard]] Bottleneck links_of(const network::PresentLimits& limits) const;
    [[nodiscard]] Bottleneck links(std::vector<network::LimitingLink> limiting, std::size_t all) const;
    [[nodiscard]] bool has_packets() const { return subject_.experiment.backend.packet_payload > Bytes(0); }

    const ProgressObserver& observer_;
    Subject subject_;
    Clock::time_point began_;
    Clock::time_point pulsed_;
    Clock::time_point next_sample_;
    std::uint64_t events_between_ = 64;
    Sampled sampled_;
};

}  // namespace astrolabe::experiment
