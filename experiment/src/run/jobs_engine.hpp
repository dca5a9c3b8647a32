// Jobs on one engine: who starts when, on which hosts, and how each fares.
#pragma once

#include "run_watch.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/run/jobs_run.hpp>
#include <astrolabe/network/shared_backend.hpp>

namespace astrolabe::experiment {

/// Of a job what is to run.
struct JobToRun {
    std::size_t job = 0;  ///< of the set
    Time start{};
    std::uint32_t repeat = 1;
    std::vector<network::HostId> hosts{};  ///< empty: those that are free when it starts
};

/// Who is told how far all are.
struct JobsWatch {
    const ProgressObserver& observer;
    std::chrono::steady_clock::time_point start;
    std::size_t simulations = 0;  ///< begun
};

class JobsEngine final : public network::NotificationHandler {
public:
    /// `fabric` is that on which all of `jobs` run. All must outlive it.
    JobsEngine(const Experiment& experiment, std::shared_ptr<const network::Fabric> fabric,
               std::vector<JobToRun> jobs, bool until_all_finished_once, JobsWatch& watch);
    ~JobsEngine();
    JobsEngine(const JobsEngine&) = delete;
    JobsEngine& operator=(const JobsEngine&) = delete;

    /// Once. False: it stalled.
    [[nodiscard]] bool run();
    void notify(std::uint64_t token) override;

    /// By place in `jobs`. Of a run that finished.
    [[nodiscard]] std::vector<JobResult>& results() { return results_; }
    [[nodiscard]] const std::string& stall() const { return stall_; }
    [[nodiscard]] const network::NetworkStatistics& statistics() const { return statistics_; }
    /// When the last run that counts ended.
    [[nodiscard]] Time total() const;
    /// When all ended or were stopped.
    [[nodiscard]] Time ended() const { return engine_->now(); }

private:
    /// One run of a job: its executor, and the part of the network that it sees.
    class Execution;
    enum class Event : std::uint8_t { kArrival, kIdle, kEnd };

    [[nodiscard]] static std::uint64_t token(Event event, std::size_t place);
    void arrive(std::size_t place);
    void start_those_that_fit();
    void start(std::size_t place);
    /// A run of it has ended, or can do nothing any more.
    void end(std::size_t place);
    void take(std::size_t place, Run run, Time started);
    void check(const network::NetworkStatistics& statistics) const;
    [[nodiscard]] JobStanding standing() const;
    /// How far each job is: "ads 45 %, bert 30 % of run 2, 3 not begun, 1 done".
    [[nodiscard]] std::string progress_of_jobs() const;

    [[nodiscard]] const JobOnNetwork& job(std::size_t place) const;
    /// On the hosts that it has.
    [[nodiscard]] const Experiment& placed(std::size_t place) const;
    [[nodiscard]] bool all_finished_once() const;

    const Experiment& experiment_;
    std::shared_ptr<const network::Fabric> fabric_;
    std::vector<JobToRun> jobs_;
    bool until_all_finished_once_;
    JobsWatch& watch_;
    std::unique_ptr<network::NetworkBackend> engine_;
    std::optional<FreeHosts> free_;
    std::deque<std::size_t> waiting_;
    std::vector<JobResult> results_;
    std::vector<std::unique_ptr<const Experiment>> placed_;  ///< where hosts are not those it was read with
    std::vector<std::unique_ptr<Execution>> executions_;     ///< by place; null: none is in progress
    Bytes delivered_;                                        ///< of executions that have ended
    std::uint64_t operations_ = 0;                           ///< likewise
    bool is_stalled_ = false;
    std::string stall_;
    network::NetworkStatistics statistics_;
};

}  // namespace astrolabe::experiment
