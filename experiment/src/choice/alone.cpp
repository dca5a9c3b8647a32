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

/// The fluid engine, with the headers of packets of this payload, or of none.
network::BackendMaker fluid_engine(Bytes payload, const Components& components) {
    ConfigNode node = ConfigNode::mapping();
    node.set("kind", ConfigNode::scalar("fluid"));
    if (payload > Bytes(0)) {
        ConfigNode framing = ConfigNode::mapping();
        framing.set("mtu", ConfigNode::scalar(to_string(payload)));
        node.set("framing", std::move(framing));
    }
    ReadContext context;
    const auto fluid = components.backends.read(node, context);
    ASTROLABE_ASSERT(fluid, "the fluid engine is registered");
    return fluid->make();
}

}  // namespace

network::BackendMaker trial_engine(const Experiment& experiment, const Components& components) {
    network::BackendMaker engine = experiment.backend;
    const Bytes payload = experiment.backend.packet_payload;
    for (const Bytes framed : {Bytes(0), payload}) {
        const network::BackendMaker fluid = fluid_engine(framed, components);
        if (payload > Bytes(0) && !fluid.unsupported(*experiment.fabric)) {
            engine = fluid;
        }
    }
    return engine;
}

system::Program program_of(const Experiment& experiment, const system::CollectiveOperation& work,
                           const system::Partition& partition, const std::vector<MethodPointer>& methods) {
    system::Program program{
        .ranks = experiment.program.ranks, .iterations = 1, .operations = {}, .partitions = {}};
    const system::PartitionId only = program.partitions.push_back(partition);
    for (const MethodPointer& method : methods) {
        system::CollectiveOperation operation = work;
        operation.partition = only;
        operation.is_one_sided = false;
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
