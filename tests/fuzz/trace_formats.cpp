#include "format_list.hpp"
#include "workload/src/chakra/chakra_traces.hpp"
#include "workload/src/flexflow/task_graph.hpp"
#include "workload/src/pytorch/execution_trace.hpp"
#include "workload/src/pytorch/kineto_timeline.hpp"
#include "workload/src/pytorch/param_traces.hpp"
#include "workload/src/rank_graphs/build_program.hpp"
#include "workload/src/traces/astra_text.hpp"

#include <memory>

#include <astrolabe/core/source_text.hpp>
#include <astrolabe/experiment/calibration/kernel_table.hpp>
#include <astrolabe/experiment/calibration/kineto_trace.hpp>
#include <astrolabe/experiment/calibration/nccl_log.hpp>
#include <astrolabe/experiment/calibration/recorded_steps.hpp>
#include <astrolabe/workload/flows/flows.hpp>

namespace astrolabe::fuzzing {
namespace {

using Path = std::filesystem::path;

/// The text of a file to a reader of texts.
template <class Read>
Verdict read_text(const Path& path, const Read& read) {
    const Result<std::shared_ptr<const SourceText>> source = read_source(path, "trace.file");
    return source ? verdict_of(read((*source)->text, (*source)->name)) : source.error();
}

Verdict read_text_trace(const Path& path) {
    return read_text(path, workload::read_astra_text);
}

Verdict read_chakra_files(const std::vector<Path>& set) {
    const Result<workload::chakra::ChakraTraces> traces = workload::chakra::read_traces(set, {});
    return traces ? verdict_of(workload::build_program(traces->graphs, {.order = traces->order}))
                  : traces.error();
}

Verdict read_chakra(const Path& path) {
    const Result<std::vector<Path>> set = workload::chakra::files_of_traces(path);
    return set ? read_chakra_files(*set) : set.error();
}

/// Of traces that are right without groups.
Verdict read_groups(const Path& root, const Path& path) {
    const Result<std::vector<Path>> set =
        workload::chakra::files_of_traces(root / "inputs/traces/dlrm-mini4");
    return set ? verdict_of(workload::chakra::read_traces(*set, {.groups = path})) : set.error();
}

/// What is made of the trace has no place in it; it ends, and its numbers are in range.
Verdict read_steps(const Path& path) {
    const Result<experiment::KinetoTrace> trace = experiment::read_kineto_trace(path);
    if (!trace) {
        return trace.error();
    }
    if (const Result<experiment::TraceRecord> record = experiment::record_steps(*trace)) {
        static_cast<void>(experiment::match_collectives({*record}));
        static_cast<void>(experiment::fit_host({*record}));
    }
    return {};
}

Verdict read_param(const Path& path) {
    const Result<workload::pytorch::ParamTraces> traces =
        workload::pytorch::read_param_traces({.traces = {path.string()}});
    return traces ? verdict_of(workload::build_program(traces->graphs, {})) : traces.error();
}

Verdict read_kernels(const Path& path) {
    return read_text(path, [](const std::string& text, const std::string& name) {
        return experiment::read_kernel_table(text, name, {});
    });
}

}  // namespace

void add_traces(std::vector<Format>& formats, const Path& root) {
    formats.push_back({"text-trace", Syntax::kLines, Place::kColumn,
                       files(root, {"inputs/traces/dlrm-hoti20.txt", "examples/shared-cluster/bert-large.txt",
                                    "examples/shared-cluster/candle-like.txt"}),
                       read_text_trace});
    formats.push_back({"simai", Syntax::kLines, Place::kColumn, files(root, {"tests/fuzz/corpus/simai.txt"}),
                       read_text_trace});
    formats.push_back({"chakra", Syntax::kProtobuf, Place::kRecord,
                       files(root, {"inputs/traces/dlrm-mini4/dlrm-mini4.0.et",
                                    "inputs/traces/dlrm-mini4/dlrm-mini4.2.et"}),
                       read_chakra});
    // One rank alone: what a file says, not how ranks match.
    formats.push_back(
        {"chakra-json", Syntax::kJson, Place::kRecord,
         files(root, {"tests/fuzz/corpus/chakra-list.0.json", "tests/fuzz/corpus/chakra-messages.0.json"}),
         [](const Path& path) { return read_chakra_files({path}); }});
    formats.push_back(
        {"pytorch", Syntax::kJson, Place::kRecord, files(root, {"inputs/traces/pytorch-mini2/et.0.json"}),
         [](const Path& path) { return verdict_of(workload::pytorch::read_execution_trace(path, false)); }});
    formats.push_back(
        {"kineto", Syntax::kJson, Place::kRecord, files(root, {"inputs/traces/pytorch-mini2/kineto.0.json"}),
         [](const Path& path) { return verdict_of(workload::pytorch::read_kineto_timeline(path, false)); }});
    formats.push_back(
        {"param", Syntax::kJson, Place::kRecord, files(root, {"tests/fuzz/corpus/param.json"}), read_param});
    // A FlatBuffer has no records: its reader names the offset.
    formats.push_back({"flexflow", Syntax::kBytes, Place::kRecord,
                       files(root, {"inputs/traces/flexflow-4.fbuf"}),
                       [](const Path& path) { return verdict_of(workload::load_flexflow_graph(path)); }});
    formats.push_back({"flows", Syntax::kLines, Place::kRecord,
                       files(root, {"tests/fuzz/corpus/flows.csv", "tests/fuzz/corpus/flows.cm",
                                    "tests/fuzz/corpus/flows.htsim"}),
                       [](const Path& path) { return read_text(path, workload::read_flow_list); }});
    formats.push_back({"flow-sizes", Syntax::kLines, Place::kRecord,
                       files(root, {"inputs/flows/hadoop.csv", "inputs/flows/web-search.csv"}),
                       [](const Path& path) { return read_text(path, workload::SizeDistribution::read); }});
    formats.push_back({"chakra-groups", Syntax::kJson, Place::kRecord,
                       files(root, {"tests/fuzz/corpus/groups.json"}),
                       [root](const Path& path) { return read_groups(root, path); }});
}

void add_measurements(std::vector<Format>& formats, const Path& root) {
    formats.push_back({"kernels", Syntax::kLines, Place::kRecord,
                       files(root, {"tests/fuzz/corpus/kernels.csv"}), read_kernels});
    formats.push_back({"kernels-json", Syntax::kJson, Place::kRecord,
                       files(root, {"tests/fuzz/corpus/kernels.json"}), read_kernels});
    formats.push_back(
        {"recorded-steps", Syntax::kJson, Place::kRecord,
         files(root, {"inputs/traces/pytorch-mini2/kineto.0.json", "tests/fuzz/corpus/steps.json"}),
         read_steps});
    formats.push_back({"nccl-log", Syntax::kLines, Place::kRecord,
                       files(root, {"tests/fuzz/corpus/all_reduce.log"}), [](const Path& path) {
                           return verdict_of(experiment::parse_nccl_log(testing::read_file(path), path));
                       }});
}

}  // namespace astrolabe::fuzzing
