#include "../rank_graphs/build_program.hpp"
#include "../rank_graphs/graph_summary.hpp"
#include "../rank_graphs/order_names.hpp"
#include "../rank_graphs/trace_formats.hpp"
#include "../rank_graphs/trace_program.hpp"
#include "../register.hpp"
#include "chakra_traces.hpp"
#include "node_reader.hpp"

#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace astrolabe {

/// What the duration of a computation is.
enum class ChakraCompute : std::uint8_t { kRecorded, kRoofline };

template <>
struct EnumNames<ChakraCompute> {
    static constexpr std::array<std::pair<std::string_view, ChakraCompute>, 2> kNames{
        {{"recorded", ChakraCompute::kRecorded}, {"roofline", ChakraCompute::kRoofline}}};
};

template <>
struct EnumNames<workload::chakra::ControlDependencies> {
    using Value = workload::chakra::ControlDependencies;
    static constexpr std::array<std::pair<std::string_view, Value>, 3> kNames{
        {{"detect", Value::kDetect}, {"honoured", Value::kHonoured}, {"ignored", Value::kIgnored}}};
};

template <>
struct EnumNames<workload::chakra::CollectiveOrder> {
    using Value = workload::chakra::CollectiveOrder;
    static constexpr std::array<std::pair<std::string_view, Value>, 2> kNames{
        {{"concurrent", Value::kConcurrent}, {"in_order", Value::kInOrder}}};
};

}  // namespace astrolabe

namespace astrolabe::workload {
namespace {

using Path = std::filesystem::path;

/// What was read and built, once for all who ask.
struct LoadedChakra {
    chakra::ChakraTraces traces;  ///< without its ranks where only the program is asked for
    BuildOptions build;
    system::Program program;  ///< of the recorded durations
    Facts facts;
    std::optional<TraceProgram> replicas = std::nullopt;  ///< where ranks without a trace repeat others
};

struct ChakraParameters : chakra::ReadOptions {
    std::vector<std::string> paths;  ///< absolute, so that a resolved experiment finds them from anywhere
    std::string group_file;
    std::optional<system::ComputeOrder> order = std::nullopt;
    ChakraCompute compute = ChakraCompute::kRecorded;
    Replication replicate = Replication::kNone;
    std::shared_ptr<const LoadedChakra> loaded;
};

std::string absolute_path(const ConfigNode& node, const std::string& given) {
    return std::filesystem::absolute(directory_of(node) / given).lexically_normal().string();
}

void read_paths(ChakraParameters& parameters, const ConfigNode& node, ReadContext& context) {
    const auto take = [&](const ConfigNode& one) {
        if (const std::optional<std::string> given = read_scalar<std::string>(one, "'traces'", context)) {
            parameters.paths.push_back(absolute_path(one, *given));
        }
    };
    if (node.is_sequence()) {
        for (const ConfigNode& item : node.items) {
            take(item);
        }
    } else {
        take(node);
    }
    if (parameters.paths.empty() && context.errors().empty()) {
        context.error("config.value", node.where, "'traces' names no trace",
                      "a folder, a prefix, or the files of ranks 0, 1, …");
    }
}

std::optional<ConfigNode> written_paths(const ChakraParameters& parameters) {
    if (parameters.paths.size() == 1) {
        return ConfigNode::scalar(parameters.paths.front());
    }
    std::vector<ConfigNode> items;
    for (const std::string& path : parameters.paths) {
        items.push_back(ConfigNode::scalar(path));
    }
    return ConfigNode::sequence(std::move(items));
}

/// Diagnostics of trace files as those of the experiment, each with its own place and that of 'traces'.
template <class Value>
bool taken(const Result<Value>& result, const ConfigNode& node, ReadContext& context) {
    if (!result) {
        const ConfigNode* traces = node.find("traces");
        for (Diagnostic diagnostic : result.error()) {
            diagnostic.notes.emplace_back((traces != nullptr ? *traces : node).where,
                                          "the traces are named here");
            context.error(std::move(diagnostic));
        }
    }
    return result.has_value();
}

void load(ChakraParameters& parameters, const ConfigNode& node, ReadContext& context) {
    std::vector<Path> files(parameters.paths.begin(), parameters.paths.end());
    if (files.size() == 1) {
        Result<std::vector<Path>> found = chakra::files_of_traces(files.front());
        if (!taken(found, node, context)) {
            return;
        }
        files = *std::move(found);
    }
    parameters.groups = parameters.group_file;
    parameters.keeps_work = parameters.compute == ChakraCompute::kRoofline;
    Result<chakra::ChakraTraces> traces = chakra::read_traces(files, parameters);
    if (!taken(traces, node, context)) {
        return;
    }
    auto loaded = std::make_shared<LoadedChakra>();
    loaded->build.order = parameters.order.value_or(traces->order);
    Result<system::Program> program = build_program(traces->graphs, loaded->build);
    if (!taken(program, node, context)) {
        return;
    }
    loaded->program = *std::move(program);
    loaded->facts = readable_facts(traces->graphs, summarize(traces->graphs));
    for (const std::string& note : traces->notes) {
        loaded->facts.emplace_back("note", note);
    }
    if (parameters.replicate != Replication::kNone) {
        std::vector<std::uint32_t> ranks(files.size());
        std::iota(ranks.begin(), ranks.end(), 0U);
        const std::size_t world = ranks.size();
        loaded->replicas =
            TraceProgram(traces->graphs, std::move(ranks), world, parameters.replicate, loaded->build);
    }
    if (parameters.keeps_work) {
        loaded->traces = *std::move(traces);
    }
    parameters.loaded = std::move(loaded);
}

Schema<ChakraParameters> chakra_schema() {
    Schema<ChakraParameters> schema("chakra", "execution traces of MLCommons Chakra, a file for each rank");
    schema
        .field({"traces",
                "path or list of paths",
                "",
                true,
                {},
                "a folder of PREFIX.RANK.et, .et.gz or .json files; their prefix; or the files of ranks 0, "
                "1, …; "
                "relative to the file that names them",
                {}},
               read_paths, written_paths)
        .field(
            {"groups",
             "path",
             "unset",
             false,
             {},
             "JSON with the ranks of each communicator group by its name, {\"1\": [0, 1]}",
             {}},
            [](ChakraParameters& parameters, const ConfigNode& node, ReadContext& context) {
                if (const auto given = read_scalar<std::string>(node, "'groups'", context)) {
                    parameters.group_file = absolute_path(node, *given);
                }
            },
            [](const ChakraParameters& parameters) {
                return parameters.group_file.empty()
                           ? std::nullopt
                           : std::optional(ConfigNode::scalar(parameters.group_file));
            })
        .list("dimensions", &ChakraParameters::dimensions,
              "sizes of the logical dimensions, fastest first, that involved_dim chooses from", false,
              {1, {}})
        .optional(
            "ctrl_deps", &ChakraParameters::control,
            "whether ctrl_deps are waited for; detect: not where they name enclosing calls, as in traces "
            "of PyTorch")
        .optional("order", &ChakraParameters::order,
                  "of computations on the device; program: by id where dependencies allow; unset: as the "
                  "traces say, else program")
        .optional("collectives", &ChakraParameters::collectives,
                  "in_order: collectives and sends of a rank one after another by id, as ASTRA-sim issues "
                  "them; concurrent: as dependencies and streams say")
        .optional("compute", &ChakraParameters::compute,
                  "recorded: the trace's durations; roofline: num_ops and tensor_size on the device, where a "
                  "node has them")
        .optional(
            "replicate", &ChakraParameters::replicate,
            "of fewer traces than ranks; data_parallel: rank r does what trace r mod their number does, "
            "all collectives are over all ranks, with the bytes of the traces")
        .complete(load);
    return schema;
}

/// Sets durations to the roofline's where the work is known.
void set_roofline(const LoadedChakra& loaded, const Device& device, RankGraphs& graphs) {
    for (std::size_t rank = 0; rank < graphs.ranks.size(); ++rank) {
        for (std::size_t i = 0; i < graphs.ranks[rank].tasks.size(); ++i) {
            const chakra::TaskWork& work = loaded.traces.work[rank][i];
            if (work.operations > 0 || work.bytes > 0) {
                graphs.ranks[rank].tasks[i].duration =
                    time_of(device, {.flops = Flops(work.operations), .bytes = Bytes(work.bytes)});
            }
        }
    }
}

system::Program program_of(const LoadedChakra& loaded, bool is_roofline, const Device& device,
                           std::size_t ranks) {
    std::function<void(RankGraphs&)> adjust;
    if (is_roofline) {
        adjust = [&](RankGraphs& graphs) { set_roofline(loaded, device, graphs); };
    }
    if (loaded.replicas) {
        return loaded.replicas->program(ranks, adjust);
    }
    if (!is_roofline) {
        return loaded.program;
    }
    RankGraphs graphs = loaded.traces.graphs;
    adjust(graphs);
    return build_program(graphs, loaded.build).value();
}

ValidationErrors roofline_errors(const LoadedChakra& loaded, const Device& device) {
    bool has_operations = false;
    bool has_bytes = false;
    for (const std::vector<chakra::TaskWork>& rank : loaded.traces.work) {
        for (const chakra::TaskWork& work : rank) {
            has_operations = has_operations || work.operations > 0;
            has_bytes = has_bytes || work.bytes > 0;
        }
    }
    ValidationErrors errors;
    require(errors, !has_operations || device.peak_of(Precision::kFp32), "peak",
            "the roofline of the traces' num_ops needs a peak", "set device.peak, or compute: recorded");
    require(errors, !has_bytes || device.memory_bandwidth, "memory_bandwidth",
            "the roofline of the traces' tensor_size needs a memory bandwidth",
            "set device.memory_bandwidth, or compute: recorded");
    return errors;
}

bool is_trace_file(const Path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".et") || name.ends_with(".et.gz") ||
           (chakra::is_json_file(path) && beginning_of(path).find("\"workload_graph\"") != std::string::npos);
}

bool is_chakra(const Path& path) {
    std::error_code failure;
    if (std::filesystem::is_regular_file(path, failure)) {
        return is_trace_file(path);
    }
    if (std::filesystem::is_directory(path, failure)) {
        return !files_ending(path, ".et").empty() || !files_ending(path, ".et.gz").empty() || [&] {
            for (const std::string_view ending : {".json", ".json.gz"}) {
                const std::vector<Path> files = files_ending(path, ending);
                if (std::any_of(files.begin(), files.end(), is_trace_file)) {
                    return true;
                }
            }
            return false;
        }();
    }
    return std::filesystem::exists(path.string() + ".0.et", failure) ||
           std::filesystem::exists(path.string() + ".0.et.gz", failure);
}

Result<ReadTraces> read_chakra(const Path& path) {
    const Result<std::vector<Path>> files = chakra::files_of_traces(path);
    if (!files) {
        return files.error();
    }
    Result<chakra::ChakraTraces> traces = chakra::read_traces(*files, {});
    if (!traces) {
        return traces.error();
    }
    return ReadTraces{std::move(traces->graphs), traces->order, std::move(traces->notes)};
}

}  // namespace

TraceFormat chakra_trace_format() {
    return {"chakra", "execution traces of MLCommons Chakra", is_chakra, read_chakra};
}

void register_chakra(Registry<Job>& registry) {
    registry.add<ChakraParameters>(chakra_schema(), [](const ChakraParameters& parameters) {
        Job job;
        const std::shared_ptr<const LoadedChakra> loaded = parameters.loaded;
        const bool is_roofline = parameters.compute == ChakraCompute::kRoofline;
        job.iterations = loaded->program.iterations;
        job.validation_errors = [loaded](const Device&, std::size_t ranks) {
            if (loaded->replicas) {
                return loaded->replicas->errors(ranks, "traces");
            }
            ValidationErrors errors;
            require(
                errors, ranks == loaded->program.ranks, "traces",
                fmt::format("there are traces of {} ranks, and the cluster has {}", loaded->program.ranks,
                            ranks),
                fmt::format("set cluster.ranks to {}, or replicate: data_parallel", loaded->program.ranks));
            return errors;
        };
        job.device_errors = [loaded, is_roofline](const Device& device) {
            return is_roofline ? roofline_errors(*loaded, device) : ValidationErrors{};
        };
        job.program = [loaded, is_roofline](const Device& device, std::size_t ranks) {
            return program_of(*loaded, is_roofline, device, ranks);
        };
        job.facts = [loaded](const Device&, std::size_t ranks) {
            return loaded->replicas ? loaded->replicas->facts(ranks) : loaded->facts;
        };
        return job;
    });
}

}  // namespace astrolabe::workload
