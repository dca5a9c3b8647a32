#include "fingerprint.hpp"

#include <algorithm>
#include <chrono>

#include <sys/resource.h>

#include <astrolabe/experiment/run.hpp>

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

/// Bytes that must leave the ranks of one group for a collective of S bytes per rank.
Bytes least_bytes_sent(system::CollectiveKind kind, Bytes size, std::size_t ranks) {
    const auto others = static_cast<std::int64_t>(ranks) - 1;
    switch (kind) {
        case system::CollectiveKind::kAllReduce:
            return 2 * others * size;
        case system::CollectiveKind::kReduceScatter:
        case system::CollectiveKind::kAllToAll:
            return others * size;
        case system::CollectiveKind::kAllGather:
            return static_cast<std::int64_t>(ranks) * others * size;
    }
    invariant_failed("collective kind", "every kind has a bound");
}

/// Serialisation time rounded down, as a lower bound must be; saturates as Time does.
Time least_duration(Bytes size, Bandwidth rate) {
    const detail::Int128 duration =
        static_cast<detail::Int128>(size.count()) * (8 * kPicosecondsPerSecond) / rate.count();
    return duration < Time::max().count() ? Time(static_cast<std::int64_t>(duration)) : Time::max();
}

/// Least latency between two ranks' hosts: over a link that joins two hosts, or out to a switch and in from
/// one.
Time least_latency(const network::Fabric& fabric, std::size_t ranks) {
    Time direct = Time::max();
    Time up = Time::max();
    Time down = Time::max();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const network::NodeId node = fabric.node_of(network::HostId(rank));
        const network::LinkId first = fabric.first_link(node);
        for (std::size_t i = 0; i < fabric.out_degree(node); ++i) {
            const network::LinkId out(first.index() + i);
            const network::LinkId in = fabric.link(out).reverse;
            if (fabric.node(fabric.target(out)).kind == network::NodeKind::kHost) {
                direct = std::min(direct, fabric.link(out).latency);
            } else {
                up = std::min(up, fabric.link(out).latency);
                down = std::min(down, fabric.link(in).latency);
            }
        }
    }
    return up == Time::max() ? direct : std::min(direct, up + down);
}

Fingerprint trajectory(const Run& run) {
    Fingerprint print;
    const system::ExecutionReport& report = run.execution;
    print.add(report.total.count());
    for (const system::RankRecord& rank : report.ranks) {
        print.add(rank.compute.count());
        print.add(rank.drain.count());
        for (const auto& [cause, time] : rank.exposed) {
            print.add(cause);
            print.add(time.count());
        }
        for (const Time end : rank.iteration_ends) {
            print.add(end.count());
        }
    }
    for (const system::OperationRecord& record : report.operations) {
        print.add(record.first_issue.count());
        print.add(record.first_start.count());
        print.add(record.last_finish.count());
        print.add(record.bytes_sent.count());
        print.add(record.messages);
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

}  // namespace

Bound lower_bound(const system::Program& program, const network::Fabric& fabric) {
    std::vector<Time> compute(program.ranks);
    Bytes sent;
    for (const system::Operation& operation : program.operations) {
        if (operation.is_compute()) {
            for (std::size_t rank = 0; rank < program.ranks; ++rank) {
                compute[rank] += operation.compute().duration[system::RankId(rank)];
            }
            continue;
        }
        const system::CollectiveOperation& collective = operation.collective();
        for (const auto& group : program.partitions[collective.partition].groups) {
            sent += least_bytes_sent(collective.kind, collective.size, group.size());
        }
    }
    Bound bound;
    bound.compute = *std::max_element(compute.begin(), compute.end());
    if (sent > Bytes(0)) {
        // What one rank sends another receives, so the same bytes also enter the ranks' hosts.
        Bandwidth out;
        Bandwidth in;
        for (std::size_t rank = 0; rank < program.ranks; ++rank) {
            out += fabric.egress_rate(network::HostId(rank));
            in += fabric.ingress_rate(network::HostId(rank));
        }
        bound.communication = least_duration(sent, std::min(out, in)) + least_latency(fabric, program.ranks);
    }
    return bound;
}

Run run_experiment(const Experiment& experiment, const ProgressObserver& observer) {
    const Clock::time_point start = Clock::now();
    const std::unique_ptr<network::NetworkBackend> backend =
        experiment.backend.make(experiment.fabric, experiment.seed);
    std::vector<network::HostId> placement;
    for (std::size_t rank = 0; rank < experiment.cluster.ranks; ++rank) {
        placement.emplace_back(rank);
    }
    system::Executor executor(experiment.program, experiment.cluster.options, *backend, placement);
    if (observer) {
        executor.progressed.connect([&, last = start]() mutable {
            constexpr std::chrono::milliseconds kInterval{500};
            const Clock::time_point now = Clock::now();
            if (now - last >= kInterval) {
                last = now;
                observer({backend->now(), executor.finished_operations(), executor.total_operations(),
                          backend->events_processed(), seconds_since(start)});
            }
        });
    }

    Run run;
    run.execution = executor.run();
    run.network = backend->statistics();
    run.bound = lower_bound(experiment.program, *experiment.fabric);
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        if (!operation.is_compute()) {
            run.traffic[static_cast<std::size_t>(operation.collective().kind)] +=
                run.execution.operations[id].bytes_sent;
        }
    }
    run.iteration_times = iteration_times(run.execution, experiment.program.iterations);
    run.utilization = network::link_utilization(*experiment.fabric, run.network, run.execution.total);
    run.fingerprint = trajectory(run).text();
    run.engine = {run.network.events, seconds_since(start), peak_rss_bytes()};
    if (run.execution.finished) {
        // An engine that computes rates in floating point may end each message of a chain a fraction of a
        // picosecond early.
        const Time rounding = run.bound.value() / 1'000'000;
        ASTROLABE_ASSERT(run.execution.total >= run.bound.value() - rounding, "no run beats its lower bound");
        Bytes sent;
        for (const Bytes bytes : run.traffic) {
            sent += bytes;
        }
        ASTROLABE_ASSERT(run.network.bytes_delivered == sent, "every byte sent is delivered exactly once");
    }
    return run;
}

}  // namespace astrolabe::experiment
