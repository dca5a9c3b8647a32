#include "engine.hpp"
#include "flow_run.hpp"
#include "run_limit.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <sys/resource.h>

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

std::uint64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void add_method(Fingerprint& print, const TimedMethod& timed) {
    print.add(timed.method.text());
    print.add(timed.time.value_or(Time::max()).count());
}

Fingerprint trajectory(const Experiment& experiment, const Run& run) {
    Fingerprint print;
    for (const MethodChoice& choice : experiment.choices) {
        print.add(choice.key);
        add_method(print, choice.chosen);
        add_method(print, choice.runner_up.value_or(choice.chosen));
    }
    for (const auto* choice : {&experiment.job_choices.network, &experiment.job_choices.window}) {
        if (*choice) {
            print.add((*choice)->taken);
            print.add((*choice)->time.value_or(Time::max()).count());
            print.add((*choice)->runner_up.value_or(0));
            print.add((*choice)->runner_up_time.value_or(Time::max()).count());
        }
    }
    const system::ExecutionReport& report = run.execution;
    print.add(report.total.count());
    for (const system::RankRecord& rank : report.ranks) {
        print.add(rank.compute.count());
        print.add(rank.drain.count());
        if (rank.slowed > Time(0)) {
            print.add(rank.slowed.count());
        }
        for (const auto& [cause, time] : rank.exposed) {
            print.add(cause);
            print.add(time.count());
        }
        for (const Time end : rank.iteration_ends) {
            print.add(end.count());
        }
        for (const system::StreamRecord& stream : rank.other_streams) {
            print.add(stream.compute.count());
            print.add(stream.drain.count());
            if (stream.slowed > Time(0)) {
                print.add(stream.slowed.count());
            }
            for (const auto& [cause, time] : stream.exposed) {
                print.add(cause);
                print.add(time.count());
            }
        }
    }
    for (const system::OperationRecord& record : report.operations) {
        print.add(record.first_issue.count());
        print.add(record.first_start.count());
        print.add(record.last_finish.count());
        print.add(record.bytes_sent.count());
        print.add(record.messages);
    }
    for (const std::optional<FlowResults>* flows : {&run.flows, &run.background}) {
        if (*flows) {
            print.add((*flows)->fingerprint);
        }
    }
    print.add(run.network.messages);
    print.add(run.network.bytes_delivered.count());
    print.add(run.network.packets);
    print.add(run.network.drops);
    for (const network::LinkStatistics& link : run.network.links) {
        print.add(link.carried.count());
        print.add(link.queue_peak.count());
    }
    return print;
}

/// Ends of iterations are the latest over ranks; the drain belongs to the last.
std::vector<Time> iteration_times(const system::ExecutionReport& report, int iterations) {
    std::vector<Time> times;
    Time start;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        Time end = start;
        for (const system::RankRecord& rank : report.ranks) {
            if (static_cast<std::size_t>(iteration) < rank.iteration_ends.size()) {
                end = std::max(end, rank.iteration_ends[static_cast<std::size_t>(iteration)]);
            }
        }
        if (iteration + 1 == iterations) {
            end = report.total;
        }
        times.push_back(end - start);
        start = end;
    }
    return times;
}

/// What must hold of every finished run (docs/validation.md, "What is asserted in every run"), beyond what
/// the executor asserts itself.
void check_run(const Experiment& experiment, const Run& run) {
    // The fluid engine may end each message of a chain early by 2^-36 of its duration.
    const Time rounding = run.bounds.value() / (std::int64_t{1} << 34);
    ASTROLABE_ASSERT(run.execution.total >= run.bounds.value() - rounding, "no run beats its lower bound");
    Bytes flows;
    if (run.flows) {
        ASTROLABE_ASSERT(run.execution.total >= run.flows->ports_bound - rounding,
                         "no flows beat the bound of their ports");
        flows = run.flows->delivered_bytes;
    } else if (run.background) {
        flows = run.background->delivered_bytes;
    }
    Time tiled;
    for (const PathSegment& segment : run.path) {
        ASTROLABE_ASSERT(segment.from == tiled, "the critical path has no gap");
        tiled = segment.to;
        Time held_up;
        for (const Time time : segment.times) {
            held_up += time;
        }
        ASTROLABE_ASSERT(run.resources == nullptr || held_up == segment.to - segment.from,
                         "all time of the critical path goes to a resource");
    }
    ASTROLABE_ASSERT(run.flows || tiled == run.execution.total, "the critical path is as long as the run");
    Bytes sent;
    for (const Bytes bytes : run.traffic) {
        sent += bytes;
    }
    ASTROLABE_ASSERT(run.network.bytes_delivered == sent + flows + run.execution.request_bytes,
                     "every byte sent is delivered exactly once");
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::OperationTraffic& counted = run.traffic_counts.of(id);
        const system::OperationRecord& record = run.execution.operations[id];
        ASTROLABE_ASSERT(counted.bytes() == record.bytes_sent && counted.messages() == record.messages,
                         "an operation sends what its schedules say");
        for (const system::StageRecord& ran : record.stages) {
            const auto stage = std::find_if(counted.stages.begin(), counted.stages.end(),
                                            [&](const auto& known) { return known.stage == ran.stage; });
            ASTROLABE_ASSERT(stage != counted.stages.end() && stage->bytes == ran.bytes_sent &&
                                 stage->messages == ran.messages,
                             "a stage sends what its schedules say");
        }
    }
    if (!experiment.backend.shares_links) {
        return;
    }
    // A packet engine counts a frame when it starts to leave, so one may be under way when the run ends.
    constexpr double kFrame = 65'600;
    // Slots count what was granted when a slot begins, and a run may end within it.
    const double granted =
        experiment.fabric->is_static() ? 0.0 : static_cast<double>(under_way(run).bytes.count());
    const double seconds = to_seconds(run.execution.total);
    for (std::size_t i = 0; i < run.network.links.size(); ++i) {
        const network::LinkId link(i);
        const double capacity = to_bytes_per_second(experiment.fabric->link(link).rate) * seconds;
        ASTROLABE_ASSERT(static_cast<double>(run.network.links[link].carried.count()) <=
                             capacity * (1 + 1e-9) + kFrame + granted,
                         "no link carries more than its rate");
    }
}

/// Who is told how far an execution is, and how long it may take.
struct Watch {
    Clock::time_point start = Clock::now();
    const ProgressObserver& observer;
    Time most = Time::max();
    Time least{};  ///< that it surely takes, where that is above `most`
    bool stops_in_drain = false;
};

system::ExecutionReport execute(const Experiment& experiment, const std::vector<network::HostId>& placement,
                                network::NetworkBackend& backend, const network::Folding& folding,
                                Watch& watch, ExecutionObserver* listener) {
    system::Executor executor(experiment.program, experiment.cluster.options, backend, placement, folding);
    if (listener != nullptr) {
        listener->begin(executor, backend);
    }
    if (watch.observer) {
        executor.progressed.connect([&, last = watch.start]() mutable {
            constexpr std::chrono::milliseconds kInterval{500};
            const Clock::time_point now = Clock::now();
            if (now - last >= kInterval) {
                last = now;
                watch.observer({backend.now(), executor.finished_operations(), executor.total_operations(),
                                backend.events_processed(), seconds_since(watch.start)});
            }
        });
    }
    std::optional<RunLimit> limit;
    if (watch.most < Time::max()) {
        limit.emplace(experiment.program, folding.representatives, watch.most, watch.stops_in_drain, executor,
                      backend);
    }
    system::ExecutionReport report = executor.run();
    if (limit && limit->is_exceeded()) {
        watch.least = limit->least();
    }
    return report;
}

/// Whether the causes of a run on these representatives are to be followed.
bool follows_causes(Causes causes, const Experiment& experiment, const system::ProgramTraffic& traffic,
                    const network::Folding& folding) {
    if (experiment.flows != nullptr) {
        return false;  // no operation waits for anything
    }
    if (causes != Causes::kWhereCheap) {
        return causes == Causes::kAlways;
    }
    double count = 0;
    const system::Participants participants(experiment.program);
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        count += experiment.program.operations[id].is_collective()
                     ? static_cast<double>(traffic.of(id).messages())
                     : static_cast<double>(participants.count(id));
    }
    return count / static_cast<double>(folding.class_size()) <= kMostCausesUnasked;
}

std::variant<Run, Time> run_watched(const Experiment& experiment, Watch watch,
                                    const RunObservers& observers) {
    const std::vector<network::HostId> placement = place_ranks(experiment);
    const bool is_recorded = observers.messages != nullptr || observers.packets != nullptr ||
                             observers.links != nullptr ||
                             (observers.execution != nullptr && !observers.execution->hears_images());
    Engine engine = make_engine(experiment, placement, is_recorded);
    Run run;
    run.traffic_counts = system::ProgramTraffic(experiment.program, experiment.cluster.options);
    if (follows_causes(observers.causes, experiment, run.traffic_counts, engine.folding)) {
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
    run.execution = execute(experiment, placement, *backend, engine.folding, watch, observers.execution);
    if (flows) {
        flows->sum_up(run);
    }
    if (run.execution.has_tie && watch.least <= watch.most) {
        causes.reset();
        engine = whole_engine(experiment, placement,
                              "two things of one instant could as well come in the other order");
        backend = engine.backend.get();
        track();
        run.execution = execute(experiment, placement, *backend, engine.folding, watch, observers.execution);
    }
    if (watch.least > watch.most) {
        return watch.least;
    }
    run.network = backend->statistics();
    run.bounds = certified_bounds(experiment);
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        if (operation.is_collective()) {
            run.traffic[static_cast<std::size_t>(operation.collective().kind)] +=
                run.execution.operations[id].bytes_sent;
        }
    }
    run.iteration_times = iteration_times(run.execution, experiment.program.iterations);
    run.utilization = network::link_utilization(*experiment.fabric, run.network, run.execution.total);
    run.fingerprint = trajectory(experiment, run).text();
    run.engine = {run.network.events, seconds_since(watch.start), peak_rss_bytes(),
                  engine.folding.representatives, engine.refusal};
    if (run.execution.finished) {
        run.path =
            causes ? path_of_causes(causes->path()) : path_of_operations(experiment.program, run.execution);
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
