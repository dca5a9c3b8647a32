#include "jobs_engine.hpp"

#include "run_parts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/circuit_windows.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/system/executor/circuit_order.hpp>

namespace astrolabe::experiment {
namespace {

/// Windows as a clock shows them that started later.
class LaterWindows final : public network::CircuitWindows {
public:
    LaterWindows(std::shared_ptr<const network::CircuitWindows> windows, Time start)
        : windows_(std::move(windows)),
          start_(start) {}

    [[nodiscard]] std::size_t places() const override { return windows_->places(); }
    [[nodiscard]] network::PlaceId place_of(network::HostId host) const override {
        return windows_->place_of(host);
    }
    [[nodiscard]] std::optional<network::CircuitWindow> next(network::PlaceId from, network::PlaceId to,
                                                             Time time) const override {
        std::optional<network::CircuitWindow> window = windows_->next(from, to, time + start_);
        if (window) {
            window->begin = window->begin - start_;
            window->end = window->end - start_;
        }
        return window;
    }
    [[nodiscard]] Time period() const override { return windows_->period(); }
    [[nodiscard]] std::uint32_t packets() const override { return windows_->packets(); }
    [[nodiscard]] Bytes payload() const override { return windows_->payload(); }
    [[nodiscard]] Time notice() const override { return windows_->notice(); }
    [[nodiscard]] bool wait_for_circuits(std::uint32_t traffic_class) const override {
        return windows_->wait_for_circuits(traffic_class);
    }

private:
    std::shared_ptr<const network::CircuitWindows> windows_;
    Time start_;
};

system::SystemOptions options_from(const Experiment& experiment, Time start) {
    system::SystemOptions options = experiment.cluster.options;
    if (options.circuit_windows != nullptr && start > Time(0)) {
        options.circuit_windows = std::make_shared<const LaterWindows>(options.circuit_windows, start);
    }
    return options;
}

}  // namespace

class JobsEngine::Execution {
public:
    /// `hosts` empty: those of the experiment.
    Execution(const Experiment& experiment, const std::vector<network::HostId>& hosts,
              network::NetworkBackend& engine, network::NotificationHandler& idle, std::uint64_t token)
        : experiment_(experiment),
          start_(engine.now()),
          backend_(engine, idle, token),
          executor_(experiment.program, options_from(experiment, start_), backend_, hosts) {}

    [[nodiscard]] Time start() const { return start_; }
    [[nodiscard]] bool is_idle() const {
        return backend_.outstanding_messages() + backend_.outstanding_timers() == 0;
    }
    [[nodiscard]] Bytes bytes_delivered() const { return backend_.bytes_delivered(); }
    [[nodiscard]] system::Executor& executor() { return executor_; }
    [[nodiscard]] const system::Executor& executor() const { return executor_; }
    [[nodiscard]] const Experiment& experiment() const { return experiment_; }

private:
    const Experiment& experiment_;
    Time start_;
    network::SharedBackend backend_;
    system::Executor executor_;
};

JobsEngine::JobsEngine(const Experiment& experiment, std::shared_ptr<const network::Fabric> fabric,
                       std::vector<JobToRun> jobs, bool until_all_finished_once, JobsWatch& watch)
    : experiment_(experiment),
      fabric_(std::move(fabric)),
      jobs_(std::move(jobs)),
      until_all_finished_once_(until_all_finished_once),
      watch_(watch),
      engine_(experiment.backend.make(fabric_, experiment.seed)),
      results_(jobs_.size()),
      placed_(jobs_.size()),
      executions_(jobs_.size()) {
    if (std::any_of(jobs_.begin(), jobs_.end(), [](const JobToRun& one) { return one.hosts.empty(); })) {
        free_.emplace(*fabric_, experiment.jobs->seed);
    }
}

JobsEngine::~JobsEngine() = default;

std::uint64_t JobsEngine::token(Event event, std::size_t place) {
    return std::uint64_t{place} << 2 | static_cast<std::uint64_t>(event);
}

const JobOnNetwork& JobsEngine::job(std::size_t place) const {
    return experiment_.jobs->jobs[jobs_[place].job];
}

const Experiment& JobsEngine::placed(std::size_t place) const {
    return placed_[place] != nullptr ? *placed_[place] : job(place).experiment;
}

bool JobsEngine::all_finished_once() const {
    return std::all_of(results_.begin(), results_.end(),
                       [](const JobResult& result) { return result.runs > 0; });
}

Time JobsEngine::total() const {
    Time total;
    for (const JobResult& result : results_) {
        total = std::max(total, result.end);
    }
    return total;
}

bool JobsEngine::run() {
    std::optional<RunWatch> progress;
    if (watch_.observer) {
        progress.emplace(watch_.observer,
                         RunWatch::Subject{experiment_, *fabric_, *engine_, ++watch_.simulations,
                                           watch_.start, [this] { return standing(); }});
    }
    for (std::size_t place = 0; place < jobs_.size(); ++place) {
        results_[place].arrival = jobs_[place].start;
        if (jobs_[place].start > Time(0)) {
            engine_->schedule(jobs_[place].start, *this, token(Event::kArrival, place));
        } else {
            arrive(place);
        }
    }
    if (!is_stalled_) {
        engine_->run();
    }
    statistics_ = engine_->statistics();
    for (std::size_t place = 0; place < jobs_.size(); ++place) {
        if (results_[place].runs > 0 && (until_all_finished_once_ || executions_[place] == nullptr)) {
            continue;
        }
        is_stalled_ = true;
        if (executions_[place] != nullptr) {
            stall_ +=
                fmt::format("job '{}': {}", job(place).name, executions_[place]->executor().end().stall);
        }
    }
    if (!is_stalled_) {
        check(statistics_);
    }
    if (progress) {
        progress->end(total(), !is_stalled_);
    }
    return !is_stalled_;
}

void JobsEngine::notify(std::uint64_t token_of) {
    const std::size_t place = token_of >> 2;
    switch (static_cast<Event>(token_of & 3)) {
        case Event::kArrival:
            arrive(place);
            break;
        case Event::kIdle:
            // Its executor ends once this notification is through.
            engine_->schedule(Time(0), *this, token(Event::kEnd, place));
            break;
        case Event::kEnd:
            end(place);
            break;
    }
}

void JobsEngine::arrive(std::size_t place) {
    if (!jobs_[place].hosts.empty()) {
        results_[place].hosts = jobs_[place].hosts;
        start(place);
        return;
    }
    waiting_.push_back(place);
    start_those_that_fit();
}

void JobsEngine::start_those_that_fit() {
    for (std::size_t at = 0; at < waiting_.size();) {
        const std::size_t place = waiting_[at];
        const std::size_t ranks = job(place).experiment.cluster.ranks;
        if (ranks > free_->count()) {
            if (!experiment_.jobs->backfill) {
                return;
            }
            ++at;
            continue;
        }
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
        results_[place].hosts = free_->take(ranks, job(place).placement, jobs_[place].job);
        start(place);
    }
}

void JobsEngine::start(std::size_t place) {
    JobResult& result = results_[place];
    if (result.runs == 0) {
        result.start = engine_->now();
        const Experiment& read = job(place).experiment;
        if (read.placement.hosts_of(read.cluster.ranks) != result.hosts) {
            auto moved = std::make_unique<Experiment>(read);
            moved->placement = Placement(result.hosts);
            system::order_by_circuits(moved->program, moved->cluster.options, result.hosts);
            placed_[place] = std::move(moved);
        }
    }
    executions_[place] =
        std::make_unique<Execution>(placed(place), result.hosts, *engine_, *this, token(Event::kIdle, place));
    Execution& execution = *executions_[place];
    execution.executor().begin();
    if (execution.is_idle()) {
        engine_->schedule(Time(0), *this, token(Event::kEnd, place));
    }
}

void JobsEngine::end(std::size_t place) {
    const std::unique_ptr<Execution> execution = std::move(executions_[place]);
    Run run;
    run.execution = execution->executor().end();
    if (!run.execution.finished) {
        is_stalled_ = true;
        stall_ += fmt::format("job '{}': {}", job(place).name, run.execution.stall);
        engine_->stop();
        return;
    }
    const Experiment& own = execution->experiment();
    run.traffic = traffic_by_kind(own.program, run.execution);
    ASTROLABE_ASSERT(execution->bytes_delivered() == bytes_of(run), "every byte of a job is delivered once");
    delivered_ += execution->bytes_delivered();
    operations_ += execution->executor().total_operations();
    const bool took_time = run.execution.total > Time(0);
    take(place, std::move(run), execution->start());
    if (until_all_finished_once_ && all_finished_once()) {
        engine_->stop();
        return;
    }
    // A run that takes no time would start over for ever.
    const bool goes_on = until_all_finished_once_ ? took_time : results_[place].runs < jobs_[place].repeat;
    if (goes_on) {
        start(place);
        return;
    }
    if (jobs_[place].hosts.empty()) {
        for (const network::HostId host : results_[place].hosts) {
            free_->release(host);
        }
        start_those_that_fit();
    }
}

void JobsEngine::take(std::size_t place, Run run, Time started) {
    JobResult& result = results_[place];
    ++result.runs;
    if (until_all_finished_once_ && result.runs > 1) {
        return;
    }
    const Experiment& own = placed(place);
    run.iteration_times = iteration_times(run.execution, own.program.iterations);
    result.end = started + run.execution.total;
    result.run_times.push_back(run.execution.total);
    result.iteration_times.insert(result.iteration_times.end(), run.iteration_times.begin(),
                                  run.iteration_times.end());
    if (result.runs > 1) {
        return;
    }
    Fingerprint print;
    add_execution(print, own, run.execution);
    result.fingerprint = print.text();
    run.traffic_counts = system::ProgramTraffic(own.program, own.cluster.options);
    run.bounds = certified_bounds(own);
    run.path = path_of_operations(own.program, run.execution);
    check_job(own, run);
    result.first = std::move(run);
}

void JobsEngine::check(const network::NetworkStatistics& statistics) const {
    Bytes delivered = delivered_;
    for (const std::unique_ptr<Execution>& execution : executions_) {
        if (execution != nullptr) {
            delivered += execution->bytes_delivered();
        }
    }
    ASTROLABE_ASSERT(statistics.bytes_delivered == delivered, "every byte that arrives is of a job");
    if (experiment_.backend.shares_links) {
        Bytes in_flight;
        for (const network::OutstandingMessage& message :
             engine_->describe_outstanding(engine_->outstanding_messages())) {
            in_flight += message.size;
        }
        check_links(*fabric_, statistics, engine_->now(), in_flight);
    }
}

JobStanding JobsEngine::standing() const {
    JobStanding standing;
    double finished = static_cast<double>(operations_);
    double all = finished;
    double least = 1.0;  // of the first runs that have not finished
    for (std::size_t place = 0; place < jobs_.size(); ++place) {
        const Experiment& read = job(place).experiment;
        auto of_run = static_cast<double>(read.program.operations.size() * read.cluster.ranks);
        std::uint64_t begun = results_[place].runs;
        double share = 0;
        if (const Execution* execution = executions_[place].get()) {
            const system::Executor& executor = execution->executor();
            const system::RankActivity activity = executor.activity();
            of_run = static_cast<double>(executor.total_operations());
            share = of_run > 0 ? static_cast<double>(executor.finished_operations()) / of_run : 1.0;
            finished += share * of_run;
            all += of_run;
            ++begun;
            standing.computing_ranks += activity.computing;
            standing.waiting_ranks += activity.waiting;
        }
        if (results_[place].runs == 0) {
            least = std::min(least, share);
        }
        const std::uint64_t repeat = jobs_[place].repeat;
        all += of_run * static_cast<double>(repeat - std::min(repeat, begun));
    }
    standing.done = until_all_finished_once_ ? least : all > 0 ? finished / all : 0;
    standing.jobs = progress_of_jobs();
    return standing;
}

std::string JobsEngine::progress_of_jobs() const {
    constexpr std::size_t kMostNamed = 6;
    std::size_t waiting = 0;
    std::size_t done = 0;
    std::vector<std::string> running;
    for (std::size_t place = 0; place < jobs_.size(); ++place) {
        const Execution* execution = executions_[place].get();
        if (execution == nullptr) {
            ++(results_[place].runs > 0 ? done : waiting);
            continue;
        }
        const system::Executor& executor = execution->executor();
        const double share = static_cast<double>(executor.finished_operations()) /
                             static_cast<double>(std::max<std::uint64_t>(executor.total_operations(), 1));
        const std::uint64_t run = results_[place].runs + 1;
        running.push_back(fmt::format("{} {:.0f} %{}", job(place).name, 100 * share,
                                      run > 1 ? fmt::format(" of run {}", run) : ""));
    }
    const std::size_t unnamed = running.size() - std::min(running.size(), kMostNamed);
    running.resize(running.size() - unnamed);
    std::string text = fmt::format("{}", fmt::join(running, ", "));
    const auto add = [&text](std::size_t count, const char* what) {
        if (count > 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
        }
    };
    add(unnamed, "more");
    add(waiting, "not begun");
    add(done, "done");
    return text;
}

}  // namespace astrolabe::experiment
