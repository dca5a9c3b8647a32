#include "jobs_engine.hpp"
#include "run_parts.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/routing.hpp>

namespace astrolabe::experiment {
namespace {

/// Jobs up to which it is counted what they put on each other's links.
constexpr std::size_t kMostPairedJobs = 128;

class JobsRunner {
public:
    JobsRunner(const Experiment& experiment, const ProgressObserver& observer)
        : experiment_(experiment),
          set_(*experiment.jobs),
          watch_{observer, std::chrono::steady_clock::now()} {}

    JobsRun run() {
        const bool finished = set_.shares_network() ? run_together() : run_apart();
        run_.finished = finished;
        run_.fingerprint = print_.text();
        run_.engine = {run_.network.events,
                       std::chrono::duration<double>(std::chrono::steady_clock::now() - watch_.start).count(),
                       peak_rss_bytes(), set_.ranks,
                       experiment_.backend.folds() ? "several jobs make hosts different" : ""};
        return std::move(run_);
    }

private:
    bool run_together() {
        std::vector<JobToRun> jobs;
        for (std::size_t i = 0; i < set_.jobs.size(); ++i) {
            const JobOnNetwork& job = set_.jobs[i];
            jobs.push_back({i, job.start, job.repeat, {}});
            if (!set_.queue) {
                jobs.back().hosts = job.experiment.placement.hosts_of(job.experiment.cluster.ranks);
            }
        }
        {
            // Packet engines are one in a process, so this one ends before others begin.
            JobsEngine engine(experiment_, set_.fabric, std::move(jobs), set_.until_all_finished_once,
                              watch_);
            if (!engine.run()) {
                run_.stall = engine.stall();
                run_.total = engine.total();
                return false;
            }
            run_.total = engine.total();
            run_.jobs = std::move(engine.results());
            run_.network = engine.statistics();
            run_.ended = engine.ended();
            run_.utilization = network::link_utilization(*set_.fabric, run_.network, run_.ended);
        }
        for (JobResult& result : run_.jobs) {
            result.first.network = run_.network;
            result.first.utilization = run_.utilization;
            add_job(result);
        }
        add_network(print_, run_.network);
        return find_slowdowns() && find_pairs();
    }

    /// Every job on a network of its own: nothing that one does reaches another, so their times are those of
    /// runs one by one, and only their starts depend on hosts.
    bool run_apart() {
        for (std::size_t i = 0; i < set_.jobs.size(); ++i) {
            const JobOnNetwork& job = set_.jobs[i];
            const Experiment& own = job.experiment;
            const std::uint32_t repeat = set_.until_all_finished_once ? 1 : job.repeat;
            JobsEngine engine(experiment_, own.fabric,
                              {{i, Time(0), repeat, own.placement.hosts_of(own.cluster.ranks)}}, false,
                              watch_);
            if (!engine.run()) {
                run_.stall = engine.stall();
                run_.total = engine.total();
                return false;
            }
            JobResult result = std::move(engine.results().front());
            result.arrival = job.start;
            result.first.network = engine.statistics();
            result.first.utilization =
                network::link_utilization(*own.fabric, result.first.network, engine.ended());
            if (set_.slowdown) {
                result.alone = result.run_times.front();
            }
            run_.jobs.push_back(std::move(result));
        }
        give_starts();
        for (JobResult& result : run_.jobs) {
            add_job(result);
            add_network(print_, result.first.network);
            add_statistics(result.first.network);
            run_.total = std::max(run_.total, result.end);
        }
        run_.ended = run_.total;
        return true;
    }

    /// First come, first served; of equal arrivals in the order of the list.
    void give_starts() {
        std::vector<std::size_t> arrivals(run_.jobs.size());
        for (std::size_t i = 0; i < arrivals.size(); ++i) {
            arrivals[i] = i;
        }
        std::stable_sort(arrivals.begin(), arrivals.end(), [this](std::size_t a, std::size_t b) {
            return run_.jobs[a].arrival < run_.jobs[b].arrival;
        });
        std::size_t free = set_.hosts;
        std::vector<std::size_t> running;
        std::deque<std::size_t> waiting;
        std::size_t next = 0;
        const auto ends_first = [this](std::size_t a, std::size_t b) {
            return run_.jobs[a].end < run_.jobs[b].end;
        };
        while (next < arrivals.size() || !waiting.empty()) {
            const auto first = std::min_element(running.begin(), running.end(), ends_first);
            const bool arrives =
                next < arrivals.size() &&
                (first == running.end() || run_.jobs[arrivals[next]].arrival < run_.jobs[*first].end);
            const Time now = arrives ? run_.jobs[arrivals[next]].arrival : run_.jobs[*first].end;
            if (arrives) {
                waiting.push_back(arrivals[next++]);
            } else {
                free += set_.jobs[*first].experiment.cluster.ranks;
                running.erase(first);
            }
            for (std::size_t at = 0; at < waiting.size();) {
                const std::size_t job = waiting[at];
                const std::size_t ranks = set_.jobs[job].experiment.cluster.ranks;
                if (ranks > free) {
                    if (!set_.backfill) {
                        break;
                    }
                    ++at;
                    continue;
                }
                free -= ranks;
                waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(at));
                run_.jobs[job].start = now;
                run_.jobs[job].end = run_.jobs[job].end + now;
                running.push_back(job);
            }
        }
    }

    /// The first run of a job that is there from the start is hashed as that of an experiment of one job.
    void add_job(JobResult& result) {
        const std::size_t index = static_cast<std::size_t>(&result - run_.jobs.data());
        result.first.fingerprint = result.fingerprint;
        result.first.engine.simulated_ranks = set_.jobs[index].experiment.cluster.ranks;
        add_execution(print_, set_.jobs[index].experiment, result.first.execution);
        if (result.start > Time(0)) {
            print_.add(result.start.count());
        }
        for (std::size_t i = 1; i < result.run_times.size(); ++i) {
            print_.add(result.run_times[i].count());
        }
    }

    void add_statistics(const network::NetworkStatistics& one) {
        network::NetworkStatistics& sum = run_.network;
        sum.messages += one.messages;
        sum.bytes_delivered += one.bytes_delivered;
        sum.packets += one.packets;
        sum.packet_hops += one.packet_hops;
        sum.drops += one.drops;
        sum.retransmissions += one.retransmissions;
        sum.timeouts += one.timeouts;
        sum.ecn_marks += one.ecn_marks;
        sum.trims += one.trims;
        sum.pauses += one.pauses;
        sum.paused += one.paused;
        sum.queue_peak = std::max(sum.queue_peak, one.queue_peak);
        sum.events += one.events;
    }

    bool find_slowdowns() {
        if (!set_.slowdown) {
            return true;
        }
        for (std::size_t i = 0; i < run_.jobs.size(); ++i) {
            JobsEngine engine(experiment_, set_.fabric, {{i, run_.jobs[i].start, 1, run_.jobs[i].hosts}},
                              false, watch_);
            if (!engine.run()) {
                run_.stall = "alone, " + engine.stall();
                return false;
            }
            run_.jobs[i].alone = engine.results().front().run_times.front();
        }
        return true;
    }

    /// Whether both run at some instant.
    [[nodiscard]] bool overlap(std::size_t i, std::size_t j) const {
        const JobResult& a = run_.jobs[i];
        const JobResult& b = run_.jobs[j];
        return set_.until_all_finished_once || (a.start < b.end && b.start < a.end);
    }

    bool find_pairs() {
        const bool counts = set_.fabric->is_static() && run_.jobs.size() <= kMostPairedJobs &&
                            std::ranges::all_of(set_.jobs, [](const JobOnNetwork& job) {
                                return job.experiment.cluster.ranks <= kMostMatrixRanks;
                            });
        std::vector<IndexedVector<network::LinkId, double>> loads;
        for (std::size_t i = 0; counts && i < run_.jobs.size(); ++i) {
            loads.push_back(loads_of(i));
        }
        for (std::size_t i = 0; i < run_.jobs.size(); ++i) {
            for (std::size_t j = i + 1; j < run_.jobs.size(); ++j) {
                if (!overlap(i, j)) {
                    continue;
                }
                JobPair first;
                first.job = i;
                first.other = j;
                JobPair second;
                second.job = j;
                second.other = i;
                if (counts) {
                    count_shared(loads[i], loads[j], first);
                    count_shared(loads[j], loads[i], second);
                }
                if (set_.interference && !run_pair(first, second)) {
                    return false;
                }
                if (set_.interference || first.shared_links > 0) {
                    run_.pairs.push_back(first);
                    run_.pairs.push_back(second);
                }
            }
        }
        return true;
    }

    [[nodiscard]] IndexedVector<network::LinkId, double> loads_of(std::size_t index) const {
        const Experiment& own = set_.jobs[index].experiment;
        network::RouteLoad routes(*set_.fabric, set_.fabric->routing().load_balancing());
        const system::TrafficMatrix matrix = system::traffic_matrix(own.program, own.cluster.options);
        const std::vector<network::HostId>& hosts = run_.jobs[index].hosts;
        for (std::size_t source = 0; source < matrix.ranks(); ++source) {
            for (std::size_t destination = 0; destination < matrix.ranks(); ++destination) {
                const Bytes bytes = matrix(source, destination);
                if (source != destination && bytes > Bytes(0)) {
                    routes.add(hosts[source], hosts[destination], static_cast<double>(bytes.count()));
                }
            }
        }
        return routes.links();
    }

    static void count_shared(const IndexedVector<network::LinkId, double>& own,
                             const IndexedVector<network::LinkId, double>& others, JobPair& pair) {
        double most = 0;
        for (std::size_t i = 0; i < own.size(); ++i) {
            const network::LinkId link(i);
            if (own[link] > 0 && others[link] > 0) {
                ++pair.shared_links;
                pair.shared_bytes += own[link];
                if (own[link] + others[link] > most) {
                    most = own[link] + others[link];
                    pair.link = link;
                }
            }
        }
    }

    bool run_pair(JobPair& first, JobPair& second) {
        const auto to_run = [this](std::size_t i) {
            return JobToRun{i, run_.jobs[i].start, 1, run_.jobs[i].hosts};
        };
        JobsEngine engine(experiment_, set_.fabric, {to_run(first.job), to_run(second.job)}, true, watch_);
        if (!engine.run()) {
            run_.stall = "two alone, " + engine.stall();
            return false;
        }
        for (JobPair* pair : {&first, &second}) {
            const Time beside = engine.results()[pair == &first ? 0 : 1].run_times.front();
            const Time alone = run_.jobs[pair->job].alone.value();
            if (alone > Time(0)) {
                pair->slowdown = to_seconds(beside) / to_seconds(alone);
            }
        }
        return true;
    }

    const Experiment& experiment_;
    const JobSet& set_;
    JobsWatch watch_;
    Fingerprint print_;
    JobsRun run_;
};

}  // namespace

std::optional<double> JobsRun::fairness() const {
    double sum = 0;
    double squares = 0;
    for (const JobResult& job : jobs) {
        const std::optional<double> slowdown = job.slowdown();
        if (!slowdown) {
            return std::nullopt;
        }
        sum += *slowdown;
        squares += *slowdown * *slowdown;
    }
    return jobs.empty() ? std::nullopt
                        : std::optional(sum * sum / (static_cast<double>(jobs.size()) * squares));
}

JobsRun run_jobs(const Experiment& experiment, const ProgressObserver& observer) {
    return JobsRunner(experiment, observer).run();
}

}  // namespace astrolabe::experiment
