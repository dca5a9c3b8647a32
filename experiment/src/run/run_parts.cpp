#include "run_parts.hpp"

#include <algorithm>

#include <sys/resource.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::experiment {
namespace {

void add_method(Fingerprint& print, const TimedMethod& timed) {
    print.add(timed.method.text());
    print.add(timed.time.value_or(Time::max()).count());
}

}  // namespace

std::uint64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void add_execution(Fingerprint& print, const Experiment& experiment, const system::ExecutionReport& report) {
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
}

void add_network(Fingerprint& print, const network::NetworkStatistics& network) {
    print.add(network.messages);
    print.add(network.bytes_delivered.count());
    print.add(network.packets);
    print.add(network.drops);
    for (const network::LinkStatistics& link : network.links) {
        print.add(link.carried.count());
        print.add(link.queue_peak.count());
    }
}

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

std::array<Bytes, system::kCollectiveKinds> traffic_by_kind(const system::Program& program,
                                                            const system::ExecutionReport& report) {
    std::array<Bytes, system::kCollectiveKinds> traffic{};
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::Operation& operation = program.operations[id];
        if (operation.is_collective()) {
            traffic[static_cast<std::size_t>(operation.collective().kind)] +=
                report.operations[id].bytes_sent;
        }
    }
    return traffic;
}

Bytes bytes_of(const Run& run) {
    Bytes sent = run.execution.request_bytes;
    for (const Bytes bytes : run.traffic) {
        sent += bytes;
    }
    return sent;
}

void check_job(const Experiment& experiment, const Run& run) {
    const Time bound = run.bounds.value() - rounding_of(run.bounds.value());
    ASTROLABE_ASSERT(run.execution.total >= bound ||
                         (is_estimate(run) && to_seconds(run.execution.total) >=
                                                  to_seconds(bound) * (1 - run.skipped->tolerance)),
                     "no run beats its lower bound");
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
}

void check_links(const network::Fabric& fabric, const network::NetworkStatistics& network, Time total,
                 Bytes in_flight) {
    // A packet engine counts a frame when it starts to leave, so one may be under way when the run ends.
    constexpr double kFrame = 65'600;
    // Slots count what was granted when a slot begins, and a run may end within it.
    const double granted = fabric.is_static() ? 0.0 : static_cast<double>(in_flight.count());
    const double seconds = to_seconds(total);
    for (std::size_t i = 0; i < network.links.size(); ++i) {
        const network::LinkId link(i);
        const double capacity = to_bytes_per_second(fabric.link(link).rate) * seconds;
        ASTROLABE_ASSERT(static_cast<double>(network.links[link].carried.count()) <=
                             capacity * (1 + 1e-9) + kFrame + granted,
                         "no link carries more than its rate");
    }
}

}  // namespace astrolabe::experiment
