/// Running several jobs on one network (file/jobs.hpp), and what such a run tells.
///
/// Model. Every job has an executor of its own on the one engine (network/shared_backend.hpp), with a clock
/// that starts when the job does. So what is asserted of a run of one job is asserted of each: the account of
/// every rank, the bytes of every operation, its lower bound. Of all together: every byte that any job sent is
/// delivered once, and no link carries more than its rate.
///
/// *Iteration times* of a job are those of all its runs that count: all `repeat` of them, or the first where
/// every job starts over until all have finished once. *Time alone* is the total of a run of the job by
/// itself, on the same hosts, from the same instant (circuits that come and go are then as they were). Its
/// *slowdown* is the total of its first run over that. *Fairness* is Jain's index of the slowdowns,
///     (Σ s)² / (n Σ s²),
/// 1 where all are slowed down alike, 1/n where one takes it all (Jain, Chiu and Hawe, "A quantitative measure
/// of fairness", DEC TR-301, 1984). *Interference* of j with i is the total of i beside j alone, over its time
/// alone: of every pair a run by itself, in which both start over until both have finished once.
///
/// *Shared bytes* of i with j are what i puts, by the routes of its traffic, on links that j uses as well; they
/// say where the two meet, not when. Of static networks.
///
/// Ranks are not folded: jobs make hosts differ.
///
/// Cost: that of the executors; n more runs for slowdowns, n(n - 1)/2 more for interference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/experiment/file/jobs.hpp>
#include <astrolabe/experiment/run/run.hpp>

namespace astrolabe::experiment {

/// What became of a job.
struct JobResult {
    Time arrival;
    Time start;  ///< of its first run, later than its arrival where it waited for hosts
    Time end;    ///< of its last run that counts
    std::vector<network::HostId> hosts;  ///< by rank; of a network of its own: those of it
    std::vector<Time> run_times;         ///< that count
    std::vector<Time> iteration_times;   ///< of these
    std::uint64_t runs = 0;              ///< that finished, whether they count or not
    /// The first one, on the job's own clock; `network` and `utilization` are those of all jobs.
    Run first;
    std::string fingerprint;    ///< of its first run's times: equal of jobs that fare alike
    std::optional<Time> alone;  ///< total of a run by itself

    [[nodiscard]] std::optional<double> slowdown() const {
        return alone && *alone > Time(0)
                   ? std::optional(to_seconds(run_times.front()) / to_seconds(*alone))
                   : std::nullopt;
    }
};

/// Where two jobs meet, and what that does to the first.
struct JobPair {
    std::size_t job = 0;
    std::size_t other = 0;
    std::optional<double> slowdown;       ///< of `job`, where pairs were run
    double shared_bytes = 0;              ///< of `job` on links that `other` uses
    std::size_t shared_links = 0;         ///< that both use
    std::optional<network::LinkId> link;  ///< of these the one that carries most of both
};

struct JobsRun {
    bool finished = false;
    std::string stall;  ///< when not finished
    std::vector<JobResult> jobs;
    Time total;  ///< makespan: when the last run that counts has ended
    Time ended;  ///< when the last of all runs ended, or was stopped because all that count had
    /// Of the whole network, until then; summed where every job has one of its own, without links.
    network::NetworkStatistics network;
    network::LinkUtilization utilization;  ///< nothing where every job has a network of its own
    std::vector<JobPair> pairs;            ///< of a static network that jobs share: those that meet
    std::string fingerprint;               ///< of one job that is there from the start: that of its own run
    EngineFacts engine;

    /// Of the slowdowns, where they are known.
    [[nodiscard]] std::optional<double> fairness() const;
};

/// Precondition: experiment.jobs. Runs to the end or to a stall.
[[nodiscard]] JobsRun run_jobs(const Experiment& experiment, const ProgressObserver& observer);

}  // namespace astrolabe::experiment
