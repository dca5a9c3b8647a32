#include "engine.hpp"
#include "flow_run.hpp"
#include "run_limit.hpp"
#include "run_parts.hpp"
#include "run_watch.hpp"
#include "steady_run.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include <astrolabe/experiment/results/fingerprint.hpp>
#include <astrolabe/experiment/run/limited_run.hpp>
#include <astrolabe/experiment/run/run.hpp>
#include <astrolabe/system/program/participants.hpp>
#include <astrolabe/system/symmetry/folding.hpp>

namespace astrolabe::experiment {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Fingerprint trajectory(const Experiment& experiment, const Run& run) {
    Fingerprint print;
    add_execution(print, experiment, run.execution);
    for (const std::optional<FlowResults>* flows : {&run.flows, &run.background}) {
        if (*flows) {
            print.add((*flows)->fingerprint);
        }
    }
    add_network(print, run.network);
    return print;
}

/// What must hold of every finished run (docs/validation.md, "What is asserted in every run"), beyond what
/// the executor asserts itself.
void check_run(const Experiment& experiment, const Run& run) {
    check_job(experiment, run);
    Bytes flows;
    if (run.flows) {
        ASTROLABE_ASSERT(run.execution.total >= run.flows->ports_bound - rounding_of(run.bounds.value()),
                         "no flows beat the bound of their ports");
        flows = run.flows->delivered_bytes;
    } else if (run.background) {
        flows = run.background->delivered_bytes;
    }
    ASTROLABE_ASSERT(run.network.bytes_delivered == bytes_of(run) + flows,
                     "every byte sent is delivered exactly once");
    if (experiment.backend.shares_links) {
        Time total = run.execution.total;
        if (is_estimate(run)) {
            total +=
                Time(static_cast<std::int64_t>(static_cast<double>(total.count()) * run.skipped->tolerance));
        }
        check_links(*experiment.fabric, run.network, total, under_way(run).bytes);
    }
}

using JobStandingOf = std::function<JobStanding(const system::Executor&)>;

/// Who is told how far an execution is, and how long it may take.
struct Watch {
    Clock::time_point start = Clock::now();
    const ProgressObserver& observer;
    std::size_t simulations = 0;  ///< begun
    Time most = Time::max();
    Time least{};  ///< that it surely takes, where that is above `most`
    bool stops_in_drain = false;
};

/// What ran and what the network counted, of all iterations; what was left out of them goes into `skipped`,
/// which is there where something may be.
struct Executed {
    system::ExecutionReport execution;
    network::NetworkStatistics network;
};

Executed execute(const Experiment& experiment, const std::vector<network::HostId>& placement,
                 const Engine& engine, network::NetworkBackend& backend, Watch& watch,
                 ExecutionObserver* listener, const JobStandingOf& standing,
                 std::optional<SkippedIterations>& skipped) {
    const network::Folding& folding = engine.folding;
    system::Executor executor(experiment.program, experiment.cluster.options, backend, placement, folding);
    if (listener != nullptr) {
        listener->begin(executor, backend);
    }
    std::optional<RunWatch> progress;
    if (watch.observer) {
        progress.emplace(watch.observer, RunWatch::Subject{experiment, *experiment.fabric, *engine.backend,
                                                           ++watch.simulations, watch.start,
                                                           [&] { return standing(executor); }});
    }
    std::optional<RunLimit> limit;
    if (watch.most < Time::max()) {
        limit.emplace(experiment.program, folding.representatives, watch.most, watch.stops_in_drain, executor,
                      backend);
    }
    std::optional<SteadyRun> steady;
    if (skipped) {
        steady.emplace(experiment, executor, *engine.backend);
    }
    Executed executed{executor.run(), {}};
    executed.network = backend.statistics();
    if (progress) {
        progress->end(executed.execution.total, executed.execution.finished);
    }
    if (limit && limit->is_exceeded()) {
        watch.least = limit->least();
    }
    if (steady) {
        steady->complete(executed.execution, executed.network);
        skipped = steady->summary(executed.execution.finished);
    }
    return executed;
}

/// Whether the causes of a run on this engine are to be followed.
bool follows_causes(Causes causes, const Experiment& experiment, const system::ProgramTraffic& traffic,
                    const Engine& engine) {
    if (experiment.flows != nullptr) {
        return false;  // no operation waits for anything
    }
    if (causes != Causes::kWhereCheap) {
        return causes == Causes::kAlways;
    }
    if (engine.backend->statistics().rate_slack) {
        return false;  // rates would be exact, unasked
    }
    double count = 0;
    const system::Participants participants(experiment.program);
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        count += experiment.program.operations[id].is_collective()
                     ? static_cast<double>(traffic.of(id).messages())
                     : static_cast<double>(participants.count(id));
    }
    return count / static_cast<double>(engine.folding.class_size()) <= kMostCausesUnasked;
}

std::variant<Run, Time> run_watched(const Experiment& experiment, Watch watch,
                                    const RunObservers& observers) {
    const std::vector<network::HostId> placement = place_ranks(experiment);
    const bool is_recorded = observers.messages != nullptr || observers.packets != nullptr ||
                             observers.links != nullptr ||
                             (observers.execution != nullptr && !observers.execution->hears_images());
    Engine engine = make_engine(experiment, placement, is_recorded);
    Run run;
    if (experiment.steady_state && !is_recorded && observers.execution == nullptr &&
        watch.most == Time::max()) {
        run.skipped.emplace();
    }
    run.traffic_counts = system::ProgramTraffic(experiment.program, experiment.cluster.options);
    if (!run.skipped && follows_causes(observers.causes, experiment, run.traffic_counts, engine)) {
        run.resources = std::make_shared<const network::Resources>(*experiment.fabric);
    }
    std::optional<network::CauseTracker> causes;
    network::NetworkBackend* backend = engine.backend.get();
    const auto track = [&] {
        if (run.resources != nullptr) {
            backend = &causes.emplace(*engine.backend, experiment.fabric, *run.resources);
        }
    };
    track();
    std::optional<network::ObservedBackend> observed;
    if (observers.messages != nullptr) {
        backend = &observed.emplace(*backend, *observers.messages);
    }
    if (observers.packets != nullptr) {
        const bool reports = backend->observe(*observers.packets);
        ASTROLABE_ASSERT(reports, "a backend whose packets are asked for reports them");
    }
    if (observers.links != nullptr) {
        run.link_reports = backend->observe_links(*observers.links);
    }

    std::optional<FlowRun> flows;
    if (experiment.flows != nullptr || experiment.background != nullptr) {
        flows.emplace(experiment, placement, *engine.backend, *backend, observers.messages);
        flows->begin();
        backend = &flows->job_backend();
    }
    const std::uint64_t messages = run.traffic_counts.messages();
    const Bytes bytes = run.traffic_counts.bytes();
    const JobStandingOf standing = [&](const system::Executor& executor) {
        return experiment.flows != nullptr
                   ? flows->standing()
                   : standing_of(executor, experiment, *engine.backend, messages, bytes);
    };
    const bool is_ordered =
        is_recorded || observers.execution != nullptr || run.skipped || run.resources != nullptr || flows;
    const auto run_ranks = [&] {
        if (!is_ordered && observers.threads > 1) {
            run.engine.threads = engine.backend->use_threads(observers.threads);
        }
        Executed executed = execute(experiment, placement, engine, *backend, watch, observers.execution,
                                    standing, run.skipped);
        run.execution = std::move(executed.execution);
        run.network = std::move(executed.network);
    };
    run_ranks();
    if (flows) {
        flows->sum_up(run);
    }
    if (run.execution.has_tie && watch.least <= watch.most) {
        causes.reset();
        const LostFolding lost{engine.folding.representatives, placement.size(), engine.backend->now(),
                               kTieRefusal};
        engine = whole_engine(experiment, placement, kTieRefusal);
        if (observers.folding_lost) {
            observers.folding_lost(lost);
        }
        backend = engine.backend.get();
        track();
        run_ranks();
    }
    if (watch.least > watch.most) {
        return watch.least;
    }
    run.bounds = certified_bounds(experiment);
    run.traffic = traffic_by_kind(experiment.program, run.execution);
    run.iteration_times = iteration_times(run.execution, experiment.program.iterations);
    run.utilization = network::link_utilization(*experiment.fabric, run.network, run.execution.total);
    run.fingerprint = trajectory(experiment, run).text();
    run.engine = {run.network.events, seconds_since(watch.start),
                  peak_rss_bytes(),   engine.folding.representatives,
                  engine.refusal,     run.engine.threads};
    if (run.execution.finished) {
        run.path = causes ? path_of_causes(causes->path())
                          : path_of_operations(experiment.program, run.execution, is_estimate(run));
        check_run(experiment, run);
    }
    return run;
}

}  // namespace

Run run_experiment(const Experiment& experiment, const ProgressObserver& observer,
                   const RunObservers& observers) {
    return std::get<Run>(run_watched(experiment, {.observer = observer}, observers));
}

std::variant<Run, Time> run_within(const Experiment& experiment, Time most, bool stops_in_drain) {
    const ProgressObserver nobody;
    return run_watched(experiment, {.observer = nobody, .most = most, .stops_in_drain = stops_in_drain},
                       {.causes = Causes::kNever});
}

}  // namespace astrolabe::experiment
