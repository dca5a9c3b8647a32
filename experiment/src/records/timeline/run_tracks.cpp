#include "run_tracks.hpp"

#include <algorithm>

#include <astrolabe/experiment/explain/critical_path.hpp>
#include <astrolabe/experiment/file/cluster.hpp>

namespace astrolabe::experiment {

using system::OperationId;

namespace {

/// Numbers that differ from run to run.
struct CollectiveFacts {
    Time from;
    Time to;
    std::uint32_t chunks;
    std::int64_t bytes_sent;
    std::uint64_t messages;
};
constexpr CollectiveFacts kLongestFacts{Time::max(), Time::max(), ~std::uint32_t{0}, Bytes::max().count(),
                                        ~std::uint64_t{0}};

void write_iteration(TraceWriter& writer, TraceThread thread, std::size_t number, Time from, Time to) {
    const std::string name = fmt::format("\"iteration {}\"", number);
    writer.slice(thread, from, to, {"iteration", name, "{}"});
}

void write_segment(const Experiment& experiment, TraceWriter& writer, TraceThread thread,
                   const PathSegment& segment, const network::Resources* resources) {
    const system::Operation& operation = experiment.program.operations[segment.operation];
    const std::string name = quoted_json(operation.name);
    std::string arguments = fmt::format(R"({{"iteration":{})", operation.iteration);
    if (const auto resource = main_resource(segment); resource && resources != nullptr) {
        arguments +=
            fmt::format(R"(,"resource":{})",
                        quoted_json(resource_name(*resources, *resource, experiment.program, operation)));
    }
    arguments += "}";
    writer.slice(thread, segment.from, segment.to,
                 {kind_name(experiment.program, operation), name, arguments});
}

void write_collective(const Experiment& experiment, TraceWriter& writer, TraceProcess process,
                      const system::Operation& operation, const CollectiveFacts& facts) {
    const auto kind = static_cast<std::size_t>(operation.collective().kind);
    const std::string name = quoted_json(operation.name);
    const std::string arguments = fmt::format(
        R"({{"iteration":{},"kind":"{}","algorithm":{},"bytes_per_rank":{},"chunks":{},"bytes_sent":{},"messages":{}}})",
        operation.iteration, collective_key(kind),
        quoted_json(algorithm_name(experiment, operation.collective())), operation.collective().size.count(),
        facts.chunks, facts.bytes_sent, facts.messages);
    writer.span(process, facts.from, facts.to, {"collective", name, arguments});
}

void write_phase(TraceWriter& writer, TraceProcess process, const system::Operation& operation,
                 const system::Stage& stage, const CollectiveFacts& facts) {
    const std::string name = quoted_json(fmt::format("{}: dimension {} {}", operation.name, stage.dimension,
                                                     collective_key(static_cast<std::size_t>(stage.kind))));
    const std::string arguments = fmt::format(R"({{"iteration":{},"bytes_sent":{},"messages":{}}})",
                                              operation.iteration, facts.bytes_sent, facts.messages);
    writer.span(process, facts.from, facts.to, {"phase", name, arguments});
}

std::uint64_t bytes_of(const TraceWriter& counting) {
    return counting.written() - TraceWriter().written();
}

}  // namespace

void write_iterations(const Run& run, TraceThread thread, TraceWriter& writer) {
    Time from;
    for (std::size_t i = 0; i < run.iteration_times.size(); ++i) {
        const Time to = from + run.iteration_times[i];
        write_iteration(writer, thread, i, from, to);
        from = to;
    }
}

std::uint64_t most_bytes_of_iterations(const Experiment& experiment) {
    TraceWriter counting;
    const TraceThread thread = counting.add_thread(counting.add_process(""), "");
    for (int i = 0; i < experiment.program.iterations; ++i) {
        write_iteration(counting, thread, static_cast<std::size_t>(i), Time::max(), Time::max());
    }
    return bytes_of(counting);
}

void write_critical_path(const Experiment& experiment, const Run& run, TraceThread thread,
                         TraceWriter& writer) {
    for (const PathSegment& segment : run.path) {
        write_segment(experiment, writer, thread, segment, run.resources.get());
    }
}

std::uint64_t most_bytes_of_critical_path(const Experiment& experiment, const Run& run) {
    TraceWriter counting;
    write_critical_path(experiment, run, {~std::uint32_t{0}, ~std::uint32_t{0}}, counting);
    return bytes_of(counting);
}

void write_collectives(const Experiment& experiment, const Run& run, TraceProcess process,
                       TraceWriter& writer) {
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        const system::Operation& operation = experiment.program.operations[OperationId(i)];
        if (operation.is_collective()) {
            const system::OperationRecord& record = run.execution.operations[OperationId(i)];
            write_collective(experiment, writer, process, operation,
                             {record.first_issue, record.last_finish, record.chunks,
                              record.bytes_sent.count(), record.messages});
        }
    }
}

std::uint64_t most_bytes_of_collectives(const Experiment& experiment) {
    TraceWriter counting;
    for (const system::Operation& operation : experiment.program.operations) {
        if (operation.is_collective()) {
            write_collective(experiment, counting, {~std::uint32_t{0}}, operation, kLongestFacts);
        }
    }
    return bytes_of(counting);
}

std::size_t write_failures(const Experiment& experiment, Time end, TraceProcess process,
                           TraceWriter& writer) {
    constexpr std::size_t kMostShown = 2'000;
    std::size_t begun = 0;
    for (const FailureSpan& failure : experiment.failures) {  // by time
        if (failure.from >= end) {
            break;
        }
        if (begun++ < kMostShown) {
            const std::string name = quoted_json(failure.what);
            writer.span(process, failure.from, std::min(failure.until, end), {"failure", name, "{}"});
        }
    }
    return begun - std::min(begun, kMostShown);
}

std::uint64_t most_bytes_of_failures(const Experiment& experiment) {
    TraceWriter counting;
    write_failures(experiment, Time::max(), {~std::uint32_t{0}}, counting);
    return bytes_of(counting);
}

void write_phases(const Experiment& experiment, const Run& run, TraceProcess process, TraceWriter& writer) {
    for (std::size_t i = 0; i < experiment.program.operations.size(); ++i) {
        for (const system::StageRecord& stage : run.execution.operations[OperationId(i)].stages) {
            write_phase(writer, process, experiment.program.operations[OperationId(i)], stage.stage,
                        {stage.first_start, stage.last_finish, 0, stage.bytes_sent.count(), stage.messages});
        }
    }
}

std::uint64_t most_bytes_of_phases(const Experiment& experiment, const Run& run) {
    TraceWriter counting;
    write_phases(experiment, run, {~std::uint32_t{0}}, counting);
    return bytes_of(counting);
}

}  // namespace astrolabe::experiment
