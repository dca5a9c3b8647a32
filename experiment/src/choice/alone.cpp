#include "alone.hpp"

#include "../run/engine.hpp"

#include <fmt/format.h>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::experiment {
namespace {

struct Trial {
    std::optional<Time> time;
    bool has_tie = false;
};

Trial try_on(const Experiment& alone, const std::vector<network::HostId>& placement, Engine& engine,
             Time most) {
    network::NetworkBackend& backend = *engine.backend;
    system::Executor executor(alone.program, alone.cluster.options, backend, placement, engine.folding);
    executor.progressed.connect([&] {
        if (backend.now() > most) {
            executor.stop();
        }
    });
    const system::ExecutionReport report = executor.run();
    if (!report.finished || report.total > most) {
        return {std::nullopt, report.has_tie};
    }
    return {report.total, report.has_tie};
}

}  // namespace

system::Program program_of(const Experiment& experiment, const system::CollectiveOperation& work,
                           const system::Partition& partition, const std::vector<MethodPointer>& methods) {
    system::Program program{
        .ranks = experiment.program.ranks, .iterations = 1, .operations = {}, .partitions = {}};
    const system::PartitionId only = program.partitions.push_back(partition);
    for (const MethodPointer& method : methods) {
        system::CollectiveOperation operation = work;
        operation.partition = only;
        operation.method = method;
        program.operations.push_back({.name = fmt::format("by method {}", program.operations.size()),
                                      .layer = "alone",
                                      .iteration = 0,
                                      .work = std::move(operation)});
    }
    return program;
}

std::optional<Time> time_of(const Experiment& alone, Time most) {
    const std::vector<network::HostId> placement = place_ranks(alone);
    Engine engine = make_engine(alone, placement, false);
    Trial trial = try_on(alone, placement, engine, most);
    if (trial.has_tie) {
        Engine whole = whole_engine(alone, placement, "");
        trial = try_on(alone, placement, whole, most);
    }
    return trial.time;
}

}  // namespace astrolabe::experiment
