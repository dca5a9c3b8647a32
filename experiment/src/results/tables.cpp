#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <astrolabe/experiment/file/cluster.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/experiment/results/figures.hpp>
#include <astrolabe/experiment/results/results.hpp>
#include <astrolabe/network/analysis/route_load.hpp>
#include <astrolabe/network/family.hpp>
#include <astrolabe/network/server_layout.hpp>

namespace astrolabe::experiment {
namespace {

/// Largest over mean of what differs between ranks in one operation; empty where nothing does.
std::string imbalance_of(const system::Operation& operation) {
    if (operation.is_compute()) {
        const system::PerRank<Time>& duration = operation.compute().duration;
        std::vector<Time> times;
        for (std::size_t rank = 0; rank < duration.size(); ++rank) {
            times.push_back(duration[system::RankId(rank)]);
        }
        return times.empty() ? "" : fmt::format("{}", max_over_mean(times));
    }
    if (operation.is_receive() || !operation.collective().is_uneven()) {
        return "";
    }
    std::vector<Bytes> held;
    std::vector<Bytes> received;
    for (const system::PairSizes& pairs : *operation.collective().pair_sizes) {
        for (std::size_t position = 0; position < pairs.positions(); ++position) {
            held.push_back(pairs.held(position));
            received.push_back(pairs.received(position));
        }
    }
    return fmt::format("{}", std::max(max_over_mean(held), max_over_mean(received)));
}

/// By operation, names separated by ';': of a compute operation of stream 0 what it waited for (collectives,
/// and computations of other streams), of those the compute operations that waited for them.
std::vector<std::string> causes_of(const system::Program& program, const system::ExecutionReport& report) {
    std::vector<std::string> causes(program.operations.size());
    const auto add = [&](std::size_t to, const std::string& name) {
        causes[to] += (causes[to].empty() ? "" : ";") + name;
    };
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const system::Operation& operation = program.operations[system::OperationId(i)];
        if (!operation.is_compute() || operation.compute().stream > 0) {
            continue;
        }
        for (const system::OperationId dependency : operation.dependencies) {
            // A computation of stream 0 is over when the next of that stream could start.
            if (report.operations[dependency].exposed > Time(0)) {
                add(i, program.operations[dependency].name);
                add(dependency.index(), operation.name);
            }
        }
    }
    return causes;
}

}  // namespace

std::string operations_csv(const Experiment& experiment, const Run& run) {
    const std::vector<std::string> causes = causes_of(experiment.program, run.execution);
    std::string csv =
        "iteration,operation,layer,kind,algorithm,groups,bytes_per_rank,chunks,issue_s,start_s,finish_s,"
        "bytes_sent,messages,exposed_mean_s,cause,imbalance\n";
    const auto ranks = static_cast<std::int64_t>(experiment.cluster.ranks);
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::OperationId id(i);
        const system::Operation& operation = experiment.program.operations[id];
        const system::OperationRecord& record = run.execution.operations[id];
        std::string kind(kind_name(experiment.program, operation));
        std::string algorithm;
        std::string groups;
        std::string bytes;
        if (operation.is_collective()) {
            const system::CollectiveOperation& collective = operation.collective();
            const auto index = static_cast<std::size_t>(collective.kind);
            kind = collective_key(index);
            algorithm = algorithm_name(experiment, collective);
            groups = std::to_string(experiment.program.partitions[collective.partition].groups.size());
            bytes = std::to_string(collective.size.count());
        }
        csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", operation.iteration,
                           csv_field(operation.name), csv_field(operation.layer), csv_field(kind), algorithm,
                           groups, bytes, record.chunks, exact_seconds(record.first_issue),
                           exact_seconds(record.first_start), exact_seconds(record.last_finish),
                           record.bytes_sent.count(), record.messages, exact_seconds(record.exposed / ranks),
                           csv_field(causes[i]), imbalance_of(operation));
    }
    return csv;
}

std::string traffic_matrix_csv(const system::TrafficMatrix& matrix) {
    std::string csv = "source,destination,bytes\n";
    for (std::size_t source = 0; source < matrix.ranks(); ++source) {
        for (std::size_t destination = 0; destination < matrix.ranks(); ++destination) {
            if (const Bytes bytes = matrix(source, destination); bytes > Bytes(0)) {
                fmt::format_to(std::back_inserter(csv), "{},{},{}\n", source, destination, bytes.count());
            }
        }
    }
    return csv;
}

std::string traffic_by_switch_csv(const Experiment& experiment, const system::TrafficMatrix& matrix) {
    const network::Fabric& fabric = *experiment.fabric;
    std::vector<network::NodeId> place_of_rank;
    for (std::size_t rank = 0; rank < matrix.ranks(); ++rank) {
        place_of_rank.push_back(network::place_of(fabric, experiment.placement[rank]));
    }
    std::map<std::pair<network::NodeId, network::NodeId>, Bytes> between;
    for (std::size_t source = 0; source < matrix.ranks(); ++source) {
        for (std::size_t destination = 0; destination < matrix.ranks(); ++destination) {
            if (const Bytes bytes = matrix(source, destination); bytes > Bytes(0)) {
                between[{place_of_rank[source], place_of_rank[destination]}] += bytes;
            }
        }
    }
    std::string csv = "source,destination,bytes\n";
    for (const auto& [ends, bytes] : between) {
        fmt::format_to(std::back_inserter(csv), "{},{},{}\n", csv_field(fabric.node(ends.first).name),
                       csv_field(fabric.node(ends.second).name), bytes.count());
    }
    return csv;
}

std::string traffic_by_server_csv(const Experiment& experiment, const system::TrafficMatrix& matrix) {
    const network::ServerLayout& servers = *experiment.fabric->family().servers();
    std::map<std::pair<network::ServerId, network::ServerId>, Bytes> between;
    for (std::size_t source = 0; source < matrix.ranks(); ++source) {
        const network::ServerId from = servers.server_of(experiment.placement[source]);
        for (std::size_t destination = 0; destination < matrix.ranks(); ++destination) {
            if (const Bytes bytes = matrix(source, destination); bytes > Bytes(0)) {
                between[{from, servers.server_of(experiment.placement[destination])}] += bytes;
            }
        }
    }
    std::string csv = "source,destination,bytes\n";
    for (const auto& [ends, bytes] : between) {
        fmt::format_to(std::back_inserter(csv), "{},{},{}\n", ends.first.index(), ends.second.index(),
                       bytes.count());
    }
    return csv;
}

std::string critical_path_csv(const Experiment& experiment, const Run& run) {
    std::string csv = "iteration,operation,layer,kind,from_s,to_s,resource,time_s\n";
    for (const PathSegment& segment : run.path) {
        const system::Operation& operation = experiment.program.operations[segment.operation];
        const auto add = [&](std::string_view resource, Time time) {
            fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{}\n", operation.iteration,
                           csv_field(operation.name), csv_field(operation.layer),
                           csv_field(std::string(kind_name(experiment.program, operation))),
                           exact_seconds(segment.from), exact_seconds(segment.to), resource,
                           exact_seconds(time));
        };
        if (run.resources == nullptr) {
            add("", segment.to - segment.from);
        }
        for (std::size_t i = 0; i < segment.times.size(); ++i) {
            if (segment.times[i] > Time(0)) {
                add(csv_field(
                        resource_name(*run.resources, network::ResourceId(i), experiment.program, operation)),
                    segment.times[i]);
            }
        }
    }
    return csv;
}

std::string links_csv(const Experiment& experiment, const Run& run) {
    const network::Fabric& fabric = *experiment.fabric;
    std::string csv =
        "link,source,destination,rate_bps,latency_s,bytes,utilization,queue_peak_bytes,queue_mean_bytes,"
        "marks,"
        "drops,trims,pauses,paused_s\n";
    for (network::LinkId id; id.index() < fabric.link_count(); ++id) {
        const network::Link& link = fabric.link(id);
        const network::LinkStatistics& counted = run.network.links[id];
        fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", id.index(),
                       csv_field(fabric.node(fabric.source(id)).name),
                       csv_field(fabric.node(fabric.target(id)).name), link.rate.count(),
                       exact_seconds(link.latency), counted.carried.count(),
                       network::utilization(link.rate, counted.carried, run.execution.total),
                       counted.queue_peak.count(), counted.queue_mean, counted.marks, counted.drops,
                       counted.trims, counted.pauses, exact_seconds(counted.paused));
    }
    return csv;
}

}  // namespace astrolabe::experiment
