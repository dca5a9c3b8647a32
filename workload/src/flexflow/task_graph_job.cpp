#include "../rank_graphs/build_program.hpp"
#include "../rank_graphs/graph_summary.hpp"
#include "../rank_graphs/order_names.hpp"
#include "../rank_graphs/trace_formats.hpp"
#include "../register.hpp"
#include "task_graph.hpp"

#include <memory>
#include <set>
#include <system_error>

#include <fmt/format.h>

namespace astrolabe::workload {

namespace {

/// What was read and built, once for all who ask.
struct LoadedTaskGraph {
    system::Program program;
    Facts facts;
};

struct TaskGraphParameters {
    std::string file;  ///< absolute, so that a resolved experiment finds it from anywhere
    int iterations = 1;
    BuildOptions build{.order = system::ComputeOrder::kProgram, .begins_together = true};
    std::shared_ptr<const LoadedTaskGraph> loaded;
};

Facts task_graph_facts(const FlexFlowGraph& graph) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    Bytes sent;
    std::size_t alone = 0;
    for (const FlexFlowTask& task : graph.tasks) {
        if (task.kind == FlexFlowTask::Kind::kTransfer) {
            sent += task.size;
            pairs.emplace(task.server, task.receiver);
        } else if (task.kind == FlexFlowTask::Kind::kAllReduce && task.members.size() < 2) {
            ++alone;
        }
    }
    Facts facts{{"tasks of the graph", fmt::format("{}", graph.tasks.size())},
                {"longest chain of computations", readable(longest_compute_chain(graph))}};
    if (!pairs.empty()) {
        facts.emplace_back("transfers",
                           fmt::format("{} bytes between {} pairs of servers", sent.count(), pairs.size()));
    }
    if (alone > 0) {
        facts.emplace_back("all-reduces of one server", fmt::format("{}, which move nothing", alone));
    }
    return facts;
}

void load_task_graph(TaskGraphParameters& parameters, const ConfigNode& /*node*/, ReadContext& context) {
    const auto report = [&context](const Diagnostics& errors) {
        for (const Diagnostic& error : errors) {
            context.error(error);
        }
    };
    const Result<FlexFlowGraph> graph = load_flexflow_graph(parameters.file);
    if (!graph) {
        report(graph.error());
        return;
    }
    const RankGraphs graphs = rank_graphs_of(*graph, parameters.iterations);
    Result<system::Program> program = build_program(graphs, parameters.build);
    if (!program) {
        report(program.error());
        return;
    }
    auto loaded = std::make_shared<LoadedTaskGraph>();
    loaded->program = *std::move(program);
    loaded->facts = task_graph_facts(*graph);
    for (auto& fact : readable_facts(graphs, summarize(graphs))) {
        loaded->facts.push_back(std::move(fact));
    }
    parameters.loaded = std::move(loaded);
}

Schema<TaskGraphParameters> task_graph_schema() {
    Schema<TaskGraphParameters> schema(
        "flexflow_graph",
        "a task graph of FlexFlow (.fbuf): an iteration with its strategy, a rank a server");
    schema
        .field(
            {"file", "path", "", true, {}, "the graph, relative to the file that names it", {}},
            [](TaskGraphParameters& parameters, const ConfigNode& node, ReadContext& context) {
                if (const auto given = read_scalar<std::string>(node, "'file'", context)) {
                    parameters.file =
                        std::filesystem::absolute(directory_of(node) / *given).lexically_normal();
                }
            },
            [](const TaskGraphParameters& parameters) {
                return std::optional(ConfigNode::scalar(parameters.file));
            })
        .optional("iterations", &TaskGraphParameters::iterations,
                  "to simulate; a server starts one when its tasks of the one before have ended", {1, 10'000})
        .field(
            {"order",
             "program or first_come",
             "program",
             false,
             {},
             "of a GPU's computations; program: topological, ties by the place in the file; first_come: as "
             "they become ready",
             {}},
            [](TaskGraphParameters& parameters, const ConfigNode& node, ReadContext& context) {
                if (const auto given = read_scalar<system::ComputeOrder>(node, "'order'", context)) {
                    parameters.build.order = *given;
                }
            },
            [](const TaskGraphParameters& parameters) {
                return std::optional(ConfigNode::scalar(
                    parameters.build.order == system::ComputeOrder::kProgram ? "program" : "first_come"));
            })
        .field(
            {"begins_together",
             "true or false",
             "true",
             false,
             {},
             "an all-reduce begins when all that it depends on has ended on all servers; false: on each when "
             "it has ended there",
             {}},
            [](TaskGraphParameters& parameters, const ConfigNode& node, ReadContext& context) {
                if (const auto given = read_scalar<bool>(node, "'begins_together'", context)) {
                    parameters.build.begins_together = *given;
                }
            },
            [](const TaskGraphParameters& parameters) {
                return std::optional(ConfigNode::scalar(parameters.build.begins_together ? "true" : "false"));
            })
        .complete(load_task_graph);
    return schema;
}

bool is_task_graph(const std::filesystem::path& path) {
    std::error_code unknown;
    return path.extension() == ".fbuf" && std::filesystem::is_regular_file(path, unknown);
}

Result<ReadTraces> read_task_graph(const std::filesystem::path& path) {
    const Result<FlexFlowGraph> graph = load_flexflow_graph(path);
    if (!graph) {
        return graph.error();
    }
    ReadTraces read{rank_graphs_of(*graph, 1), system::ComputeOrder::kProgram, {}};
    for (const auto& [name, value] : task_graph_facts(*graph)) {
        read.notes.push_back(name + ": " + value);
    }
    return read;
}

}  // namespace

TraceFormat flexflow_trace_format() {
    return {"flexflow", "task graph of FlexFlow", is_task_graph, read_task_graph};
}

void register_flexflow_graph(Registry<Job>& registry) {
    registry.add<TaskGraphParameters>(task_graph_schema(), [](const TaskGraphParameters& parameters) {
        Job job;
        const std::shared_ptr<const LoadedTaskGraph> loaded = parameters.loaded;
        job.iterations = parameters.iterations;
        job.validation_errors = [loaded](const Device&, std::size_t ranks) {
            ValidationErrors errors;
            require(errors, ranks == loaded->program.ranks, "file",
                    fmt::format("the graph has {} servers, and the cluster {} ranks", loaded->program.ranks,
                                ranks),
                    fmt::format("set cluster.ranks to {}", loaded->program.ranks));
            return errors;
        };
        job.device_errors = [](const Device&) { return ValidationErrors{}; };
        job.program = [loaded](const Device&, std::size_t) { return loaded->program; };
        job.facts = [loaded](const Device&, std::size_t) { return loaded->facts; };
        return job;
    });
}

}  // namespace astrolabe::workload
