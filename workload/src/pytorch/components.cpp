#include "../rank_graphs/trace_formats.hpp"
#include "../rank_graphs/trace_program.hpp"
#include "../register.hpp"
#include "param_traces.hpp"
#include "pytorch_traces.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

namespace astrolabe::workload {
namespace {

using pytorch::ParamTraces;
using pytorch::PytorchTraces;

/// What was read, once for all who ask.
struct LoadedTraces {
    TraceProgram program;
    std::vector<std::vector<Work>> work;  ///< of PARAM: by recorded rank and task
    std::vector<std::string> notes;
};

struct PytorchParameters : pytorch::ReadOptions {
    Replication replicate = Replication::kNone;
    std::shared_ptr<const LoadedTraces> loaded;
};

struct ParamParameters : pytorch::ParamOptions {
    Replication replicate = Replication::kNone;
    std::shared_ptr<const LoadedTraces> loaded;
};

/// A path, or a list of paths, kept absolute so that a resolved experiment finds them from anywhere.
template <class Parameters, class Owner>
void add_paths(Schema<Parameters>& schema, const char* key, std::vector<std::string> Owner::*member,
               bool is_required, const char* help) {
    schema.field(
        {key, "path or list of paths", is_required ? "" : "[]", is_required, {}, help, {}},
        [member, key](Parameters& parameters, const ConfigNode& node, ReadContext& context) {
            const auto take = [&](const ConfigNode& one) {
                if (const auto given = read_scalar<std::string>(one, fmt::format("'{}'", key), context)) {
                    (parameters.*member)
                        .push_back(std::filesystem::absolute(directory_of(one) / *given)
                                       .lexically_normal()
                                       .string());
                }
            };
            if (!node.is_sequence()) {
                take(node);
                return;
            }
            for (const ConfigNode& item : node.items) {
                take(item);
            }
        },
        [member](const Parameters& parameters) -> std::optional<ConfigNode> {
            const std::vector<std::string>& paths = parameters.*member;
            if (paths.empty()) {
                return std::nullopt;
            }
            std::vector<ConfigNode> items;
            for (const std::string& path : paths) {
                items.push_back(ConfigNode::scalar(path));
            }
            return paths.size() == 1 ? std::move(items.front()) : ConfigNode::sequence(std::move(items));
        });
}

template <class Value>
bool is_read(const Result<Value>& result, ReadContext& context) {
    if (!result) {
        for (const Diagnostic& diagnostic : result.error()) {
            context.error(diagnostic);
        }
    }
    return result.has_value();
}

/// Errors that do not depend on the number of ranks, where the traces are whole.
bool can_be_built(const RankGraphs& graphs, bool is_whole, ReadContext& context) {
    return !is_whole || is_read(build_program(graphs, {}), context);
}

void load_pytorch(PytorchParameters& parameters, const ConfigNode& node, ReadContext& context) {
    if (parameters.execution_traces.empty() && parameters.kineto.empty()) {
        if (context.errors().empty()) {
            context.error("config.value", node.where, "neither 'execution_traces' nor 'kineto' is given",
                          "name the traces of the ranks");
        }
        return;
    }
    if (!parameters.kineto.empty() && parameters.overlap != pytorch::Overlap::kWaited) {
        context.error("config.value", node.where, "'overlap' is for execution traces alone",
                      "with kineto, streams and their waits say what overlaps");
        return;
    }
    Result<PytorchTraces> traces = pytorch::read_traces(parameters);
    if (!is_read(traces, context) || !can_be_built(traces->graphs, traces->is_whole(), context)) {
        return;
    }
    parameters.loaded = std::make_shared<const LoadedTraces>(
        LoadedTraces{TraceProgram(std::move(traces->graphs), std::move(traces->ranks), traces->world_size,
                                  parameters.replicate, {}),
                     {},
                     std::move(traces->notes)});
}

void load_param(ParamParameters& parameters, const ConfigNode& node, ReadContext& context) {
    if (parameters.traces.empty()) {
        if (context.errors().empty()) {
            context.error("config.value", node.where, "'traces' names no trace", "name those of the ranks");
        }
        return;
    }
    Result<ParamTraces> traces = pytorch::read_param_traces(parameters);
    if (!is_read(traces, context) || !can_be_built(traces->graphs, traces->is_whole(), context)) {
        return;
    }
    parameters.loaded = std::make_shared<const LoadedTraces>(
        LoadedTraces{TraceProgram(std::move(traces->graphs), std::move(traces->ranks), traces->world_size,
                                  parameters.replicate, {}),
                     std::move(traces->work), std::move(traces->notes)});
}

constexpr const char* kReplicateHelp =
    "of fewer traces than ranks; data_parallel: rank r does what trace r mod their number does, all "
    "collectives "
    "are over all ranks, with the bytes of the traces";
constexpr const char* kOverlapHelp =
    "which calls are asynchronous; waited: those that a wait is for; all; none";
constexpr const char* kLenientHelp = "leaves out what is not known, with a note, instead of an error";

Schema<PytorchParameters> pytorch_schema() {
    Schema<PytorchParameters> schema(
        "pytorch", "execution traces and Kineto timelines of PyTorch, a file for each rank");
    add_paths(schema, "execution_traces", &PytorchParameters::execution_traces, false,
              "a folder, a pattern as et.{rank}.json.gz, or files; alone: communication without computation");
    add_paths(schema, "kineto", &PytorchParameters::kineto, false,
              "likewise; with times, alone where kernels of NCCL carry sizes (PyTorch 2.4 and later)");
    schema
        .optional("step", &PytorchParameters::step,
                  "n of the ProfilerStep#n that is the iteration; unset: each is one", {0, {}})
        .optional("overlap", &PytorchParameters::overlap, kOverlapHelp)
        .optional("world_size", &PytorchParameters::world_size,
                  "ranks of the recorded run; unset: as the traces say", {1, std::int64_t{1} << 24U})
        .optional("replicate", &PytorchParameters::replicate, kReplicateHelp)
        .optional("lenient", &PytorchParameters::lenient, kLenientHelp)
        .complete(load_pytorch);
    return schema;
}

Schema<ParamParameters> param_schema() {
    Schema<ParamParameters> schema("param", "basic communication traces of PARAM, a file for each rank");
    add_paths(schema, "traces", &ParamParameters::traces, true,
              "a folder of 0.json, 1.json, …, a pattern as {rank}.json, or files");
    schema.optional("overlap", &ParamParameters::overlap, kOverlapHelp)
        .optional("timestamps", &ParamParameters::timestamps,
                  "calls begin startTime_ns after the beginning at the earliest")
        .optional("replicate", &ParamParameters::replicate, kReplicateHelp)
        .optional("lenient", &ParamParameters::lenient, kLenientHelp)
        .complete(load_param);
    return schema;
}

/// Sets the computations of PARAM to the roofline's times.
void set_times(const LoadedTraces& loaded, const Device& device, RankGraphs& graphs) {
    for (std::size_t rank = 0; rank < loaded.work.size(); ++rank) {
        for (std::size_t task = 0; task < loaded.work[rank].size(); ++task) {
            const Work& work = loaded.work[rank][task];
            if (work.flops != Flops(0) || work.bytes != Bytes(0)) {
                graphs.ranks[rank].tasks[task].duration = time_of(device, work);
            }
        }
    }
}

ValidationErrors device_errors(const LoadedTraces& loaded, const Device& device) {
    bool has_bytes = false;
    std::optional<Precision> without_peak;
    for (const std::vector<Work>& rank : loaded.work) {
        for (const Work& work : rank) {
            has_bytes = has_bytes || work.bytes != Bytes(0);
            if (work.flops != Flops(0) && !device.peak_of(work.precision)) {
                without_peak = work.precision;
            }
        }
    }
    ValidationErrors errors;
    require(errors, !without_peak, "peak", "the matrix products of the traces need a peak",
            "set device.peak, or those of all precisions in device.peaks");
    require(errors, !has_bytes || device.memory_bandwidth, "memory_bandwidth",
            "the computations of the traces need a memory bandwidth", "set device.memory_bandwidth");
    return errors;
}

Job job_of(const std::shared_ptr<const LoadedTraces>& loaded, const std::string& key) {
    const auto adjusted_to = [loaded](const Device& device) -> std::function<void(RankGraphs&)> {
        return [loaded, device](RankGraphs& graphs) { set_times(*loaded, device, graphs); };
    };
    Job job;
    job.iterations = loaded->program.iterations();
    job.validation_errors = [loaded, key](const Device&, std::size_t ranks) {
        return loaded->program.errors(ranks, key);
    };
    job.device_errors = [loaded](const Device& device) { return device_errors(*loaded, device); };
    job.program = [loaded, adjusted_to](const Device& device, std::size_t ranks) {
        return loaded->program.program(ranks, adjusted_to(device));
    };
    job.facts = [loaded, adjusted_to](const Device& device, std::size_t ranks) {
        Facts facts = loaded->program.facts(ranks, adjusted_to(device));
        for (const std::string& note : loaded->notes) {
            facts.emplace_back("note", note);
        }
        return facts;
    };
    return job;
}

/// A folder has what some of its files are.
bool has_files(const std::filesystem::path& path, bool (*recognises)(const std::filesystem::path&)) {
    std::error_code failure;
    if (!std::filesystem::is_directory(path, failure)) {
        return std::filesystem::is_regular_file(path, failure) && recognises(path);
    }
    const std::vector<std::filesystem::path> files = files_ending(path, "");
    return std::any_of(files.begin(), files.end(), recognises);
}

bool is_pytorch(const std::filesystem::path& path) {
    return has_files(path, pytorch::is_execution_trace) || has_files(path, pytorch::is_kineto_trace);
}

/// What a folder has of both kinds; traces of some ranks are described by themselves.
/// Ranks of the recorded world without a trace do what those with one do.
template <class Traces>
Result<ReadTraces> with_all_ranks(ReadTraces read, const Traces& traces) {
    if (traces.is_whole()) {
        return read;
    }
    Result<RankGraphs> all = replicate(read.graphs, traces.world_size, traces.world_size);
    if (!all) {
        return all.error();
    }
    read.graphs = *std::move(all);
    read.notes.push_back(fmt::format("{} of {} ranks have a trace; the others are taken to do what these do",
                                     traces.ranks.size(), traces.world_size));
    return read;
}

Result<ReadTraces> read_pytorch(const std::filesystem::path& path) {
    pytorch::ReadOptions options;
    if (has_files(path, pytorch::is_execution_trace)) {
        options.execution_traces = {path.string()};
    }
    if (has_files(path, pytorch::is_kineto_trace)) {
        options.kineto = {path.string()};
    }
    Result<PytorchTraces> traces = pytorch::read_traces(options);
    if (!traces) {
        return traces.error();
    }
    ReadTraces read{std::move(traces->graphs), system::ComputeOrder::kProgram, std::move(traces->notes)};
    return with_all_ranks(std::move(read), *traces);
}

bool is_param(const std::filesystem::path& path) {
    return has_files(path, pytorch::is_param_trace);
}

Result<ReadTraces> read_param(const std::filesystem::path& path) {
    Result<ParamTraces> traces = pytorch::read_param_traces({.traces = {path.string()}});
    if (!traces) {
        return traces.error();
    }
    ReadTraces read{std::move(traces->graphs), system::ComputeOrder::kProgram, std::move(traces->notes)};
    Flops operations;
    Bytes bytes;
    for (const std::vector<Work>& rank : traces->work) {
        for (const Work& work : rank) {
            operations += work.flops;
            bytes += work.bytes;
        }
    }
    if (operations != Flops(0) || bytes != Bytes(0)) {
        read.notes.push_back(
            fmt::format("computations are {} operations and {} bytes over all ranks, in times of a device",
                        operations.count(), bytes.count()));
    }
    return with_all_ranks(std::move(read), *traces);
}

}  // namespace

TraceFormat pytorch_trace_format() {
    return {"pytorch", "execution traces or Kineto timelines of PyTorch", is_pytorch, read_pytorch};
}

TraceFormat param_trace_format() {
    return {"param", "basic communication traces of PARAM", is_param, read_param};
}

void register_pytorch(Registry<Job>& registry) {
    registry.add<PytorchParameters>(pytorch_schema(), [](const PytorchParameters& parameters) {
        return job_of(parameters.loaded, parameters.execution_traces.empty() ? "kineto" : "execution_traces");
    });
}

void register_param(Registry<Job>& registry) {
    registry.add<ParamParameters>(param_schema(), [](const ParamParameters& parameters) {
        return job_of(parameters.loaded, "traces");
    });
}

}  // namespace astrolabe::workload
